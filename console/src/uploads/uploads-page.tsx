import { useState } from 'react'
import type { Api } from '../api/client.ts'
import { asFailure, type Failure } from '../api/failure.ts'
import type { Me } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useSearchKey } from '../frame/search-key.ts'
import { usePolled } from '../live/use-polled.ts'
import { STAGING_WRITES } from '../overview/gates.ts'
import { FailureNote } from '../parts/failure-note.tsx'
import { useSession } from '../session/session.tsx'
import { NoUploads } from './no-uploads.tsx'
import { UploadForm } from './upload-form.tsx'
import { UploadTable } from './upload-table.tsx'
import { useDroppedFile } from './use-dropped-file.ts'
import './uploads.css'

const NEWEST = 50
const readGates = (api: Api) => api.gates()
const readNewest = (api: Api) => api.uploads.list({ limit: NEWEST })

export function UploadsPage() {
  const [file, setFile] = useState<File>()
  const { me } = useSession()
  const gates = usePolled(readGates)
  const closed = gates.data?.gates.some(({ gate, open }) => gate === STAGING_WRITES && !open) ?? false
  const mayUpload = me.workspaces.some(({ rights }) => rights.includes('stage'))
  const over = useDroppedFile(setFile)
  const newest = usePolled(readNewest)
  const older = useOlder(newest.data?.next ?? undefined)
  const [text, setText] = useState('')
  const search = useSearchKey()
  const all = [...(newest.data?.uploads ?? []), ...older.uploads]
  const shown = all.filter((upload) => upload.file_name.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <>
      <PageHead title="Uploads" />
      <section className={over && mayUpload ? 'card is-over' : 'card'} aria-label="Upload a file">
        {mayUpload ? <UploadForm file={file} take={setFile} closed={closed} /> : <OnlyLooks me={me} />}
      </section>
      <section className="card uploads" aria-labelledby="uploads-title">
        <header className="card-head">
          <h2 id="uploads-title">All uploads</h2>
          {all.length > 0 && (
            <label className="find">
              <span className="unseen">Find a file by its name</span>
              <input
                ref={search}
                type="search"
                placeholder="Find by name"
                value={text}
                onChange={(event) => setText(event.target.value)}
                onKeyDown={(event) => event.key === 'Escape' && setText('')}
              />
              <span className="key" aria-hidden="true">
                /
              </span>
            </label>
          )}
        </header>
        <FailureNote failure={newest.failure ?? older.failure} />
        {newest.data === undefined && newest.failure === undefined && <p className="empty">Loading…</p>}
        {newest.data !== undefined && all.length === 0 && <NoUploads mayUpload={mayUpload} />}
        {all.length > 0 && shown.length === 0 && <p className="empty">No upload matches “{text}”.</p>}
        {shown.length > 0 && <UploadTable uploads={shown} />}
        {older.next !== undefined && (
          <div className="card-foot">
            <button type="button" className="button" onClick={older.more}>
              Show older uploads
            </button>
          </div>
        )}
      </section>
    </>
  )
}

/** In place of the form for somebody who would be refused after sending. */
function OnlyLooks({ me }: { me: Me }) {
  const [first] = me.workspaces
  return (
    <div className="empty">
      <b>You can view uploads, but not create them.</b>
      <p>
        {first === undefined
          ? 'You are in no workspace. An administrator can add you to one.'
          : `You are ${first.role} in ${first.name ?? first.id}. Uploading needs the role operator, reviewer or admin, which an administrator can give you.`}
      </p>
    </div>
  )
}

/** What is older than the newest page; it does not change by itself, so it is read once. */
function useOlder(first: string | undefined) {
  const { api } = useSession()
  const [uploads, setUploads] = useState<Upload[]>([])
  const [next, setNext] = useState<string | null>()
  const [failure, setFailure] = useState<Failure>()
  async function more() {
    try {
      const page = await api.uploads.list({ limit: NEWEST, after: next ?? first })
      setUploads((before) => [...before, ...page.uploads])
      setNext(page.next)
    } catch (thrown) {
      setFailure(asFailure(thrown))
    }
  }
  return { uploads, next: next === null ? undefined : (next ?? first), more, failure }
}

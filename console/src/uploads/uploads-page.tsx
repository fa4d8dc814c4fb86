import { useState } from 'react'
import type { Me } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useSearchKey } from '../frame/search-key.ts'
import { STAGING_WRITES } from '../gates.ts'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { type Filter, Filters, useFilters } from '../parts/list.tsx'
import { useSession } from '../session/session.tsx'
import { NoUploads } from './no-uploads.tsx'
import { UploadForm } from './upload-form.tsx'
import { UploadTable } from './upload-table.tsx'
import { useDroppedFile } from './use-dropped-file.ts'
import './uploads.css'

const PAGE = 50
const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    options: [
      ['open', 'not promoted yet'],
      ['reading', 'being read'],
      ['planned', 'planned'],
      ['promoted', 'promoted'],
      ['undone', 'undone'],
      ['failed', 'failed'],
      ['discarded', 'discarded'],
      ['expired', 'expired'],
    ],
  },
  {
    name: 'problem',
    label: 'Problem',
    options: [
      ['invalid', 'with lines to repair'],
      ['promotion', 'promotion failed'],
      ['outdated', 'plan outdated, or maybe'],
    ],
  },
]
/** Several states of an upload are one question. */
const OPEN = 'reading,staged,planned'

export function UploadsPage() {
  const [file, setFile] = useState<File>()
  const { me } = useSession()
  const gates = useLiveQuery(['health', 'gates'], (api) => api.gates())
  const closed = gates.data?.gates.some(({ gate, open }) => gate === STAGING_WRITES && !open) ?? false
  const mayUpload = me.workspaces.some(({ rights }) => rights.includes('stage'))
  const over = useDroppedFile(setFile)
  const { status, problem } = useFilters(['status', 'problem'])
  const pages = useLivePages<Upload>(['uploads', 'list', status, problem], async (api, after) => {
    const { uploads, next } = await api.uploads.list({
      status: status === 'open' ? OPEN : status,
      problem,
      limit: PAGE,
      after,
    })
    return { rows: uploads, next }
  })
  const isFiltered = (status ?? problem) !== undefined
  const [text, setText] = useState('')
  const search = useSearchKey()
  const all = pages.rows
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
        <Filters filters={FILTERS} />
        <FailureNote failure={pages.failure} />
        {pages.loading && <p className="empty">Loading…</p>}
        {!pages.loading &&
          pages.failure === undefined &&
          all.length === 0 &&
          (isFiltered ? (
            <p className="empty">No upload meets the filters.</p>
          ) : (
            <NoUploads mayUpload={mayUpload} />
          ))}
        {all.length > 0 && shown.length === 0 && <p className="empty">No upload matches “{text}”.</p>}
        {shown.length > 0 && <UploadTable uploads={shown} />}
        {pages.more && (
          <div className="card-foot">
            <button type="button" className="button" disabled={pages.loadingMore} onClick={pages.more}>
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

import { lazy, Suspense } from 'react'
import { PageHead } from '../frame/page-head.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { useParameter } from '../route.ts'

const UploadPage = lazy(() => import('../upload/upload-page.tsx').then((m) => ({ default: m.UploadPage })))
const RecordPage = lazy(() => import('../records/record-page.tsx').then((m) => ({ default: m.RecordPage })))

/** A change by its number: the page of what it is about, which has the conversation and the reviews. */
export default function ChangePage({ params }: { params: Readonly<Record<string, string>> }) {
  const [workspace] = useParameter('workspace')
  const { data, failure } = useLiveQuery(['changes', 'by number', workspace, params.number], (api) =>
    api.changes.find(params.number ?? '', workspace),
  )
  if (data === undefined)
    return (
      <>
        <PageHead title="Change" />
        {failure === undefined ? <p className="muted">Loading…</p> : <FailureNote failure={failure} />}
      </>
    )
  const Subject = data.kind === 'upload' ? UploadPage : RecordPage
  return (
    <Suspense fallback={<p className="muted">Loading…</p>}>
      <Subject params={{ id: data.subject_id }} />
    </Suspense>
  )
}

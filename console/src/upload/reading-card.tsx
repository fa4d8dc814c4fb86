import type { Progress, UploadDetail } from '../api/upload-types.ts'
import { bytes, count } from '../parts/format.ts'
import { Meter } from '../parts/meter.tsx'
import { Prose } from '../parts/prose.tsx'
import { failureText } from './state.ts'

const WORDS: Record<Progress['stage'], string> = {
  read: 'Reading the file',
  check: 'Checking every line',
  stage: 'Writing lines to staging',
  plan: 'Comparing with production',
  promote: 'Promoting',
}

/** In place of the rows while there are none yet, or because there never will be. */
export function ReadingCard({ upload, progress }: { upload: UploadDetail; progress: Progress | undefined }) {
  if (upload.status === 'reading') return <Reading upload={upload} progress={progress} />
  return (
    <div className="reading">
      <h2>{upload.error ? failureText(upload) : 'Nothing to show'}</h2>
      {upload.error && (
        <>
          <p className="is-wrong">
            <Prose text={upload.error.message} />
          </p>
          <p className="muted">
            <Prose text={upload.error.hint} />
          </p>
        </>
      )}
      <p>
        <a className="link" href="/uploads">
          Upload another file
        </a>
      </p>
    </div>
  )
}

function Reading({ upload, progress }: { upload: UploadDetail; progress: Progress | undefined }) {
  const stage = progress?.stage ?? 'read'
  const done = progress?.done ?? 0
  const total = progress?.total || (stage === 'read' ? Number(upload.byte_len) : 0)
  return (
    <div className="reading" role="status">
      <h2>{WORDS[stage]}</h2>
      <p className="big">
        {count(progress?.lines ?? 0)} <small>lines</small>
      </p>
      <Meter label={WORDS[stage]} done={done} total={total} />
      <p className="muted">
        {stage === 'read' ? `${bytes(done)} of ${bytes(total)}` : `part ${count(done)} of ${count(total)}`}
      </p>
      <p className="tiny">You can leave this page; the server continues.</p>
    </div>
  )
}

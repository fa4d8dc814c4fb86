import type { StagingSummary } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { usePendingWork } from '../live/pending-work.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { RecordLine } from '../records/record-line.tsx'
import { OutdatedChip } from '../upload/outdated-chip.tsx'
import { planText } from '../upload/state.ts'
import { useClientNames } from '../uploads/use-client-names.ts'
import { ReviewChip } from './review-chip.tsx'
import '../records/records.css'

/** What waits for a decision, the oldest first: it has waited longest. */
export function AwaitingReview() {
  const pendingWork = usePendingWork()
  const { data, failure } = pendingWork
  const uploads = data?.waiting.toReversed() ?? []
  const records = data?.records.toReversed() ?? []
  const clients = useClientNames(uploads)
  return (
    <div className="stack">
      <Card
        id="waiting-uploads"
        title="Uploads awaiting review"
        aside={data && <Counted many={uploads.length} more={data.moreWaiting} what="upload" />}
      >
        <FailureNote failure={failure} />
        {data === undefined && failure === undefined && <p className="empty">Loading…</p>}
        {data !== undefined && uploads.length === 0 && <NothingWaits others={records.length > 0} />}
        <ul className="lines queue">
          {uploads.map((upload) => (
            <UploadLine key={upload.upload_id} upload={upload} client={clients[upload.client_id]} />
          ))}
        </ul>
      </Card>
      {data !== undefined && records.length > 0 && <Records records={records} more={data.moreRecords} />}
    </div>
  )
}

function UploadLine({ upload, client }: { upload: Upload; client: string | undefined }) {
  return (
    <li>
      <span className="line-state">
        <ReviewChip owner={upload.uploaded_by} />
      </span>
      <span className="line-text">
        <a href={`/uploads/${upload.upload_id}`}>
          <b>{upload.file_name}</b>
          {upload.change !== null && <span className="muted"> #{upload.change}</span>}
          {client !== undefined && ` · ${client}`}
        </a>
        <span className="muted">
          {planText(upload)} <OutdatedChip outdated={upload.outdated} />
        </span>
      </span>
      <span className="line-when">
        <Ago at={upload.planned_at ?? upload.created_at} /> · <Person id={upload.uploaded_by} />
      </span>
    </li>
  )
}

/** Only so many are read; where there are others, it says so. */
function Counted({ many, more, what }: { many: number; more: boolean; what: string }) {
  return <span className="tiny">{counted(many, what) + (more ? ' or more' : '')}</span>
}

/** Markings, previews, packages of agents: whatever the policy says a person must approve. */
function Records({ records, more }: { records: readonly StagingSummary[]; more: boolean }) {
  return (
    <Card
      id="waiting-records"
      title="Other records awaiting review"
      aside={<Counted many={records.length} more={more} what="record" />}
    >
      <ul className="lines queue">
        {records.map((record) => (
          <RecordLine key={record.staging_record_id} record={record} />
        ))}
      </ul>
    </Card>
  )
}

function NothingWaits({ others }: { others: boolean }) {
  return (
    <div className="empty">
      <b>{others ? 'No upload awaits review.' : 'Nothing awaits review.'}</b>
      <p>
        Plans that are submitted for review are listed here, with the number of rows they would change. The
        person who uploaded a file cannot approve it: a second person does.
      </p>
    </div>
  )
}

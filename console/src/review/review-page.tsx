import type { StagingSummary } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useHeld } from '../live/held.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Command } from '../parts/command.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/figures.ts'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'
import { planSaid } from '../upload/state.ts'
import { useClientNames } from '../uploads/use-client-names.ts'
import './review.css'

/** What waits for a decision, the oldest first: it has waited longest. */
export function ReviewPage() {
  const held = useHeld()
  const { data, failure } = held
  const uploads = data?.waiting.toReversed() ?? []
  const clients = useClientNames(uploads)
  return (
    <>
      <PageHead title="Review" />
      <div className="stack">
        <Card
          id="waiting-uploads"
          title="Uploads that wait for approval"
          aside={data && <Counted many={uploads.length} more={data.moreWaiting} what="upload" />}
        >
          <FailureNote failure={failure} />
          {data === undefined && failure === undefined && <p className="empty">Reading…</p>}
          {data !== undefined && uploads.length === 0 && <NothingWaits />}
          <ul className="lines queue">
            {uploads.map((upload) => (
              <UploadLine key={upload.upload_id} upload={upload} client={clients[upload.client_id]} />
            ))}
          </ul>
        </Card>
        {data !== undefined && data.packages.length > 0 && (
          <Packages packages={data.packages} more={data.morePackages} />
        )}
      </div>
    </>
  )
}

function UploadLine({ upload, client }: { upload: Upload; client: string | undefined }) {
  const { me } = useSession()
  const mine = upload.uploaded_by === me.actor
  return (
    <li>
      <span className="line-state">
        <Chip tone="held">{mine ? 'waits for others' : 'approve'}</Chip>
      </span>
      <span className="line-text">
        <a href={`/uploads/${upload.upload_id}`}>
          <b>{upload.file_name}</b>
          {client !== undefined && ` · ${client}`}
        </a>
        <span className="muted">{planSaid(upload)}</span>
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

function Packages({ packages, more }: { packages: readonly StagingSummary[]; more: boolean }) {
  return (
    <Card
      id="waiting-packages"
      title="Other packages that wait for approval"
      aside={<Counted many={packages.length} more={more} what="package" />}
    >
      <ul className="lines queue">
        {packages.map((record) => (
          <li key={record.staging_record_id}>
            <span className="line-state">
              <Chip tone="held">approve</Chip>
            </span>
            <span className="line-text">
              <b>{record.purpose}</b>
              <span className="muted">
                {counted(record.part_count, 'part')} from{' '}
                {record.source_kind === 'agent' ? 'an agent' : 'a person'}
                {record.checklist_required && ', with a checklist'}
              </span>
              <Command text={`npm run -s stagedoor -- staging show ${record.staging_record_id}`} />
            </span>
            <span className="line-when">
              <Ago at={record.created_at} /> · <Person id={record.owner_actor} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function NothingWaits() {
  return (
    <div className="empty">
      <b>Nothing waits for approval.</b>
      <p>
        When somebody asks for approval of a plan, it stands here with how many rows it would change. Who
        uploads a file cannot approve it; it takes a second person.
      </p>
    </div>
  )
}

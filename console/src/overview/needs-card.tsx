import type { StagingSummary } from '../api/types.ts'
import type { Upload } from '../api/upload-types.ts'
import type { Held } from '../live/held.tsx'
import type { Polled } from '../live/use-polled.ts'
import { type DeadKind, deadKinds, type Work } from '../live/work.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/figures.ts'
import { Person } from '../parts/person.tsx'
import { recordSaid } from '../review/record-words.ts'
import { useSession } from '../session/session.tsx'
import { planSaid, sinceOf } from '../upload/state.ts'

const SHOWN = 6

interface Need {
  readonly upload: Upload
  readonly tone: Tone
  readonly deed: string
  readonly about: string
}

/** What goes on only when somebody acts, before anything that only informs. */
export function NeedsCard({ held, work }: { held: Polled<Held>; work: Work | undefined }) {
  const needs = held.data === undefined ? [] : needsIn(held.data)
  const records = held.data?.records ?? []
  const dead = work === undefined ? [] : deadKinds(work.dead)
  const all = needs.length + records.length + dead.length
  const lines = [
    ...needs.map((need) => <Line key={need.upload.upload_id} {...need} />),
    ...records.map((record) => <RecordLine key={record.staging_record_id} record={record} />),
    ...dead.map((kind) => <DeadLine key={kind.kind} {...kind} />),
  ]
  return (
    <Card
      id="needs"
      title="Needs your attention"
      aside={
        held.data && (
          <span className="tiny">
            {all}
            {(held.data.moreUploads || held.data.moreWaiting || held.data.moreRecords) && '+'}
          </span>
        )
      }
    >
      <FailureNote failure={held.failure} />
      {all === 0 && (
        <p className="empty">{held.data === undefined ? 'Reading…' : 'Nothing needs your attention.'}</p>
      )}
      <ul className="lines">{lines.slice(0, SHOWN)}</ul>
      {all > SHOWN && (
        <div className="card-foot">
          <p className="tiny">
            {SHOWN} of {all}.{' '}
            <a className="link" href="/uploads">
              All uploads
            </a>
            {' · '}
            <a className="link" href="/review">
              All reviews
            </a>
          </p>
        </div>
      )}
    </Card>
  )
}

function Line({ upload, tone, deed, about }: Need) {
  return (
    <li>
      <span className="line-state">
        <Chip tone={tone}>{deed}</Chip>
      </span>
      <span className="line-text">
        <a href={`/uploads/${upload.upload_id}`}>
          <b>{upload.file_name}</b>
        </a>
        <span className="muted">{about}</span>
      </span>
      <span className="line-when">
        <Ago at={sinceOf(upload)} /> · <Person id={upload.uploaded_by} />
      </span>
    </li>
  )
}

function RecordLine({ record }: { record: StagingSummary }) {
  const { me } = useSession()
  return (
    <li>
      <span className="line-state">
        <Chip tone="held">{record.owner_actor === me.actor ? 'awaiting others' : 'review'}</Chip>
      </span>
      <span className="line-text">
        <a href={`/review/${record.staging_record_id}`}>
          <b>{record.purpose}</b>
        </a>
        <span className="muted">{recordSaid(record)}</span>
      </span>
      <span className="line-when">
        <Ago at={record.created_at} /> · <Person id={record.owner_actor} />
      </span>
    </li>
  )
}

function DeadLine({ kind, jobs, newest }: DeadKind) {
  return (
    <li>
      <span className="line-state">
        <Chip tone="bad">dead letter</Chip>
      </span>
      <span className="line-text">
        <a href="#jobs">
          <b>
            {kind}
            {jobs.length > 1 && ` × ${jobs.length}`}
          </b>
        </a>
        <span className="muted">{newest.last_error ?? 'failed every attempt'}</span>
      </span>
      {newest.finished_at && (
        <span className="line-when">
          <Ago at={newest.finished_at} />
        </span>
      )}
    </li>
  )
}

/** What waits for approval may be older than all the uploads that were read. */
function needsIn({ uploads, waiting }: Held): Need[] {
  const newest = new Set(uploads.map(({ upload_id }) => upload_id))
  return [...uploads, ...waiting.filter(({ upload_id }) => !newest.has(upload_id))]
    .map(needOf)
    .filter((need) => need !== undefined)
}

function needOf(upload: Upload): Need | undefined {
  if (upload.status === 'reading' || upload.run_mode === 'FULL_DRY_RUN') return undefined
  if (upload.status === 'staged') {
    return { upload, tone: 'held', deed: 'plan', about: counted(upload.line_count ?? 0, 'line') }
  }
  if (upload.plan_refusal !== null) {
    return { upload, tone: 'bad', deed: 'repair', about: counted(upload.invalid_count ?? 0, 'invalid line') }
  }
  const about = planSaid(upload)
  switch (upload.review_status) {
    case 'pending':
      return { upload, tone: 'held', deed: 'review', about }
    case 'rejected':
      return { upload, tone: 'bad', deed: 'rejected', about: upload.review_reason ?? about }
    case 'approved':
    case null:
      return { upload, tone: 'held', deed: 'promote', about }
    default:
      return { upload, tone: 'held', deed: 'submit', about }
  }
}

import type { Upload } from '../api/upload-types.ts'
import type { Held } from '../live/held.tsx'
import type { Polled } from '../live/use-polled.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/figures.ts'
import { Person } from '../parts/person.tsx'
import { planSaid, sinceOf } from '../upload/state.ts'

const SHOWN = 6

interface Need {
  readonly upload: Upload
  readonly tone: Tone
  readonly deed: string
  readonly about: string
}

/** What goes on only when somebody acts, before anything that only informs. */
export function NeedsCard({ held }: { held: Polled<Held> }) {
  const needs = held.data === undefined ? [] : needsIn(held.data)
  const packages = held.data?.packages ?? []
  const all = needs.length + packages.length
  return (
    <Card
      id="needs"
      title="Needs a person"
      aside={
        held.data && (
          <span className="tiny">
            {all}
            {(held.data.moreUploads || held.data.moreWaiting) && '+'}
          </span>
        )
      }
    >
      <FailureNote failure={held.failure} />
      {all === 0 && (
        <p className="empty">{held.data === undefined ? 'Reading…' : 'Nothing waits for anybody.'}</p>
      )}
      <ul className="lines">
        {needs.slice(0, SHOWN).map((need) => (
          <Line key={need.upload.upload_id} {...need} />
        ))}
        {packages.slice(0, Math.max(0, SHOWN - needs.length)).map((record) => (
          <li key={record.staging_record_id}>
            <span className="line-state">
              <Chip tone="held">approve</Chip>
            </span>
            <span className="line-text">
              <a href="/review">
                <b>{record.purpose}</b>
              </a>
              <span className="muted">{counted(record.part_count, 'part')}</span>
            </span>
            <span className="line-when">
              <Ago at={record.created_at} /> · <Person id={record.owner_actor} />
            </span>
          </li>
        ))}
      </ul>
      {all > SHOWN && (
        <div className="card-foot">
          <a className="link" href="/uploads">
            All {all} of them
          </a>
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
    return { upload, tone: 'bad', deed: 'repair', about: counted(upload.invalid_count ?? 0, 'wrong line') }
  }
  const about = planSaid(upload)
  switch (upload.review_status) {
    case 'pending':
      return { upload, tone: 'held', deed: 'approve', about }
    case 'rejected':
      return { upload, tone: 'bad', deed: 'rejected', about: upload.review_reason ?? about }
    case 'approved':
    case null:
      return { upload, tone: 'held', deed: 'promote', about }
    default:
      return { upload, tone: 'held', deed: 'ask', about }
  }
}

import type { StagingSummary } from '../api/types.ts'
import { ReviewChip } from '../changes/review-chip.tsx'
import { Ago } from '../parts/ago.tsx'
import { Person } from '../parts/person.tsx'
import { recordText } from './record-text.ts'

/** A record that waits for a decision, as a line of a list. */
export function RecordLine({ record }: { record: StagingSummary }) {
  return (
    <li>
      <span className="line-state">
        <ReviewChip owner={record.owner_actor} />
      </span>
      <span className="line-text">
        <a href={`/records/${record.staging_record_id}`}>
          <b>{record.purpose}</b>
        </a>
        <span className="muted">{recordText(record)}</span>
      </span>
      <span className="line-when">
        <Ago at={record.created_at} /> · <Person id={record.owner_actor} />
      </span>
    </li>
  )
}

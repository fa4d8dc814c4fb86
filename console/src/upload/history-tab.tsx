import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { RecordedEvent } from '../api/types.ts'
import type { UploadDetail } from '../api/upload-types.ts'
import { Ago } from '../parts/ago.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'

const WORDS: Record<string, string> = {
  ingestion_staged: 'Read and checked',
  ingestion_failed: 'Reading failed',
  ingestion_repaired: 'Lines repaired',
  ingestion_planned: 'Planned',
  ingestion_submitted: 'Submitted for review',
  ingestion_approved: 'Approved',
  ingestion_rejected: 'Rejected',
  ingestion_complete: 'Promoted',
  ingestion_undone: 'Undone',
  ingestion_discarded: 'Discarded',
}

/** Who did what with the file: its events, and promotions that failed, which wrote none. */
export function HistoryTab({ upload }: { upload: UploadDetail }) {
  const { api } = useSession()
  const [events, setEvents] = useState<RecordedEvent[]>()
  const [failure, setFailure] = useState<Failure>()
  const { upload_id: id, status, plan_digest, review_status } = upload
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever happened to the upload has left an event
  useEffect(() => {
    let wanted = true
    api.uploads
      .history(id)
      .then((answer) => wanted && setEvents(answer.events))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, id, status, plan_digest, review_status])

  const entries = events && [
    ...events.map((event) => ({
      key: event.id,
      at: event.created_at,
      what: WORDS[event.event_type] ?? event.event_type.replaceAll('_', ' '),
      by: event.actor,
      facts: factsOf(event),
    })),
    ...upload.promotion_failures.map(({ failed_at, tried_by, error }) => ({
      key: `failed ${failed_at}`,
      at: failed_at,
      what: 'Promotion failed',
      by: tried_by,
      facts: `${error.message.replace(/[.]$/, '')}. ${error.hint}`,
    })),
  ]
  entries?.sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  const unlisted = upload.promotion_failure_count - upload.promotion_failures.length

  return (
    <>
      <FailureNote failure={failure} />
      {entries?.length === 0 && <p className="empty">No events yet.</p>}
      <ol className="history">
        {entries?.map(({ key, at, what, by, facts }) => (
          <li key={key}>
            <span className="tiny">
              <Ago at={at} />
            </span>
            <span>
              <b>{what}</b> by <Person id={by} />
              <span className="tiny">{facts}</span>
            </span>
          </li>
        ))}
      </ol>
      {unlisted > 0 && (
        <p className="tiny">{counted(unlisted, 'earlier attempt')} to promote it failed, too.</p>
      )}
    </>
  )
}

function factsOf({ payload }: RecordedEvent): string {
  const { lines, rows, invalid, plan_digest, gate_mode, reason } = payload as Record<string, unknown>
  return [
    typeof lines === 'number' && counted(lines, 'line'),
    typeof rows === 'number' && counted(rows, 'row'),
    typeof invalid === 'number' && invalid > 0 && `${count(invalid)} invalid`,
    gate_mode === 'LENIENT' && 'invalid lines are skipped',
    typeof plan_digest === 'string' && `digest ${plan_digest.slice(0, 8)}`,
    typeof reason === 'string' && `“${reason}”`,
  ]
    .filter(Boolean)
    .join(' · ')
}

import type { ReactNode } from 'react'
import { useCallback, useEffect, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { Totals, UploadDetail, UploadHistoryEntry } from '../api/upload-types.ts'
import { sinceText } from '../changes/conversation.tsx'
import { Ago } from '../parts/ago.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import { OldNew } from '../parts/old-new.tsx'
import { Person } from '../parts/person.tsx'
import { viaText } from '../people.ts'
import { useSession } from '../session/session.tsx'
import { ACTION_LABELS } from './labels.ts'
import { sumActions } from './state.ts'

const PAGE = 200

/** What exactly happened: which line and column from what to what, which plan, who said what, and why. */
export function HistoryTab({ upload }: { upload: UploadDetail }) {
  const { api } = useSession()
  const [entries, setEntries] = useState<readonly UploadHistoryEntry[]>()
  const [next, setNext] = useState<string | null>(null)
  const [failure, setFailure] = useState<Failure>()
  const { upload_id: id, status, plan_digest, review_status, staged_at, promotion_failure_count } = upload
  const read = useCallback(
    async (after?: string) => {
      try {
        const page = await api.uploads.history(id, { limit: PAGE, after })
        setEntries((before) => (after === undefined ? page.history : [...(before ?? []), ...page.history]))
        setNext(page.next === null ? null : String(page.next))
        setFailure(undefined)
      } catch (thrown) {
        setFailure(asFailure(thrown))
      }
    },
    [api, id],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever happened to the upload has left an entry
  useEffect(() => {
    void read()
  }, [read, status, plan_digest, review_status, staged_at, promotion_failure_count])

  return (
    <>
      <FailureNote failure={failure} />
      {entries === undefined && !failure && <p className="empty">Loading…</p>}
      <ol className="history">
        {entries?.map((entry) => (
          <li key={entry.place}>
            <span className="tiny">
              <Ago at={entry.at} />
            </span>
            <span>
              <b>{WORDS[entry.what]?.(entry) ?? entry.what.replaceAll('_', ' ')}</b> by{' '}
              <Person id={entry.actor} />
              <span className="muted">{viaText(entry.via)}</span>
              <Cell entry={entry} />
              <Facts entry={entry} />
              {entry.text !== null && <q className="said">{entry.text}</q>}
            </span>
          </li>
        ))}
      </ol>
      {next !== null && (
        <p className="empty">
          <button type="button" className="button" onClick={() => void read(next)}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}

const WORDS: Record<string, (entry: UploadHistoryEntry) => ReactNode> = {
  uploaded: () => 'Uploaded',
  read: () => 'Read and checked',
  failed: () => 'Reading failed',
  corrected: ({ line }) => `Line ${count(line ?? 0)} corrected`,
  left_out: ({ line }) => `Line ${count(line ?? 0)} left out`,
  taken_in: ({ line }) => `Line ${count(line ?? 0)} taken in again`,
  planned: ({ detail }) => (detail.from === undefined ? 'Planned' : 'Planned again'),
  conflicts_answered: ({ detail }) =>
    detail.answer === 'keep_theirs'
      ? 'Conflicts: production’s values stay'
      : 'Conflicts: the file’s values count',
  submitted: () => 'Submitted for review',
  asked_again: () => 'Review asked for again',
  review_requested: () => 'Review requested',
  reviewed: ({ detail }) =>
    detail.verdict === 'approve'
      ? 'Approved'
      : detail.verdict === 'request_changes'
        ? 'Changes requested'
        : 'Reviewed',
  review_kept: () => 'Approval kept',
  review_dismissed: ({ detail }) =>
    detail.verdict === 'approve' ? 'Approval ended' : 'Request for changes ended',
  titled: () => 'Title changed',
  described: () => 'Description changed',
  labelled: () => 'Labels changed',
  rejected: () => 'Rejected',
  promoted: () => 'Promoted',
  promotion_failed: () => 'Promotion failed',
  undo_requested: () => 'Undo asked for',
  undo_declined: () => 'Request to undo declined',
  undone: () => 'Undone',
  discarded: () => 'Discarded',
}

/** Of a corrected cell: its column, from what to what. */
function Cell({ entry: { column, from, to } }: { entry: UploadHistoryEntry }) {
  if (column === null) return null
  return (
    <span className="tiny">
      {column}: <OldNew old={from ?? 'empty'} now={to ?? 'empty'} />
    </span>
  )
}

function Facts({ entry }: { entry: UploadHistoryEntry }) {
  const { detail, what } = entry
  const reviewer = detail.reviewer
  const choices = what === 'uploaded' ? choicesIn(detail) : []
  const parts = factsOf(entry)
  return (
    <>
      {typeof reviewer === 'string' && what !== 'reviewed' && reviewer !== entry.actor && (
        <span className="tiny">
          of <Person id={reviewer} />
        </span>
      )}
      {parts !== '' && <span className="tiny">{parts}</span>}
      {choices.map((choice) => (
        <span key={choice} className="tiny">
          {choice}
        </span>
      ))}
    </>
  )
}

function factsOf({ detail, what }: UploadHistoryEntry): string {
  const { lines, invalid, skipped, digest, plan_digest, rows, totals, because, since, policy, file } = detail
  const shown = digest ?? plan_digest
  const asked = what === 'planned' ? (rows as Record<string, number> | undefined) : undefined
  return [
    typeof file === 'string' && file,
    typeof lines === 'number' && counted(lines, 'line'),
    typeof invalid === 'number' && invalid > 0 && `${count(invalid)} invalid`,
    typeof skipped === 'number' && skipped > 0 && `${count(skipped)} skipped`,
    asked && actionsText(asked),
    what === 'promoted' && actionsText(sumActions(totals as Totals)),
    what === 'undone' && undoneText(sumActions(totals as Totals)),
    what === 'conflicts_answered' &&
      `${counted(Number(detail.cells), 'value')} in ${counted(Number(detail.row_count), 'row')}`,
    typeof because === 'string' && because,
    sinceText(since),
    what === 'reviewed' && typeof policy === 'object' && policy !== null && 'by the review policy',
    typeof shown === 'string' && `plan ${shown.slice(0, 8)}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

function actionsText(actions: Readonly<Record<string, number>>): string {
  return Object.entries(ACTION_LABELS)
    .filter(([action]) => actions[action])
    .map(([action, word]) => `${count(actions[action] ?? 0)} ${word}`)
    .join(', ')
}

function undoneText({ reversed = 0, kept = 0, refused = 0 }: Readonly<Record<string, number>>): string {
  return [
    `${counted(reversed, 'row')} reverted`,
    kept > 0 && `${count(kept)} skipped`,
    refused > 0 && `${count(refused)} blocked`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** Which column was matched to which field, and which value to which. */
function choicesIn({ headers, values, repeated_keys }: UploadHistoryEntry['detail']): string[] {
  const matched = Object.entries((headers ?? {}) as Record<string, string | null>).map(([header, field]) =>
    field === null ? `column “${header}” left out` : `column “${header}” is ${field}`,
  )
  const taken = Object.entries((values ?? {}) as Record<string, Record<string, string | null>>).flatMap(
    ([field, choices]) =>
      Object.entries(choices).map(
        ([from, to]) => `${field}: “${from}” is ${to === null ? 'left out' : `“${to}”`}`,
      ),
  )
  const keys = typeof repeated_keys === 'string' ? [`repeated keys: ${repeated_keys}`] : []
  return [...matched, ...taken, ...keys].slice(0, 50)
}

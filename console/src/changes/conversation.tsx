import type { ReactNode } from 'react'
import type { Change, ChangeEntry } from '../api/changes.ts'
import { useReadWhenShown } from '../inbox/use-read-when-shown.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Approvers } from '../parts/approvers.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { CHANGE_STATES } from './change-status.ts'
import { CommentForm, ThreadView, threadsOf } from './comments.tsx'
import { timelineOf } from './timeline.ts'
import { nameOf } from './use-change.ts'
import './changes.css'

/** What was said and what happened, in order of time. */
export function Conversation({ change, changed }: { change: Change; changed(): void }) {
  const name = nameOf(change)
  const key = ['changes', change.workspace_id, change.number] as const
  const comments = useLiveQuery([...key, 'comments'], (api) => api.changes.comments(name))
  const history = useLiveQuery([...key, 'history'], (api) => api.changes.history(name))
  useReadWhenShown(change, comments.data?.comments)
  const again = () => {
    void comments.refresh()
    void history.refresh()
    changed()
  }
  const threads = threadsOf(comments.data?.comments ?? [])
  const entries = (history.data?.history ?? []).filter(
    ({ what, detail }) => what in WORDS && !(what === 'status' && detail.to === 'changes_requested'),
  )
  const items = [
    ...threads.map((thread) => ({
      at: thread.first.created_at,
      key: thread.first.comment_id,
      content: <ThreadView change={change} thread={thread} changed={again} />,
    })),
    ...timelineOf(entries).map((line) => ({
      at: line[0].at,
      key: `h${line[0].seq}`,
      content: <TimelineLine line={line} />,
    })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  const isCut = history.data?.next != null
  return (
    <div className="conversation">
      <FailureNote failure={comments.failure ?? history.failure} />
      {comments.loading && <p className="empty">Loading…</p>}
      <ol>
        {items.map(({ key: itemKey, content }) => (
          <li key={itemKey}>{content}</li>
        ))}
      </ol>
      {isCut && (
        <p className="muted">
          Of what happened, the first 500 entries are shown. All of them:{' '}
          <code>stagedoor change history '#{change.number}'</code>
        </p>
      )}
      {change.may.comment && <CommentForm change={change} label="Comment" changed={again} />}
    </div>
  )
}

/** What of the history is told here; comments stand for themselves. */
const WORDS: Record<string, (detail: Record<string, unknown>) => ReactNode> = {
  opened: () => 'opened this change',
  status: ({ to, approvers }) => (
    <>
      {STATUS_WORDS[String(to)] ?? `set it to ${wordOf(to)}`}
      {Array.isArray(approvers) && approvers.length > 1 && (
        <span className="muted">
          {' '}
          (approved by <Approvers approvers={approvers} />)
        </span>
      )}
    </>
  ),
  planned: ({ digest }) => (
    <>
      made the plan <code>{String(digest ?? '').slice(0, 8)}</code>
    </>
  ),
  titled: () => 'changed the title',
  described: () => 'changed the description',
  labelled: () => 'changed the labels',
  review_requested: () => 'asked for a review',
  reviewed: ({ verdict }) => (
    <>
      {verdict === 'approve' ? 'approved' : verdict === 'request_changes' ? 'requested changes' : 'reviewed'}
    </>
  ),
  asked_again: ({ since }) => (
    <>
      asked for the review again
      <SinceText since={since} />
    </>
  ),
  review_kept: ({ reviewer, because, since }) => (
    <>
      – the approval by <Person id={String(reviewer)} /> stays, because {String(because ?? '')}
      <SinceText since={since} />
    </>
  ),
  review_dismissed: ({ reviewer, because, since }) => (
    <>
      – the review by <Person id={String(reviewer)} /> no longer counts
      {typeof because === 'string' && <span className="muted"> ({because})</span>}
      <SinceText since={since} />
    </>
  ),
  undo_requested: () => 'asked for an undo',
  undo_declined: ({ requested_by }) => (
    <>
      declined the undo that <Person id={String(requested_by)} /> asked for
    </>
  ),
  thread_resolved: () => 'resolved a thread',
  thread_reopened: () => 'reopened a thread',
}

/** What a change of the status means. That changes were requested is told by the review itself. */
const STATUS_WORDS: Record<string, string> = {
  draft: 'took it back to a draft',
  open: 'submitted it for review',
  approved: 'gave the last approval that it needed',
  promoted: 'promoted it',
  undone: 'undid the promotion',
  rejected: 'rejected it',
  closed: 'closed it',
}

/** How many rows are as they were approved, and how many are not. */
function SinceText({ since }: { since: unknown }) {
  const text = sinceText(since)
  return text === '' ? null : <span className="muted">: {text}</span>
}

export function sinceText(since: unknown): string {
  if (typeof since !== 'object' || since === null) return ''
  const { same = 0, different = 0, added = 0, in_production = 0, gone = 0 } = since as Record<string, number>
  return [
    `${counted(same, 'row')} as approved`,
    different > 0 && `${count(different)} different`,
    added > 0 && `${count(added)} not approved before`,
    in_production > 0 && `${count(in_production)} in production already`,
    gone > 0 && `${count(gone)} no longer written`,
  ]
    .filter(Boolean)
    .join(', ')
}

function wordOf(status: unknown): string {
  return (CHANGE_STATES as Record<string, { word: string }>)[String(status)]?.word ?? String(status)
}

function TimelineLine({ line }: { line: readonly [ChangeEntry, ...ChangeEntry[]] }) {
  const [{ actor, at, what, detail }] = line
  return (
    <p className="entry">
      <b>
        <Person id={actor} />
      </b>{' '}
      {line.length === 1 ? WORDS[what]?.(detail) : <OneClick line={line} />}{' '}
      <span className="tiny">
        <Ago at={at} />
      </span>
    </p>
  )
}

/** A plan, the draft that the change is again with it, and its submission. */
function OneClick({ line }: { line: readonly ChangeEntry[] }) {
  const planned = line.find(({ what }) => what === 'planned')
  const asked = line.find(({ what }) => what === 'asked_again')
  const isOpen = asked !== undefined || line.some(({ detail }) => detail.to === 'open')
  return (
    <>
      {planned && WORDS.planned?.(planned.detail)}
      {planned && (isOpen ? ' and ' : '; it is a draft again')}
      {isOpen && 'submitted it for review'}
      {asked && (
        <>
          {' again'}
          <SinceText since={asked.detail.since} />
        </>
      )}
    </>
  )
}

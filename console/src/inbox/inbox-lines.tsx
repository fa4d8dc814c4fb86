import type { Inbox, InboxMatter } from '../api/changes.ts'
import { Ago } from '../parts/ago.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'

/** What it is in one word, and what the person did. */
const MATTERS: Record<InboxMatter['matter'], { tone: Tone; word: string; text: string }> = {
  review_requested: { tone: 'held', word: 'review', text: 'asks for your review' },
  changes_requested: { tone: 'bad', word: 'rework', text: 'requested changes' },
  undo_requested: { tone: 'bad', word: 'undo', text: 'asks for an undo' },
  plan_outdated: { tone: 'stale', word: 'plan again', text: 'made the plan outdated, or found it to be' },
  mentioned: { tone: 'work', word: 'mention', text: 'mentioned you' },
  replied: { tone: 'work', word: 'reply', text: 'wrote' },
  approved: { tone: 'ok', word: 'approved', text: 'approved it' },
  promoted: { tone: 'ok', word: 'promoted', text: 'promoted it' },
  rejected: { tone: 'bad', word: 'rejected', text: 'rejected it' },
  undone: { tone: 'stale', word: 'undone', text: 'undid it' },
}

interface Props {
  readonly matters: readonly InboxMatter[]
  /** Something was marked: read again. */
  changed(): void
}

/** One line for each matter and change. News can be marked as read; what is to be done leaves when it is done. */
export function InboxLines({ matters, changed }: Props) {
  const { api } = useSession()
  const { busy, failure, run } = useAction<unknown>(changed)
  return (
    <>
      <RefusalNote failure={failure} />
      <ul className="lines acts">
        {matters.map((one) => (
          <li key={`${one.change_id} ${one.matter}`} className={one.unread ? undefined : 'muted'}>
            <span className="line-state">
              <Chip tone={MATTERS[one.matter].tone}>{MATTERS[one.matter].word}</Chip>
            </span>
            <span className="line-text">
              <a href={addressOf(one)}>
                <b>{one.title}</b> #{one.number}
              </a>
              <span className="muted">
                <Person id={one.actor} /> {askedText(one)}
                {one.many > 1 && `, ${counted(one.many, 'time')}`}
                {one.excerpt !== null && one.excerpt !== '' && `: ${one.excerpt}`}
              </span>
            </span>
            <span className="line-when">
              <Ago at={one.at} />
              {!one.to_do && one.unread && (
                <>
                  {' · '}
                  <button
                    type="button"
                    className="link"
                    disabled={busy !== undefined}
                    aria-label={`Mark as read: ${MATTERS[one.matter].word} on #${one.number}`}
                    onClick={() => run('Marking', () => api.changes.markRead([one]))}
                  >
                    Mark as read
                  </button>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

function askedText({ matter, by_policy, group_name }: InboxMatter): string {
  if (by_policy) return `submitted it; the review policy asks for an approval by ${group_name ?? 'your role'}`
  return `${MATTERS[matter].text}${group_name === null ? '' : ` as a member of ${group_name}`}`
}

/** Opens the very change, and the very comment where it is about one. */
function addressOf({ number, workspace_id, comment_id }: InboxMatter): string {
  const parameters = new URLSearchParams({ workspace: workspace_id })
  if (comment_id !== null) {
    parameters.set('tab', 'conversation')
    parameters.set('comment', comment_id)
  }
  return `/changes/${number}?${parameters}`
}

/** Marks the news that is shown: what came meanwhile stays unread. */
export function MarkAllRead({ inbox, changed }: { inbox: Inbox; changed(): void }) {
  const { api } = useSession()
  const { busy, failure, run } = useAction<unknown>(changed)
  const news = inbox.matters.filter(({ to_do, unread }) => !to_do && unread)
  if (news.length === 0) return null
  return (
    <>
      <RefusalNote failure={failure} />
      <button
        type="button"
        className="button is-small"
        disabled={busy !== undefined}
        title="What is to be done stays"
        onClick={() => run('Marking', () => api.changes.markRead(news))}
      >
        Mark all as read
      </button>
    </>
  )
}

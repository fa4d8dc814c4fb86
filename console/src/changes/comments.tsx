import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { Change, ChangeComment, NewComment } from '../api/changes.ts'
import { Ago } from '../parts/ago.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { Person } from '../parts/person.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { viaText } from '../people.ts'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { MentionField } from './mention-field.tsx'
import { nameOf } from './use-change.ts'

export interface Thread {
  readonly first: ChangeComment
  readonly comments: readonly ChangeComment[]
}

/** Oldest first; the first comment of a thread says what it is about and whether it is resolved. */
export function threadsOf(comments: readonly ChangeComment[]): Thread[] {
  const threads = new Map<string, ChangeComment[]>()
  for (const comment of comments)
    threads.set(comment.thread_id, [...(threads.get(comment.thread_id) ?? []), comment])
  return [...threads.values()].map((all) => ({ first: all[0]!, comments: all }))
}

/** What was typed and not sent, by what it is about. A row of a grid that is scrolled out of sight is not drawn, and its field is gone. */
export type Drafts = Map<string, string>

interface ThreadProps {
  readonly change: Change
  readonly thread: Thread
  readonly drafts?: Drafts | undefined
  /** Something was written: read again. */
  changed(): void
}

/** A thread with its answers. A resolved one is folded. */
export function ThreadView({ change, thread: { first, comments }, drafts, changed }: ThreadProps) {
  const { api, me } = useSession()
  const [wanted] = useParameter('comment')
  const [isOpen, setOpen] = useState(() => comments.some(({ comment_id }) => comment_id === wanted))
  const { busy, failure, run } = useAction<unknown>(changed)
  const isResolved = first.resolved_at !== null
  const mayResolve = change.may.resolve || (change.may.comment && first.author === me.actor)
  const setResolved = (now: boolean) =>
    run(now ? 'Resolving' : 'Reopening', () => api.changes.setResolved(nameOf(change), first.comment_id, now))
  return (
    <article className={isResolved ? 'thread is-resolved' : 'thread'} aria-label={`Thread ${aboutOf(first)}`}>
      {first.row_type !== null && (
        <a className="tiny thread-about" href={rowAddress(first)}>
          {aboutOf(first)}
        </a>
      )}
      {isResolved && !isOpen ? (
        <p className="thread-folded">
          Resolved
          {first.resolved_by !== null && (
            <>
              {' '}
              by <Person id={first.resolved_by} />
            </>
          )}
          .{' '}
          <button type="button" className="link" onClick={() => setOpen(true)}>
            Show {comments.length === 1 ? 'the comment' : `${comments.length} comments`}
          </button>
        </p>
      ) : (
        comments.map((comment) => (
          <CommentView key={comment.comment_id} change={change} comment={comment} changed={changed} />
        ))
      )}
      <RefusalNote failure={failure} />
      <div className="thread-foot">
        {change.may.comment && !isResolved && (
          <CommentForm
            change={change}
            label="Reply"
            about={{ reply_to: first.comment_id }}
            drafts={drafts}
            changed={changed}
          />
        )}
        {mayResolve && (
          <button
            type="button"
            className="button is-small"
            disabled={busy !== undefined}
            onClick={() => setResolved(!isResolved)}
          >
            {isResolved ? 'Reopen' : 'Resolve'}
          </button>
        )}
      </div>
    </article>
  )
}

function CommentView({
  change,
  comment,
  changed,
}: {
  change: Change
  comment: ChangeComment
  changed(): void
}) {
  const { api, me } = useSession()
  const [isEditing, setEditing] = useState(false)
  const { busy, failure, run } = useAction<unknown>(changed)
  const isOwn = comment.author === me.actor && comment.deleted_at === null && change.may.comment
  const [wanted] = useParameter('comment')
  const isWanted = wanted === comment.comment_id
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isWanted) place.current?.scrollIntoView({ block: 'center' })
  }, [isWanted])
  return (
    <div className={isWanted ? 'comment is-wanted' : 'comment'} ref={place}>
      <p className="tiny">
        <b>
          <Person id={comment.author} />
        </b>
        {viaText(comment.via)} <Ago at={comment.created_at} />
        {comment.edit_count > 0 && ' · edited'}
        {comment.digest !== null && change.digest !== null && comment.digest !== change.digest && (
          <span title={`Written on plan ${comment.digest.slice(0, 8)}`}> · on an earlier plan</span>
        )}
        {isOwn && !isEditing && (
          <>
            {' · '}
            <button type="button" className="link" onClick={() => setEditing(true)}>
              Edit
            </button>
            {' · '}
            <button
              type="button"
              className="link"
              disabled={busy !== undefined}
              onClick={() =>
                run('Deleting', () => api.changes.deleteComment(nameOf(change), comment.comment_id))
              }
            >
              Delete
            </button>
          </>
        )}
      </p>
      {comment.deleted_at !== null ? (
        <p className="muted">This comment was deleted.</p>
      ) : isEditing ? (
        <CommentForm
          change={change}
          label="Save"
          edits={comment}
          changed={() => {
            setEditing(false)
            changed()
          }}
        />
      ) : (
        <Markdown text={comment.body} />
      )}
      <RefusalNote failure={failure} />
    </div>
  )
}

interface FormProps {
  readonly change: Change
  /** The word on the button. */
  readonly label: string
  /** What a new comment is about; default: the whole change. */
  readonly about?: Omit<NewComment, 'body'>
  /** A comment of one's own, to be replaced. */
  readonly edits?: ChangeComment
  /** What the field is called; default: the word on the button. */
  readonly field?: string
  readonly drafts?: Drafts | undefined
  /** Each time it rises the field gets the focus. */
  readonly asked?: number
  changed(): void
}

export function CommentForm({
  change,
  label,
  about = {},
  edits,
  field: fieldName,
  drafts,
  asked = 0,
  changed,
}: FormProps) {
  const { api } = useSession()
  const draft = about.reply_to ?? `${about.row_type} ${about.line}`
  const [text, setText] = useState(edits?.body ?? drafts?.get(draft) ?? '')
  const field = useRef<HTMLTextAreaElement>(null)
  const write = (next: string) => {
    setText(next)
    drafts?.set(draft, next)
  }
  const { busy, failure, run } = useAction<unknown>(() => {
    write('')
    changed()
  })
  useEffect(() => {
    if (asked > 0) field.current?.focus()
  }, [asked])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run('Sending', () =>
      edits
        ? api.changes.editComment(nameOf(change), edits.comment_id, text)
        : api.changes.comment(nameOf(change), { body: text, ...about }),
    )
  }
  return (
    <form className="comment-form" onSubmit={submit}>
      <MentionField
        workspace={change.workspace_id}
        label={fieldName ?? (label === 'Save' ? 'Your comment' : label)}
        placeholder={`${label}… Markdown; @ tells a member`}
        rows={text === '' && label === 'Reply' ? 1 : 3}
        text={text}
        field={field}
        write={write}
      />
      <RefusalNote failure={failure} />
      {text.trim() !== '' && (
        <button type="submit" className="button is-small is-next" disabled={busy !== undefined}>
          {label}
        </button>
      )}
    </form>
  )
}

export function aboutOf({ row_type, line, column_name }: ChangeComment): string {
  if (row_type === null) return 'on the whole change'
  const row = (line ?? 0) < 0 ? `on a row of ${row_type} that the file lacks` : `on ${row_type}, line ${line}`
  return column_name === null ? row : `${row}, ${column_name}`
}

function rowAddress({ row_type, line }: ChangeComment): string {
  const to = new URLSearchParams({ tab: 'plan', table: row_type ?? '', show: 'all', line: String(line) })
  return `${location.pathname}?${to}`
}

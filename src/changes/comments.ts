/** The conversation of a change: comments on the whole, on a row or on a cell, in threads. */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { ChangeComment, CommentEdit } from './shapes.ts'

export interface NewComment {
  readonly body: string
  /** Any comment of the thread that it answers. */
  readonly replyTo?: string | undefined
  /** A row, as plan and rows of an upload name it; both or none. */
  readonly rowType?: string | undefined
  readonly line?: number | undefined
  /** A cell of that row. */
  readonly column?: string | undefined
  /** For the back end, which writes for somebody. */
  readonly by?: string | undefined
}

export async function createComment(
  db: Queryable,
  changeId: string,
  comment: NewComment,
): Promise<ChangeComment> {
  const { rows } = await db.query<ChangeComment>(
    `select ${columnsOf(ChangeComment)} from iu_core.fn_change_comment($1, $2, $3, $4, $5, $6, $7)`,
    [
      changeId,
      comment.body,
      comment.replyTo ?? null,
      comment.rowType ?? null,
      comment.line ?? null,
      comment.column ?? null,
      comment.by ?? null,
    ],
  )
  return rows[0]!
}

export interface CommentPage {
  readonly limit: number
  /** The comment_id of the last one of the page before. */
  readonly after?: string | undefined
  /** Only of this thread. */
  readonly thread?: string | undefined
  /** Only of threads that are not resolved. */
  readonly unresolved?: boolean | undefined
}

/** Oldest first. What a thread is about, and whether it is resolved, is said with each of its comments. */
export async function listComments(
  db: Queryable,
  changeId: string,
  { limit, after, thread, unresolved = false }: CommentPage,
): Promise<ChangeComment[]> {
  const ofThread = ['row_type', 'line', 'column_name', 'resolved_at', 'resolved_by']
  const columns = columnsOf(ChangeComment, {
    from: 'c',
    as: Object.fromEntries(ofThread.map((name) => [name, `t.${name}`])),
  })
  const { rows } = await db.query<ChangeComment>(
    `select ${columns} from iu_core.change_comment c join iu_core.change_comment t on t.comment_id = c.thread_id
      where c.change_id = $1 and ($2::uuid is null or c.comment_id > $2) and ($3::uuid is null or c.thread_id = $3)
        and (not $4 or t.resolved_at is null)
      order by c.comment_id limit $5`,
    [changeId, after ?? null, thread ?? null, unresolved, limit],
  )
  return rows
}

/** One's own; what it said before is kept. */
export async function updateComment(
  db: Queryable,
  commentId: string,
  body: string,
  by?: string,
): Promise<ChangeComment> {
  const { rows } = await db.query<ChangeComment>(
    `select ${columnsOf(ChangeComment)} from iu_core.fn_change_comment_update($1, $2, $3)`,
    [commentId, body, by ?? null],
  )
  return rows[0]!
}

/** One's own: the text goes, that there was a comment stays. */
export async function deleteComment(db: Queryable, commentId: string, by?: string): Promise<void> {
  await db.query('select iu_core.fn_change_comment_delete($1, $2)', [commentId, by ?? null])
}

/** Resolves the thread of a comment, or reopens it. Returns whether that is new. */
export async function resolveThread(
  db: Queryable,
  commentId: string,
  resolved: boolean,
  by?: string,
): Promise<boolean> {
  const { rows } = await db.query<{ done: boolean }>(
    'select iu_core.fn_change_thread_resolve($1, $2, $3) as done',
    [commentId, resolved, by ?? null],
  )
  return rows[0]!.done
}

/** What a comment said before it was edited, oldest first. */
export async function listCommentEdits(db: Queryable, commentId: string): Promise<CommentEdit[]> {
  const { rows } = await db.query<CommentEdit>(
    `select ${columnsOf(CommentEdit)} from iu_core.change_comment_edit where comment_id = $1 order by edit_no`,
    [commentId],
  )
  return rows
}

/** Throws comment_not_found, also where it is a comment on another change. */
export async function requireComment(
  db: Queryable,
  commentId: string,
  changeId?: string,
): Promise<ChangeComment> {
  const { rows } = await db.query<ChangeComment>(
    `select ${columnsOf(ChangeComment)} from iu_core.change_comment
      where comment_id = $1 and ($2::uuid is null or change_id = $2)`,
    [commentId, changeId ?? null],
  )
  if (!rows[0]) throw new StagedoorError('comment_not_found', { comment: commentId })
  return rows[0]
}

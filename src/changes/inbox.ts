/** The inbox: what concerns one person, one row for each matter and change. `fn_inbox` finds it in what is stored anyway. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import {
  columnsOf,
  nullable,
  type Row,
  shape,
  Text,
  Timestamp,
  Type,
  Uuid,
  UuidOrNull,
} from '../kernel/schema.ts'
import { CHANGE_KINDS, CHANGE_STATUSES } from './shapes.ts'

/** What is to be done stays until it is done. */
export const TO_DO_MATTERS = [
  'review_requested',
  'changes_requested',
  'undo_requested',
  'plan_outdated',
] as const
/** News can be marked as read. */
export const NEWS_MATTERS = ['mentioned', 'replied', 'approved', 'promoted', 'rejected', 'undone'] as const
export type NewsMatter = (typeof NEWS_MATTERS)[number]

export const MAX_INBOX = 500

export const InboxMatter = shape('InboxMatter', {
  matter: Type.Enum([...TO_DO_MATTERS, ...NEWS_MATTERS]),
  to_do: Type.Boolean({ description: 'it stays until it is done; false: news, which can be marked as read' }),
  change_id: Uuid,
  workspace_id: Uuid,
  number: Type.Integer({ description: 'of the change: #128' }),
  kind: Type.Enum([...CHANGE_KINDS]),
  title: Text,
  status: Type.Enum([...CHANGE_STATUSES]),
  actor: Type.String({ description: 'who did it last' }),
  at: Timestamp,
  group_name: nullable(Type.String({ description: 'through which group your review is asked' })),
  by_policy: Type.Boolean({
    description:
      'nobody named you: the review policy asks for an approval by your group, or without group_name by your role; actor has submitted it',
  }),
  comment_id: UuidOrNull,
  excerpt: nullable(Type.String({ description: 'how the comment or the reason begins' })),
  many: Type.Integer({ description: 'how many of this matter on this change' }),
  unread: Type.Boolean(),
  seen: Type.Integer({
    description: 'give it back to mark the matter as read; what comes later stays unread',
  }),
})
export type InboxMatter = Row<typeof InboxMatter>

export interface Inbox {
  /** What is to be done first, the oldest first; then news, the newest first. */
  readonly matters: InboxMatter[]
  /** Of all, also of those after the limit. */
  readonly to_do: number
  readonly unread: number
}

export interface InboxFilter {
  readonly workspaceId?: string | undefined
  /** With news of the last 30 days that was read. */
  readonly all?: boolean | undefined
  readonly limit?: number | undefined
  /** For the back end: whose inbox. */
  readonly person?: string | undefined
}

interface CountedMatter extends InboxMatter {
  readonly to_do_count: number
  readonly unread_count: number
}

export async function readInbox(db: Queryable, filter: InboxFilter = {}): Promise<Inbox> {
  const { rows } = await db.query<CountedMatter>(
    `select ${columnsOf(InboxMatter)}, to_do_count, unread_count from iu_core.fn_inbox($1, $2, $3, $4)`,
    [filter.workspaceId ?? null, filter.all ?? false, filter.limit ?? 100, filter.person ?? null],
  )
  return {
    matters: rows.map(({ to_do_count, unread_count, ...matter }) => matter),
    to_do: rows[0]?.to_do_count ?? 0,
    unread: rows[0]?.unread_count ?? 0,
  }
}

/** News as it was listed: what came after `seen` stays unread. */
export type SeenMatter = Pick<InboxMatter, 'change_id' | 'matter' | 'seen'>

/** Throws change_refused for what is to be done. Returns how many marks are new. */
export async function markRead(
  db: Queryable,
  items: readonly SeenMatter[],
  person?: string,
): Promise<number> {
  const { rows } = await db.query<{ marked: number }>('select iu_core.fn_inbox_read($1, $2) as marked', [
    JSON.stringify(items.map(({ change_id, matter, seen }) => ({ change_id, matter, seen }))),
    person ?? null,
  ])
  return rows[0]!.marked
}

/** Of what is listed, what can be marked. */
export const unreadNews = ({ matters }: Inbox): InboxMatter[] =>
  matters.filter(({ to_do, unread }) => !to_do && unread)

/** The shapes of changes, comments and history, each stated once: the TypeScript type, the columns and the API follow from them. */
import {
  Approvers,
  IntegerOrNull,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  Uuid,
} from '../kernel/schema.ts'

export const CHANGE_KINDS = ['upload', 'record', 'cut', 'sql'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export const CHANGE_STATUSES = [
  'draft',
  'open',
  'changes_requested',
  'approved',
  'promoted',
  'undone',
  'rejected',
  'closed',
] as const
export type ChangeStatus = (typeof CHANGE_STATUSES)[number]

const RequestedReviewer = shape('RequestedReviewer', {
  reviewer: nullable(Type.String({ description: 'user id; null: a group' })),
  group_name: TextOrNull,
  requested_by: Text,
  requested_at: Type.String({ format: 'date-time' }),
})

const UndoRequest = shape('UndoRequest', {
  requested_by: Text,
  requested_at: Type.String({ format: 'date-time' }),
  comment_id: Uuid,
  reason: Text,
})

export const ChangeSummary = shape('ChangeSummary', {
  change_id: Uuid,
  workspace_id: Uuid,
  number: Type.Integer({ description: 'counted in its workspace: #128', examples: [128] }),
  kind: Type.Enum([...CHANGE_KINDS]),
  subject_id: Type.String({ format: 'uuid', description: 'id of the upload or the staging record' }),
  title: Text,
  author: Text,
  author_via: nullable(Type.String({ description: 'the login that acted for the author' })),
  status: Type.Enum([...CHANGE_STATUSES]),
  labels: Type.Array(Text),
  digest: nullable(
    Type.String({ description: 'of the plan of an upload, or of the bytes of a record; null: no plan' }),
  ),
  dataset: nullable(Type.String({ description: 'of an upload' })),
  reviewers: Type.Array(RequestedReviewer),
  approvers: Approvers,
  undo_request: nullable(UndoRequest),
  comment_count: Type.Integer({ description: 'ever written, deleted ones among them' }),
  open_threads: Type.Integer({ description: 'threads that are not resolved' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  closed_at: TimestampOrNull,
  outdated: nullable(
    Type.Enum(['outdated', 'maybe_outdated'], {
      description:
        'of the plan of an upload. outdated: production has moved under its rows; maybe_outdated: its tables were written since, and nobody has compared the rows; null: nothing is known of it',
    }),
  ),
})
export type ChangeSummary = Row<typeof ChangeSummary>

export const Change = shape('Change', { ...ChangeSummary.properties, description: Text })
export type Change = Row<typeof Change>

export const ChangeComment = shape('ChangeComment', {
  comment_id: Uuid,
  change_id: Uuid,
  thread_id: Type.String({ format: 'uuid', description: 'the first comment of its thread' }),
  row_type: nullable(
    Type.String({ description: 'of a comment on a row or cell; null: on the whole change' }),
  ),
  line: IntegerOrNull,
  column_name: nullable(Type.String({ description: 'of a comment on a cell' })),
  digest: nullable(Type.String({ description: 'what the change stood at when it was written' })),
  body: Type.String({ description: 'empty: it was deleted' }),
  author: Text,
  via: TextOrNull,
  mentions: Type.Array(Text, { description: 'user ids' }),
  edit_count: Type.Integer(),
  created_at: Timestamp,
  edited_at: TimestampOrNull,
  deleted_at: TimestampOrNull,
  resolved_at: nullable(
    Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'of the thread' }),
  ),
  resolved_by: TextOrNull,
})
export type ChangeComment = Row<typeof ChangeComment>

export const CommentEdit = shape('CommentEdit', {
  edit_no: Type.Integer(),
  body: Type.String({ description: 'what the comment said' }),
  written_at: Timestamp,
  replaced_at: Timestamp,
})
export type CommentEdit = Row<typeof CommentEdit>

export const ChangeHistoryEntry = shape('ChangeHistoryEntry', {
  seq: Type.Integer(),
  at: Timestamp,
  actor: Text,
  via: TextOrNull,
  what: Type.String({
    description:
      'opened, status, planned, titled, described, labelled, review_requested, asked_again, reviewed, review_kept, review_dismissed, commented, comment_edited, comment_deleted, thread_resolved, thread_reopened, undo_requested, undo_declined',
  }),
  detail: Type.Record(Text, Type.Unknown(), { description: 'ids, statuses and digests, never a text' }),
})
export type ChangeHistoryEntry = Row<typeof ChangeHistoryEntry>

export const ChangeDifference = shape('ChangeDifference', {
  number: IntegerOrNull,
  workspace_id: Uuid,
  kind: Type.Enum([...CHANGE_KINDS]),
  subject_id: Uuid,
  problem: Type.Enum(['missing', 'kind', 'status', 'digest']),
  was: TextOrNull,
  should_be: TextOrNull,
})
export type ChangeDifference = Row<typeof ChangeDifference>

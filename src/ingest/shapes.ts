/** Uploads, their lines and their promotions. Each record is stated once, here or in plan-shapes.ts and mapping-shapes.ts: its type, its columns and its shape in the API. */
import {
  Approvers,
  BigCount,
  Digest,
  IntegerOrNull,
  JsonObject,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
  typed,
  Uuid,
  UuidOrNull,
} from '../kernel/schema.ts'
import type { Reading as ReadingType } from './datasets/compile.ts'
import {
  ConflictAnswer,
  ControlTotal,
  FileNote,
  GATE_MODES,
  GateMode,
  Image,
  Line,
  OutdatedOrNull,
  OwnTotals,
  RepeatedKeys,
  RowKey,
  Snapshot,
  Totals,
} from './plan-shapes.ts'

export const UPLOAD_STATUSES = [
  'reading',
  'staged',
  'planned',
  'promoted',
  'undone',
  'failed',
  'discarded',
  'expired',
] as const
export const RUN_MODES = ['FULL_DRY_RUN', 'STAGING_ONLY', 'SAFE_PROD'] as const
export const VALIDATION_STATUSES = ['valid', 'invalid', 'skipped'] as const

export const Progress = shape('UploadProgress', {
  stage: Type.Enum(['read', 'check', 'stage', 'plan', 'promote']),
  done: Type.Number(),
  total: Type.Number(),
  lines: Type.Optional(Type.Integer()),
  problem: Type.Optional(
    Type.String({ description: 'why the last attempt to read the file failed; it will be tried again' }),
  ),
})
export type Progress = Row<typeof Progress>

const HeaderMap = shape('HeaderMap', {
  headers: Type.Array(Text),
  fields: Type.Record(
    Text,
    shape('MappedField', {
      column: Type.Integer(),
      header: Text,
      type: Text,
      micros: Type.Optional(Type.Boolean()),
      currency: Type.Optional(Text),
      duplicates: Type.Array(Type.Integer()),
    }),
    { description: 'field → the column that it comes from' },
  ),
  unknown: Type.Array(shape('UnknownColumn', { column: Type.Integer(), header: Text })),
  missing: Type.Array(
    shape('MissingField', {
      field: Text,
      title: Text,
      nearest: Type.Optional(Text),
      means: Type.Optional(Text),
    }),
  ),
  rowTypes: Type.Array(Text),
  leaf: Text,
  notes: Type.Array(shape('HeaderNote', { rule: Text, message: Text })),
})

/** As the compiler of the dataset made it, whose own types it has. */
const Reading = typed<ReadingType>(
  shape('Reading', {
    format: Type.Enum(['csv', 'jsonl', 'json', 'parquet', 'xlsx', 'rows']),
    definition_digest: Type.String({ description: 'of the dataset that it was read by' }),
    encoding: Text,
    delimiter: TextOrNull,
    header_line: Type.Integer(),
    headers: Type.Array(Text),
    preamble: Type.Array(shape('PreambleLine', { line: Type.Integer(), text: Text })),
    styles: shape('Styles', {
      decimal: Type.Enum(['dot', 'comma', 'mixed', 'unknown']),
      dates: Type.Enum(['dmy', 'mdy', 'mixed', 'unknown']),
    }),
    map: HeaderMap,
    period: nullable(shape('Period', { start: Text, end: Text })),
    values: Type.Record(Text, Type.Record(Text, TextOrNull)),
    layout: shape('Layout', { fields: Type.Array(Text), row_types: Type.Array(Text), leaf: Text }),
  }),
)

const UploadError = shape('UploadError', { code: Text, message: Text, hint: Text })
export const PromotionFailure = shape(
  'PromotionFailure',
  {
    plan_digest: Digest,
    tried_by: Text,
    tried_via: TextOrNull,
    failed_at: Type.String({ format: 'date-time' }),
    error: UploadError,
  },
  { description: 'A promotion that was tried and failed; nothing was written, and it can be tried again.' },
)
export type PromotionFailure = Row<typeof PromotionFailure>

const Proposal = shape(
  'UploadProposal',
  {
    statement: Text,
    operation: Type.Enum(['insert', 'update', 'delete', 'merge']),
    target: Text,
    took_ms: Type.Integer({ description: 'how long the statement took, with its analysis' }),
    locked_ms: Type.Integer({ description: 'how long its locks were held' }),
  },
  { description: 'A pull request in SQL: its rows are what this statement gave.' },
)

export const PROPOSAL_OPERATIONS = ['insert', 'update', 'delete'] as const
/** A table on which statements can be proposed. */
export const ProposalTable = shape('ProposalTable', {
  workspace_id: Uuid,
  target: Text,
  dataset: Type.String({ description: 'of its uploads; policies may name it' }),
  operations: Type.Array(Type.Enum([...PROPOSAL_OPERATIONS])),
  columns: nullable(Type.Array(Text, { description: 'that a statement may set; null: all but the key' })),
  key: Type.Array(Text),
  triggers: Type.Array(Text, {
    description: 'that run while a statement is worked out, and again with the promotion',
  }),
  triggers_allowed: Type.Boolean(),
  max_rows: Type.Integer({ description: 'of one proposal' }),
  row_security: Type.Boolean(),
  opened_by: Text,
  opened_at: Timestamp,
  closed_by: TextOrNull,
  closed_at: TimestampOrNull,
  not_ready: nullable(Type.String({ description: 'what is missing until statements can be proposed' })),
})
export type ProposalTable = Row<typeof ProposalTable>

export const Upload = shape('Upload', {
  upload_id: Uuid,
  workspace_id: Uuid,
  client_id: Uuid,
  dataset: Text,
  platform: Text,
  file_name: Text,
  file_hash: Digest,
  byte_len: BigCount,
  run_mode: Type.Enum([...RUN_MODES]),
  status: Type.Enum([...UPLOAD_STATUSES]),
  reading: nullable(Reading),
  notes: Type.Array(FileNote, { description: 'about the whole file' }),
  line_count: IntegerOrNull,
  valid_count: IntegerOrNull,
  invalid_count: IntegerOrNull,
  skipped_count: IntegerOrNull,
  warning_count: IntegerOrNull,
  left_out: Type.Record(Text, Type.Integer(), {
    description: 'reason → lines that are left out',
    examples: [{ 'row.total': 1, 'key.repeated': 60 }],
  }),
  control: Type.Array(ControlTotal, { description: 'of the check, then of the plan, then of the promotion' }),
  own_totals: nullable(OwnTotals),
  repeated_keys: nullable(RepeatedKeys),
  plan_notes: Type.Array(FileNote, { description: 'what the plan noticed about the whole file' }),
  progress: nullable(Progress),
  error: nullable(UploadError),
  cursor_name: TextOrNull,
  cursor_value: Type.Unknown(),
  uploaded_by: Text,
  uploaded_via: TextOrNull,
  changed_by: Type.Array(Text, { description: 'everybody who put something into it; none of them approves' }),
  created_at: Timestamp,
  staged_at: TimestampOrNull,
  read_ms: nullable(
    Type.Integer({ description: 'how long the file took to read; corrections leave it as it is' }),
  ),
  ended_at: TimestampOrNull,
  plan_digest: nullable(Digest),
  gate_mode: nullable(Type.Enum([...GATE_MODES])),
  threshold: TextOrNull,
  plan_totals: nullable(Totals),
  plan_refusal: nullable(Type.String({ description: 'why it cannot be promoted as it is' })),
  planned_by: TextOrNull,
  planned_at: TimestampOrNull,
  plan_took_ms: IntegerOrNull,
  review_record_id: UuidOrNull,
  approval_required: Type.Boolean(),
  review_status: nullable(Type.Enum(['not_submitted', 'pending', 'approved', 'rejected', 'expired'])),
  review_reason: TextOrNull,
  approvers: Approvers,
  approved_by: TextOrNull,
  approved_at: TimestampOrNull,
  promoted_by: TextOrNull,
  promoted_at: TimestampOrNull,
  promotion_totals: nullable(Totals),
  undo_until: TimestampOrNull,
  undone_by: TextOrNull,
  undone_at: TimestampOrNull,
  undo_reason: TextOrNull,
  undo_totals: nullable(Totals),
  plan_snapshot: nullable(Snapshot),
  promotion_failures: Type.Array(PromotionFailure, {
    description: 'promotions that failed, newest first, at most twenty; a later success keeps them',
  }),
  promotion_failure_count: Type.Integer({ description: 'in all' }),
  change: nullable(Type.Integer({ description: 'number of its change: #128; null: a dry run' })),
  title: nullable(
    Type.String({
      description: 'of its change; null: a dry run',
    }),
  ),
  steps: Type.Array(shape('TimedStep', { step: Text, ms: Type.Number() }), {
    description: 'checks over all lines and steps of the plan, with the time that each took in the database',
  }),
  conflict_answers: Type.Array(ConflictAnswer, {
    description: 'whose values count where production had moved on, newest first, at most twenty',
  }),
  outdated: OutdatedOrNull,
  proposal: nullable(Proposal),
  file_kept_until: nullable(
    Type.Unsafe<Date>({
      ...Type.String({ format: 'date-time' }),
      description: 'it failed, and its file is kept until then: it can be read again',
    }),
  ),
})
export type Upload = Row<typeof Upload>

export const Promotion = shape('Promotion', {
  upload_id: Uuid,
  plan_digest: Digest,
  gate_mode: GateMode,
  totals: Totals,
  control: Type.Array(ControlTotal),
  approvers: Approvers,
  approved_by: TextOrNull,
  approved_at: TimestampOrNull,
  promoted_by: Text,
  promoted_at: Timestamp,
  undo_until: Timestamp,
  undone_by: TextOrNull,
  undone_at: TimestampOrNull,
  undo_reason: TextOrNull,
  undo_totals: nullable(Totals),
})
export type Promotion = Row<typeof Promotion>

export const PROMOTION_STATES = ['undoable', 'final', 'undone'] as const
/** A promotion as a list shows it: what was promoted, by whom, and whether it can be undone. */
export const PromotionSummary = shape('PromotionSummary', {
  upload_id: Uuid,
  workspace_id: Uuid,
  change: nullable(Type.Integer({ description: 'number of its change: #128' })),
  title: Type.String({ description: 'of its change' }),
  dataset: Text,
  platform: Text,
  file_name: Text,
  totals: Totals,
  uploaded_by: Text,
  approvers: Approvers,
  approved_at: TimestampOrNull,
  promoted_by: Text,
  promoted_at: Timestamp,
  state: Type.Enum([...PROMOTION_STATES], {
    description: 'undoable: until undo_until; final: that time is over',
  }),
  undo_until: Timestamp,
  undone_by: TextOrNull,
  undone_at: TimestampOrNull,
  undo_reason: TextOrNull,
  undo_totals: nullable(Totals),
})
export type PromotionSummary = Row<typeof PromotionSummary>

const LineProblem = shape('LineProblem', {
  line: Type.Integer(),
  column: TextOrNull,
  field: TextOrNull,
  value: TextOrNull,
  rule: Text,
  message: Text,
  suggestion: Text,
})
export const StagedRow = shape('StagedRow', {
  row_number: Line,
  row_type: Text,
  validation_status: Type.Enum([...VALIDATION_STATUSES, 'pending']),
  raw_payload: Type.Record(Text, TextOrNull, { description: 'header → text of the cell' }),
  normalized_payload: nullable(JsonObject),
  validation_errors: Type.Array(LineProblem),
  validation_warnings: Type.Array(LineProblem),
  processing_action: Text,
  target_internal_id: UuidOrNull,
})
export type StagedRow = Row<typeof StagedRow>

export const LeftOutLine = shape('LeftOutLine', {
  line: Line,
  reason: Type.String({
    description: 'the rule: row.total, row.subtotal, row.sum, key.repeated, line.left_out',
  }),
  message: Text,
  values: Type.Record(Text, Text, {
    description: 'field → value, of those that are not empty; numbers are text with all their digits',
  }),
})
export type LeftOutLine = Row<typeof LeftOutLine>

export const UndoPlan = shape('UndoPlan', {
  totals: Totals,
  stays: Type.Array(
    shape('RowThatStays', {
      row_type: Type.String({ description: 'or the table, of a row that a foreign key deleted or changed' }),
      line: Line,
      target: Text,
      target_key: JsonObject,
      outcome: Type.Enum(['kept', 'refused']),
      reason: Text,
    }),
    { description: 'rows that would stay, and why; the first 200' },
  ),
  digest: Digest,
  undo_until: Timestamp,
})
export type UndoPlan = Row<typeof UndoPlan>

const written = {
  line: Line,
  target: Type.String({ examples: ['public.daily_metrics'] }),
  target_id: UuidOrNull,
  target_key: nullable(JsonObject),
  action: Type.Enum(['insert', 'update', 'delete']),
  undo_outcome: TextOrNull,
}
export const LedgerRow = shape('LedgerRow', {
  type_order: Type.Integer(),
  row_type: Text,
  ...written,
  undo_reason: TextOrNull,
  /** The fields of its line, which name it. Null: the line was deleted. */
  label: nullable(Image),
  /** Null: the plan was deleted, as it cannot be undone any more. */
  row_key: nullable(RowKey),
})
export type LedgerRow = Row<typeof LedgerRow>

export const LineageEntry = shape('LineageEntry', {
  upload_id: Uuid,
  file_name: Text,
  file_hash: Digest,
  statement: nullable(Type.String({ description: 'that wrote it; null: a file did' })),
  row_type: Text,
  ...written,
  label: nullable(Image),
  row_key: nullable(RowKey),
  /** Of its file, in their order: of these, label names the row. */
  fields: Type.Array(Text),
  written: nullable(
    Type.Array(shape('WrittenColumn', { column: Text, from: Type.Unknown(), to: Type.Unknown() }), {
      description:
        'what it wrote, old and new; of an update only the columns that it changed. null: deleted, as it cannot be undone any more',
    }),
  ),
  uploaded_by: Text,
  approvers: Approvers,
  approved_by: TextOrNull,
  approved_at: TimestampOrNull,
  promoted_by: Text,
  promoted_at: Timestamp,
  undone_by: TextOrNull,
  undone_at: TimestampOrNull,
  undo_reason: TextOrNull,
  repairs: Type.Array(
    shape('Repair', {
      what: Type.Enum(['corrected', 'left_out', 'taken_in']),
      column: TextOrNull,
      from: TextOrNull,
      to: TextOrNull,
      by: Text,
      at: Text,
    }),
    { description: 'what people corrected in its line before it was promoted, the oldest first' },
  ),
})
export type LineageEntry = Row<typeof LineageEntry>

/** What a repair did, or would do. */
export const RepairOutcome = shape('RepairOutcome', {
  lines: Type.Integer(),
  cells: Type.Integer(),
  dry_run: Type.Boolean(),
  replanned: nullable(
    Type.Enum(['lines', 'whole'], {
      description:
        'lines: only what these lines touch was planned again; whole: everything was; null: nothing',
    }),
  ),
  reason: nullable(
    Type.String({ description: 'why everything was planned again, or what planning again asks first' }),
  ),
  changes: Type.Array(shape('CellChange', { line: Line, column: Text, from: Text, to: Text }), {
    description: 'of a dry run: each cell that would change, in the order of the file. Empty otherwise',
  }),
})

/** What is wrong in an upload, counted: what people filter by. */
export const ProblemKind = shape('ProblemKind', {
  severity: Type.Enum(['error', 'warning']),
  rule: Text,
  column: nullable(Type.String({ description: 'null: it is about the whole line' })),
  lines: Type.Integer(),
  message: Type.String({ description: 'of the first line' }),
})
export type ProblemKind = Row<typeof ProblemKind>

/** The records of this room, each stated once: its type, its columns and its shape in the API come from here. */
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
import { REPEATED_KEYS } from './datasets/dataset.ts'

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
/** What happens to invalid lines. refuse: all lines or none; skip: the valid ones, if they are enough. */
export const ON_INVALID = ['refuse', 'skip'] as const
/** The same in the database's words. */
export const GATE_MODES = ['STRICT', 'LENIENT'] as const
export const PLAN_ACTIONS = ['insert', 'update', 'unchanged', 'delete', 'skipped', 'refused'] as const
export const VALIDATION_STATUSES = ['valid', 'invalid', 'skipped'] as const

const GateMode = Type.Enum([...GATE_MODES], {
  description: 'STRICT: all lines or none; LENIENT: the valid ones, if they are enough',
})
const RepeatedKeys = Type.Enum([...REPEATED_KEYS], {
  description:
    'lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says',
})
/** How somebody asks for a plan: with the file, or later. */
export const planOptions = {
  on_invalid: Type.Optional(
    Type.Enum([...ON_INVALID], { description: 'plan all lines or none, or the valid ones; default refuse' }),
  ),
  threshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'share of valid lines that skip asks for; default 0.9',
    }),
  ),
  repeated_keys: Type.Optional(RepeatedKeys),
  max_deleted: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'of a snapshot: the share of the rows in its scope that may be deleted; default: as the dataset says',
    }),
  ),
  allow_short_file: Type.Optional(
    Type.Boolean({
      description: 'of a snapshot: the file is complete, although it is far shorter than the last ones',
    }),
  ),
}
export const CONFLICT_ANSWERS = ['keep_theirs', 'use_mine'] as const
/** How somebody asks for another plan. */
export const replanOptions = {
  ...planOptions,
  on_conflict: Type.Optional(
    Type.Enum([...CONFLICT_ANSWERS], {
      description:
        'whose values count where production has moved on since the last plan and the file says otherwise; without it, such a plan is refused (plan_conflicts)',
    }),
  ),
  conflicts_digest: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'of the conflicts that you saw: if there are others by now, it is refused again and nothing is planned',
    }),
  ),
}
const PlanAction = Type.Enum([...PLAN_ACTIONS])
const Line = Type.Integer({
  description: 'the line of the file; negative: a row that the file lacks and that is deleted',
})

export const Totals = Type.Record(Text, Type.Record(Text, Type.Integer()), {
  description: 'row type → action or outcome → rows',
  examples: [{ daily_metric: { insert: 240, update: 12, unchanged: 4000 } }],
})
export type Totals = Row<typeof Totals>

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

const FileNote = shape('FileNote', {
  rule: Text,
  message: Text,
  line: Type.Optional(Type.Integer()),
  count: Type.Optional(Type.Integer()),
})

const decimal = { pattern: '^-?[0-9]+(\\.[0-9]+)?$', examples: ['598000000.25'] }
const Decimal = Type.String(decimal)
const OptionalDecimal = Type.Optional(Decimal)
export const ControlTotal = shape(
  'ControlTotal',
  {
    measure: Text,
    title: Text,
    column: Type.String({ description: 'of the table that takes it' }),
    currency: TextOrNull,
    read: Decimal,
    valid: Decimal,
    left_out: Decimal,
    refused: Decimal,
    totals_lines: Type.Optional(
      Type.String({
        ...decimal,
        description:
          'in lines that sum up others; counted nowhere else. Missing in plans of older versions, where it is in read and left_out',
      }),
    ),
    reasons: Type.Record(Text, Decimal, {
      description: 'reason → what the lines that it left out hold, those that sum up others included',
    }),
    unread: Type.Integer({ description: 'cells that are no number, so that their amount is unknown' }),
    written: OptionalDecimal,
    unchanged: OptionalDecimal,
    before: OptionalDecimal,
    after: OptionalDecimal,
    difference: OptionalDecimal,
    lost_share: OptionalDecimal,
  },
  {
    description:
      'How much of a measure was read (valid + left out + refused; lines that sum up others are apart), goes into new and changed rows (written), and what the rows that valid lines are about hold before and after. Decimals are exact text; money is by currency.',
  },
)
export type ControlTotal = Row<typeof ControlTotal>

const OwnTotalFigure = shape('OwnTotalFigure', {
  column: Type.String({ description: 'of the file' }),
  title: Text,
  field: Text,
  file: Type.String({ ...decimal, description: 'what the total line says' }),
  sum: Type.String({ ...decimal, description: 'of the lines' }),
  difference: Type.String({ ...decimal, description: 'file − sum' }),
  unread: Type.Integer({ description: 'cells of these lines that are no number: the sum lacks them' }),
  result: Type.Enum(['agrees', 'disagrees', 'not_compared']),
  reason: Type.Optional(Type.String({ description: 'why it was not compared' })),
})
const OwnTotal = shape('OwnTotal', {
  line: Type.Integer({ description: 'of the file' }),
  label: nullable(Type.String({ examples: ['Total: Ads'] })),
  result: Type.Enum(['agrees', 'disagrees', 'not_compared']),
  with: nullable(
    Type.String({
      description: 'the lines that it was compared with',
      examples: ['all lines', 'lines with “ads” in Channel'],
    }),
  ),
  lines: nullable(Type.Integer({ description: 'how many they are' })),
  reason: nullable(Type.String({ description: 'why it was not compared' })),
  figures: Type.Array(OwnTotalFigure, { description: 'those that disagree first, at most 20' }),
  more_figures: Type.Integer(),
})
export type OwnTotal = Row<typeof OwnTotal>
export const OwnTotals = shape(
  'OwnTotals',
  {
    lines: Type.Integer({ description: 'lines of the file that sum up others' }),
    agree: Type.Integer({ description: 'of them' }),
    disagree: Type.Integer({ description: 'of them' }),
    not_compared: Type.Integer({ description: 'of them' }),
    columns: Type.Array(Text, { description: 'columns that were compared' }),
    excluded: Type.Array(shape('OwnTotalExcluded', { column: Text, reason: Text }), {
      description: 'numbers of these lines that were not compared',
    }),
    more_excluded: Type.Integer(),
    totals: Type.Array(OwnTotal, { description: 'those that disagree first, at most 100' }),
    more_totals: Type.Integer(),
  },
  {
    description:
      'The file’s own totals (lines such as “Total” or “Total: Ads”), compared with the sums of its lines on the decimals that they show; made again after every correction.',
  },
)
export type OwnTotals = Row<typeof OwnTotals>

const Dependents = Type.Array(
  shape('Dependents', {
    table: Text,
    effect: Type.Enum(['delete', 'set null', 'set default', 'restrict'], {
      description: 'what the foreign key does to them; restrict: it forbids the delete',
    }),
    rows: Type.Integer(),
  }),
  { description: 'rows of other tables that refer to what is deleted, directly or through others' },
)
export const Snapshot = shape(
  'Snapshot',
  {
    row_type: Text,
    scope: Type.Array(Text, { description: 'columns; none: all rows of the tenant' }),
    in_scope: Type.Integer({ description: 'rows of the table' }),
    deleted: Type.Integer({ description: 'of them, those that the file lacks' }),
    max_deleted: Type.Number({ description: 'the share that may be deleted' }),
    needed_max_deleted: Type.Optional(
      nullable(Type.Number({ description: 'the share that it needs; null: what may be deleted is enough' })),
    ),
    confirmed: Type.Boolean({ description: 'somebody allowed max_deleted for this upload' }),
    lines: IntegerOrNull,
    usual_lines: nullable(Type.Number({ description: 'median of the last promoted uploads' })),
    too_short: Type.Optional(
      Type.Boolean({ description: 'far shorter than those, and nobody allowed that for this upload' }),
    ),
    short_file_allowed: Type.Optional(
      Type.Boolean({ description: 'somebody said that this upload is complete, however short it is' }),
    ),
    kept: Type.Integer({ description: 'invalid or skipped lines whose rows stay as they are' }),
    blocked: Type.Integer({
      description: 'rows that the file lacks and that stay, because others refer to them',
    }),
    dependents: Dependents,
  },
  { description: 'The file is the whole truth: rows in its scope that it lacks are deleted.' },
)
export type Snapshot = Row<typeof Snapshot>

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

const ConflictCount = shape('ConflictCount', {
  table: Text,
  column: Type.Optional(Type.String({ description: 'not there: whole rows' })),
  kind: Type.Enum(['changed', 'created', 'deleted', 'to_delete']),
  cells: Type.Integer(),
})
export const ConflictAnswer = shape('ConflictAnswer', {
  answer: Type.Enum([...CONFLICT_ANSWERS]),
  cells: Type.Integer(),
  rows: Type.Integer(),
  columns: Type.Array(ConflictCount),
  answered_by: Text,
  answered_via: TextOrNull,
  answered_at: Type.String({ format: 'date-time' }),
})
export type ConflictAnswer = Row<typeof ConflictAnswer>

/** Nothing says that a plan is up to date: others may write the tables, too. */
export const OUTDATED = ['outdated', 'maybe_outdated'] as const
export type Outdated = (typeof OUTDATED)[number]
export const OutdatedOrNull = nullable(
  Type.Enum([...OUTDATED], {
    description:
      'outdated: production has moved under rows of the plan; maybe_outdated: its tables were written since, and nobody has compared the rows; null: nothing is known of it',
  }),
)

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
  steps: Type.Array(shape('TimedStep', { step: Text, ms: Type.Number() }), {
    description: 'checks over all lines and steps of the plan, with the time that each took in the database',
  }),
  conflict_answers: Type.Array(ConflictAnswer, {
    description: 'whose values count where production had moved on, newest first, at most twenty',
  }),
  outdated: OutdatedOrNull,
  file_kept_until: nullable(
    Type.Unsafe<Date>({
      ...Type.String({ format: 'date-time' }),
      description: 'it failed, and its file is kept until then: it can be read again',
    }),
  ),
})
export type Upload = Row<typeof Upload>

export const Plan = shape('Plan', {
  upload_id: Uuid,
  plan_id: Uuid,
  digest: Digest,
  gate_mode: GateMode,
  threshold: Text,
  totals: Totals,
  control: Type.Array(ControlTotal),
  repeated_keys: RepeatedKeys,
  notes: Type.Array(FileNote, { description: 'what it noticed about the whole file' }),
  refusal: nullable(Type.String({ description: 'why it cannot be promoted as it is; null: it can' })),
  approval_required: Type.Boolean(),
  review_record_id: UuidOrNull,
  planned_by: Text,
  planned_at: Timestamp,
  took_ms: Type.Integer(),
  snapshot: nullable(Snapshot),
})
export type Plan = Row<typeof Plan>

const DistributionSide = shape('DistributionSide', {
  count: Type.Integer({ description: 'rows with a number in this column' }),
  sum: TextOrNull,
  min: TextOrNull,
  median: TextOrNull,
  max: TextOrNull,
})
export const Distribution = shape('Distribution', {
  before: DistributionSide,
  after: DistributionSide,
  buckets: Type.Array(
    shape('DistributionBucket', { from: Text, to: Text, before: Type.Integer(), after: Type.Integer() }),
  ),
})
export type Distribution = Row<typeof Distribution>

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

const Image = Type.Record(Text, Type.Unknown(), {
  description: 'column → value; integers beyond 2^53 are strings',
})
const RowKey = Type.Array(shape('PlanRowKey', { column: Text, value: TextOrNull }), {
  description: 'the columns of the key that the file fills, in the order of the key',
})

export const PlanRow = shape('PlanRow', {
  type_order: Type.Integer(),
  row_type: Text,
  row_number: Line,
  action: PlanAction,
  target_id: UuidOrNull,
  target_key: nullable(Image),
  before: nullable(Image),
  after: nullable(Image),
  changed: nullable(Type.Array(Text)),
  reason: TextOrNull,
  dependents: nullable(Dependents),
  label: nullable(Image),
  row_key: RowKey,
  names: nullable(
    Type.Record(Text, shape('LookupNames', { before: TextOrNull, after: TextOrNull }), {
      description:
        'column → name of what the row refers to, of columns that are looked up; null: none, or not known',
    }),
  ),
})
export type PlanRow = Row<typeof PlanRow>

const CONFLICTS = ['same_cell', 'old_value', 'deleted', 'created', 'to_delete', 'other_cells'] as const

const nameOfValue = Type.Optional(Type.String())

/** Of a row that the plan leaves unchanged, `before` and `planned` are the values of its line; `now`: null where it is gone. */
export const StaleRow = shape('StaleRow', {
  type_order: Type.Integer(),
  target_table: Text,
  row_type: Text,
  line: Line,
  action: PlanAction,
  key: Image,
  before: nullable(Image),
  planned: nullable(Image),
  now: nullable(Image),
  conflict: Type.Enum([...CONFLICTS], {
    description:
      'same_cell: both changed a cell, to different values; old_value: they changed a cell for which the file has the old value, so that the next plan takes it back; deleted: the row is gone; created: they inserted a row with this key; to_delete: they changed a row that the plan deletes; other_cells: they changed only what the file does not write, or to the same values, so that both changes can live',
  }),
  yours: Type.Array(Text, { description: 'columns that the plan changes' }),
  theirs: Type.Array(Text, { description: 'columns that somebody changed since' }),
  row_key: RowKey,
  label: nullable(Image),
  names: nullable(
    Type.Record(Text, Type.Object({ before: nameOfValue, planned: nameOfValue, now: nameOfValue }), {
      description: 'column → what people call the rows that it refers to',
    }),
  ),
})
export type StaleRow = Row<typeof StaleRow>

export const ConflictRow = shape('ConflictRow', {
  type_order: Type.Integer(),
  table: Text,
  row_type: Text,
  line: Line,
  kind: Type.Enum(['changed', 'created', 'deleted', 'to_delete'], {
    description:
      'changed: they changed cells; created: they inserted a row that the last plan inserts; deleted: they deleted a row that would be inserted again; to_delete: they changed or inserted a row that would be deleted',
  }),
  key: Image,
  label: nullable(Image),
  cells: Type.Array(
    Type.Object({ column: Text, base: Type.Unknown(), theirs: Type.Unknown(), mine: Type.Unknown() }),
    { description: 'base: what the last plan saw; empty: the whole row is in question' },
  ),
  base: nullable(Image),
  theirs: nullable(Image),
})
export type ConflictRow = Row<typeof ConflictRow>

export const PlanConflicts = shape('PlanConflicts', {
  items: Type.Array(ConflictRow),
  total: Type.Integer({ description: 'rows in all; 0: planning again takes nothing back' }),
  cells: Type.Integer(),
  columns: Type.Array(ConflictCount),
  digest: Digest,
  next: nullable(Type.String({ description: 'of the page after this one' })),
})
export type PlanConflicts = Row<typeof PlanConflicts>

/** In rows. */
export const PlanSince = shape('PlanSince', {
  known: Type.Boolean({ description: 'false: the rows of that plan are not stored' }),
  same: Type.Integer({ description: 'are written with the same old and new values' }),
  different: Type.Integer({ description: 'are written with other values, or over others' }),
  added: Type.Integer({ description: 'are written and were not approved' }),
  in_production: Type.Integer({ description: 'were approved and are there already' }),
  gone: Type.Integer({ description: 'were approved and are not written any more' }),
})
export type PlanSince = Row<typeof PlanSince>

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
})
export type LedgerRow = Row<typeof LedgerRow>

export const LineageEntry = shape('LineageEntry', {
  upload_id: Uuid,
  file_name: Text,
  file_hash: Digest,
  row_type: Text,
  ...written,
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

const CellOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1000 })
/** What was said about the headers and values of files. */
export const datasetMapping = {
  headers: Type.Record(Text, CellOrNull, {
    description: 'header → field; null: the column is ignored',
    examples: [{ Kosten: 'spend', Notes: null }],
  }),
  field_values: Type.Record(Text, Type.Record(Text, CellOrNull), {
    description: 'field → value in the file → value to take',
  }),
}
const ReadOptionsMemory = shape('ReadOptionsMemory', {
  author: Type.String({ description: 'whose next files are read by it' }),
  shape: Type.String({ description: 'of the files: their format and headers, as sha-256' }),
  columns: Type.Array(Text, { description: 'the first headers' }),
  options: shape('RememberedReadOptions', {
    encoding: Type.Optional(Text),
    delimiter: Type.Optional(Text),
    header_line: Type.Optional(Type.Integer()),
    decimal: Type.Optional(Type.Enum(['dot', 'comma'])),
    dates: Type.Optional(Type.Enum(['dmy', 'mdy'])),
  }),
  upload_id: UuidOrNull,
  change: nullable(Type.Integer({ description: 'number of the change that they were chosen for' })),
  remembered_at: Timestamp,
})
export const DatasetMapping = shape('DatasetMapping', {
  ...datasetMapping,
  header_by: Type.Record(Text, Text, { description: 'header → who said last what it means' }),
  value_by: Type.Record(Text, Text, { description: 'field → who said last what values of it mean' }),
  updated_by: TextOrNull,
  updated_at: TimestampOrNull,
  read_options: Type.Array(ReadOptionsMemory, {
    description: 'how people had their files read, for their next ones of the same columns; newest first',
  }),
  fields: Type.Array(
    shape('DatasetField', {
      field: Text,
      title: Text,
      type: Text,
      required: Type.Boolean(),
    }),
  ),
})

const ReadBy = Type.Enum(['name', 'chosen', 'remembered', 'detected', 'open'], {
  description:
    'name: the dataset knows it; chosen: for this file; remembered: from an earlier file; detected: by the content of the file; open: the file shows both, so values that read two ways are invalid',
})
/** How a file was read: what people chose, what was remembered, what was found. */
export const FileReading = shape('FileReading', {
  upload_id: Uuid,
  columns: Type.Array(
    shape('ReadColumn', {
      header: Text,
      field: nullable(Type.String({ description: 'of the dataset; null: the column is not used' })),
      title: TextOrNull,
      ignored: Type.Boolean({ description: 'not used because a person has said so' }),
      how: nullable(ReadBy),
      by: nullable(Type.String({ description: 'who chose it, or said it for an earlier file' })),
    }),
  ),
  values: Type.Array(
    shape('MatchedValue', {
      field: Text,
      title: Text,
      value: Type.String({ description: 'as the file has it' }),
      meaning: nullable(Type.String({ description: 'what it was taken for; null: no value' })),
      lines: Type.Integer(),
      how: ReadBy,
      by: TextOrNull,
    }),
    { description: 'values of the file that somebody matched, at most 200' },
  ),
  more_values: Type.Integer({ description: 'that are not listed' }),
  options: Type.Array(
    shape('ReadOption', {
      option: Type.Enum([
        'format',
        'encoding',
        'delimiter',
        'header_line',
        'columns',
        'sheet',
        'decimal',
        'dates',
      ]),
      value: Text,
      how: ReadBy,
      change: Type.Optional(
        nullable(
          Type.Integer({ description: 'of what is remembered: number of the change that it was chosen for' }),
        ),
      ),
    }),
  ),
  defaults: Type.Array(shape('UsedDefault', { field: Text, title: Text, value: Text }), {
    description: 'fields without a column, whose declared default is taken',
  }),
  without: Type.Array(Text, { description: 'titles of fields that the file is said not to have' }),
})
export type FileReading = Row<typeof FileReading>

/** A mapping before the file is uploaded. */
const Certainty = Type.Enum(['sure', 'likely', 'uncertain', 'none'], {
  description: 'likely and uncertain: to be confirmed by a person; none: it is like no field',
})
const Reasons = Type.Array(Text, { description: 'for people' })

export const PreviewColumn = shape('PreviewColumn', {
  column: Type.Integer({ description: 'from 0' }),
  header: Text,
  examples: Type.Array(Text, { description: 'different values, the first of the file' }),
  filled: Type.Number({ description: 'share of the lines looked at that have a value' }),
  type: Type.String({
    description: 'what its values look like',
    examples: ['integer', 'date', 'text', 'empty'],
  }),
  field: nullable(Type.String({ description: 'of the dataset; null: the column is not used' })),
  ignored: Type.Boolean({ description: 'not used because a person has said so' }),
  certainty: Certainty,
  by: nullable(
    Type.Enum(['chosen', 'memory', 'name', 'likeness', 'content'], {
      description:
        'what it rests on. chosen: it came with this request; likeness and content: a proposal, which is used where it comes with the upload (`proposed`)',
    }),
  ),
  reasons: Reasons,
  alternatives: Type.Array(shape('FieldAlternative', { field: Text, title: Text }), {
    description: 'other fields that it may be, the best first',
  }),
  same_as: nullable(
    Type.Integer({ description: 'the first column with the same header: both are mapped together' }),
  ),
})
export type PreviewColumn = Row<typeof PreviewColumn>

export const PreviewField = shape('PreviewField', {
  field: Text,
  title: Text,
  type: Text,
  required: Type.Boolean(),
  expected: Type.Boolean({
    description: 'a file without it is refused, unless somebody says that it has none (`without`)',
  }),
  column: nullable(Type.Integer({ description: 'that it comes from, with all proposals; null: none' })),
  from: nullable(
    Type.Enum(['join', 'compute', 'default', 'period'], {
      description: 'where it comes from, if not from a column of its own',
    }),
  ),
  missing: Type.Boolean({ description: 'the file is refused without it' }),
})
export type PreviewField = Row<typeof PreviewField>

const UnknownValue = shape('UnknownValue', {
  value: Type.String({ description: 'as the file has it' }),
  lines: Type.Integer(),
  proposal: nullable(Type.String({ description: 'the known value that is most like it' })),
})
export type UnknownValue = Row<typeof UnknownValue>

export const PreviewValues = shape('PreviewValues', {
  field: Text,
  title: Text,
  header: Text,
  choices: Type.Array(Text, { description: 'what a value may mean; empty where there are too many' }),
  unknown: Type.Array(UnknownValue),
  more: Type.Integer({ description: 'unknown values that are not listed' }),
  severity: Type.Enum(['error', 'warning'], { description: 'error: lines with such a value are invalid' }),
})
export type PreviewValues = Row<typeof PreviewValues>

const PreviewStyle = shape('PreviewStyle', {
  found: Type.Enum(['dot', 'comma', 'dmy', 'mdy', 'mixed', 'unknown'], {
    description:
      'dot, comma: the decimal sign; dmy, mdy: what comes first. unknown, mixed: a value that reads two ways is an error, never a guess',
  }),
  by: nullable(
    Type.Enum(['chosen', 'file', 'remembered'], {
      description: 'who says so: a person, values of the file, or a person for an earlier file of this shape',
    }),
  ),
  proof: nullable(Type.String({ description: 'a value that only this style can have written' })),
  ambiguous: Type.Integer({ description: 'lines with a value that reads two ways' }),
  examples: Type.Array(Text, { description: 'such values, at most three' }),
  columns: Type.Array(Text, { description: 'the columns that have such values' }),
})
export type PreviewStyle = Row<typeof PreviewStyle>

const PreviewFile = shape(
  'PreviewFile',
  {
    delimiter: nullable(Type.String({ description: 'null: the format has none' })),
    sheet: nullable(Type.String({ description: 'of a workbook: the one that was read' })),
    sheets: Type.Array(Text, { description: 'of a workbook: all of them' }),
    above_header: Type.Array(shape('LineAbove', { line: Type.Integer(), text: Text }), {
      description: 'titles and dates',
    }),
    first_lines: Type.Array(shape('FirstLine', { line: Type.Integer(), cells: Type.Array(TextOrNull) }), {
      description: 'as they are read, at most five; long cells are cut',
    }),
    decimal: PreviewStyle,
    dates: PreviewStyle,
    recalled: nullable(
      shape(
        'RecalledOptions',
        {
          shape: Digest,
          upload_id: UuidOrNull,
          change: nullable(Type.Integer({ description: 'number of the change that they were chosen for' })),
          options: Type.Array(Type.Enum(['encoding', 'delimiter', 'header_line', 'decimal', 'dates']), {
            description: 'those that are used',
          }),
          notes: Type.Array(Text, { description: 'where the file shows something else, which is used' }),
        },
        { description: 'options that the same person chose for an earlier file with these columns' },
      ),
    ),
  },
  { description: 'how the file is written, as far as it was looked at' },
)

export const MappingPreview = shape('MappingPreview', {
  dataset: Text,
  platform: Text,
  format: Text,
  encoding: Text,
  file: PreviewFile,
  header_line: Type.Integer(),
  lines: Type.Integer(),
  sampled: Type.Integer({ description: 'lines that the examples and proposals rest on' }),
  columns: Type.Array(PreviewColumn),
  fields: Type.Array(PreviewField),
  values: Type.Array(PreviewValues, {
    description: 'values that a field with a list of values does not know',
  }),
  proposed: Type.Record(Text, Text, {
    description:
      'header → field, of the proposals: with them as `headers` of the upload the file is read as shown',
  }),
  complete: Type.Boolean({
    description:
      'nothing has to be asked: everything is sure, no field is missing, and no value makes a line invalid',
  }),
})
export type MappingPreview = Row<typeof MappingPreview>

export const DatasetMatch = shape('DatasetMatch', {
  dataset: Text,
  title: Text,
  platforms: Type.Array(Text, { description: 'those whose headers fit best' }),
  fit: Type.Enum(['sure', 'likely', 'no'], {
    description:
      'sure: its headers are known and nothing is missing; likely: so it is if every proposal is confirmed; no: something is missing',
  }),
  used: Type.Integer({ description: 'fields that a column of the file fills, with all proposals' }),
  known: Type.Integer({ description: 'of them, those whose header is known by name or remembered' }),
  missing: Type.Array(Text, { description: 'titles of fields without which the file is refused' }),
})
export type DatasetMatch = Row<typeof DatasetMatch>

export const DatasetMatches = shape('DatasetMatches', {
  columns: Type.Integer({ description: 'of the file' }),
  best: nullable(
    Type.String({ description: 'the dataset that the file is of; null: none fits, or several fit as well' }),
  ),
  matches: Type.Array(DatasetMatch, { description: 'all datasets of the workspace, the best first' }),
})
export type DatasetMatches = Row<typeof DatasetMatches>

export const DatasetSummary = shape('Dataset', {
  dataset: Text,
  title: Text,
  version: Type.Integer(),
  approval_required: Type.Boolean(),
  undo_window: Type.String({ examples: ['30 days'] }),
  workspace_id: UuidOrNull,
  platforms: Type.Array(shape('Platform', { platform: Text, title: Text })),
  row_types: Type.Array(
    shape('RowType', {
      row_type: Text,
      target: Text,
      key: Type.Array(Text, {
        description: 'the columns that tell its rows apart, without that of the workspace',
      }),
    }),
  ),
  has_clients: Type.Boolean(),
})

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

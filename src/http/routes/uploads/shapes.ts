/** What the routes of uploads answer. */
import { Type } from 'typebox'
import { REPEATED_KEYS } from '../../../ingest/datasets/dataset.ts'
import { PLAN_ACTIONS } from '../../../ingest/plan.ts'
import { VERDICTS } from '../../../ingest/rows.ts'
import { GATE_MODES, RUN_MODES, UPLOAD_STATUSES } from '../../../ingest/uploads.ts'
import { Timestamp } from '../../responses.ts'
import { Digest } from '../staging/shapes.ts'
import { Reading } from './reading-shape.ts'

const Uuid = Type.String({ format: 'uuid' })
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
const text = orNull(Type.String())
const time = orNull(Timestamp)
const whole = orNull(Type.Integer())
/** Row type → action or outcome → rows. */
export const Totals = Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer()), {
  description: 'row type → action or outcome → rows',
  examples: [{ daily_metric: { insert: 240, update: 12, unchanged: 4000 } }],
})
/** Numbers are exact: beyond 2^53, or with many decimals, they need a parser that keeps them. */
const Payload = Type.Record(Type.String(), Type.Unknown())

export const UploadId = Type.Object({ id: Type.String({ format: 'uuid', description: 'the upload' }) })
export const GateMode = Type.Enum([...GATE_MODES], {
  description: 'STRICT: all lines or none; LENIENT: the valid ones, if they are enough',
})
export const RepeatedKeys = Type.Enum([...REPEATED_KEYS], {
  description:
    'lines with the same key: refuse them, sum them up, or take the last or the first; default: as the dataset says',
})
export const PlanDigest = Digest

const Progress = Type.Object({
  stage: Type.Enum(['read', 'check', 'stage', 'plan', 'promote']),
  done: Type.Number(),
  total: Type.Number(),
  lines: Type.Optional(Type.Integer()),
})
const Note = Type.Object({
  rule: Type.String(),
  message: Type.String(),
  line: Type.Optional(Type.Integer()),
  count: Type.Optional(Type.Integer()),
})

const decimal = Type.String({ pattern: '^-?[0-9]+(\\.[0-9]+)?$', examples: ['598000000.25'] })
const ControlTotal = Type.Object(
  {
    measure: Type.String(),
    title: Type.String(),
    column: Type.String({ description: 'of the table that takes it' }),
    currency: text,
    read: decimal,
    valid: decimal,
    left_out: decimal,
    refused: decimal,
    totals_lines: Type.Optional(
      Type.String({
        ...decimal,
        description:
          'in lines that sum up others; counted nowhere else. Missing in plans of older versions, where it is in read and left_out',
      }),
    ),
    reasons: Type.Record(Type.String(), decimal, {
      description: 'reason → what the lines that it left out hold, those that sum up others included',
    }),
    unread: Type.Integer({
      description: 'cells that are no number, so that nobody knows how much they hold',
    }),
    written: Type.Optional(decimal),
    unchanged: Type.Optional(decimal),
    before: Type.Optional(decimal),
    after: Type.Optional(decimal),
    difference: Type.Optional(decimal),
    lost_share: Type.Optional(decimal),
  },
  {
    description:
      'How much of a measure was read (valid + left out + refused; lines that sum up others are apart), goes into new and changed rows (written), and what the rows that valid lines are about hold before and after. Decimals are exact text; money is by currency.',
  },
)

const upload = {
  upload_id: Uuid,
  workspace_id: Uuid,
  client_id: Uuid,
  dataset: Type.String(),
  platform: Type.String(),
  file_name: Type.String(),
  file_hash: Digest,
  byte_len: Type.String({ pattern: '^[0-9]+$' }),
  run_mode: Type.Enum([...RUN_MODES]),
  status: Type.Enum([...UPLOAD_STATUSES]),
  reading: orNull(Reading),
  notes: Type.Array(Note, { description: 'about the whole file' }),
  line_count: whole,
  valid_count: whole,
  invalid_count: whole,
  skipped_count: whole,
  warning_count: whole,
  left_out: Type.Record(Type.String(), Type.Integer(), {
    description: 'reason → lines that are left out',
    examples: [{ 'row.total': 1, 'key.repeated': 60 }],
  }),
  control: Type.Array(ControlTotal, { description: 'of the check, then of the plan, then of the promotion' }),
  repeated_keys: orNull(RepeatedKeys),
  plan_notes: Type.Array(Note, { description: 'what the plan noticed about the whole file' }),
  progress: orNull(Progress),
  error: orNull(Type.Object({ code: Type.String(), message: Type.String(), hint: Type.String() })),
  cursor_name: text,
  cursor_value: Type.Unknown(),
  uploaded_by: Type.String(),
  uploaded_via: text,
  changed_by: Type.Array(Type.String(), {
    description: 'whoever put something into it; none of them approves',
  }),
  created_at: Timestamp,
  staged_at: time,
  read_ms: orNull(
    Type.Integer({ description: 'how long the file took to read; corrections leave it as it is' }),
  ),
  ended_at: time,
  plan_digest: orNull(Digest),
  gate_mode: orNull(Type.Enum([...GATE_MODES])),
  threshold: text,
  plan_totals: orNull(Totals),
  plan_refusal: orNull(Type.String({ description: 'why it cannot be promoted as it is' })),
  planned_by: text,
  planned_at: time,
  plan_took_ms: whole,
  review_record_id: orNull(Uuid),
  approval_required: Type.Boolean(),
  review_status: orNull(Type.Enum(['not_submitted', 'pending', 'approved', 'rejected', 'expired'])),
  review_reason: text,
  approved_by: text,
  approved_at: time,
  promoted_by: text,
  promoted_at: time,
  promotion_totals: orNull(Totals),
  undo_until: time,
  undone_by: text,
  undone_at: time,
  undo_totals: orNull(Totals),
}
export const Upload = Type.Object(upload)

const May = Type.Object({
  allowed: Type.Boolean(),
  why: Type.Optional(Type.String({ description: 'why not, and what to do' })),
})
export const Detail = Type.Object({
  ...upload,
  columns: Type.Array(Type.String(), {
    description: 'the headers as the cells of a line are named: one that stands twice is counted',
  }),
  may: Type.Object(
    { repair: May, plan: May, submit: May, approve: May, reject: May, promote: May, undo: May, discard: May },
    { description: 'what you may do with it now' },
  ),
  checklist: Type.Array(
    Type.Object({
      item_id: Type.String(),
      text,
      required: Type.Boolean(),
      ticked_by: text,
      ticked_at: time,
    }),
  ),
  dataset_title: Type.String(),
  client_name: text,
  people: Type.Record(Type.String(), Type.String(), { description: 'actor → how people call them' }),
})

const Problem = Type.Object({
  line: Type.Integer(),
  column: text,
  field: text,
  value: text,
  rule: Type.String(),
  message: Type.String(),
  suggestion: Type.String(),
})
export const StagedRow = Type.Object({
  row_number: Type.Integer({ description: 'the line of the file' }),
  row_type: Type.String(),
  validation_status: Type.Enum([...VERDICTS, 'pending']),
  raw_payload: Type.Record(Type.String(), text, { description: 'header → text of the cell' }),
  normalized_payload: orNull(Payload),
  validation_errors: Type.Array(Problem),
  validation_warnings: Type.Array(Problem),
  processing_action: Type.String(),
  target_internal_id: orNull(Uuid),
})

export const LeftOutLine = Type.Object({
  line: Type.Integer({ description: 'the line of the file' }),
  reason: Type.String({
    description: 'the rule: row.total, row.subtotal, row.sum, key.repeated, line.left_out',
  }),
  message: Type.String(),
  values: Type.Record(Type.String(), Type.String(), {
    description: 'field → value, of those that are not empty; numbers are text with all their digits',
  }),
})

const Image = Type.Record(Type.String(), Type.Unknown(), {
  description: 'column → value; integers beyond 2^53 are strings',
})
export const PlanRow = Type.Object({
  type_order: Type.Integer(),
  row_type: Type.String(),
  row_number: Type.Integer({ description: 'the line of the file' }),
  action: Type.Enum([...PLAN_ACTIONS]),
  target_id: orNull(Uuid),
  target_key: orNull(Image),
  before: orNull(Image),
  after: orNull(Image),
  changed: orNull(Type.Array(Type.String())),
  reason: text,
  label: orNull(Image),
})

export const StaleRow = Type.Object({
  target_table: Type.String(),
  row_type: Type.String(),
  line: Type.Integer({ description: 'the line of the file' }),
  action: Type.Enum([...PLAN_ACTIONS]),
  key: Image,
  before: orNull(Image),
  planned: orNull(Image),
  now: orNull(Image),
})

export const UndoPlan = Type.Object({
  totals: Totals,
  stays: Type.Array(
    Type.Object({
      row_type: Type.String(),
      line: Type.Integer(),
      target: Type.String(),
      target_key: Payload,
      outcome: Type.Enum(['kept', 'refused']),
      reason: Type.String(),
    }),
    { description: 'rows that would stay, and why; the first 200' },
  ),
  digest: Digest,
  undo_until: Timestamp,
})

const written = {
  line: Type.Integer(),
  target: Type.String({ examples: ['public.daily_metrics'] }),
  target_id: orNull(Uuid),
  target_key: Payload,
  action: Type.Enum(['insert', 'update']),
  undo_outcome: text,
}
export const LedgerRow = Type.Object({
  type_order: Type.Integer(),
  row_type: Type.String(),
  ...written,
  undo_reason: text,
})
export const LineageEntry = Type.Object({
  upload_id: Uuid,
  file_name: Type.String(),
  file_hash: Digest,
  ...written,
  uploaded_by: Type.String(),
  approved_by: text,
  approved_at: time,
  promoted_by: Type.String(),
  promoted_at: Timestamp,
  undone_at: time,
  repairs: Type.Array(
    Type.Object({
      what: Type.Enum(['corrected', 'left_out', 'taken_in']),
      column: text,
      from: text,
      to: text,
      by: Type.String(),
      at: Type.String(),
    }),
    { description: 'what people corrected in its line before it was promoted, the oldest first' },
  ),
})

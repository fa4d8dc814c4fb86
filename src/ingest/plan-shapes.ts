/** Plans and what they are checked by: how one is asked for, totals, snapshots, rows, conflicts with production. */
import {
  Digest,
  IntegerOrNull,
  nullable,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  Type,
  Uuid,
  UuidOrNull,
} from '../kernel/schema.ts'
import { REPEATED_KEYS } from './datasets/dataset.ts'

/** What happens to invalid lines. refuse: all lines or none; skip: the valid ones, if they are enough. */
export const ON_INVALID = ['refuse', 'skip'] as const
/** The same in the database's words. */
export const GATE_MODES = ['STRICT', 'LENIENT'] as const
export const PLAN_ACTIONS = ['insert', 'update', 'unchanged', 'delete', 'skipped', 'refused'] as const
/** Which rows of a plan are asked for: those with one action, or everything that a promotion writes. */
export const PLAN_FILTERS = [...PLAN_ACTIONS, 'changes'] as const
export const GateMode = Type.Enum([...GATE_MODES], {
  description: 'STRICT: all lines or none; LENIENT: the valid ones, if they are enough',
})
export const RepeatedKeys = Type.Enum([...REPEATED_KEYS], {
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
export const Line = Type.Integer({
  description: 'the line of the file; negative: a row that the file lacks and that is deleted',
})

export const Totals = Type.Record(Text, Type.Record(Text, Type.Integer()), {
  description: 'row type → action or outcome → rows',
  examples: [{ daily_metric: { insert: 240, update: 12, unchanged: 4000 } }],
})
export type Totals = Row<typeof Totals>

export const FileNote = shape('FileNote', {
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
export const OutdatedOrNull = nullable(
  Type.Enum([...OUTDATED], {
    description:
      'outdated: production has moved under rows of the plan; maybe_outdated: its tables were written since, and nobody has compared the rows; null: nothing is known of it',
  }),
)

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

export const Image = Type.Record(Text, Type.Unknown(), {
  description: 'column → value; integers beyond 2^53 are strings',
})
export const RowKey = Type.Array(shape('PlanRowKey', { column: Text, value: TextOrNull }), {
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

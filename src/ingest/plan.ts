/** The plan of an upload: make it, show it, submit it, decide on it. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf, nullable, type Row, shape, TimestampOrNull, Type } from '../kernel/schema.ts'
import { withinAssertionLimit } from './assertion-limit.ts'
import type { RepeatedKeys } from './datasets/dataset.ts'
import {
  type CONFLICT_ANSWERS,
  type Distribution,
  type ON_INVALID,
  type PLAN_ACTIONS,
  type PLAN_FILTERS,
  Plan,
  type PlanConflicts,
  type PlanRow,
  type PlanSince,
  type StaleRow,
} from './plan-shapes.ts'
import type { Upload } from './shapes.ts'
import { describeFailure, type GateMode } from './uploads.ts'

export type { ConflictRow, Plan, PlanConflicts, PlanRow, PlanSince, StaleRow } from './plan-shapes.ts'

export { CONFLICT_ANSWERS, ON_INVALID, PLAN_FILTERS } from './plan-shapes.ts'
export type OnConflict = (typeof CONFLICT_ANSWERS)[number]
export type PlanAction = (typeof PLAN_ACTIONS)[number]
/** `changes`: everything that a promotion writes. */
export type PlanFilter = (typeof PLAN_FILTERS)[number]
const WRITING: readonly PlanAction[] = ['insert', 'update', 'delete']

export type OnInvalid = (typeof ON_INVALID)[number]

export interface PlanRequest {
  /** Default refuse. */
  readonly onInvalid?: OnInvalid | undefined
  /** Share of valid lines that skip asks for; default 0.9. */
  readonly threshold?: number | undefined
  readonly plannedBy?: string | undefined
  /** How lines with the same key are treated from now on; default: as before. */
  readonly repeatedKeys?: RepeatedKeys | undefined
  /** Of a snapshot: the share of the rows in its scope that it may delete from now on; default: as before. */
  readonly maxDeleted?: number | undefined
  /** Of a snapshot: it is complete, although it is far shorter than the last ones; default: as before. */
  readonly allowShortFile?: boolean | undefined
  /** Whose values count where production has moved on since the last plan; without it, such a plan is refused (plan_conflicts). */
  readonly onConflict?: OnConflict | undefined
  /** Of the conflicts that were seen (listConflicts): if there are others by now, it is refused again. */
  readonly conflictsDigest?: string | undefined
}

/** In the database's words: the one place that translates. */
const GATE_MODE_OF: Readonly<Record<OnInvalid, GateMode>> = { refuse: 'STRICT', skip: 'LENIENT' }

function onInvalidOf(mode: GateMode): OnInvalid {
  return mode === 'LENIENT' ? 'skip' : 'refuse'
}

/** To plan an upload again as it was planned before; by default, if it was not. */
export function planRequestOf({
  gate_mode,
  threshold,
}: Pick<Upload, 'gate_mode' | 'threshold'>): PlanRequest {
  return {
    onInvalid: gate_mode === null ? undefined : onInvalidOf(gate_mode),
    threshold: threshold === null ? undefined : Number(threshold),
  }
}

const PLAN_COLUMNS = columnsOf(Plan)

/** How the refusal of a plan begins whose file has totals that disagree, and what helps (fn_ingest_own_totals_refusal). */
export const OWN_TOTALS_DISAGREE = "the file's own totals disagree"
export const OWN_TOTALS_HINT =
  'Correct the lines, or the total itself if it is wrong, and plan again; or export the file again. A dataset with ownTotals: warn only warns.'

export async function planUpload(db: Queryable, upload: string, request: PlanRequest = {}): Promise<Plan> {
  if (request.maxDeleted !== undefined)
    await db.query('select iu_core.fn_ingest_set_max_deleted($1, $2, $3)', [
      upload,
      request.maxDeleted,
      request.plannedBy ?? null,
    ])
  if (request.allowShortFile !== undefined)
    await db.query('select iu_core.fn_ingest_allow_short_file($1, $2, $3)', [
      upload,
      request.allowShortFile,
      request.plannedBy ?? null,
    ])
  const { rows } = await withinAssertionLimit(db, () =>
    db.query<Plan>(
      `select ${PLAN_COLUMNS} from iu_core.fn_ingest_plan($1, $2, coalesce($3, 0.9), $4, $5, $6, $7)`,
      [
        upload,
        GATE_MODE_OF[request.onInvalid ?? 'refuse'],
        request.threshold ?? null,
        request.plannedBy ?? null,
        request.repeatedKeys ?? null,
        request.onConflict ?? null,
        request.conflictsDigest ?? null,
      ],
    ),
  )
  return rows[0]!
}

/** What planning an upload again would ask, in the order of the plan: base (what the last plan saw), theirs (production), mine (the file). */
export async function listConflicts(
  db: Queryable,
  upload: string,
  {
    onInvalid,
    threshold,
    limit = 200,
    after,
  }: Pick<PlanRequest, 'onInvalid' | 'threshold'> & Omit<StalePage, 'conflicts'> = {},
): Promise<PlanConflicts> {
  const { rows } = await db.query<
    Omit<PlanConflicts, 'next' | 'total' | 'cells'> & { total: string; cells: string }
  >(
    'select items, total::text, cells::text, columns, digest from iu_core.fn_ingest_plan_conflicts($1, $2, coalesce($3, 0.9), $4, $5)',
    [upload, GATE_MODE_OF[onInvalid ?? 'refuse'], threshold ?? null, limit, after ?? null],
  )
  const { total, cells, ...found } = rows[0]!
  const { items } = found
  const last = items.length === limit ? items.at(-1) : undefined
  return {
    ...found,
    total: Number(total),
    cells: Number(cells),
    next: last === undefined ? null : `${last.type_order}.${last.line}`,
  }
}

/** Keeps with a staged upload why it has no plan. `db` must act as service_role. */
export async function recordPlanFailure(db: Queryable, upload: string, thrown: unknown): Promise<void> {
  const failure = describeFailure(thrown, 'planned')
  await db.query('select iu_core.fn_ingest_plan_failed($1, $2)', [upload, JSON.stringify(failure)])
}

export interface PlanRowFilter {
  readonly rowType?: string | undefined
  readonly action?: PlanFilter | undefined
  /** Updates that change this column. */
  readonly column?: string | undefined
  /** … by more than this share of the old value. */
  readonly byMoreThan?: number | undefined
  /** The rows of this line of the file. */
  readonly line?: number | undefined
  /** … by more than this amount. */
  readonly byAmount?: number | undefined
  /** Instead of updates that change it: rows that are written with this value in the column, as text. */
  readonly value?: string | undefined
  /** … or with none. */
  readonly empty?: boolean | undefined
  /** Rows that are not as in the plan with this digest, which somebody approved. */
  readonly since?: string | undefined
  /** At most 10,000. */
  readonly limit: number
  /** `type_order.row_number` of the row before. */
  readonly after?: string | undefined
}

/** Integers beyond 2^53 as text, as in all our JSON: parsed as numbers they would be rounded. */
export function exactIntegers(image: string): string {
  return `case when ${image} is not null then (
    select coalesce(jsonb_object_agg(m.key, case jsonb_typeof(m.value) when 'number' then
             case when abs(m.value::numeric) > 9007199254740991 and scale(m.value::numeric) = 0
                  then to_jsonb(m.value #>> '{}') else m.value end else m.value end), '{}')
      from jsonb_each(${image}) as m) end`
}

/** In the order in which it will be applied. */
export async function listPlanRows(db: Queryable, upload: string, filter: PlanRowFilter): Promise<PlanRow[]> {
  const [order = '0', line = '-1'] = filter.after?.split('.') ?? []
  const { rows } = await db.query<PlanRow>(
    // The rows of the page first: joined before the limit, every page would read all lines of the upload.
    `with place as materialized (
       select w.key as row_type, (select c.ordinality::integer
                                    from rows from (jsonb_to_recordset(d.inserted_columns -> w.key) as ("column" text)) with ordinality as c
                                   where c."column" = $6) as position
         from iu_core.ingest_plan d, jsonb_each(d.written) w where d.upload_id = $1 and w.value ? $6
     ), since as materialized (
       select s.type_order, s.row_number from iu_core.fn_ingest_plan_since($1, $13) s where $13::text is not null and s.how <> 'same'
     ), page as materialized (
       select p from iu_core.ingest_plan_row p
        where p.upload_id = $1 and (p.type_order, p.row_number) > ($2, $3)
          and ($13::text is null or (p.type_order, p.row_number) in (select s.type_order, s.row_number from since s))
          and ($4::text is null or p.row_type = $4) and ($5::text[] is null or p.action = any ($5))
          and ($6::text is null or $10::text is not null or $11 or $6 = any (p.changed))
          and ($7::numeric is null
               or case when jsonb_typeof(p.before -> $6) = 'number' and jsonb_typeof(p.after -> $6) = 'number'
                       then abs((p.after ->> $6)::numeric - (p.before ->> $6)::numeric)
                            > $7 * abs((p.before ->> $6)::numeric) end)
          and ($12::integer is null or p.row_number = $12)
          and ($9::numeric is null
               or case when jsonb_typeof(p.before -> $6) = 'number' and jsonb_typeof(p.after -> $6) = 'number'
                       then abs((p.after ->> $6)::numeric - (p.before ->> $6)::numeric) > $9 end)
          and (($10::text is null and not $11)
               or p.action in ('insert', 'update')
                  and exists (select from place where place.row_type = p.row_type
                                and coalesce(p.after ->> $6, p.inserted[place.position]) is not distinct from $10::text))
        order by p.type_order, p.row_number limit $8
     ), named as materialized (
       select n.* from (select array_agg((page.p).type_order::integer) as orders, array_agg((page.p).row_number) as lines from page) a,
              lateral iu_core.fn_ingest_plan_row_names($1, a.orders, a.lines) n
     )
     select (page.p).type_order, (page.p).row_type, (page.p).row_number, (page.p).action, (page.p).target_id,
            ${exactIntegers('(page.p).target_key')} as target_key, ${exactIntegers('(page.p).before')} as before,
            ${exactIntegers('i.image')} as after, (page.p).changed, (page.p).reason, (page.p).dependents,
            ${exactIntegers('s.normalized_payload')} as label, n.row_key, n.names
       from page
       join named n on n.type_order = (page.p).type_order and n.row_number = (page.p).row_number
       join iu_core.ingest_plan d on d.upload_id = $1
       cross join lateral (select iu_core.fn_ingest_plan_image(d.inserted_columns, page.p)) as i (image)
       left join lateral (select l.normalized_payload from public.staging_rows l
                           where l.upload_id = $1 and l.row_type = (page.p).row_type and l.row_number = (page.p).row_number
                          offset 0) s on true
      order by (page.p).type_order, (page.p).row_number`,
    [
      upload,
      Number(order),
      Number(line),
      filter.rowType ?? null,
      filter.action === undefined ? null : filter.action === 'changes' ? WRITING : [filter.action],
      filter.column ?? null,
      filter.byMoreThan ?? null,
      filter.limit,
      filter.byAmount ?? null,
      filter.value ?? null,
      filter.empty ?? false,
      filter.line ?? null,
      filter.since ?? null,
    ],
  )
  return rows
}

const DISTRIBUTION_BUCKETS = 24

/**
 * How the numbers of a column are distributed before and after the plan, over all its rows: those that it deletes count before, those
 * that it inserts after. The buckets are equally wide between the first and the last percentile; what is beyond is in the outermost ones.
 */
export async function planDistribution(
  db: Queryable,
  upload: string,
  { rowType, column }: { rowType: string; column: string },
): Promise<Distribution> {
  const { rows } = await db.query<Distribution>(
    `with place as (
       select (select c.ordinality::integer from jsonb_array_elements(d.inserted_columns -> $2) with ordinality as c
                where c.value ->> 'column' = $3) as at
         from iu_core.ingest_plan d where d.upload_id = $1
     ), side as materialized (
       select v.side, v.text::numeric as value
         from iu_core.ingest_plan_row p cross join place
         cross join lateral (values
           ('before', case when p.action <> 'insert' then p.before ->> $3 end),
           ('after', case when p.action = 'delete' then null when p.after ? $3 then p.after ->> $3
                          when p.inserted is not null then p.inserted[place.at] else p.before ->> $3 end)) as v (side, text)
        where p.upload_id = $1 and p.row_type = $2 and p.action in ('insert', 'update', 'unchanged', 'delete')
          and v.text ~ '^-?[0-9]{1,100}([.][0-9]{1,100})?$'
     ), bounds as (
       select percentile_disc(0.01) within group (order by value) as low,
              percentile_disc(0.99) within group (order by value) as high from side
     ), counted as (
       select case when high = low then 0
                   else least(greatest(floor((value - low) / (high - low) * $4), 0), $4 - 1)::integer end as bucket,
              count(*) filter (where side = 'before')::integer as before, count(*) filter (where side = 'after')::integer as after
         from side, bounds group by 1
     )
     select (select to_json(s) from (
              select count(*)::integer as count, trim_scale(sum(value))::text as sum, trim_scale(min(value))::text as min,
                     trim_scale(percentile_disc(0.5) within group (order by value))::text as median, trim_scale(max(value))::text as max
                from side where side = 'before') s) as before,
            (select to_json(s) from (
              select count(*)::integer as count, trim_scale(sum(value))::text as sum, trim_scale(min(value))::text as min,
                     trim_scale(percentile_disc(0.5) within group (order by value))::text as median, trim_scale(max(value))::text as max
                from side where side = 'after') s) as after,
            (select coalesce(json_agg(json_build_object(
                      'from', trim_scale(round(low + (high - low) * n / $4, 6))::text,
                      'to', trim_scale(round(low + (high - low) * (n + 1) / $4, 6))::text,
                      'before', coalesce(c.before, 0), 'after', coalesce(c.after, 0)) order by n), '[]')
               from bounds cross join generate_series(0, case when high = low then 0 else $4 - 1 end) as n
               left join counted c on c.bucket = n) as buckets`,
    [upload, rowType, column, DISTRIBUTION_BUCKETS],
  )
  return rows[0]!
}

export interface StaleRows {
  readonly items: readonly StaleRow[]
  /** How many there are in all; 0: the plan is not stale. */
  readonly total: number
  /** Kind of conflict → rows, of all of them. */
  readonly counts: Readonly<Record<string, number>>
  /** For the page after this one. */
  readonly next: string | null
}

export interface StalePage {
  /** Default 200, at most 1,000. */
  readonly limit?: number | undefined
  /** `type_order.line` of the row before. */
  readonly after?: string | undefined
  /** Without rows in which both changes can live. */
  readonly conflicts?: boolean | undefined
}

/** The rows of a plan that somebody changed since it was made, in the order of the plan. */
export async function listStaleRows(
  db: Queryable,
  upload: string,
  { limit = 200, after, conflicts = false }: StalePage = {},
): Promise<StaleRows> {
  const { rows } = await db.query<StaleRow & { total: string; counts: Record<string, number> }>(
    `with stale as materialized (
       select * from iu_core.fn_ingest_plan_stale($1, $2, $3, $4)
     ), named as materialized (
       select n.* from (select array_agg(s.type_order) as orders, array_agg(s.line) as lines from stale s having count(*) > 0) a,
              lateral iu_core.fn_ingest_plan_row_names($1, a.orders, a.lines) n
     )
     select s.type_order, s.target_table, s.row_type, s.line, s.action, ${exactIntegers('s.key')} as key, ${exactIntegers('s.before')} as before,
            ${exactIntegers('s.planned')} as planned, ${exactIntegers('s.now')} as now, s.conflict, s.yours, s.theirs, s.names,
            n.row_key, ${exactIntegers('l.normalized_payload')} as label, s.total::text, s.counts
       from stale s
       join named n on n.type_order = s.type_order and n.row_number = s.line
       left join lateral (select r.normalized_payload from public.staging_rows r
                           where r.upload_id = $1 and r.row_type = s.row_type and r.row_number = s.line offset 0) l on true
      order by s.type_order, s.line`,
    [upload, limit, after ?? null, conflicts],
  )
  const items = rows.map(({ total: _, counts: __, ...row }) => row)
  const last = items.length === limit ? items.at(-1) : undefined
  return {
    items,
    total: Number(rows[0]?.total ?? 0),
    counts: rows[0]?.counts ?? {},
    next: last === undefined ? null : `${last.type_order}.${last.line}`,
  }
}

/** A page or a command goes on without a comparison that takes longer. */
export const MAX_PLAN_CHECK_MS = 5_000

export const PlanCheck = shape('PlanCheck', {
  checked_at: TimestampOrNull,
  rows_differ: nullable(
    Type.Integer({
      description:
        'rows that somebody changed since the plan was made; null, as checked_at: comparing took too long',
    }),
  ),
  counts: Type.Record(Type.String(), Type.Integer(), {
    description: 'conflict → rows; empty also where telling them apart took too long',
  }),
})
export type PlanCheck = Row<typeof PlanCheck>

/**
 * Compares a plan with what its tables hold now, whoever wrote them; lists of uploads and changes say what it found. Each of its two attempts takes
 * at most `withinMs`: with the kinds of conflicts, then only how many rows. The transaction around it stays usable. Throws upload_status if
 * there is no plan.
 */
export async function checkPlan(
  db: Queryable,
  upload: string,
  withinMs: number = MAX_PLAN_CHECK_MS,
): Promise<PlanCheck> {
  const check = (await attemptCheck(db, upload, 1, withinMs)) ?? (await attemptCheck(db, upload, 0, withinMs))
  return check ?? { checked_at: null, rows_differ: null, counts: {} }
}

/** undefined: it took longer. */
async function attemptCheck(
  db: Queryable,
  upload: string,
  limit: 0 | 1,
  withinMs: number,
): Promise<PlanCheck | undefined> {
  await db.query('savepoint stagedoor_plan_check')
  try {
    const { rows: before } = await db.query<{ timeout: string }>(
      `select current_setting('statement_timeout') as timeout, set_config('statement_timeout', $1, true)`,
      [String(withinMs)],
    )
    const { rows } = await db.query<PlanCheck>(
      `select coalesce(max(s.total), 0)::integer as rows_differ, coalesce((array_agg(s.counts))[1], '{}') as counts, clock_timestamp() as checked_at
         from iu_core.fn_ingest_plan_stale($1, $2) s`,
      [upload, limit],
    )
    await db.query(`select set_config('statement_timeout', $1, true)`, [before[0]!.timeout])
    await db.query('release savepoint stagedoor_plan_check')
    return rows[0]!
  } catch (error) {
    await db.query('rollback to savepoint stagedoor_plan_check')
    if ((error as { code?: string }).code !== QUERY_CANCELED) throw error
    return undefined
  }
}
const QUERY_CANCELED = '57014'

/** What differs between the plan and an earlier one that was approved, in rows. */
export async function planSince(db: Queryable, upload: string, digest: string): Promise<PlanSince> {
  const { rows } = await db.query<PlanSince>(
    `select exists (select from iu_core.ingest_approved_plan a where a.upload_id = $1 and a.plan_digest = $2) as known,
            count(*) filter (where how = 'same')::integer as same, count(*) filter (where how = 'different')::integer as different,
            count(*) filter (where how = 'added')::integer as added,
            count(*) filter (where how = 'in_production')::integer as in_production, count(*) filter (where how = 'gone')::integer as gone
       from iu_core.fn_ingest_plan_since($1, $2)`,
    [upload, digest],
  )
  return rows[0]!
}

/** Whether a plan can be handed to a second person: it can be promoted, and needs an approval. */
export function canBeSubmitted({ refusal, approval_required }: Plan): boolean {
  return refusal === null && approval_required
}

/** Submits the plan to a second person; returns the staging record that they decide on. */
export async function submitPlan(
  db: Queryable,
  upload: string,
  digest: string,
  submittedBy?: string,
): Promise<string> {
  const { rows } = await db.query<{ record: string }>(
    'select iu_core.fn_ingest_submit($1, $2, $3) as record',
    [upload, digest, submittedBy ?? null],
  )
  return rows[0]!.record
}

export interface Approval {
  readonly digest: string
  /** Items of the checklist that were looked at. */
  readonly ticked?: readonly string[]
  readonly approvedBy?: string | undefined
}

export async function approvePlan(db: Queryable, upload: string, approval: Approval): Promise<void> {
  await db.query('select iu_core.fn_ingest_approve($1, $2, $3, $4)', [
    upload,
    approval.digest,
    approval.ticked ?? [],
    approval.approvedBy ?? null,
  ])
}

export async function rejectPlan(
  db: Queryable,
  upload: string,
  reason: string,
  rejectedBy?: string,
): Promise<void> {
  await db.query('select iu_core.fn_ingest_reject($1, $2, $3)', [upload, reason, rejectedBy ?? null])
}

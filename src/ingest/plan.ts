/** The plan of an upload: made, looked at, handed in, decided. */
import type { Queryable } from '../db/connection.ts'
import type { RepeatedKeys } from './datasets/dataset.ts'
import { failureOf } from './failure.ts'
import type { FileNote } from './readers/reading.ts'
import type { ControlTotal, GateMode, Totals } from './uploads.ts'

export const PLAN_ACTIONS = ['insert', 'update', 'unchanged', 'skipped', 'refused'] as const
export type PlanAction = (typeof PLAN_ACTIONS)[number]

export interface Plan {
  readonly upload_id: string
  readonly plan_id: string
  readonly digest: string
  readonly gate_mode: GateMode
  readonly threshold: string
  readonly totals: Totals
  readonly control: readonly ControlTotal[]
  readonly repeated_keys: RepeatedKeys
  /** What it noticed about the whole file. */
  readonly notes: readonly FileNote[]
  /** Why it cannot be promoted as it is; null: it can. */
  readonly refusal: string | null
  readonly approval_required: boolean
  readonly review_record_id: string | null
  readonly planned_by: string
  readonly planned_at: Date
  readonly took_ms: number
}

export interface PlanRequest {
  readonly gate_mode?: GateMode
  /** Share of valid lines that LENIENT asks for; default 0.9. */
  readonly threshold?: number
  readonly planned_by?: string
  /** How lines with the same key are treated from now on; default: as before. */
  readonly repeated_keys?: RepeatedKeys
}

const PLAN = `upload_id, plan_id, digest, gate_mode, threshold, totals, control, repeated_keys, notes, refusal, approval_required, review_record_id,
  planned_by, planned_at, took_ms`

export async function planUpload(db: Queryable, upload: string, request: PlanRequest = {}): Promise<Plan> {
  const { rows } = await db.query<Plan>(
    `select ${PLAN} from iu_core.fn_ingest_plan($1, coalesce($2, 'STRICT'), coalesce($3, 0.9), $4, $5)`,
    [
      upload,
      request.gate_mode ?? null,
      request.threshold ?? null,
      request.planned_by ?? null,
      request.repeated_keys ?? null,
    ],
  )
  return rows[0]!
}

/** For the back end, where nobody waits for the plan: why there is none is kept with the upload. */
export async function recordPlanFailure(db: Queryable, upload: string, thrown: unknown): Promise<void> {
  const failure = failureOf(thrown, 'planned')
  await db.query('select iu_core.fn_ingest_plan_failed($1, $2)', [upload, JSON.stringify(failure)])
}

export interface PlanRow {
  readonly type_order: number
  readonly row_type: string
  readonly row_number: number
  readonly action: PlanAction
  readonly target_id: string | null
  readonly target_key: Readonly<Record<string, unknown>> | null
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
  readonly changed: readonly string[] | null
  readonly reason: string | null
  /** What people call it: the names that its line gives. */
  readonly label: Readonly<Record<string, unknown>> | null
}

export interface PlanRowFilter {
  readonly row_type?: string
  readonly action?: PlanAction
  /** Updates that change this column. */
  readonly column?: string
  /** … by more than this share of the old value. */
  readonly by_more_than?: number
  readonly limit: number
  /** `type_order.row_number` of the row before. */
  readonly after?: string
}

/** Integers beyond 2^53 as text, as everywhere in our JSON: whoever parses them would get another number. */
function exactIntegers(image: string): string {
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
    `select p.type_order, p.row_type, p.row_number, p.action, p.target_id, ${exactIntegers('p.target_key')} as target_key,
            ${exactIntegers('p.before')} as before, ${exactIntegers('i.image')} as after, p.changed, p.reason,
            ${exactIntegers('s.normalized_payload')} as label
       from iu_core.ingest_plan_row p
       join iu_core.ingest_plan d on d.upload_id = p.upload_id
       cross join lateral (select iu_core.fn_ingest_plan_image(d.inserted_columns, p)) as i (image)
       left join public.staging_rows s
         on s.upload_id = p.upload_id and s.row_type = p.row_type and s.row_number = p.row_number
      where p.upload_id = $1 and (p.type_order, p.row_number) > ($2, $3)
        and ($4::text is null or p.row_type = $4) and ($5::text is null or p.action = $5)
        and ($6::text is null or $6 = any (p.changed))
        and ($7::numeric is null
             or case when jsonb_typeof(p.before -> $6) = 'number' and jsonb_typeof(p.after -> $6) = 'number'
                     then abs((p.after ->> $6)::numeric - (p.before ->> $6)::numeric)
                          > $7 * abs((p.before ->> $6)::numeric) end)
      order by p.type_order, p.row_number limit $8`,
    [
      upload,
      Number(order),
      Number(line),
      filter.row_type ?? null,
      filter.action ?? null,
      filter.column ?? null,
      filter.by_more_than ?? null,
      filter.limit,
    ],
  )
  return rows
}

export interface StaleRow {
  readonly target_table: string
  readonly row_type: string
  readonly line: number
  readonly action: PlanAction
  readonly key: Readonly<Record<string, unknown>>
  /** The row that the plan was made on; null: there was none, or the plan leaves it unchanged. */
  readonly before: Readonly<Record<string, unknown>> | null
  /** What the plan would write; null: it leaves the row unchanged. */
  readonly planned: Readonly<Record<string, unknown>> | null
  /** The row as it is now; null: it is gone. */
  readonly now: Readonly<Record<string, unknown>> | null
}

export interface StaleRows {
  readonly items: readonly StaleRow[]
  /** How many there are in all; 0: the plan is not stale. */
  readonly total: number
}

/** The rows of a plan that somebody changed since it was made, in the order of the plan. */
export async function listStaleRows(
  db: Queryable,
  upload: string,
  page: { limit?: number } = {},
): Promise<StaleRows> {
  const { rows } = await db.query<StaleRow & { total: string }>(
    `select target_table, row_type, line, action, ${exactIntegers('key')} as key, ${exactIntegers('before')} as before,
            ${exactIntegers('planned')} as planned, ${exactIntegers('now')} as now, total::text
       from iu_core.fn_ingest_plan_stale($1, $2)`,
    [upload, page.limit ?? 200],
  )
  const items = rows.map(({ total: _, ...row }) => row)
  return { items, total: Number(rows[0]?.total ?? 0) }
}

/** Hands the plan to a second person; returns the staging record that they decide on. */
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
  readonly approved_by?: string
}

export async function approvePlan(db: Queryable, upload: string, approval: Approval): Promise<void> {
  await db.query('select iu_core.fn_ingest_approve($1, $2, $3, $4)', [
    upload,
    approval.digest,
    approval.ticked ?? [],
    approval.approved_by ?? null,
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

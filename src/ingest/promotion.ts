/** Promotion, undo, and where a production row comes from. */

import type { ErrorCode } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { withinAssertionLimit } from './assertion-limit.ts'
import { exactIntegers } from './plan.ts'
import {
  type LedgerRow,
  LineageEntry,
  type PROMOTION_STATES,
  Promotion,
  PromotionSummary,
  type UndoPlan,
} from './shapes.ts'
import { describeFailure } from './uploads.ts'

export type { LedgerRow, LineageEntry, Promotion, PromotionSummary, UndoPlan } from './shapes.ts'

const PROMOTION_COLUMNS = columnsOf(Promotion, {
  as: { approvers: 'iu_core.fn_change_approvers(upload_id)' },
})

export async function promoteUpload(
  db: Queryable,
  upload: string,
  digest: string,
  promotedBy?: string,
): Promise<Promotion> {
  const { rows } = await withinAssertionLimit(db, () =>
    db.query<Promotion>(`select ${PROMOTION_COLUMNS} from iu_core.fn_ingest_promote($1, $2, $3)`, [
      upload,
      digest,
      promotedBy ?? null,
    ]),
  )
  return rows[0]!
}

/** Who tries to promote: recorded if it fails. */
export interface PromotionAttempt {
  readonly actor: string
  readonly via: string | null
}

/** Undefined: an agent, or a token that can only read. They cannot promote, and what they try leaves no trace on the upload. */
export async function promotionAttempt(
  db: Queryable,
  onBehalfOf?: string,
): Promise<PromotionAttempt | undefined> {
  const { rows } = await db.query<PromotionAttempt>(
    `select actor, via from iu_core.fn_actor_for($1)
      where current_setting('transaction_read_only') = 'off' and iu_core.fn_caller_role() <> 'stagedoor_agent'`,
    [onBehalfOf ?? null],
  )
  return rows[0]
}

/** These are about the caller, or say what the upload shows anyway: its status, and that its approval is missing. */
const NOT_RECORDED: readonly ErrorCode[] = [
  'not_member',
  'right_missing',
  'actor_forged',
  'upload_not_found',
  'upload_state',
  'approval_missing',
  'review_incomplete',
]

/** Keeps with the upload that its promotion failed, and why. `db` must act as service_role, after the rollback. */
export async function recordPromotionFailure(
  db: Queryable,
  upload: string,
  digest: string,
  { actor, via }: PromotionAttempt,
  thrown: unknown,
): Promise<void> {
  const { code, message, hint } = describeFailure(thrown, 'promoted')
  if (NOT_RECORDED.includes(code)) return
  await db.query('select iu_core.fn_ingest_promotion_failed($1, $2, $3, $4, $5)', [
    upload,
    digest,
    JSON.stringify({ code, message, hint }),
    actor,
    via,
  ])
}

/** Those whose promotions of an upload failed. */
export async function listFailedPromoters(db: Queryable, upload: string): Promise<string[]> {
  const { rows } = await db.query<{ tried_by: string }>(
    'select distinct tried_by from iu_core.ingest_promotion_failure where upload_id = $1',
    [upload],
  )
  return rows.map(({ tried_by }) => tried_by)
}

export async function planUndo(db: Queryable, upload: string): Promise<UndoPlan> {
  const { rows } = await db.query<UndoPlan>(
    'select totals, stays, digest, undo_until from iu_core.fn_ingest_undo_plan($1)',
    [upload],
  )
  return rows[0]!
}

interface WantedUndo {
  /** Only if it is still the undo that was seen. */
  readonly digest?: string | undefined
  readonly undoneBy?: string | undefined
  readonly reason?: string | undefined
}

export async function undoUpload(
  db: Queryable,
  upload: string,
  { digest, undoneBy, reason }: WantedUndo = {},
): Promise<Promotion> {
  const { rows } = await db.query<Promotion>(
    `select ${PROMOTION_COLUMNS} from iu_core.fn_ingest_undo($1, $2, $3, $4)`,
    [upload, digest ?? null, undoneBy ?? null, reason ?? null],
  )
  return rows[0]!
}

export type PromotionState = (typeof PROMOTION_STATES)[number]

export interface PromotionFilter {
  readonly workspaceId?: string | undefined
  readonly dataset?: string | undefined
  readonly state?: PromotionState | undefined
  /** Who uploaded, approved, promoted or undid it: a user id, or `me`. */
  readonly person?: string | undefined
  readonly limit: number
  /** The upload_id of the last one of the page before. */
  readonly after?: string | undefined
}

/** Newest first, as far as the caller may see. */
export async function listPromotions(db: Queryable, filter: PromotionFilter): Promise<PromotionSummary[]> {
  const { rows } = await db.query<PromotionSummary>(
    `with page as materialized (
     select ${columnsOf(PromotionSummary, { from: 'm', as: { ...SUMMARY_COLUMNS, approvers: 'null::jsonb' } })}
       from iu_core.ingest_promotion m
       join iu_core.ingest_upload u on u.upload_id = m.upload_id
       left join iu_core.change c on c.subject_id = m.upload_id and c.kind = 'upload'
       cross join lateral (
         select case when m.undone_at is not null then 'undone'
                     when m.undo_until > clock_timestamp() then 'undoable' else 'final' end as state
       ) s
      where ($1::uuid is null or u.workspace_id = $1) and ($2::text is null or u.dataset = $2)
        and ($3::text is null or s.state = $3)
        and ($4::text is null or case $4 when 'me' then iu_core.fn_actor() else $4 end
                                 in (u.uploaded_by, m.promoted_by, m.undone_by)
             or m.upload_id in (
               select a.subject_id from iu_core.fn_change_approvers_of(array(select x.upload_id from iu_core.ingest_promotion x)) a
                where a.approvers @> jsonb_build_array(jsonb_build_object('reviewer', case $4 when 'me' then iu_core.fn_actor() else $4 end))))
        and ($5::uuid is null or (m.promoted_at, m.upload_id) < (select l.promoted_at, l.upload_id
                                                                   from iu_core.ingest_promotion l where l.upload_id = $5))
      order by m.promoted_at desc, m.upload_id desc limit $6
     )
     select ${columnsOf(PromotionSummary, { from: 'page', as: { approvers: 'a.approvers' } })}
       from page left join iu_core.fn_change_approvers_of(array(select page.upload_id from page)) a on a.subject_id = page.upload_id
      order by page.promoted_at desc, page.upload_id desc`,
    [
      filter.workspaceId ?? null,
      filter.dataset ?? null,
      filter.state ?? null,
      filter.person ?? null,
      filter.after ?? null,
      filter.limit,
    ],
  )
  return rows
}

const SUMMARY_COLUMNS = {
  ...Object.fromEntries(
    ['workspace_id', 'dataset', 'platform', 'file_name', 'uploaded_by'].map((name) => [name, `u.${name}`]),
  ),
  change: 'c.number',
  title: 'coalesce(c.title, u.file_name)',
  state: 's.state',
}

/** For a production row: every promotion that wrote it, newest first. */
export async function rowLineage(
  db: Queryable,
  workspace: string,
  target: string,
  row: { id: string } | { key: Record<string, unknown> },
): Promise<LineageEntry[]> {
  const { rows } = await db.query<LineageEntry>(
    `with entry as materialized (
       select * from iu_core.fn_ingest_lineage($1, $2, $3, $4) with ordinality
     )
     select ${columnsOf(LineageEntry, { from: 'entry', as: LINEAGE_NAMES })}
       from entry left join iu_core.fn_change_approvers_of(array(select entry.upload_id from entry)) a on a.subject_id = entry.upload_id
       left join iu_core.ingest_upload u on u.upload_id = entry.upload_id
       left join lateral (select l.normalized_payload from public.staging_rows l
                           where l.upload_id = entry.upload_id and l.row_type = entry.row_type and l.row_number = entry.line
                          offset 0) s on true
       -- By the key of the ledger, which has no index by the name of the row type.
       left join lateral (select l.type_order::integer from generate_series(0, 100) o
                            join iu_core.ingest_ledger l on l.upload_id = entry.upload_id and l.type_order = o and l.row_number = entry.line
                           where l.row_type = entry.row_type and entry.ordinality <= ${MAX_NAMED} limit 1) t on true
       left join lateral (select r.row_key from iu_core.fn_ingest_plan_row_names(entry.upload_id, array[t.type_order], array[entry.line]) r
                           where t.type_order is not null) n on true
      order by entry.ordinality`,
    [workspace, target, 'id' in row ? row.id : null, 'key' in row ? JSON.stringify(row.key) : null],
  )
  return rows
}

/** All entries are about one row: the newest name it. */
const MAX_NAMED = 20
const LINEAGE_NAMES = {
  approvers: 'a.approvers',
  label: exactIntegers('s.normalized_payload'),
  row_key: 'n.row_key',
  statement: '(select s.statement from iu_core.ingest_proposal s where s.upload_id = entry.upload_id)',
  fields: `coalesce(u.reading -> 'layout' -> 'fields', '[]')`,
}

/** For an upload: which production rows it wrote, and what people call them. */
export async function uploadLineage(
  db: Queryable,
  upload: string,
  page: { limit: number; after?: string | undefined },
): Promise<LedgerRow[]> {
  const [order = '0', line = '-1'] = page.after?.split('.') ?? []
  const { rows } = await db.query<LedgerRow>(
    `with page as materialized (
       select * from iu_core.ingest_ledger
        where upload_id = $1 and (type_order, row_number) > ($2, $3)
        order by type_order, row_number limit $4
     ), named as materialized (
       select n.* from (select array_agg(page.type_order::integer) as orders, array_agg(page.row_number) as lines from page) a,
              lateral iu_core.fn_ingest_plan_row_names($1, a.orders, a.lines) n
        -- Longer pages, which only a program asks for, have no names.
        where cardinality(a.orders) between 1 and 10000
     )
     select page.type_order, page.row_type, page.row_number as line, page.target, page.target_id,
            ${exactIntegers('page.target_key')} as target_key, page.action, page.undo_outcome, page.undo_reason,
            ${exactIntegers('s.normalized_payload')} as label, n.row_key
       from page
       left join named n on n.type_order = page.type_order and n.row_number = page.row_number
       left join lateral (select l.normalized_payload from public.staging_rows l
                           where l.upload_id = $1 and l.row_type = page.row_type and l.row_number = page.row_number
                          offset 0) s on true
      order by page.type_order, page.row_number`,
    [upload, Number(order), Number(line), page.limit],
  )
  return rows
}

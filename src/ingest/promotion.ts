/** Promotion, undo, and where a production row comes from. */
import type { Queryable } from '../db/connection.ts'
import type { ControlTotal, GateMode, Totals } from './uploads.ts'

export interface Promotion {
  readonly upload_id: string
  readonly plan_digest: string
  readonly gate_mode: GateMode
  readonly totals: Totals
  readonly control: readonly ControlTotal[]
  readonly approved_by: string | null
  readonly approved_at: Date | null
  readonly promoted_by: string
  readonly promoted_at: Date
  readonly undo_until: Date
  readonly undone_by: string | null
  readonly undone_at: Date | null
  readonly undo_totals: Totals | null
}

const PROMOTION = `upload_id, plan_digest, gate_mode, totals, control, approved_by, approved_at, promoted_by, promoted_at, undo_until,
  undone_by, undone_at, undo_totals`

export async function promoteUpload(
  db: Queryable,
  upload: string,
  digest: string,
  promotedBy?: string,
): Promise<Promotion> {
  const { rows } = await db.query<Promotion>(
    `select ${PROMOTION} from iu_core.fn_ingest_promote($1, $2, $3)`,
    [upload, digest, promotedBy ?? null],
  )
  return rows[0]!
}

export interface UndoPlan {
  readonly totals: Totals
  /** Rows that would stay, and why; the first 200. */
  readonly stays: readonly {
    row_type: string
    line: number
    target: string
    target_key: Record<string, unknown>
    outcome: 'kept' | 'refused'
    reason: string
  }[]
  readonly digest: string
  readonly undo_until: Date
}

export async function planUndo(db: Queryable, upload: string): Promise<UndoPlan> {
  const { rows } = await db.query<UndoPlan>(
    'select totals, stays, digest, undo_until from iu_core.fn_ingest_undo_plan($1)',
    [upload],
  )
  return rows[0]!
}

/** With a digest only if it is still what was seen. */
export async function undoUpload(
  db: Queryable,
  upload: string,
  digest?: string,
  undoneBy?: string,
): Promise<Promotion> {
  const { rows } = await db.query<Promotion>(`select ${PROMOTION} from iu_core.fn_ingest_undo($1, $2, $3)`, [
    upload,
    digest ?? null,
    undoneBy ?? null,
  ])
  return rows[0]!
}

export interface LineageEntry {
  readonly upload_id: string
  readonly file_name: string
  readonly file_hash: string
  readonly line: number
  readonly target: string
  readonly target_id: string | null
  /** Where the table has no id of ours. */
  readonly target_key: Readonly<Record<string, unknown>> | null
  readonly action: 'insert' | 'update'
  readonly uploaded_by: string
  readonly approved_by: string | null
  readonly approved_at: Date | null
  readonly promoted_by: string
  readonly promoted_at: Date
  readonly undone_at: Date | null
  readonly undo_outcome: string | null
  /** What people corrected in its line before it was promoted, the oldest first. */
  readonly repairs: readonly {
    readonly what: 'corrected' | 'left_out' | 'taken_in'
    readonly column: string | null
    readonly from: string | null
    readonly to: string | null
    readonly by: string
    readonly at: string
  }[]
}

/** For a production row: every promotion that wrote it, newest first. */
export async function rowLineage(
  db: Queryable,
  workspace: string,
  target: string,
  row: { id: string } | { key: Record<string, unknown> },
): Promise<LineageEntry[]> {
  const { rows } = await db.query<LineageEntry>('select * from iu_core.fn_ingest_lineage($1, $2, $3, $4)', [
    workspace,
    target,
    'id' in row ? row.id : null,
    'key' in row ? JSON.stringify(row.key) : null,
  ])
  return rows
}

export interface LedgerRow {
  readonly type_order: number
  readonly row_type: string
  readonly line: number
  readonly target: string
  readonly target_id: string | null
  /** Where the table has no id of ours. */
  readonly target_key: Readonly<Record<string, unknown>> | null
  readonly action: 'insert' | 'update'
  readonly undo_outcome: string | null
  readonly undo_reason: string | null
}

/** For an upload: which production rows it wrote. */
export async function uploadLineage(
  db: Queryable,
  upload: string,
  page: { limit: number; after?: string },
): Promise<LedgerRow[]> {
  const [order = '0', line = '-1'] = page.after?.split('.') ?? []
  const { rows } = await db.query<LedgerRow>(
    `select type_order, row_type, row_number as line, target, target_id, target_key, action, undo_outcome, undo_reason
       from iu_core.ingest_ledger
      where upload_id = $1 and (type_order, row_number) > ($2, $3)
      order by type_order, row_number limit $4`,
    [upload, Number(order), Number(line), page.limit],
  )
  return rows
}

/** Promotion, undo, and where a production row comes from. */

import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { type LedgerRow, type LineageEntry, Promotion, type UndoPlan } from './shapes.ts'

export type { LedgerRow, LineageEntry, Promotion, UndoPlan } from './shapes.ts'

const PROMOTION_COLUMNS = columnsOf(Promotion)

export async function promoteUpload(
  db: Queryable,
  upload: string,
  digest: string,
  promotedBy?: string,
): Promise<Promotion> {
  const { rows } = await db.query<Promotion>(
    `select ${PROMOTION_COLUMNS} from iu_core.fn_ingest_promote($1, $2, $3)`,
    [upload, digest, promotedBy ?? null],
  )
  return rows[0]!
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
  const { rows } = await db.query<Promotion>(
    `select ${PROMOTION_COLUMNS} from iu_core.fn_ingest_undo($1, $2, $3)`,
    [upload, digest ?? null, undoneBy ?? null],
  )
  return rows[0]!
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

/** For an upload: which production rows it wrote. */
export async function uploadLineage(
  db: Queryable,
  upload: string,
  page: { limit: number; after?: string | undefined },
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

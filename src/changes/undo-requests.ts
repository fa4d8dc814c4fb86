/** Requests to undo a promotion: whoever may not undo asks those who may, and they undo or decline. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { ChangeComment } from './shapes.ts'

/** Returns the comment that says why. */
export async function requestUndo(
  db: Queryable,
  changeId: string,
  reason: string,
  by?: string,
): Promise<ChangeComment> {
  const { rows } = await db.query<ChangeComment>(
    `select ${columnsOf(ChangeComment)} from iu_core.fn_change_undo_request($1, $2, $3)`,
    [changeId, reason, by ?? null],
  )
  return rows[0]!
}

/** Of others: for whoever may undo. Of one's own: it is withdrawn. A reason answers the request. */
export async function declineUndo(
  db: Queryable,
  changeId: string,
  reason?: string,
  by?: string,
): Promise<void> {
  await db.query('select iu_core.fn_change_undo_decline($1, $2, $3)', [changeId, reason ?? null, by ?? null])
}

/** Which things have an id, or one that begins so. */
import type { Queryable } from '../kernel/postgres/connection.ts'

export interface FoundId {
  readonly kind: string
  readonly id: string
}

/** `last` finds the newest thing of every kind. `db` must act as dot_executor. */
export async function findIds(db: Queryable, prefix: string): Promise<FoundId[]> {
  const { rows } = await db.query<FoundId>('select kind, id from iu_core.fn_id_find($1)', [prefix])
  return rows
}

/** The gate in front of the staging zone, and whoever stands before it. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { listGates } from '../gates/gates.ts'

export const WRITES_GATE = 'iu_core.staging_writes_enabled'

/** Before a byte is taken: whoever may not stage does not fill the disk either. Create checks again. */
export async function requireStaging(db: Queryable, workspace: string | undefined): Promise<void> {
  await db.query(`select iu_core.require_member($1, 'stage')`, [workspace ?? null])
  const gates = await listGates(db)
  if (!gates.some(({ gate, open }) => gate === WRITES_GATE && open)) {
    throw new StagedoorError('gate_closed', { gate: WRITES_GATE })
  }
}

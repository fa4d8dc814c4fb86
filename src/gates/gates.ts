/** Configuration gates: shared switches between the rooms. Changing one needs the administrator's role. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Row, shape, Text, TextOrNull, TimestampOrNull, Type } from '../kernel/schema.ts'

export const Gate = shape('Gate', {
  gate: Text,
  open: Type.Boolean(),
  description: Text,
  changed_at: TimestampOrNull,
  changed_by: TextOrNull,
})
export type Gate = Row<typeof Gate>

export interface GateChange {
  readonly gate: string
  readonly change: string
  readonly old_value: string | null
  readonly new_value: string | null
  readonly actor: string
  readonly reason: string | null
  readonly changed_at: Date
}

export async function listGates(db: Queryable): Promise<Gate[]> {
  const { rows } = await db.query<Gate>(
    `select key as gate, value = 'true' as open, description, updated_at as changed_at, updated_by as changed_by
       from iu_core.dot_config order by key`,
  )
  return rows
}

/** Returns whether anything changed. `db` must act as workflow_admin. */
export async function setGate(db: Queryable, gate: string, open: boolean, reason?: string): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>('select iu_core.fn_gate_set($1, $2, $3) as changed', [
    gate,
    open,
    reason ?? null,
  ])
  return rows[0]!.changed
}

export async function gateHistory(db: Queryable, gate?: string): Promise<GateChange[]> {
  const { rows } = await db.query<GateChange>(
    `select key as gate, change, old_value, new_value, actor, reason, changed_at
       from iu_core.dot_config_audit where $1::text is null or key = $1
      order by audit_id desc limit 200`,
    [gate ?? null],
  )
  return rows
}

/** Removes overrides that outlived their transaction; there should be none. */
export async function sweepOverrides(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ swept: string }>('select iu_core.fn_gate_override_sweep() as swept')
  return Number(rows[0]!.swept)
}

// The gate of the staging zone.

export const WRITES_GATE = 'iu_core.staging_writes_enabled'

/** Checks the right to stage before the upload fills the disk. Creating the record checks again. */
export async function requireStaging(db: Queryable, workspace: string | undefined): Promise<void> {
  await db.query(`select iu_core.require_member($1, 'stage')`, [workspace ?? null])
  const gates = await listGates(db)
  if (!gates.some(({ gate, open }) => gate === WRITES_GATE && open)) {
    throw new StagedoorError('gate_closed', { gate: WRITES_GATE })
  }
}

/** Configuration gates: shared switches between the rooms. Changing one needs the administrator's role. */
import type { Queryable } from '../db/connection.ts'

export interface Gate {
  readonly gate: string
  readonly open: boolean
  readonly description: string
  readonly changed_at: Date | null
  readonly changed_by: string | null
}

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

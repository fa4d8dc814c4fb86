/** The checker's word on units: whether they conform, and whether the document behind them has moved on. */
import type { Queryable } from '../db/connection.ts'

export interface UnitFinding {
  readonly code: string
  readonly [ref: string]: unknown
}

export interface CheckedUnit {
  readonly unit_id: string
  readonly canonical_address: string
  readonly conformance: 'conforms' | 'deviates'
  readonly drift: 'none' | 'drifted'
  readonly findings: readonly UnitFinding[]
}

/** For the back end: nobody checks their own work. */
export async function checkUnits(db: Queryable, units: readonly string[]): Promise<CheckedUnit[]> {
  const { rows } = await db.query<CheckedUnit>(
    `select c.unit_id, u.canonical_address, c.conformance, c.drift, c.findings
       from iu_core.fn_unit_check($1) c join iu_core.information_unit u on u.unit_id = c.unit_id order by u.canonical_address`,
    [units],
  )
  return rows
}

/** Those that were never checked, were edited since, or have an edge that leads nowhere. */
export async function unitsToCheck(db: Queryable, workspace: string, limit = 1000): Promise<string[]> {
  const { rows } = await db.query<{ units: string[] | null }>(
    'select iu_core.fn_unit_check_due($1, $2) as units',
    [workspace, limit],
  )
  return rows[0]?.units ?? []
}

/** The life of a unit: draft → enacted → superseded or retired; deleted is beside it and can be taken back. */
import type { Queryable } from '../db/connection.ts'

/** Locks the text, with the approval that says so. `expected_version` is the one that was approved. */
export async function enactUnit(
  db: Queryable,
  unit: string,
  { expected_version, apr_ref }: { expected_version: number; apr_ref: string },
): Promise<void> {
  await db.query('select iu_core.fn_unit_enact($1, $2, $3)', [unit, expected_version, apr_ref])
}

/** An enacted unit gives its place to another enacted one. */
export async function supersedeUnit(
  db: Queryable,
  unit: string,
  { successor, apr_ref }: { successor: string; apr_ref: string },
): Promise<void> {
  await db.query('select iu_core.fn_unit_supersede($1, $2, $3)', [unit, successor, apr_ref])
}

export async function retireUnit(db: Queryable, unit: string, reason?: string): Promise<void> {
  await db.query('select iu_core.fn_unit_retire($1, $2)', [unit, reason ?? null])
}

/** Nothing is gone: `restoreUnit` brings it back as it was. */
export async function deleteUnit(db: Queryable, unit: string, reason?: string): Promise<void> {
  await db.query('select iu_core.fn_unit_delete($1, $2)', [unit, reason ?? null])
}

export async function restoreUnit(db: Queryable, unit: string): Promise<void> {
  await db.query('select iu_core.fn_unit_restore($1)', [unit])
}

/** U3, the only part of its identity that changes, under an approval of its own. */
export async function amendKind(
  db: Queryable,
  unit: string,
  { unit_kind, apr_ref }: { unit_kind: string; apr_ref: string },
): Promise<void> {
  await db.query('select iu_core.fn_unit_amend_kind($1, $2, $3)', [unit, unit_kind, apr_ref])
}

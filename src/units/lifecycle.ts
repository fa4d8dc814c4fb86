/** The life of a unit: draft → enacted → superseded or retired; deleted is beside it and can be taken back. */
import type { Queryable } from '../db/connection.ts'

/** Back-end code is nobody who decides: it names whose decision it carries out. Reviewers who act themselves name nobody. */
export interface Decision {
  /** The approval under which it was decided. */
  readonly apr_ref: string
  readonly decidedBy?: string
}

/** Locks the text, with the approval that says so. `expected_version` is the one that was approved. */
export async function enactUnit(
  db: Queryable,
  unit: string,
  { expected_version, apr_ref, decidedBy }: Decision & { expected_version: number },
): Promise<void> {
  await db.query('select iu_core.fn_unit_enact($1, $2, $3, $4)', [
    unit,
    expected_version,
    apr_ref,
    decidedBy ?? null,
  ])
}

/** An enacted unit gives its place to another enacted one. */
export async function supersedeUnit(
  db: Queryable,
  unit: string,
  { successor, apr_ref, decidedBy }: Decision & { successor: string },
): Promise<void> {
  await db.query('select iu_core.fn_unit_supersede($1, $2, $3, $4)', [
    unit,
    successor,
    apr_ref,
    decidedBy ?? null,
  ])
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
  { unit_kind, apr_ref, decidedBy }: Decision & { unit_kind: string },
): Promise<void> {
  await db.query('select iu_core.fn_unit_amend_kind($1, $2, $3, $4)', [
    unit,
    unit_kind,
    apr_ref,
    decidedBy ?? null,
  ])
}

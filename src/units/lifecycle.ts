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

export interface UnitPart {
  readonly canonical_address: string
  readonly body: string
  /** Default: its first heading or line. */
  readonly title?: string
  /** Default: that of the unit. */
  readonly unit_kind?: string
}

export interface ExchangedUnit {
  readonly unit_id: string
  readonly canonical_address: string
  readonly unit_version_id: string
  readonly content_hash: string
}

/** What is in force needs the approval that says so; drafts need none, and become drafts. */
interface Exchange {
  readonly apr_ref?: string
  readonly reason?: string
  readonly decidedBy?: string
}

/** The unit is retired, and these hold its parts, each with an edge `split_from` to it. All or none. */
export async function splitUnit(
  db: Queryable,
  unit: string,
  {
    expected_version,
    parts,
    apr_ref,
    reason,
    decidedBy,
  }: Exchange & {
    expected_version: number
    parts: readonly UnitPart[]
  },
): Promise<ExchangedUnit[]> {
  const { rows } = await db.query<ExchangedUnit>(
    'select * from iu_core.fn_unit_split($1, $2, $3, $4, $5, $6)',
    [unit, expected_version, JSON.stringify(parts), apr_ref ?? null, reason ?? null, decidedBy ?? null],
  )
  return rows
}

export interface Merge extends Exchange {
  /** In the order of their texts. */
  readonly units: readonly { readonly unit_id: string; readonly expected_version: number }[]
  readonly canonical_address: string
  /** Default: their texts, one after the other. */
  readonly body?: string
  /** Default: that of the first. */
  readonly title?: string
}

/** The units are retired, and one holds what they said, with edges `merged_from` to each. All or none. */
export async function mergeUnits(
  db: Queryable,
  { units, canonical_address, body, title, apr_ref, reason, decidedBy }: Merge,
): Promise<ExchangedUnit> {
  const { rows } = await db.query<ExchangedUnit>(
    'select * from iu_core.fn_unit_merge($1, $2, $3, $4, $5, $6, $7, $8)',
    [
      units.map(({ unit_id }) => unit_id),
      units.map(({ expected_version }) => expected_version),
      canonical_address,
      body ?? null,
      title ?? null,
      apr_ref ?? null,
      reason ?? null,
      decidedBy ?? null,
    ],
  )
  return rows[0]!
}

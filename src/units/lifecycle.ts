/** The lifecycle of a unit: draft → enacted → superseded or retired. Any unit can be deleted, and restored. Then split, merge and checks. */
import type { Queryable } from '../kernel/postgres/connection.ts'

/** Back-end code cannot decide: `decidedBy` names the person who did. Reviewers who act themselves omit it. */
export interface Decision {
  /** Reference of the approval. */
  readonly apr_ref: string
  readonly decidedBy?: string
}

/** Enacts a unit: its text is locked, under an approval. `expected_version` is the version that was approved. */
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

/** Replaces an enacted unit by another enacted one. */
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

/** Marks it as deleted: `restoreUnit` undoes this. */
export async function deleteUnit(db: Queryable, unit: string, reason?: string): Promise<void> {
  await db.query('select iu_core.fn_unit_delete($1, $2)', [unit, reason ?? null])
}

export async function restoreUnit(db: Queryable, unit: string): Promise<void> {
  await db.query('select iu_core.fn_unit_restore($1)', [unit])
}

/** Changes the kind (U3), the only part of a unit's identity that can change. Needs its own approval. */
export async function changeKind(
  db: Queryable,
  unit: string,
  { unit_kind, apr_ref, decidedBy }: Decision & { unit_kind: string },
): Promise<void> {
  await db.query('select iu_core.fn_unit_change_kind($1, $2, $3, $4)', [
    unit,
    unit_kind,
    apr_ref,
    decidedBy ?? null,
  ])
}

interface UnitPart {
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

/** Enacted units need an approval; drafts need none, and become drafts. */
interface Exchange {
  readonly apr_ref?: string | undefined
  readonly reason?: string | undefined
  readonly decidedBy?: string | undefined
}

/** Retires the unit and creates one unit per part, each with an edge `split_from` to it. All or none. */
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
  readonly body?: string | undefined
  /** Default: that of the first. */
  readonly title?: string | undefined
}

/** Retires the units and creates one with their texts, with edges `merged_from` to each. All or none. */
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

// The checker: whether units conform to their kind, and whether the document that they were cut from has changed since.

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

/** For the back end: people do not check their own work. */
export async function checkUnits(db: Queryable, units: readonly string[]): Promise<CheckedUnit[]> {
  const { rows } = await db.query<CheckedUnit>(
    `select c.unit_id, u.canonical_address, c.conformance, c.drift, c.findings
       from iu_core.fn_unit_check($1) c join iu_core.information_unit u on u.unit_id = c.unit_id order by u.canonical_address`,
    [units],
  )
  return rows
}

/** Units that were never checked, were edited since, or have an edge to a missing target. */
export async function unitsToCheck(db: Queryable, workspace: string, limit = 1000): Promise<string[]> {
  const { rows } = await db.query<{ units: string[] | null }>(
    'select iu_core.fn_unit_check_due($1, $2) as units',
    [workspace, limit],
  )
  return rows[0]?.units ?? []
}

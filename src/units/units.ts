/** Writing units: thin over the SQL functions, which hold every rule. One round trip each. */
import type { Queryable } from '../db/connection.ts'
import { requireJsonText, requireText } from './text.ts'

export interface NewUnit {
  /** For good, and once in the workspace, as `handbook/leave`. */
  readonly canonical_address: string
  readonly body: string
  /** Default: the first heading or line of the body. */
  readonly title?: string
  /** Default note. */
  readonly unit_kind?: string
  /** Default en. */
  readonly language?: string
  /** The unit that holds it. */
  readonly container_id?: string
  /** Where it came from; default: the actor. */
  readonly source_ref?: string
  readonly profile?: Readonly<Record<string, unknown>>
}

export interface ActingFor {
  /** Whom a back-end service acts for. Others name nobody, or themselves. */
  readonly actor?: string
}

export interface BornUnit {
  readonly unit_id: string
  readonly unit_version_id: string
  readonly content_hash: string
}

export async function createUnit(
  db: Queryable,
  workspace: string,
  unit: NewUnit,
  { actor }: ActingFor = {},
): Promise<BornUnit> {
  requireJsonText('unit', unit)
  const { rows } = await db.query<BornUnit>(
    'select * from iu_core.fn_unit_create($1, $2, $3, $4, $5, $6, $7, $8, $9, p_actor => $10)',
    [
      workspace,
      unit.canonical_address,
      unit.body,
      unit.title ?? null,
      unit.unit_kind ?? 'note',
      unit.language ?? 'en',
      unit.container_id ?? null,
      unit.source_ref ?? null,
      JSON.stringify(unit.profile ?? {}),
      actor ?? null,
    ],
  )
  return rows[0]!
}

export interface NewUnitOfBatch extends NewUnit {
  readonly position?: number
}

/** All or none, in one statement; at most 10,000. In the order of the units. */
export async function createUnits(
  db: Queryable,
  workspace: string,
  units: readonly NewUnitOfBatch[],
  { actor }: ActingFor = {},
): Promise<{ unit_id: string; canonical_address: string }[]> {
  requireJsonText('units', units)
  const { rows } = await db.query<{ unit_id: string; canonical_address: string }>(
    'select unit_id, canonical_address from iu_core.fn_unit_create_batch($1, $2, $3)',
    [workspace, JSON.stringify(units), actor ?? null],
  )
  return rows
}

export interface UnitEdit {
  /** The version that was looked at: if it is no longer the current one, nothing is written. */
  readonly expected_version: number
  readonly body?: string
  readonly title?: string
  readonly language?: string
  /** Why, kept with the version. */
  readonly note?: string
}

export interface SliceEdit {
  readonly expected_version: number
  /** Characters, from 0; `to` is not part of it. The same twice inserts. */
  readonly from: number
  readonly to: number
  readonly text: string
  readonly note?: string
}

export interface EditedUnit {
  readonly version_no: number
  readonly unit_version_id: string
  readonly content_hash: string
  /** False: it was so already, and there is no new version. */
  readonly changed: boolean
}

export async function editUnit(
  db: Queryable,
  unit: string,
  edit: UnitEdit,
  { actor }: ActingFor = {},
): Promise<EditedUnit> {
  requireJsonText('edit', edit)
  const { rows } = await db.query<EditedUnit>(
    'select * from iu_core.fn_unit_edit($1, $2, $3, $4, $5, $6, $7)',
    [
      unit,
      edit.expected_version,
      edit.body ?? null,
      edit.title ?? null,
      edit.note ?? null,
      edit.language ?? null,
      actor ?? null,
    ],
  )
  return rows[0]!
}

export async function editSlice(
  db: Queryable,
  unit: string,
  edit: SliceEdit,
  { actor }: ActingFor = {},
): Promise<EditedUnit> {
  requireText('text', edit.text)
  requireText('note', edit.note)
  const { rows } = await db.query<EditedUnit>(
    'select * from iu_core.fn_unit_slice_edit($1, $2, $3, $4, $5, $6, $7)',
    [unit, edit.expected_version, edit.from, edit.to, edit.text, edit.note ?? null, actor ?? null],
  )
  return rows[0]!
}

/** Merged at the top level; null takes a key away. Returns the whole profile. */
export async function changeProfile(
  db: Queryable,
  unit: string,
  patch: Readonly<Record<string, unknown>>,
  { actor }: ActingFor = {},
): Promise<Record<string, unknown>> {
  requireJsonText('profile', patch)
  const { rows } = await db.query<{ profile: Record<string, unknown> }>(
    'select iu_core.fn_unit_profile($1, $2, $3) as profile',
    [unit, JSON.stringify(patch), actor ?? null],
  )
  return rows[0]!.profile
}

/** Into another container, or with null out of all. Without a position: behind what is there. */
export async function moveUnit(
  db: Queryable,
  unit: string,
  container: string | null,
  position?: number,
): Promise<void> {
  await db.query('select iu_core.fn_unit_move($1, $2, $3)', [unit, container, position ?? null])
}

/** Exactly the units that are in the container, once each, in their new order. */
export async function reorderUnits(
  db: Queryable,
  container: string,
  units: readonly string[],
): Promise<void> {
  await db.query('select iu_core.fn_unit_reorder($1, $2)', [container, units])
}

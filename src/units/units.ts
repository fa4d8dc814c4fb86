/** Creates, edits and reads units. The SQL functions hold every rule; each call here is one round trip. */

import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { diffUnit } from './history.ts'
import {
  type CreatedUnit,
  type EditedUnit,
  ListedUnit,
  type UnitContext,
  type UnitDetail,
  UnitKind,
  type UnitOrigin,
  type UnitRecord,
  type UnitVersion,
} from './shapes.ts'

export type {
  CreatedUnit,
  EditedUnit,
  ListedUnit,
  UnitContext,
  UnitDetail,
  UnitKind,
  UnitOrigin,
  UnitRecord,
  UnitVersion,
} from './shapes.ts'

export interface NewUnit {
  /** Permanent and unique in the workspace, such as `handbook/leave`. */
  readonly canonical_address: string
  readonly body: string
  /** Default: the first heading or line of the body. */
  readonly title?: string | undefined
  /** Default note. */
  readonly unit_kind?: string | undefined
  /** Default en. */
  readonly language?: string | undefined
  /** The unit that holds it. */
  readonly container_id?: string | undefined
  /** Where it came from; default: the actor. */
  readonly source_ref?: string | undefined
  readonly profile?: Readonly<Record<string, unknown>> | undefined
}

export interface ActingFor {
  /** The person that a back-end service acts for. Others omit it, or name themselves. */
  readonly actor?: string
}

export async function createUnit(
  db: Queryable,
  workspace: string,
  unit: NewUnit,
  { actor }: ActingFor = {},
): Promise<CreatedUnit> {
  requireJsonText('unit', unit)
  const { rows } = await db.query<CreatedUnit>(
    'select * from iu_core.fn_unit_create($1, $2, $3, $4, $5, $6, $7, $8, $9, p_actor => $10)',
    [
      workspace,
      unit.canonical_address,
      unit.body,
      unit.title ?? null,
      unit.unit_kind ?? 'note',
      unit.language ?? null,
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
  /** The version that the edit is based on: if it is no longer the current one, nothing is written. */
  readonly expected_version: number
  readonly body?: string | undefined
  readonly title?: string | undefined
  readonly language?: string | undefined
  /** The reason, stored with the version. */
  readonly note?: string | undefined
}

export interface SliceEdit {
  readonly expected_version: number
  /** Characters, from 0; `to` is not part of it. The same twice inserts. */
  readonly from: number
  readonly to: number
  readonly text: string
  readonly note?: string | undefined
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
    'select * from iu_core.fn_unit_edit_slice($1, $2, $3, $4, $5, $6, $7)',
    [unit, edit.expected_version, edit.from, edit.to, edit.text, edit.note ?? null, actor ?? null],
  )
  return rows[0]!
}

/** Merged at the top level; null removes a key. Returns the whole profile. */
export async function changeProfile(
  db: Queryable,
  unit: string,
  patch: Readonly<Record<string, unknown>>,
  { actor }: ActingFor = {},
): Promise<Record<string, unknown>> {
  requireJsonText('profile', patch)
  const { rows } = await db.query<{ profile: Record<string, unknown> }>(
    'select iu_core.fn_unit_profile_patch($1, $2, $3) as profile',
    [unit, JSON.stringify(patch), actor ?? null],
  )
  return rows[0]!.profile
}

/** Into another container; null: out of its container. Without a position: at the end. */
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

// Reading: the current version, a given version, or the version as of a time.

export { LIFECYCLE_STATUSES } from './shapes.ts'
export type UnitStatus = UnitRecord['lifecycle_status']

/** By its id, or by its address in a workspace. */
export type UnitName =
  | { readonly unit_id: string }
  | { readonly workspace_id: string; readonly canonical_address: string }

/** A version, or the one that was current at a time; default: the current one. */
export interface UnitMoment {
  readonly version?: number | undefined
  readonly asOf?: Date | undefined
}

/** The units that a unit is in, from the innermost. The depth is bounded, so that a damaged tree cannot make it endless. */
const ABOVE = `with recursive above as (
    select c.unit_id, c.canonical_address, c.title, c.container_id, 1 as depth
      from iu_core.information_unit c where c.unit_id = v.container_id
     union all
    select c.unit_id, c.canonical_address, c.title, c.container_id, a.depth + 1
      from above a join iu_core.information_unit c on c.unit_id = a.container_id where a.depth < 50)`
const UNITS_IN = `(select count(*)::int from iu_core.information_unit c
    where c.container_id = v.unit_id and c.deleted_at is null and c.lifecycle_status in ('draft', 'enacted'))`

const LISTED = columnsOf(ListedUnit, {
  from: 'v',
  as: {
    path: `(${ABOVE} select coalesce(jsonb_agg(jsonb_build_object('unit_id', unit_id, 'title', title) order by depth desc), '[]') from above)`,
    units_in: UNITS_IN,
  },
})

/** Times are texts in JSON. */
type InJson<T> = { readonly [K in keyof T]: Date extends T[K] ? Exclude<T[K], Date> | string : T[K] }

interface ReadRow {
  readonly unit: InJson<UnitRecord>
  readonly version: (InJson<UnitVersion> & { readonly unit_id: string }) | null
  readonly status_then: string | null
}

/** One round trip. A unit that the caller may not see is reported as unknown. */
export async function readUnit(
  db: Queryable,
  name: UnitName,
  { version, asOf }: UnitMoment = {},
): Promise<UnitDetail> {
  if (version !== undefined && asOf !== undefined) {
    throw new StagedoorError('argument_invalid', { reason: 'Say a version or a time, not both' })
  }
  if (asOf !== undefined) requireTime(asOf)
  const { rows } = await db.query<ReadRow>('select * from iu_core.fn_unit_read($1, $2, $3, $4, $5)', [
    ...('unit_id' in name
      ? [requireUnitId(name.unit_id), null, null]
      : [null, requireWorkspaceId(name.workspace_id), name.canonical_address]),
    version ?? null,
    asOf ?? null,
  ])
  const row = rows[0]
  if (!row) throw new StagedoorError('unit_unknown', { unit: nameText(name) })
  const unit = recordOf(row.unit)
  if (row.version === null) throw noSuchMoment(unit, version, asOf)
  const { unit_id: _, edited_at, ...found } = row.version
  return { ...unit, status_then: row.status_then, version: { ...found, edited_at: new Date(edited_at) } }
}

function recordOf(unit: InJson<UnitRecord>): UnitRecord {
  return {
    ...unit,
    created_at: new Date(unit.created_at),
    changed_at: new Date(unit.changed_at),
    deleted_at: timeOf(unit.deleted_at),
    checked_at: timeOf(unit.checked_at),
  }
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

function nameText(name: UnitName): string {
  return 'unit_id' in name ? name.unit_id : name.canonical_address
}

function noSuchMoment(
  { canonical_address: unit, version_no, created_at }: UnitRecord,
  version: number | undefined,
  asOf: Date | undefined,
): StagedoorError {
  const message =
    asOf === undefined
      ? `The unit ${unit} has no version ${version}: it has ${version_no}`
      : `The unit ${unit} was not there at ${asOf.toISOString()}: it was created at ${created_at.toISOString()}`
  const hint = `Its history shows its versions and their times: \`stagedoor unit history ${unit}\`, or GET /api/v1/units/…/history.`
  return new StagedoorError('unit_unknown', { unit }, { message, hint })
}

/** Identifies a unit for a command. */
export interface FoundUnit {
  readonly unit_id: string
  readonly workspace_id: string
  readonly canonical_address: string
  readonly lifecycle_status: string
  readonly version_no: number
}

/** By its id, or by its address in one workspace or in all: several workspaces may have a unit of that address. */
export async function findUnits(db: Queryable, name: string, workspace?: string): Promise<FoundUnit[]> {
  // Addresses are indexed by workspace: without the list of those, every unit would be read.
  const condition = UUID.test(name)
    ? 'unit_id = $1'
    : 'canonical_address = $1 and workspace_id in (select w.id from public.workspaces w)'
  const { rows } = await db.query<FoundUnit>(
    `select unit_id, workspace_id, canonical_address, lifecycle_status, version_no from iu_core.information_unit
      where ${condition} and ($2::uuid is null or workspace_id = $2)`,
    [name, workspace ?? null],
  )
  return rows
}

/** Where a unit stands (what it is in, what it supersedes) and where it comes from: the document, its piece, the record that was cut. */
export async function unitContext(db: Queryable, unit: string): Promise<UnitContext> {
  const { rows } = await db.query<Omit<UnitContext, 'origin'>>(
    `select (${ABOVE} select coalesce(jsonb_agg(jsonb_build_object('unit_id', unit_id, 'canonical_address', canonical_address,
                             'title', title) order by depth desc), '[]') from above) as path,
            ${UNITS_IN} as units_in,
            (select ${RELATED} from iu_core.information_unit r where r.unit_id = v.supersedes) as supersedes,
            (select ${RELATED} from iu_core.information_unit r where r.unit_id = v.superseded_by) as superseded_by,
            (select ${RELATED} from iu_core.information_unit r
              where r.supersedes = v.unit_id and r.lifecycle_status = 'draft' and r.deleted_at is null limit 1) as successor
       from iu_core.information_unit v where v.unit_id = $1`,
    [requireUnitId(unit)],
  )
  if (!rows[0]) throw new StagedoorError('unit_unknown', { unit })
  const { rows: origin } = await db.query<UnitOrigin>(
    `select m.document_id, d.source_ref, d.title, m.piece_address, m.position, m.content_hash = u.content_hash as is_same,
            m.dropped_at, m.cut_run_id, r.consumed_at as cut_at, r.staging_record_id
       from iu_core.kb_unit_map m
       join iu_core.information_unit u on u.unit_id = m.unit_id
       join iu_core.kb_document d on d.document_id = m.document_id
       left join lateral (select s.staging_record_id, s.consumed_at from iu_core.iu_staging_record s
                           where s.workspace_id = d.workspace_id and s.source_ref = d.source_ref
                             and s.staging_kind = 'mark_manifest' and s.consumed_by_run_id = m.cut_run_id order by s.staging_record_id limit 1) r on true
      where m.unit_id = $1 order by m.dropped_at nulls first, m.document_id limit 20`,
    [unit],
  )
  return { ...rows[0], origin }
}

const RELATED =
  "jsonb_build_object('unit_id', r.unit_id, 'canonical_address', r.canonical_address, 'title', r.title)"

/** Who created it, wrote its versions and changed its status: at most 200 actors. */
export async function unitPeople(db: Queryable, unit: string): Promise<string[]> {
  const { rows } = await db.query<{ actor: string }>(
    `select owner_actor as actor from iu_core.information_unit where unit_id = $1
      union select edited_by from iu_core.unit_version where unit_id = $1
      union select changed_by from public.iu_lifecycle_log where unit_id = $1 limit 200`,
    [unit],
  )
  return rows.map(({ actor }) => actor)
}

/** What a unit can be, by name. */
export async function listUnitKinds(db: Queryable): Promise<UnitKind[]> {
  const { rows } = await db.query<UnitKind>(
    `select ${columnsOf(UnitKind)} from iu_core.unit_kind order by unit_kind`,
  )
  return rows
}

export interface UnitFilter {
  readonly workspaceId?: string | undefined
  readonly address?: string | undefined
  readonly kind?: string | undefined
  readonly status?: UnitStatus | undefined
  readonly topic?: string | undefined
  /** Part of the title or of the address, in any case. */
  readonly text?: string | undefined
  /** Only units that are in no other. */
  readonly top?: boolean | undefined
  /** The id of a container: what is in it, in its order. */
  readonly containerId?: string | undefined
  /** Addresses that begin with this path. */
  readonly under?: string | undefined
  readonly conformance?: 'conforms' | 'deviates' | undefined
  readonly drift?: 'none' | 'drifted' | undefined
  /** Only the deleted ones; default: only those that are not. */
  readonly deleted?: boolean | undefined
  readonly limit?: number | undefined
  /** The id of the last of the page before. */
  readonly after?: string | undefined
}

/**
 * Ordered by workspace and address; units of a container in their order. The view, which counts related
 * rows, is evaluated only for the units of the page. The workspaces are named because the planner cannot use a policy as an index
 * condition.
 */
export async function listUnits(db: Queryable, filter: UnitFilter = {}): Promise<ListedUnit[]> {
  const order =
    filter.containerId === undefined ? 'u.workspace_id, u.canonical_address' : 'u.position, u.unit_id'
  const { rows } = await db.query<ListedUnit>(
    `with page as materialized (
       select u.unit_id from iu_core.information_unit u
         left join iu_core.unit_check k on k.unit_id = u.unit_id
        where u.workspace_id = any (case when $2::uuid is null then array(select w.id from public.workspaces w) else array[$2] end)
          and ($3::text is null or u.canonical_address = $3)
          and ($4::text is null or u.unit_kind = $4) and ($5::text is null or u.lifecycle_status = $5)
          and ($6::text is null
               or (u.content_profile ? 'topic_labels' and u.content_profile -> 'topic_labels' @> to_jsonb($6::text)))
          and ($7::uuid is null or u.container_id = $7)
          and ($8::text is null or u.canonical_address = $8 or starts_with(u.canonical_address, $8 || '/'))
          and ($9::text is null or k.conformance = $9) and ($10::text is null or k.drift = $10)
          and (u.deleted_at is not null) = $11
          and ($13::text is null or u.title ilike $13 or u.canonical_address ilike $13)
          and (not $14 or u.container_id is null)
          and ($12::uuid is null
               or (${order}) > (select ${order} from iu_core.information_unit u where u.unit_id = $12))
        order by ${order} limit $1)
     select ${LISTED} from page
      cross join lateral (select * from iu_core.v_unit i where i.unit_id = page.unit_id offset 0) v
      order by ${order.replaceAll('u.', 'v.')}`,
    [
      filter.limit ?? 50,
      filter.workspaceId ?? null,
      filter.address ?? null,
      filter.kind ?? null,
      filter.status ?? null,
      filter.topic ?? null,
      filter.containerId ?? null,
      filter.under ?? null,
      filter.conformance ?? null,
      filter.drift ?? null,
      filter.deleted ?? false,
      filter.after ?? null,
      filter.text === undefined ? null : `%${filter.text.replace(/[\\%_]/g, '\\$&')}%`,
      filter.top ?? false,
    ],
  )
  return rows
}

// Checks of ids before a query, because PostgreSQL's own error would name the syntax of a uuid.

export function requireUnitId(given: string): string {
  if (UUID.test(given)) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is not the id of a unit` },
    {
      hint: 'By its address a unit is read as { workspace_id, canonical_address }; what is read has its unit_id.',
    },
  )
}

export function requireWorkspaceId(given: string): string {
  if (UUID.test(given)) return given
  throw new StagedoorError('argument_invalid', { reason: `${given} is not the id of a workspace` })
}

function requireTime(given: Date): Date {
  if (given instanceof Date && !Number.isNaN(given.getTime())) return given
  throw new StagedoorError('argument_invalid', {
    reason: `asOf is a Date that is a time, not ${JSON.stringify(given)}`,
  })
}

// Checks of texts before a query: the driver would silently replace half a surrogate pair by U+FFFD.

const HALF_OR_NUL = /[\p{Surrogate}\0]/u

/** Refuses half surrogate pairs and NUL, which PostgreSQL cannot store. */
function requireText(field: string, text: string | undefined): void {
  const at = text?.search(HALF_OR_NUL) ?? -1
  if (at < 0) return
  const what = text![at] === '\0' ? 'NUL' : 'half a character (a lone surrogate)'
  throw new StagedoorError(
    'argument_invalid',
    { reason: `The ${field} holds ${what} at ${at}, which is no text` },
    { hint: 'Send it as well-formed Unicode; a text that was cut in two lost half of its last character.' },
  )
}

/** The same for all texts of a JSON value, including keys. */
function requireJsonText(field: string, value: unknown): void {
  if (typeof value === 'string') requireText(field, value)
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    requireText(field, key)
    requireJsonText(field, inner)
  }
}

// Conflicts of concurrent edits: one succeeds, the other gets an error with a diff.

/** Runs work in one transaction under the rights of the caller. */
export type Transaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>

/**
 * Runs an edit. The error of a conflict gets `diff`, from the expected version to the current one. Both are read in a second
 * transaction, because the first one has failed; versions never change.
 */
export async function withConflictDiff<T>(
  transaction: Transaction,
  edit: (client: Client) => Promise<T>,
): Promise<T> {
  try {
    return await transaction(edit)
  } catch (error) {
    throw isConflict(error) ? await withDiff(error, transaction) : error
  }
}

function isConflict(error: unknown): error is StagedoorError {
  return error instanceof StagedoorError && error.code === 'unit_version_conflict'
}

/** Undefined if the expected version never existed. */
async function withDiff(conflict: StagedoorError, transaction: Transaction): Promise<StagedoorError> {
  const { unit, expected_version: from, current_version: to } = conflict.details
  const found = await transaction((client) =>
    diffUnit(client, String(unit), { from: Number(from), to: Number(to) }),
  ).catch(() => undefined)
  if (!found) return conflict
  const { message, hint, cause } = conflict
  return new StagedoorError(
    conflict.code,
    { ...conflict.details, diff: found.diff },
    { message, hint, cause },
  )
}

/** Mappings: what people said about headers and values. Remembered for the next files of a workspace, or chosen for one file. */
import { StagedoorError } from '../../kernel/errors.ts'
import type { Queryable } from '../../kernel/postgres/connection.ts'
import type { Dataset } from './dataset.ts'

export interface Mapping {
  /** Header → field; null: the column is ignored. */
  readonly headers: Readonly<Record<string, string | null>>
  /** Field → value in the file → value to take; null: none. */
  readonly field_values: Readonly<Record<string, Readonly<Record<string, string | null>>>>
}

/** Whose files it is remembered for. */
export interface MappingTarget {
  readonly workspaceId: string
  readonly dataset: string
  readonly platform: string
}

/** A mapping with who said it. */
export interface KnownMapping extends Mapping {
  /** Header → who said last what it means. */
  readonly header_by: Readonly<Record<string, string>>
  /** Field → who said last what values of it mean. */
  readonly value_by: Readonly<Record<string, string>>
  readonly updated_by: string | null
  readonly updated_at: Date | null
}

/** `db` reads under the caller's own rights: of another workspace there is nothing. */
export async function readMapping(
  db: Queryable,
  { workspaceId, dataset, platform }: MappingTarget,
): Promise<KnownMapping> {
  const { rows } = await db.query<KnownMapping>(
    `select headers, field_values, header_by, value_by, updated_by, updated_at from iu_core.ingest_mapping
      where workspace_id = $1 and dataset = $2 and platform = $3`,
    [workspaceId, dataset, platform],
  )
  const found = rows[0]
  if (!found)
    return { headers: {}, field_values: {}, header_by: {}, value_by: {}, updated_by: null, updated_at: null }
  // The author of an entry that is gone is kept there, for uploads that were read by it.
  return {
    ...found,
    header_by: pick(found.header_by, found.headers),
    value_by: pick(found.value_by, found.field_values),
  }
}

/** What is remembered about headers of one dataset and platform. */
export interface MappedHeaders extends Pick<Mapping, 'headers'> {
  readonly dataset: string
  readonly platform: string
}

/** Of all datasets, for a file that comes without the name of one. */
export async function readMappedHeaders(db: Queryable, workspaceId: string): Promise<MappedHeaders[]> {
  const { rows } = await db.query<MappedHeaders>(
    'select dataset, platform, headers from iu_core.ingest_mapping where workspace_id = $1',
    [workspaceId],
  )
  return rows
}

function pick<T>(from: Readonly<Record<string, T>>, keys: object): Record<string, T> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => Object.hasOwn(keys, key)))
}

/** Replaces all that is remembered. */
export async function writeMapping(db: Queryable, of: MappingTarget, mapping: Mapping): Promise<void> {
  await db.query('select iu_core.fn_ingest_mapping_set($1, $2, $3, $4, $5)', [
    of.workspaceId,
    of.dataset,
    of.platform,
    JSON.stringify(mapping.headers),
    JSON.stringify(mapping.field_values),
  ])
}

export interface MappingChange {
  readonly headers?: Mapping['headers'] | undefined
  readonly field_values?: Mapping['field_values'] | undefined
  /** Entries to delete. */
  readonly forget?:
    | {
        readonly headers?: readonly string[] | undefined
        readonly field_values?: Readonly<Record<string, readonly string[]>> | undefined
      }
    | undefined
}

/** Adds, changes and deletes entries; all others stay, also those that somebody else adds at the same time. */
export async function updateMapping(db: Queryable, of: MappingTarget, change: MappingChange): Promise<void> {
  await db.query('select iu_core.fn_ingest_mapping_update($1, $2, $3, $4, $5, $6, $7)', [
    of.workspaceId,
    of.dataset,
    of.platform,
    JSON.stringify(change.headers ?? {}),
    JSON.stringify(change.field_values ?? {}),
    [...(change.forget?.headers ?? [])],
    JSON.stringify(change.forget?.field_values ?? {}),
  ])
}

/** As many as fn_ingest_lookup_unknown takes at once. */
const MAX_LOOKED_UP = 2000

/** Values of a looked-up field that are not in the table, each with the nearest that are. */
export async function unknownInLookup(
  db: Queryable,
  { workspaceId, dataset }: MappingTarget,
  field: string,
  values: readonly string[],
): Promise<Map<string, string[]>> {
  const unknown = new Map<string, string[]>()
  for (let start = 0; start < values.length; start += MAX_LOOKED_UP) {
    const { rows } = await db.query<{ value: string; near: string[] }>(
      'select value, near from iu_core.fn_ingest_lookup_unknown($1, $2, $3, $4)',
      [workspaceId, dataset, field, values.slice(start, start + MAX_LOOKED_UP)],
    )
    for (const { value, near } of rows) unknown.set(value, near)
  }
  return unknown
}

/** What a person chose for one file. */
export interface ChosenMapping {
  readonly headers?: Mapping['headers'] | undefined
  readonly values?: Mapping['field_values'] | undefined
}

export function namedFields({ headers = {}, values = {} }: ChosenMapping): string[] {
  return [...Object.values(headers).filter((field) => field !== null), ...Object.keys(values)]
}

/** What a person chose for one file names fields of the dataset. */
export function requireMappedFields(dataset: Dataset, chosen: ChosenMapping): void {
  const unknown = namedFields(chosen).find((field) => !Object.hasOwn(dataset.fields, field))
  if (unknown === undefined) return
  const choices = Object.keys(dataset.fields)
  throw new StagedoorError('argument_invalid', {
    reason: `${dataset.title} has no field ${unknown}; it has ${choices.join(', ')}`,
    choices,
  })
}

/** What was chosen for this file goes before what is remembered, value by value. */
export function mergeValues(
  remembered: Mapping['field_values'],
  chosen: Mapping['field_values'] = {},
): Record<string, Record<string, string | null>> {
  const merged: Record<string, Record<string, string | null>> = {}
  for (const field of new Set([...Object.keys(remembered), ...Object.keys(chosen)]))
    merged[field] = { ...remembered[field], ...chosen[field] }
  return merged
}

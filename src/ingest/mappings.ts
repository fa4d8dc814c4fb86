/** What people said about headers and values, remembered per workspace for the next file. */
import type { Queryable } from '../db/connection.ts'

export interface Mapping {
  /** Header → field; null: leave the column out. */
  readonly headers: Readonly<Record<string, string | null>>
  /** Field → value in the file → value to take. */
  readonly field_values: Readonly<Record<string, Readonly<Record<string, string | null>>>>
}

export async function readMapping(
  db: Queryable,
  workspace: string,
  dataset: string,
  platform: string,
): Promise<Mapping> {
  const { rows } = await db.query<Mapping>(
    `select headers, field_values from iu_core.ingest_mapping
      where workspace_id = $1 and dataset = $2 and platform = $3`,
    [workspace, dataset, platform],
  )
  return rows[0] ?? { headers: {}, field_values: {} }
}

export async function writeMapping(
  db: Queryable,
  workspace: string,
  dataset: string,
  platform: string,
  mapping: Mapping,
): Promise<void> {
  await db.query('select iu_core.fn_ingest_mapping_set($1, $2, $3, $4, $5)', [
    workspace,
    dataset,
    platform,
    JSON.stringify(mapping.headers),
    JSON.stringify(mapping.field_values),
  ])
}

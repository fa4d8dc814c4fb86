/** Datasets that are registered in the database, and the TypeScript rules that only this process knows. */
import type { Client, Queryable } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import type { Dataset } from './dataset.ts'

export interface RegisteredDataset {
  readonly dataset: string
  readonly title: string
  readonly version: number
  readonly definition: Dataset
  readonly approval_required: boolean
  readonly undo_window: string
  readonly registered_by: string
  readonly registered_at: Date
}

export interface RegistrationOptions {
  /** Default: as it was, at first true. */
  readonly approval_required?: boolean
  /** As PostgreSQL writes an interval; default: as it was, at first 30 days. */
  readonly undo_window?: string
}

const checks = new Map<string, NonNullable<Dataset['check']>>()

/** `client` must act as workflow_admin. A rule in TypeScript is known to this process only. */
export async function registerDataset(
  client: Client,
  dataset: Dataset,
  options: RegistrationOptions = {},
): Promise<void> {
  const wrong = await declarationProblems(dataset)
  if (wrong.length > 0) {
    throw new StagedoorError('argument_invalid', {
      reason: `The dataset cannot be used. ${wrong.join('; ')}`,
    })
  }
  const { check, ...declared } = dataset
  await client.query('select iu_core.fn_ingest_dataset_register($1, $2, $3)', [
    JSON.stringify({
      ...declared,
      ...(check && { custom_rule: true }),
      field_order: Object.keys(declared.fields),
    }),
    options.approval_required ?? null,
    options.undo_window ?? null,
  ])
  knowCheck(dataset.name, check)
}

/** Processes that read files of a dataset with a rule in TypeScript are told of it once. */
export function knowCheck(name: string, check: Dataset['check']): void {
  if (check) checks.set(name, check)
  else checks.delete(name)
}

/** What a declaration says wrong by itself, whatever the tables are. Only a pattern needs DuckDB, which is slow to load. */
export async function declarationProblems(dataset: Dataset): Promise<string[]> {
  const { checkDataset, checkPatterns } = await import('./declare.ts')
  const wrong = checkDataset(dataset)
  if (wrong.length > 0) return wrong
  return checkPatterns(dataset, async (sql) => (await import('../duckdb.ts')).queryDuck(sql))
}

export interface DatasetProblem {
  readonly problem: string
  readonly remedy: string | null
}

export async function datasetProblems(client: Client, dataset: Dataset): Promise<DatasetProblem[]> {
  const { check: _, ...declared } = dataset
  const { rows } = await client.query<DatasetProblem>(
    'select problem, remedy from iu_core.fn_ingest_dataset_problems($1)',
    [JSON.stringify(declared)],
  )
  return rows
}

export async function listDatasets(db: Queryable): Promise<RegisteredDataset[]> {
  const { rows } = await db.query<RegisteredDataset>(
    `select dataset, title, version, definition, approval_required, undo_window::text, registered_by, registered_at
       from iu_core.ingest_dataset order by dataset`,
  )
  return rows.map((row) => ({ ...row, definition: asDeclared(row.definition) }))
}

/** PostgreSQL keeps the members of an object in an order of its own; people know the fields in the declared one. */
function asDeclared({ field_order, ...definition }: Dataset & { field_order?: string[] }): Dataset {
  if (!field_order) return definition
  const fields = Object.fromEntries(field_order.map((name) => [name, definition.fields[name]!]))
  return { ...definition, fields }
}

/** A dataset as it was when it was read from the database: what a file is read by is kept with the upload. */
export interface KnownDataset extends Dataset {
  readonly definition_digest: string
}

export async function requireDataset(db: Queryable, name: string, platform: string): Promise<KnownDataset> {
  const { rows } = await db.query<{
    definition: Dataset & { custom_rule?: true }
    definition_digest: string
  }>('select definition, definition_digest from iu_core.ingest_dataset where dataset = $1', [name])
  const { definition, definition_digest } = rows[0] ?? {}
  if (!definition?.platforms[platform])
    throw new StagedoorError('dataset_unknown', { dataset: name, platform })
  const known = { ...definition, definition_digest: definition_digest! }
  const check = checks.get(name)
  if (definition.custom_rule && !check) {
    throw new StagedoorError(
      'dataset_invalid',
      {
        dataset: name,
        reason: 'it has a rule in TypeScript, and this process does not know it',
      },
      {
        hint: 'Name its file: `stagedoor ingest FILE --dataset ./my-dataset.mjs`, or register it from your own program.',
      },
    )
  }
  return check ? { ...known, check } : known
}

export interface ClientRow {
  readonly id: string
  readonly name: string
}

/** The clients of a workspace; none where the dataset has none. `db` reads under the caller's own rights. */
export async function listClients(
  db: Queryable,
  dataset: Pick<Dataset, 'client'>,
  workspace: string,
): Promise<ClientRow[]> {
  const { client } = dataset
  if (!client) return []
  const { rows } = await db.query<ClientRow>(
    `select ${ident(client.id)}::text as id, ${ident(client.name)}::text as name
       from ${tableSql(client.table)} where ${ident(client.workspace)} = $1 order by 2`,
    [workspace],
  )
  return rows
}

/** A declared table as SQL that cannot be anything else: quoted part by part; what is quoted already may hold a point. */
export function tableSql(table: string): string {
  const parts = table.match(/"(?:[^"]|"")+"|[^."]+/g) ?? []
  return parts.map((part) => (part.startsWith('"') ? part : ident(part.toLowerCase()))).join('.')
}

function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

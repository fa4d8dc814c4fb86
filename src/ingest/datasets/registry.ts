/**
 * Datasets that are registered in the database, and the TypeScript rules that only this process knows; the target of an
 * upload (platform, client).
 */

import { StagedoorError } from '../../kernel/errors.ts'
import { UUID } from '../../kernel/ids.ts'
import type { Client, Queryable } from '../../kernel/postgres/connection.ts'
import { quoteName, tableSql } from '../../kernel/postgres/names.ts'
import type { Dataset } from './dataset.ts'

/** `custom_rule`: it has a rule in TypeScript, which the database does not hold. */
type RegisteredDefinition = Dataset & { readonly custom_rule?: true }

export interface RegisteredDataset {
  readonly dataset: string
  readonly title: string
  readonly version: number
  readonly definition: RegisteredDefinition
  readonly approval_required: boolean
  readonly undo_window: string
  readonly registered_by: string
  readonly registered_at: Date
  /** Whose it is, where no column says whose a row is; null: every workspace may use it. */
  readonly workspace_id: string | null
}

export interface RegistrationOptions {
  /** Default: as it was, at first true. */
  readonly approvalRequired?: boolean | undefined
  /** As PostgreSQL writes an interval; default: as it was, at first 30 days. */
  readonly undoWindow?: string | undefined
  /** Whose it is, where no column says whose a row is; default: as it was, at first the only workspace there is. */
  readonly workspaceId?: string | undefined
}

const customRules = new Map<string, NonNullable<Dataset['check']>>()

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
  await client.query('select iu_core.fn_ingest_dataset_register($1, $2, $3, $4)', [
    JSON.stringify({
      ...declared,
      ...(check && { custom_rule: true }),
      field_order: Object.keys(declared.fields),
    }),
    options.approvalRequired ?? null,
    options.undoWindow ?? null,
    options.workspaceId ?? null,
  ])
  registerCustomRule(dataset.name, check)
}

/** One warning for each process that reads files of a dataset with a rule in TypeScript. */
export function registerCustomRule(name: string, check: Dataset['check']): void {
  if (check) customRules.set(name, check)
  else customRules.delete(name)
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

export async function datasetProblems(
  client: Client,
  dataset: Dataset,
  workspaceId?: string,
): Promise<DatasetProblem[]> {
  const { check: _, ...declared } = dataset
  const { rows } = await client.query<DatasetProblem>(
    'select problem, remedy from iu_core.fn_ingest_dataset_problems($1, $2)',
    [JSON.stringify(declared), workspaceId ?? null],
  )
  return rows
}

/** Whether a registered dataset still fits its tables, under the rights of a member. */
export async function checkRegisteredDataset(
  db: Queryable,
  dataset: string,
  workspaceId: string,
): Promise<DatasetProblem[]> {
  const { rows } = await db.query<DatasetProblem>(
    'select problem, remedy from iu_core.fn_ingest_dataset_check($1, $2)',
    [dataset, workspaceId],
  )
  return rows
}

/** With a workspace: those that it may use. */
export async function listDatasets(db: Queryable, workspaceId?: string): Promise<RegisteredDataset[]> {
  const { rows } = await db.query<RegisteredDataset>(
    `select dataset, title, version, definition, approval_required, undo_window::text, registered_by, registered_at,
            workspace_id
       from iu_core.ingest_dataset where coalesce(workspace_id = $1, true) order by dataset`,
    [workspaceId ?? null],
  )
  return rows.map((row) => ({ ...row, definition: asDeclared(row.definition) }))
}

/** Not the dataset of a table that is open to pull requests in SQL. */
export function takesFiles({ rows }: Pick<Dataset, 'rows'>): boolean {
  return rows.every(({ mode }) => mode !== 'statement')
}

/** PostgreSQL keeps the members of an object in an order of its own; people know the fields in the declared one. */
export function asDeclared<T extends Dataset>({
  field_order,
  ...definition
}: T & { field_order?: string[] }) {
  if (!field_order) return definition
  const fields = Object.fromEntries(field_order.map((name) => [name, definition.fields[name]!]))
  return { ...definition, fields }
}

/** A dataset as it was when it was read from the database: what a file is read by is kept with the upload. */
export interface KnownDataset extends Dataset {
  readonly definition_digest: string
}

/** With a workspace: that one may use it. */
export async function requireDataset(
  db: Queryable,
  name: string,
  platform: string,
  workspaceId?: string,
): Promise<KnownDataset> {
  const { rows } = await db.query<{
    definition: RegisteredDefinition
    definition_digest: string
  }>(
    `select definition, definition_digest from iu_core.ingest_dataset
      where dataset = $1 and coalesce(workspace_id = $2, true)`,
    [name, workspaceId ?? null],
  )
  const { definition, definition_digest } = rows[0] ?? {}
  if (!definition?.platforms[platform])
    throw new StagedoorError('dataset_unknown', { dataset: name, platform })
  const known = { ...definition, definition_digest: definition_digest! }
  const check = customRules.get(name)
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

/** The platform, and the client where the dataset has clients. */
export interface DatasetTarget {
  readonly dataset: string
  readonly platform: string
  readonly clientId?: string
}

/**
 * What a person leaves out and can only mean one thing: the only platform, the only client. A client is named by its id or
 * name. Errors say in `details` which argument they are about, and what could be named.
 */
export async function resolveDatasetTarget(
  db: Queryable,
  named: { workspaceId: string; dataset: string; platform?: string | undefined; client?: string | undefined },
): Promise<DatasetTarget> {
  const registered = await listDatasets(db, named.workspaceId)
  const dataset = registered.find((found) => found.dataset === named.dataset)?.definition
  if (!dataset) throw unknownDataset(named.dataset, registered)
  const platform = platformOf(dataset, named.platform)
  const clientId = await clientOf(db, dataset, named.workspaceId, named.client)
  return { dataset: dataset.name, platform, ...(clientId !== undefined && { clientId }) }
}

/** The platform that is named, else the only one of the dataset. */
export async function resolvePlatform(
  db: Queryable,
  workspaceId: string,
  dataset: string,
  platform: string | undefined,
): Promise<string> {
  const registered = await listDatasets(db, workspaceId)
  const found = registered.find((one) => one.dataset === dataset)
  if (!found) throw unknownDataset(dataset, registered)
  return platformOf(found.definition, platform)
}

export function unknownDataset(name: string, registered: readonly RegisteredDataset[]): StagedoorError {
  const choices = registered.map(({ dataset }) => dataset)
  return new StagedoorError(
    'dataset_unknown',
    { dataset: name, platform: '', argument: 'dataset', choices },
    { message: `There is no dataset ${name}; registered: ${choices.join(', ') || 'none'}` },
  )
}

function platformOf({ name, platforms }: Dataset, named: string | undefined): string {
  const choices = Object.keys(platforms)
  const details = { argument: 'platform', choices }
  if (named === undefined) {
    if (choices.length === 1) return choices[0]!
    const reason = `The dataset ${name} has several platforms; name one: ${choices.join(', ')}`
    throw new StagedoorError('argument_invalid', { reason, ...details })
  }
  if (choices.includes(named)) return named
  throw new StagedoorError(
    'dataset_unknown',
    { dataset: name, platform: named, ...details },
    { message: `The dataset ${name} has no platform ${named}; it has ${choices.join(', ')}` },
  )
}

async function clientOf(
  db: Queryable,
  dataset: Dataset,
  workspace: string,
  named: string | undefined,
): Promise<string | undefined> {
  const argument = 'client'
  if (!dataset.client) {
    if (named === undefined) return undefined
    const reason = `The dataset ${dataset.name} has no clients; name none`
    throw new StagedoorError('argument_invalid', { reason, argument })
  }
  // The database says whether there is such a client when the upload is opened.
  if (named !== undefined && UUID.test(named)) return named
  const clients = await listClients(db, dataset, workspace)
  const found = named === undefined ? clients : clients.filter(({ name }) => name === named)
  if (found.length === 1) return found[0]!.id
  const choices = clients.map(({ name }) => name)
  if (named === undefined && clients.length > 1) {
    const reason = `The workspace has several clients; name one: ${choices.join(', ')}`
    throw new StagedoorError('argument_invalid', { reason, argument, choices })
  }
  if (found.length > 1) {
    const reason = `There are ${found.length} clients ${named}; give the id of one of them`
    throw new StagedoorError('argument_invalid', { reason, argument, choices })
  }
  const message =
    clients.length === 0
      ? 'The workspace has no client yet'
      : `The workspace has no client ${named}; it has ${choices.join(', ')}`
  throw new StagedoorError(
    'client_unknown',
    { client: named ?? '', argument, choices },
    { message, ...(clients.length === 0 && { hint: 'Create one: `stagedoor client create NAME`.' }) },
  )
}

interface ClientRow {
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
    `select ${quoteName(client.id)}::text as id, ${quoteName(client.name)}::text as name
       from ${tableSql(client.table)} where ${quoteName(client.workspace)} = $1 order by 2`,
    [workspace],
  )
  return rows
}

/** What people call a dataset and a client of it. The clients' table is the user's own: whoever may not read it gets null. */
export async function datasetTitles(
  db: Queryable,
  { dataset, client_id }: { readonly dataset: string; readonly client_id: string | null },
): Promise<{ readonly title: string; readonly client: string | null }> {
  const { rows } = await db.query<{ title: string; definition: Pick<Dataset, 'client'> }>(
    `select title, jsonb_build_object('client', definition -> 'client') as definition
       from iu_core.ingest_dataset where dataset = $1`,
    [dataset],
  )
  const { title, definition } = rows[0]!
  return { title, client: await clientName(db, definition.client, client_id) }
}

async function clientName(
  db: Queryable,
  clients: Dataset['client'],
  id: string | null,
): Promise<string | null> {
  if (!clients) return null
  const table = tableSql(clients.table)
  const allowed = await db.query<{ allowed: boolean }>(
    `select coalesce(has_table_privilege(to_regclass($1), 'select'), false) as allowed`,
    [table],
  )
  if (!allowed.rows[0]!.allowed) return null
  const { rows } = await db.query<{ name: string }>(
    `select ${quoteName(clients.name)}::text as name from ${table} where ${quoteName(clients.id)} = $1`,
    [id],
  )
  return rows[0]?.name ?? null
}

/** A table of the user's own may ask for more than a name; then the database says what. */
export async function createClient(
  db: Queryable,
  { client }: { readonly client: NonNullable<Dataset['client']> },
  workspace: string,
  name: string,
): Promise<ClientRow> {
  if (!/\S/.test(name)) throw new StagedoorError('argument_invalid', { reason: 'A client needs a name' })
  const known = (await listClients(db, { client }, workspace)).find((found) => found.name === name)
  if (known)
    throw new StagedoorError('argument_invalid', { reason: `There is a client ${name} already: ${known.id}` })
  const { rows } = await db.query<ClientRow>(
    `insert into ${tableSql(client.table)} (${quoteName(client.workspace)}, ${quoteName(client.name)})
     values ($1, $2) returning ${quoteName(client.id)}::text as id, ${quoteName(client.name)}::text as name`,
    [workspace, name],
  )
  return rows[0]!
}

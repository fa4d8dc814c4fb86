/**
 * The tool `duckdb`: one query over files, in an in-memory database of its own. It reads the files that the step names and
 * nothing else, writes nothing, loads no extension, and is closed after the query.
 */
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import { type Tool, ToolArguments, ToolError } from '../../executions/tools/tool.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { Semaphore } from '../../runtime/semaphore.ts'
import { fileBelow } from './files.ts'

const MAX_ROWS = 10_000
const MEMORY = '256MB'
/** However many steps run at once, their queries use a gigabyte at most. */
const MAX_CONCURRENT_QUERIES = 4

export function duckdbTool(folder: string): Tool {
  const queries = new Semaphore(MAX_CONCURRENT_QUERIES)
  return async (_call, args, { signal }) => {
    const given = new ToolArguments('duckdb', args, ['query', 'files', 'params', 'limit'])
    const query = given.text('query')
    const limit = given.integer('limit', 1, MAX_ROWS) ?? MAX_ROWS
    const params = given.list('params').map(asValue)
    const files = await filesOf(given, folder)
    return queries.within({ signal }, () => runQuery({ query, params, limit }, files, signal))
  }
}

async function runQuery(query: Query, files: readonly NamedFile[], signal: AbortSignal): Promise<Json> {
  // Loaded with the first query: it takes a third of a second.
  const { DuckDBInstance, StatementType } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', SETTINGS)
  let connection: DuckDBConnection | undefined
  const interrupt = () => connection?.interrupt()
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    connection = await connectSealed(instance, files)
    signal.throwIfAborted()
    return await readRows(connection, query, StatementType.SELECT)
  } catch (error) {
    throw error instanceof ToolError || signal.aborted ? error : new ToolError(firstLines(error))
  } finally {
    signal.removeEventListener('abort', interrupt)
    connection?.closeSync()
    instance.closeSync()
  }
}

const SETTINGS = {
  threads: '1',
  memory_limit: MEMORY,
  // A query that does not fit into memory fails: nothing is spilled to disk.
  temp_directory: '',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_unsigned_extensions: 'false',
}

const READERS: readonly (readonly [RegExp, string])[] = [
  [/\.(csv|tsv|txt)(\.gz)?$/i, 'read_csv'],
  [/\.(json|jsonl|ndjson)(\.gz)?$/i, 'read_json'],
  [/\.parquet$/i, 'read_parquet'],
]

interface NamedFile {
  readonly name: string
  readonly path: string
  readonly reader: string
}

async function filesOf(given: ToolArguments, folder: string): Promise<NamedFile[]> {
  const files: NamedFile[] = []
  for (const [name, file] of Object.entries(given.map('files'))) {
    if (typeof file !== 'string') throw given.wrong(`files.${name}`, 'must be a path')
    const reader = READERS.find(([form]) => form.test(file))?.[1]
    if (reader === undefined) throw given.wrong(`files.${name}`, 'must be a csv, json, jsonl or parquet file')
    const path = await fileBelow(folder, file)
    // DuckDB would take it for a pattern that matches other files.
    if (/[*?[\]{}]/.test(path)) throw given.wrong(`files.${name}`, 'must be a path without * ? [ ] { }')
    files.push({ name, path, reader })
  }
  return files
}

/** Makes views of the files, then forbids any other file and any change of settings. */
async function connectSealed(
  instance: DuckDBInstance,
  files: readonly NamedFile[],
): Promise<DuckDBConnection> {
  const connection = await instance.connect()
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  for (const { name, path, reader } of files) {
    await connection.run(`CREATE VIEW ${quotedName(name)} AS SELECT * FROM ${reader}(${quotedText(path)})`)
  }
  await connection.run(`SET GLOBAL allowed_paths = [${files.map(({ path }) => quotedText(path)).join(', ')}]`)
  await connection.run('SET GLOBAL enable_external_access = false')
  await connection.run('SET GLOBAL lock_configuration = true')
  return connection
}

interface Query {
  readonly query: string
  readonly params: readonly DuckDBValue[]
  readonly limit: number
}

async function readRows(
  connection: DuckDBConnection,
  { query, params, limit }: Query,
  select: number,
): Promise<Json> {
  const statements = await connection.extractStatements(query)
  if (statements.count !== 1) throw new ToolError('The query of the tool duckdb must be one statement')
  const statement = await statements.prepare(0)
  // DuckDB could also write the allowed files: COPY, ATTACH and all but SELECT are refused.
  if (statement.statementType !== select) throw new ToolError('The query of the tool duckdb must be a SELECT')
  if (params.length > 0) statement.bind([...params])
  const reader = await statement.streamAndReadUntil(limit + 1)
  const rows = reader.getRowObjectsJson() as JsonObject[]
  if (rows.length <= limit) return { rows, row_count: rows.length }
  throw new ToolError(`The query gives more than ${limit} rows; aggregate them, or ask for less`)
}

function asValue(value: Json): DuckDBValue {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** After the reason DuckDB adds advice about options that a playbook cannot set. */
function firstLines(error: unknown): string {
  return (error as Error).message.split('\n').slice(0, 4).join('\n')
}

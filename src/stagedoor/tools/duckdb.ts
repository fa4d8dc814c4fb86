/**
 * The tool `duckdb`: one query over files, in a database of its own in memory. It reads the files that were named for it and
 * nothing else, writes nothing, loads nothing, and is gone with its answer.
 */
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import type { Json, JsonObject } from '../../executions/playbook/definition.ts'
import { type Tool, ToolError } from '../../executions/tool.ts'
import { Arguments } from '../../executions/tools/arguments.ts'
import { fileBelow } from './files.ts'
import { Places } from './places.ts'

export const MOST_ROWS = 10_000
const MEMORY = '256MB'
/** However many steps run at once, it is a gigabyte at the most. */
const AT_ONCE = 4

export function duckdbTool(folder: string): Tool {
  const places = new Places(AT_ONCE)
  return async (_call, args, { signal }) => {
    const given = new Arguments('duckdb', args, ['query', 'files', 'params', 'limit'])
    const query = given.text('query')
    const limit = given.integer('limit', 1, MOST_ROWS) ?? MOST_ROWS
    const params = given.list('params').map(asValue)
    const files = await filesOf(given, folder)
    return places.within(signal, () => ask({ query, params, limit }, files, signal))
  }
}

async function ask(question: Question, files: readonly NamedFile[], signal: AbortSignal): Promise<Json> {
  // Loaded with the first query: it takes a third of a second.
  const { DuckDBInstance, StatementType } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', SETTINGS)
  let connection: DuckDBConnection | undefined
  const interrupt = () => connection?.interrupt()
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    connection = await sealed(instance, files)
    signal.throwIfAborted()
    return await answerTo(connection, question, StatementType.SELECT)
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
  // What does not fit into memory is an error: nothing is put on the disk.
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

async function filesOf(given: Arguments, folder: string): Promise<NamedFile[]> {
  const files: NamedFile[] = []
  for (const [name, file] of Object.entries(given.map('files'))) {
    if (typeof file !== 'string') throw given.wrong(`files.${name}`, 'must be a path')
    const reader = READERS.find(([form]) => form.test(file))?.[1]
    if (reader === undefined) throw given.wrong(`files.${name}`, 'must be a csv, json, jsonl or parquet file')
    const path = await fileBelow(folder, file)
    // To DuckDB it would be a pattern, and mean other files.
    if (/[*?[\]{}]/.test(path)) throw given.wrong(`files.${name}`, 'must be a path without * ? [ ] { }')
    files.push({ name, path, reader })
  }
  return files
}

/** The files as views; then the door is shut, and the lock as well. */
async function sealed(instance: DuckDBInstance, files: readonly NamedFile[]): Promise<DuckDBConnection> {
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

interface Question {
  readonly query: string
  readonly params: readonly DuckDBValue[]
  readonly limit: number
}

async function answerTo(
  connection: DuckDBConnection,
  { query, params, limit }: Question,
  select: number,
): Promise<Json> {
  const statements = await connection.extractStatements(query)
  if (statements.count !== 1) throw new ToolError('The query of the tool duckdb must be one statement')
  const statement = await statements.prepare(0)
  // A file that may be read could be written as well: COPY, ATTACH and the rest stay out.
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

/** After the reason DuckDB goes on with advice about options that nobody here can set. */
function firstLines(error: unknown): string {
  return (error as Error).message.split('\n').slice(0, 4).join('\n')
}

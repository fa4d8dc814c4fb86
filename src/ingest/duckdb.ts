/**
 * DuckDB, one instance a process, in memory and opened on first use. It runs inside a server: one thread and a
 * bounded memory (two threads without a limit peaked at 1,090 MB on 1,000,000 rows), what does not fit goes to a
 * temporary folder. Nothing is downloaded: csv, json, parquet and icu are linked in.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance, type DuckDBPreparedStatement } from '@duckdb/node-api'

export { duckName, duckText } from './duckdb-text.ts'

interface OpenDuck {
  instance: DuckDBInstance
  spill: string
  /** By their text, the latest last. */
  prepared: Map<string, Prepared>
}

interface Prepared {
  connection: DuckDBConnection
  statement: Promise<DuckDBPreparedStatement>
  /** A statement runs once at a time. */
  last: Promise<unknown>
}

/** A file takes two, a repair one. */
const MAX_PREPARED = 16

let runningDuck: Promise<OpenDuck> | undefined
let spillFolder = tmpdir()
let holders = 0

/** Where DuckDB may put what does not fit into memory. To be called before the first statement. */
export function setDuckFolder(folder: string): void {
  spillFolder = folder
}

/**
 * For a server, or a program that uses the library: keeps its files in `folder`, and gives what is to be called in the end.
 * There is one DuckDB in a process, so the last of them closes it.
 */
export function retainDuck(folder: string): () => Promise<void> {
  setDuckFolder(folder)
  holders += 1
  let held = true
  return async () => {
    if (!held) return
    held = false
    holders -= 1
    if (holders === 0) await closeDuck()
  }
}

export async function runDuck(sql: string): Promise<void> {
  await withConnection((connection) => connection.run(sql))
}

/** Rows as JSON would hold them: BIGINT, HUGEINT and DECIMAL as strings, so that no digit is lost. */
export async function queryDuck<T = Record<string, unknown>>(sql: string): Promise<T[]> {
  return withConnection(async (connection) => {
    const reader = await connection.runAndReadAll(sql)
    return reader.getRowObjectsJson() as T[]
  })
}

/**
 * The same with texts for `$1`, `$2`, …, planned on its first run only: planning what checks a line takes five times as long as
 * running it. DuckDB plans statements that read a file at every run, so the lines must be in a text.
 */
export async function queryPrepared<T = Record<string, unknown>>(
  sql: string,
  ...texts: string[]
): Promise<T[]> {
  runningDuck ??= openDuck()
  const duck = await runningDuck
  const prepared = await preparedIn(duck, sql)
  const run = prepared.last.then(async () => {
    const statement = await prepared.statement
    for (const [index, text] of texts.entries()) statement.bindVarchar(index + 1, text)
    const reader = await statement.runAndReadAll()
    return reader.getRowObjectsJson() as T[]
  })
  prepared.last = run.catch(() => undefined)
  return run
}

export async function closeDuck(): Promise<void> {
  const closing = runningDuck
  runningDuck = undefined
  if (!closing) return
  const duck = await closing.catch(() => undefined)
  for (const { connection } of duck?.prepared.values() ?? []) connection.closeSync()
  duck?.instance.closeSync()
  if (duck) rmSync(duck.spill, { recursive: true, force: true })
}

/** Each call has its own connection: a repair of one row does not wait behind the COPY of a large file. */
async function withConnection<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  runningDuck ??= openDuck()
  const { instance } = await runningDuck
  const connection = await instance.connect()
  try {
    return await work(connection)
  } finally {
    connection.closeSync()
  }
}

async function preparedIn({ instance, prepared }: OpenDuck, sql: string): Promise<Prepared> {
  const connection = prepared.has(sql) ? undefined : await instance.connect()
  const found = prepared.get(sql)
  // Another caller may have been faster.
  if (found) connection?.closeSync()
  const entry = found ?? {
    connection: connection!,
    statement: connection!.prepare(sql),
    last: Promise.resolve(),
  }
  prepared.delete(sql)
  prepared.set(sql, entry)
  if (!found) forgetOnFailure(prepared, sql, entry)
  for (const [old, { connection: unused, last }] of prepared) {
    if (prepared.size <= MAX_PREPARED) break
    prepared.delete(old)
    void last.then(() => unused.closeSync())
  }
  return entry
}

function forgetOnFailure(prepared: OpenDuck['prepared'], sql: string, entry: Prepared): void {
  entry.statement.catch(() => {
    if (prepared.get(sql) === entry) prepared.delete(sql)
    entry.connection.closeSync()
  })
}

async function openDuck(): Promise<OpenDuck> {
  // DuckDB makes the folder when it needs it: a process that ends without closing leaves nothing behind.
  const spill = join(spillFolder, `duckdb-${randomUUID()}`)
  mkdirSync(spillFolder, { recursive: true, mode: 0o700 })
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '128MB',
    temp_directory: spill,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  })
  const connection = await instance.connect()
  // A timestamp must not change with the machine that reads it.
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  await connection.run('SET GLOBAL lock_configuration = true')
  connection.closeSync()
  return { instance, spill, prepared: new Map() }
}

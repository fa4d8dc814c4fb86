/**
 * DuckDB, one instance a process, in memory and opened on first use. It runs inside a server: one thread and a
 * bounded memory (two threads without a limit peaked at 1,090 MB on 1,000,000 rows), what does not fit goes to a
 * temporary folder. Nothing is downloaded: csv, json, parquet and icu are linked in.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

interface OpenDuck {
  instance: DuckDBInstance
  spill: string
}

let opened: Promise<OpenDuck> | undefined
let parent = tmpdir()

/** Where DuckDB may put what does not fit into memory. To be called before the first statement. */
export function keepDuckFilesIn(folder: string): void {
  parent = folder
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

export async function closeDuck(): Promise<void> {
  const closing = opened
  opened = undefined
  if (!closing) return
  const duck = await closing.catch(() => undefined)
  duck?.instance.closeSync()
  if (duck) rmSync(duck.spill, { recursive: true, force: true })
}

/** A text as a SQL literal. */
export function duckText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A name as a SQL identifier. */
export function duckName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Each call has its own connection: a repair of one row does not wait behind the COPY of a large file. */
async function withConnection<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  opened ??= openDuck()
  const { instance } = await opened
  const connection = await instance.connect()
  try {
    return await work(connection)
  } finally {
    connection.closeSync()
  }
}

async function openDuck(): Promise<OpenDuck> {
  // DuckDB makes the folder when it needs it: a process that ends without closing leaves nothing behind.
  const spill = join(parent, `duckdb-${randomUUID()}`)
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
  return { instance, spill }
}

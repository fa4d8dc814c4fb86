/**
 * Results by size: small ones stay in the event (tier eventlog), larger ones are a row (db), the largest a file (disk) or an object
 * of the store that all machines share (s3, pvc).
 * Everything is durable before `store` resolves, so what a later step refers to is there. The results that nobody else needs,
 * those between the tools of one command, stay in the process (tier memory): see engine/commands.ts. Below the files of results,
 * and the check that a result is JSON.
 */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { StagedoorError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { errno } from '../kernel/postgres/embedded/cluster.ts'
import { type BlobStore, digestOf } from '../runtime/stores/blob-store.ts'
import { MAX_INLINE_BYTES, type ResultValue } from './event.ts'
import { ToolError } from './tools/tool.ts'

const MAX_ROW_BYTES = 1024 * 1024
export const MAX_RESULT_BYTES = 64 * 1024 * 1024

interface ResultStoreOptions {
  /** Acting as dot_executor. */
  readonly pool: Pool
  /** A folder that every engine of this database sees. Absent: large results are rows as well. */
  readonly home?: string | undefined
  /** The store that all machines share. With it large results are objects, and no files. */
  readonly shared?: SharedResults | undefined
}

export interface SharedResults {
  readonly store: BlobStore
  /** False: what the store refused is a row instead (STAGEDOOR_RESULTS_FALLBACK). */
  readonly isRequired: boolean
  /** Whether new results go there; false: only those of before are read there. */
  readonly isWritten: boolean
}

export function createResultStore({ pool, home, shared }: ResultStoreOptions): ResultStore {
  const storeLarge = async (text: string, bytes: number, origin: ResultOrigin): Promise<string> => {
    if (shared?.isWritten !== true)
      return home === undefined ? putRow(pool, text, bytes, origin) : putFile(pool, home, text, origin)
    return putObject(pool, shared.store, text, origin).catch((error: unknown) => {
      const ofStore = error instanceof StagedoorError && error.code.startsWith('store_')
      if (shared.isRequired || !ofStore) throw error
      return putRow(pool, text, bytes, origin)
    })
  }
  return {
    async store(value, origin) {
      const text = JSON.stringify(value)
      const bytes = Buffer.byteLength(text)
      // A copy, because the caller may change the value later.
      if (bytes <= MAX_INLINE_BYTES) return { value: copyOf(value, text) }
      if (bytes > MAX_RESULT_BYTES) throw tooLarge(bytes)
      const put = bytes <= MAX_ROW_BYTES ? putRow(pool, text, bytes, origin) : storeLarge(text, bytes, origin)
      return { ref: await put, bytes }
    },
    load: (result) =>
      'value' in result
        ? Promise.resolve(result.value)
        : loadRef(pool, { home, store: shared?.store }, result.ref),
  }
}

function copyOf(value: Json, text: string): Json {
  return typeof value === 'object' && value !== null ? (JSON.parse(text) as Json) : value
}

async function putRow(pool: Pool, text: string, bytes: number, origin: ResultOrigin): Promise<string> {
  const { rows } = await pool.query<{ ref: string }>(
    `select noetl.fn_result_put($1, $2, p_body => $3, p_node_name => $4, p_command_id => $5, p_name => $6,
                                p_parent_ref_id => $7)::text as ref`,
    [origin.execution_id, bytes, text, ...namesOf(origin)],
  )
  return rows[0]!.ref
}

async function putFile(pool: Pool, home: string, text: string, origin: ResultOrigin): Promise<string> {
  const { rows } = await pool.query<{ ref: string }>('select noetl.fn_snowflake()::text as ref')
  const { ref } = rows[0]!
  const uri = resultFileUri(origin.execution_id, ref)
  await writeResultFile(home, uri, text)
  try {
    await putLocation(pool, text, origin, { ref, uri, hash: sha256(text) })
  } catch (error) {
    // If the row was written after all and only its answer was lost, nobody knows of it.
    await removeResultFile(home, uri).catch(() => {})
    throw error
  }
  return ref
}

/** The object first, then the row that refers to it. */
async function putObject(pool: Pool, store: BlobStore, text: string, origin: ResultOrigin): Promise<string> {
  const { blob_ref: uri } = await store.put(Readable.from([Buffer.from(text)]))
  try {
    return await putLocation(pool, text, origin, { ref: null, uri, hash: Buffer.from(digestOf(uri), 'hex') })
  } catch (error) {
    await store.delete(uri).catch(() => {})
    throw error
  }
}

interface ResultLocation {
  /** Null: the database gives it one. */
  readonly ref: string | null
  readonly uri: string
  readonly hash: Buffer
}

async function putLocation(
  pool: Pool,
  text: string,
  origin: ResultOrigin,
  { ref, uri, hash }: ResultLocation,
): Promise<string> {
  const { rows } = await pool.query<{ ref: string }>(
    `select noetl.fn_result_put($1, $2, p_ref_id => $3, p_physical_uri => $4, p_content_hash => $5, p_node_name => $6,
                                p_command_id => $7, p_name => $8, p_parent_ref_id => $9)::text as ref`,
    [origin.execution_id, Buffer.byteLength(text), ref, uri, hash, ...namesOf(origin)],
  )
  return rows[0]!.ref
}

function namesOf(origin: ResultOrigin): (string | null)[] {
  return [origin.node_name ?? null, origin.command_id ?? null, origin.name ?? null, origin.parent_ref ?? null]
}

interface ResultRow {
  readonly store_tier: string
  readonly physical_uri: string | null
  readonly content_hash: Buffer
  readonly collected: boolean
  readonly body: string | null
}

interface ResultPlaces {
  readonly home: string | undefined
  readonly store: BlobStore | undefined
}

async function loadRef(pool: Pool, places: ResultPlaces, ref: string): Promise<Json> {
  let row = await findResultRow(pool, ref)
  if (row?.store_tier === 'eventlog' && !row.collected) {
    // The results of a loop are collected when they are first read.
    await pool.query('select noetl.fn_loop_results($1)', [ref])
    row = await findResultRow(pool, ref)
  }
  if (row === undefined || row.collected) throw new StagedoorError('result_gone', { ref })
  const content = row.body ?? (await readContent(places, ref, row))
  if (!sha256(content).equals(row.content_hash)) {
    throw new StagedoorError('internal', {
      reason: `the result ${ref} is not what was stored: its hash differs`,
    })
  }
  return JSON.parse(content.toString()) as Json
}

async function findResultRow(pool: Pool, ref: string): Promise<ResultRow | undefined> {
  const { rows } = await pool.query<ResultRow>(
    `select r.store_tier, r.physical_uri, r.content_hash, r.collected_at is not null as collected, b.body::text as body
       from noetl.result_ref r left join noetl.result_body b using (ref_id) where r.ref_id = $1`,
    [ref],
  )
  return rows[0]
}

async function readContent({ home, store }: ResultPlaces, ref: string, row: ResultRow): Promise<Buffer> {
  if (store?.schemes.includes(row.store_tier) && row.physical_uri !== null) {
    const bytes = await store.open(row.physical_uri).catch((error: unknown) => {
      if (error instanceof StagedoorError && error.code === 'blob_missing')
        throw new StagedoorError('result_gone', { ref })
      throw error
    })
    return buffer(bytes)
  }
  const onDisk = isFileTier(row.store_tier)
  const content =
    onDisk && home !== undefined && row.physical_uri !== null
      ? await readResultFile(home, row.physical_uri)
      : undefined
  if (content !== undefined) return content
  const hint = onDisk
    ? `Its file is ${row.physical_uri} below STAGEDOOR_HOME, which this process does not have. Engines on several machines share that folder.`
    : `It is stored in the tier ${row.store_tier}, which this process does not read: STAGEDOOR_STORE names the stores.`
  throw new StagedoorError('result_gone', { ref }, { hint })
}

function tooLarge(bytes: number): ToolError {
  const { message, hint } = new StagedoorError('result_too_large', { bytes, limit: MAX_RESULT_BYTES })
  return new ToolError(`${message}. ${hint}`)
}

/** Where a result comes from. */
interface ResultOrigin {
  readonly execution_id: string
  readonly node_name?: string
  readonly command_id?: string
  readonly name?: string
  /** The reference that it was made from. */
  readonly parent_ref?: string
}

export interface ResultStore {
  /** Durable when it resolves. Throws ToolError when it is over the limit. */
  store(value: Json, origin: ResultOrigin): Promise<ResultValue>
  load(result: ResultValue): Promise<Json>
}

// Results as files below the home: `results/<execution_id>/<ref>.json`. Their rows are written after them, so a row's file is whole.

const RESULTS_FOLDER = 'results'
/** As the row has it: relative to the home. Rows of before have no scheme. */
const RESULT_FILE_URI = /^(?:disk:)?results\/\d{1,19}\/\d{1,19}\.json$/

function resultFileUri(executionId: string, ref: string): string {
  return `disk:${RESULTS_FOLDER}/${executionId}/${ref}.json`
}

/** `object` is an older name of disk. Rows of other tiers name places that are no files. */
export function isFileTier(tier: string): boolean {
  return tier === 'disk' || tier === 'object'
}

function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}

/** Durable when it resolves: the bytes first, then the name, then the folder that holds the name. */
async function writeResultFile(home: string, uri: string, content: string): Promise<void> {
  const path = pathOf(home, uri)
  const folder = dirname(path)
  const created = await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.part`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolder(folder)
  if (created !== undefined) await syncFolder(dirname(folder))
}

/** Undefined where there is none. */
async function readResultFile(home: string, uri: string): Promise<Buffer | undefined> {
  try {
    return await readFile(pathOf(home, uri))
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined
    throw error
  }
}

export async function removeResultFile(home: string, uri: string): Promise<void> {
  const path = pathOf(home, uri)
  await rm(path, { force: true })
  await rmdir(dirname(path)).catch(() => {})
}

/** Files that have not been written to since: their references, and drafts that a killed process left. */
export async function findOldResultFiles(
  home: string,
  before: Date,
): Promise<{ readonly files: readonly ResultFile[]; readonly drafts: readonly string[] }> {
  const files: ResultFile[] = []
  const drafts: string[] = []
  for (const execution of await namesIn(join(home, RESULTS_FOLDER))) {
    for (const name of await namesIn(join(home, RESULTS_FOLDER, execution))) {
      const path = join(home, RESULTS_FOLDER, execution, name)
      const { mtime } = await stat(path).catch(() => ({ mtime: undefined }))
      if (mtime === undefined || mtime >= before) continue
      const uri = `${RESULTS_FOLDER}/${execution}/${name}`
      if (RESULT_FILE_URI.test(uri)) files.push({ ref: name.slice(0, -'.json'.length), uri })
      else if (name.endsWith('.part')) drafts.push(path)
    }
  }
  return { files, drafts }
}

export interface ResultFile {
  readonly ref: string
  readonly uri: string
}

export async function removeDrafts(paths: readonly string[]): Promise<void> {
  for (const path of paths) await unlink(path).catch(() => {})
}

/** A row says where its file is; a row that says something else leads nowhere. */
function pathOf(home: string, uri: string): string {
  if (!RESULT_FILE_URI.test(uri)) throw new Error(`${uri} is not the name of a result`)
  return join(home, uri.replace(/^disk:/, ''))
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return []
    throw error
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Deeper than any data, and well below the stack of those who walk it. */
const MAX_JSON_DEPTH = 500
const UNSTORABLE = /[\0\p{Surrogate}]/u

/**
 * The result of a tool, as JSON that PostgreSQL can store. A value that JSON would change silently (a Date, NaN, a Map) or jsonb would
 * refuse (NUL, half a character) is an error that names its place. The same object unless a field of it is undefined: that
 * field is left out, as JSON leaves it out.
 */
export function requireJson(value: unknown): Json {
  return value === undefined ? null : checkValue(value, [])
}

type Place = (string | number)[]

function checkValue(value: unknown, place: Place): Json {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'string':
      return checkText(value, place)
    case 'number':
      if (!Number.isFinite(value)) throw notJson(place, `is ${value}, which JSON cannot hold`)
      return value
    case 'object':
      return value === null ? null : checkObject(value, place)
    case 'bigint':
      throw notJson(place, 'is a BigInt; give back a string, or a number below 2^53')
    default:
      throw notJson(place, `is ${value === undefined ? 'undefined' : `a ${typeof value}`}, which is not data`)
  }
}

function checkText(text: string, place: Place): string {
  if (!UNSTORABLE.test(text)) return text
  const what = text.includes('\0') ? 'the character NUL' : 'half of a surrogate pair'
  throw notJson(place, `contains ${what}, which PostgreSQL cannot hold`)
}

function checkObject(value: object, place: Place): Json {
  if (place.length > MAX_JSON_DEPTH) {
    throw new ToolError(
      `The result is not JSON: it contains itself, or is nested deeper than ${MAX_JSON_DEPTH} levels`,
    )
  }
  if (Array.isArray(value)) return checkList(value, place)
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    return checkMap(value as Record<string, unknown>, place)
  }
  if (value instanceof Date) throw notJson(place, 'is a Date; give back its toISOString()')
  const kind = (value.constructor as { name?: string } | undefined)?.name || 'object of a class'
  throw notJson(place, `is a ${kind}; give back plain objects and lists`)
}

function checkList(list: readonly unknown[], place: Place): Json {
  for (let index = 0; index < list.length; index++) {
    place.push(index)
    const before = list[index]
    const after = checkValue(before, place)
    place.pop()
    if (after !== before) return copyList(list, index, after, place)
  }
  return list as readonly Json[]
}

function copyList(list: readonly unknown[], from: number, first: Json, place: Place): Json {
  const copy = [...(list.slice(0, from) as Json[]), first]
  for (let index = from + 1; index < list.length; index++) {
    place.push(index)
    copy.push(checkValue(list[index], place))
    place.pop()
  }
  return copy
}

function checkMap(map: Record<string, unknown>, place: Place): Json {
  let copy: Record<string, Json> | undefined
  for (const key of Object.keys(map)) {
    place.push(key)
    checkText(key, place)
    const before = map[key]
    if (before === undefined) {
      copy ??= { ...map } as Record<string, Json>
      delete copy[key]
    } else {
      const after = checkValue(before, place)
      if (after !== before) {
        copy ??= { ...map } as Record<string, Json>
        copy[key] = after
      }
    }
    place.pop()
  }
  return copy ?? (map as Record<string, Json>)
}

function notJson(place: Place, reason: string): ToolError {
  const path = place.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return new ToolError(`The result is not JSON: result${shortPath(path)} ${reason}`)
}

function shortPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 100)}…${path.slice(-80)}` : path
}

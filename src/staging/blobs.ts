/** Where the bytes of large parts are kept. The database holds a reference, the length and the digest of each. */

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import type { CreatedRecord, StagingHealth } from './records.ts'

export interface BlobFacts {
  readonly byte_len: number
  /** sha-256 of the bytes, in hex. */
  readonly content_hash: string
}

export interface StoredBlob extends BlobFacts {
  readonly blob_ref: string
}

export interface ByteRange {
  readonly start: number
  /** The last byte, included. */
  readonly end: number
}

export interface BlobStore {
  /** What the references of this store begin with, before the colon. */
  readonly scheme: string
  /** Resolves when the bytes are safe. If the stream fails, or `signal` aborts it, nothing is left. */
  put(bytes: Readable, options?: { readonly signal?: AbortSignal }): Promise<StoredBlob>
  /** Length and digest, or undefined where there is no such blob, whatever the reference looks like. */
  facts(blobRef: string): Promise<BlobFacts | undefined>
  /** Reads every byte again: whether there is such a blob and its bytes are still those that were put. */
  verify(blobRef: string): Promise<boolean>
  /** Refused with blob_missing where there is none. A blob that is deleted while it is read is read to its end. */
  open(blobRef: string, range?: ByteRange): Promise<Readable>
  /** One that is not there is not an error. */
  delete(blobRef: string): Promise<void>
  /** References of blobs that were put before, in an order that stays; from behind the reference `after` on. */
  list(before: Date, after?: string): AsyncIterable<string>
  /** Removes what a put left behind that began before and never ended: its process was killed. Returns how many. */
  sweep(before: Date): Promise<number>
}

// Blobs as files of one folder. A file appears under its name when all of its bytes are on the disk, and never
// changes. References are `disk:<id>.<sha-256>`: the id is random, so that nobody reads a blob because they know its
// content, and two uploads of the same bytes never share a fate; the digest makes the reference say what it holds.

const SCHEME = 'disk'
const NAME = /^[0-9a-f]{32}\.[0-9a-f]{64}$/
/** Large enough that hashing a gigabyte is not a matter of small reads. */
const READ_BYTES = 1024 ** 2
/** Uploads that have not ended. */
const DRAFTS = 'drafts'

export function createDiskBlobStore(folder: string): BlobStore {
  /** Only what has the exact form of a name becomes part of a path. */
  const pathOf = (blobRef: string): string | undefined => {
    const name = blobRef.startsWith(`${SCHEME}:`) ? blobRef.slice(SCHEME.length + 1) : ''
    return NAME.test(name) ? join(folder, shardOf(name), name) : undefined
  }

  return {
    scheme: SCHEME,

    async put(bytes, { signal } = {}) {
      const id = randomBytes(16).toString('hex')
      const draft = join(folder, DRAFTS, id)
      try {
        await mkdir(join(folder, DRAFTS), { recursive: true, mode: 0o700 })
        const facts = await writeDraft(draft, bytes, signal)
        const name = `${id}.${facts.content_hash}`
        const shard = join(folder, shardOf(name))
        await mkdir(shard, { recursive: true, mode: 0o700 })
        await rename(draft, join(shard, name))
        await syncFolder(shard)
        await syncFolder(folder)
        return { blob_ref: `${SCHEME}:${name}`, ...facts }
      } catch (error) {
        bytes.destroy()
        await rm(draft, { force: true }).catch(() => {})
        throw explainFileError(error, folder)
      }
    },

    async facts(blobRef) {
      const path = pathOf(blobRef)
      const found = path && (await unlessMissing(stat(path)))
      return found ? { byte_len: found.size, content_hash: blobRef.slice(-64) } : undefined
    },

    async verify(blobRef) {
      const path = pathOf(blobRef)
      const file = path && (await unlessMissing(open(path, 'r')))
      if (!file) return false
      const hash = createHash('sha256')
      for await (const chunk of file.createReadStream({ highWaterMark: READ_BYTES })) hash.update(chunk)
      return hash.digest('hex') === blobRef.slice(-64)
    },

    async open(blobRef, range) {
      if (range) checkRange(range)
      const path = pathOf(blobRef)
      const file = path && (await unlessMissing(open(path, 'r')))
      if (!file) throw new StagedoorError('blob_missing', { ref: blobRef })
      return file.createReadStream({ ...(range && { start: range.start, end: range.end }) })
    },

    async delete(blobRef) {
      const path = pathOf(blobRef)
      if (path) await rm(path, { force: true })
    },

    async *list(before, after) {
      const last = after?.slice(SCHEME.length + 1) ?? ''
      // In the order of the names, so that a listing can be continued after any name.
      for (const shard of await namesIn(folder)) {
        if (shard === DRAFTS || shard < shardOf(last)) continue
        for (const name of await namesIn(join(folder, shard))) {
          if (!NAME.test(name) || name <= last) continue
          if (await isOlder(join(folder, shard, name), before)) yield `${SCHEME}:${name}`
        }
      }
    },

    async sweep(before) {
      let swept = 0
      for (const name of await namesIn(join(folder, DRAFTS))) {
        const draft = join(folder, DRAFTS, name)
        // A draft is written to until it ends, so its time is that of its last byte.
        if (!(await isOlder(draft, before))) continue
        await rm(draft, { force: true })
        swept++
      }
      return swept
    },
  }
}

/** Names begin with random digits: 256 folders share the files evenly. */
function shardOf(name: string): string {
  return name.slice(0, 2)
}

async function writeDraft(
  draft: string,
  bytes: Readable,
  signal: AbortSignal | undefined,
): Promise<{ byte_len: number; content_hash: string }> {
  const hash = createHash('sha256')
  let length = 0
  const file = await open(draft, 'wx', 0o600)
  try {
    const keep = async (chunks: AsyncIterable<Buffer | string>): Promise<void> => {
      for await (const chunk of chunks) {
        const buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
        hash.update(buffer)
        length += buffer.length
        await file.appendFile(buffer)
      }
    }
    await pipeline(bytes, keep, { ...(signal && { signal }) })
    await file.sync()
  } finally {
    await file.close()
  }
  return { byte_len: length, content_hash: hash.digest('hex') }
}

/** A rename is only safe when its folder is. Windows has no such thing. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Sorted; none where there is no such folder. */
async function namesIn(folder: string): Promise<string[]> {
  return ((await unlessMissing(readdir(folder))) ?? []).sort()
}

/** False for a file that does not exist any more: another process deleted it. */
async function isOlder(path: string, before: Date): Promise<boolean> {
  const found = await unlessMissing(stat(path))
  return found !== undefined && found.mtimeMs < before.getTime()
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined
    throw error
  }
}

function checkRange({ start, end }: ByteRange): void {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return
  throw new StagedoorError('argument_invalid', {
    reason: `The range ${start} to ${end} is not one of bytes from 0 on, the last one included`,
  })
}

function explainFileError(error: unknown, folder: string): unknown {
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC', 'EDQUOT'].includes(codeOf(error))) return error
  return new StagedoorError(
    'home_not_writable',
    { home: folder, reason: (error as Error).message },
    { cause: error },
  )
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? ''
}

// Blobs are stored before the record that refers to them. They are deleted if the record is not created.

/**
 * `create` adds to `stored` what it stores, as it comes. What cannot be deleted now is an orphan, swept later; the
 * error that led here matters more.
 */
export async function withBlobsForRecord(
  store: BlobStore,
  create: (stored: StoredBlob[]) => Promise<CreatedRecord>,
  onDeleteFailed: (blobRef: string, error: unknown) => void = () => {},
): Promise<CreatedRecord> {
  const stored: StoredBlob[] = []
  const discard = async (): Promise<void> => {
    for (const { blob_ref } of stored) {
      await store.delete(blob_ref).catch((error: unknown) => onDeleteFailed(blob_ref, error))
    }
  }
  try {
    const made = await create(stored)
    // The key found a record: it has its own blobs.
    if (!made.created) await discard()
    return made
  } catch (error) {
    // When the database was lost, the record may have been committed: its blobs must stay. If not, they are swept.
    const lost = error instanceof StagedoorError && error.code === 'database_unreachable'
    if (!lost) await discard()
    throw error
  }
}

// The database proves json and text parts by itself. What the blob store holds is proved here, byte by byte.

interface BlobPart {
  readonly staging_record_id: string
  readonly part_index: number
  readonly blob_ref: string
  readonly byte_len: number
  readonly content_hash: string
}

const COLUMNS = 'p.staging_record_id, part_index, blob_ref, p.byte_len::float8 as byte_len, p.content_hash'

/** How much a health check reads at most: it must answer while somebody waits. */
const HEALTH_BYTES = 1024 ** 3

/**
 * Refuses with staging_tampered if a blob of the record is missing or is not the one that was staged. `others` says how to treat
 * references with another scheme, whose bytes this store cannot read.
 */
export async function requireIntactBlobs(
  db: Queryable,
  blobs: BlobStore,
  record: string,
  { others }: { others: 'refused' | 'trusted' },
): Promise<void> {
  const { rows } = await db.query<BlobPart>(
    `select ${COLUMNS} from iu_core.iu_staging_payload p
      where staging_record_id = $1 and blob_ref is not null order by part_index`,
    [record],
  )
  for (const part of rows) {
    if (others === 'trusted' && !isOf(blobs, part)) continue
    if (!(await isIntact(blobs, part))) throw tamperedError(record, part.part_index)
    // Large blobs take seconds each, and the server ends transactions that are silent for long.
    await db.query('select 1')
  }
}

export function tamperedError(record: string, part: number): StagedoorError {
  const message = `The blob of part ${part} of record ${record} is missing, or not the one that was staged`
  return new StagedoorError('staging_tampered', { record, part }, { message })
}

/** `health` with one more check: a sample of the blobs is read and compared, up to 1 GiB in all. */
export async function withBlobHealth(
  db: Queryable,
  blobs: BlobStore,
  health: StagingHealth,
  sample = 100,
): Promise<StagingHealth> {
  const { rows } = await db.query<BlobPart>(
    `select ${COLUMNS} from iu_core.iu_staging_payload p
       join iu_core.iu_staging_record r on r.staging_record_id = p.staging_record_id
      where starts_with(blob_ref, $1 || ':') and r.lifecycle_status <> 'cleaned'
      order by random() limit $2`,
    [blobs.scheme, sample],
  )
  let left = HEALTH_BYTES
  let read = 0
  const broken: string[] = []
  for (const part of rows) {
    if (part.byte_len > left) continue
    left -= part.byte_len
    read++
    if (!(await isIntact(blobs, part))) broken.push(`part ${part.part_index} of ${part.staging_record_id}`)
  }
  const ok = broken.length === 0
  const detail = ok
    ? `${read} sampled, all of them as they were staged`
    : `missing, or not as they were staged: ${broken.slice(0, 10).join(', ')}`
  return { ...health, ok: health.ok && ok, checks: [...health.checks, { name: 'blobs', ok, detail }] }
}

async function isIntact(blobs: BlobStore, part: BlobPart): Promise<boolean> {
  const facts = await blobs.facts(part.blob_ref)
  return (
    facts?.byte_len === part.byte_len &&
    facts.content_hash === part.content_hash &&
    (await blobs.verify(part.blob_ref))
  )
}

function isOf(blobs: BlobStore, part: BlobPart): boolean {
  return part.blob_ref.startsWith(`${blobs.scheme}:`)
}

/** From then on it is that workspace's, and no other stages it. */
export async function registerBlob(
  db: Queryable,
  workspace: string | undefined,
  { blob_ref, byte_len, content_hash }: StoredBlob,
): Promise<void> {
  await db.query('select iu_core.fn_blob_register($1, $2, $3, $4)', [
    workspace ?? null,
    blob_ref,
    byte_len,
    content_hash,
  ])
}

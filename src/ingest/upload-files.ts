/**
 * Files of uploads, in the stores that STAGEDOOR_STORE names: received into the first, read by any process that shares the store in which
 * a file is, and deleted when no upload needs them any more. `disk.…` is a folder of one machine, `pvc.…` a volume, `s3.…` a bucket that
 * several machines share.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import { type BlobStore, digestOf, schemeOf } from '../runtime/stores/blob-store.ts'
import { createDiskBlobStore, explainFileError } from '../runtime/stores/disk-store.ts'
import { openWorkFolder, type ReadableFile } from './spool.ts'

export interface StoredFile {
  readonly file_ref: string
  /** The identity of the store: `disk.3f9c…`. */
  readonly store: string
  readonly file_hash: string
  readonly byte_len: number
}

export interface UploadFiles {
  /** Resolves when the bytes are safe. Over `limit` bytes it stops at once; if it fails, nothing is left. */
  put(source: FileSource, options?: PutOptions): Promise<StoredFile>
  /** Makes the file readable by a path: where it is, or as a copy whose hash was compared. */
  open(file: Pick<StoredFile, 'file_ref' | 'byte_len'>, signal?: AbortSignal): Promise<ReadableFile>
  delete(fileRef: string): Promise<void>
  /** Whether new files can be read where they are, without a copy. */
  readonly isLocal: boolean
  /** Identities of all stores that this process can open now. */
  stores(): Promise<string[]>
  /** For maintenance. */
  readonly places: readonly FilePlace[]
}

type FileSource = AsyncIterable<Uint8Array | string>

interface PutOptions {
  readonly limit?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface FilePlace {
  readonly blobs: BlobStore
  /** Which one it is, the same for every process that shares it. Fails where the store cannot be used. */
  identity(): Promise<string>
}

export function createUploadFiles(home: string, places: readonly [FilePlace, ...FilePlace[]]): UploadFiles {
  const placeOf = (fileRef: string): FilePlace | undefined =>
    places.find(({ blobs }) => blobs.schemes.includes(schemeOf(fileRef)))
  return {
    places,
    isLocal: places[0].blobs.pathOf !== undefined,

    async put(source, { limit = Number.POSITIVE_INFINITY, signal } = {}) {
      const [{ blobs, identity }] = places
      const store = await identity()
      const bytes = Readable.from(limited(source, limit), { objectMode: false, highWaterMark: 1 << 18 })
      const { blob_ref, content_hash, byte_len } = await blobs.put(bytes, { ...(signal && { signal }) })
      return { file_ref: blob_ref, store, file_hash: content_hash, byte_len }
    },

    async open({ file_ref, byte_len }, signal) {
      const place = placeOf(file_ref)
      if (!place) throw fileLost(file_ref)
      const { folder, remove } = await openWorkFolder(home)
      try {
        const local = place.blobs.pathOf?.(file_ref)
        if (local === undefined) await download(place.blobs, file_ref, join(folder, 'file'), signal)
        else if ((await stat(local).catch(() => undefined))?.size !== byte_len) throw fileLost(file_ref)
        return { folder, path: local ?? join(folder, 'file'), remove }
      } catch (error) {
        await remove()
        throw explainFileError(error, folder)
      }
    },

    delete: async (fileRef) => placeOf(fileRef)?.blobs.delete(fileRef),

    async stores() {
      const found = await Promise.allSettled(places.map(({ identity }) => identity()))
      return found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    },
  }
}

/** Files below the home of this machine, where no other store is configured. */
export function homeUploadFiles(home: string): UploadFiles {
  return createUploadFiles(home, [diskPlace(home)])
}

/** A folder of this machine. Its identity is a file in it: two machines may have folders of the same name. */
export function diskPlace(folder: string): FilePlace {
  let known: Promise<string> | undefined
  return {
    blobs: createDiskBlobStore(join(folder, 'uploads')),
    identity() {
      known ??= readIdentity(folder).catch((error) => {
        known = undefined
        throw explainFileError(error, folder)
      })
      return known
    },
  }
}

/** From a path, with reads that are large enough for large files. */
export function fileBytes(path: string): FileSource {
  return createReadStream(path, { highWaterMark: 1 << 20 })
}

async function* limited(source: FileSource, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    const buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += buffer.length
    if (bytes > limit) throw new StagedoorError('upload_too_large', { limit })
    yield buffer
  }
}

async function download(
  blobs: BlobStore,
  fileRef: string,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const bytes = await blobs.open(fileRef).catch((error) => {
    throw error instanceof StagedoorError && error.code === 'blob_missing' ? fileLost(fileRef) : error
  })
  await pipeline(bytes, hashing, createWriteStream(path), { ...(signal && { signal }) })
  if (hash.digest('hex') !== digestOf(fileRef))
    throw storeBroken(fileRef, 'it gave back other bytes than were stored')
}

function fileLost(fileRef: string): StagedoorError {
  return storeBroken(fileRef, 'the file of this upload is not in it')
}

function storeBroken(fileRef: string, reason: string): StagedoorError {
  return new StagedoorError('store_broken', { store: schemeOf(fileRef), reason })
}

const ID_FILE = 'uploads.id'
const ID = /^[0-9a-f]{12}$/

/** Written once, whole: a link is never half there, and the first process wins. */
async function readIdentity(folder: string): Promise<string> {
  const path = join(folder, ID_FILE)
  const read = async (): Promise<string | undefined> => {
    const id = (await readFile(path, 'utf8').catch(() => '')).trim()
    return ID.test(id) ? `disk.${id}` : undefined
  }
  const found = await read()
  if (found !== undefined) return found
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, `${randomBytes(6).toString('hex')}\n`, { mode: 0o600 })
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  const made = await read()
  if (made !== undefined) return made
  throw new StagedoorError('store_broken', { store: folder, reason: `${path} does not hold its identity` })
}

// Files that no upload needs any more.

const FILE_BATCH = 100
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** How long a file may wait for the record of its upload. */
const ORPHAN_AGE_MS = 24 * HOUR

/** Deletes what is in the trash of the stores that this process shares. What cannot be deleted stays there. Returns how many were. */
export async function emptyFileTrash(pool: Pool, files: UploadFiles): Promise<number> {
  const stores = await files.stores()
  return inTransaction(pool, (client) => deleteTrashedFiles(client, files, stores)).catch(() => 0)
}

/** Deleted from the store before the transaction ends: if this ends in between, the database still knows them. */
async function deleteTrashedFiles(client: Client, files: UploadFiles, stores: string[]): Promise<number> {
  const { rows } = await client.query<{ file_ref: string }>(
    'select iu_core.fn_ingest_files_claim($1, $2) as file_ref',
    [stores, FILE_BATCH],
  )
  for (const { file_ref } of rows) await files.delete(file_ref)
  return rows.length
}

/** `orphans`: whether this process may delete files that no upload of its database knows. */
export function fileTasks(files: UploadFiles, mayDelete: () => boolean, orphans: boolean): MaintenanceTask[] {
  return [
    {
      name: 'files of uploads',
      everyMs: MINUTE,
      async run(client) {
        if (!mayDelete()) return undefined
        const deleted = await deleteTrashedFiles(client, files, await files.stores())
        return deleted > 0 ? `${deleted} files of uploads deleted` : undefined
      },
    },
    {
      name: 'files without an upload',
      everyMs: HOUR,
      async run(client) {
        if (!mayDelete()) return undefined
        const before = new Date(Date.now() - ORPHAN_AGE_MS)
        let found = 0
        for (const { blobs, identity } of files.places) {
          const store = await identity().catch(() => undefined)
          if (store === undefined) continue
          found += await blobs.sweep(before)
          if (!orphans && store.startsWith('disk.')) continue
          for await (const refs of inGroups(blobs.list(before), FILE_BATCH)) {
            const { rows } = await client.query<{ trashed: number }>(
              'select iu_core.fn_ingest_files_trash($1, $2) as trashed',
              [store, refs],
            )
            found += rows[0]!.trashed
          }
        }
        return found > 0 ? `${found} files belong to no upload` : undefined
      },
    },
  ]
}

async function* inGroups(refs: AsyncIterable<string>, size: number): AsyncGenerator<string[]> {
  let group: string[] = []
  for await (const ref of refs) {
    if (group.push(ref) < size) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

/**
 * Blobs as files of one folder: of this machine (`disk`), or of a volume that all machines share (`pvc`). A file appears under its
 * name when all of its bytes are on the disk, and never changes.
 */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../../kernel/errors.ts'
import {
  type BlobFacts,
  type BlobStore,
  blobMissing,
  blobNameOf,
  checkRange,
  digestOf,
  isBlobName,
  randomBlobId,
} from './blob-store.ts'

/** Large enough that hashing a gigabyte is not a matter of small reads. */
const READ_BYTES = 1024 ** 2
/** Uploads that have not ended. */
const DRAFTS = 'drafts'

export function createDiskBlobStore(folder: string, scheme: 'disk' | 'pvc' = 'disk'): BlobStore {
  const pathOf = (blobRef: string): string | undefined => {
    const name = blobNameOf(scheme, blobRef)
    return name === undefined ? undefined : join(folder, shardOf(name), name)
  }

  return {
    schemes: [scheme],

    async put(bytes, { signal } = {}) {
      const id = randomBlobId()
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
        return { blob_ref: `${scheme}:${name}`, ...facts }
      } catch (error) {
        bytes.destroy()
        await rm(draft, { force: true }).catch(() => {})
        throw explainFileError(error, folder)
      }
    },

    async facts(blobRef) {
      const path = pathOf(blobRef)
      const found = path && (await unlessMissing(stat(path)))
      return found ? { byte_len: found.size, content_hash: digestOf(blobRef) } : undefined
    },

    async verify(blobRef) {
      const path = pathOf(blobRef)
      const file = path && (await unlessMissing(open(path, 'r')))
      if (!file) return false
      const hash = createHash('sha256')
      for await (const chunk of file.createReadStream({ highWaterMark: READ_BYTES })) hash.update(chunk)
      return hash.digest('hex') === digestOf(blobRef)
    },

    async open(blobRef, range) {
      if (range) checkRange(range)
      const path = pathOf(blobRef)
      const file = path && (await unlessMissing(open(path, 'r')))
      if (!file) throw blobMissing(blobRef)
      return file.createReadStream({ ...(range && { start: range.start, end: range.end }) })
    },

    pathOf,

    async delete(blobRef) {
      const path = pathOf(blobRef)
      if (path) await rm(path, { force: true })
    },

    async *list(before, after) {
      const last = after?.slice(scheme.length + 1) ?? ''
      // In the order of the names, so that a listing can be continued after any name.
      for (const shard of await namesIn(folder)) {
        if (shard === DRAFTS || shard < shardOf(last)) continue
        for (const name of await namesIn(join(folder, shard))) {
          if (!isBlobName(name) || name <= last) continue
          if (await isOlder(join(folder, shard, name), before)) yield `${scheme}:${name}`
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
): Promise<BlobFacts> {
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

/** An error of the file system as one that says what to do. */
export function explainFileError(error: unknown, folder: string): unknown {
  const code = codeOf(error)
  const reason = (error as Error | undefined)?.message ?? ''
  if (['ENOSPC', 'EDQUOT'].includes(code))
    return new StagedoorError('store_full', { store: folder, reason }, { cause: error })
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) return error
  return new StagedoorError('home_not_writable', { home: folder, reason }, { cause: error })
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? ''
}

/**
 * Blobs as files of one folder. A file appears under its name when all of its bytes are on the disk, and never
 * changes. References are `disk:<id>.<sha-256>`: the id is random, so that nobody reads a blob because they know its
 * content, and two uploads of the same bytes never share a fate; the digest makes the reference say what it holds.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../../errors.ts'
import type { BlobStore, ByteRange } from './store.ts'

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
        throw explained(error, folder)
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
      // In the order of the names: whoever goes on behind one of them misses none.
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

/** What is gone by now is not older: somebody else took it. */
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

function explained(error: unknown, folder: string): unknown {
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

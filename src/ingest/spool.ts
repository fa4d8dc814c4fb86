/**
 * The spool: folders of this machine in which files are read. A file that is only looked at (a preview, corrections) is received here
 * as a whole, before any transaction begins, so that nothing in the database ever waits for a slow client; the file of an upload is in
 * a store (upload-files.ts), and here is what is made of it while it is read. Each has a folder of its own. Its name begins with a
 * word that only this process knows: a process id would be the same after a restart in a container, and in another container.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../kernel/errors.ts'

/** A file that can be read by its path. */
export interface ReadableFile {
  /** A folder of its own: whatever is made of the file goes there. */
  readonly folder: string
  /** In the folder, or in a store: it is never written to. */
  readonly path: string
  /** Removes the folder. */
  remove(): Promise<void>
}

export interface SpooledFile extends ReadableFile {
  readonly file_hash: string
  readonly byte_len: number
}

/** Over `limit` bytes it stops at once, and nothing is left. */
export async function spool(
  home: string,
  source: AsyncIterable<Uint8Array | string>,
  limit = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Promise<SpooledFile> {
  const { folder, remove } = await openWorkFolder(home)
  const path = join(folder, 'file')
  const hash = createHash('sha256')
  let byteLen = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      byteLen += chunk.length
      if (byteLen > limit) return done(new StagedoorError('upload_too_large', { limit }))
      hash.update(chunk)
      done(null, chunk)
    },
  })
  try {
    await pipeline(source, count, createWriteStream(path), { ...(signal && { signal }) })
  } catch (error) {
    await remove()
    throw error
  }
  return { folder, path, file_hash: hash.digest('hex'), byte_len: byteLen, remove }
}

export function spoolFile(
  home: string,
  path: string,
  limit?: number,
  signal?: AbortSignal,
): Promise<SpooledFile> {
  return spool(home, createReadStream(path), limit, signal)
}

/** A folder that other processes leave alone as long as this one lives. */
export async function openWorkFolder(home: string): Promise<Pick<ReadableFile, 'folder' | 'remove'>> {
  const folder = await openFolder(home)
  const beating = keepAlive(folder)
  return {
    folder,
    remove() {
      clearInterval(beating)
      return rm(folder, { recursive: true, force: true })
    },
  }
}

/** In it DuckDB puts what does not fit into memory, too. */
export function spoolFolder(home: string): string {
  return join(home, 'spool')
}

/** Folders of processes that are gone: killed in the middle of an upload. Returns how many. */
export async function sweepSpool(home: string): Promise<number> {
  const spools = spoolFolder(home)
  const names = await readdir(spools).catch(() => [])
  const others = names.filter((name) => !name.startsWith(PROCESS_PREFIX))
  const swept = await Promise.all(others.map((name) => sweepFolder(join(spools, name))))
  return swept.filter(Boolean).length
}

/** What is being received, waits and is read now in this home. A file that goes meanwhile is not counted. */
export async function spoolUsage(home: string): Promise<{ files: number; bytes: number }> {
  const folders = [spoolFolder(home), join(home, 'uploads')]
  const found = await Promise.all(
    folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])),
  )
  const files = found
    .flat()
    .filter((entry) => entry.isFile() && entry.name !== HEARTBEAT_FILE)
    .slice(0, MAX_COUNTED)
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

const MAX_COUNTED = 10_000
const PROCESS_PREFIX = `${randomUUID()}-`
const HEARTBEAT_FILE = 'alive'
const HEARTBEAT_MS = 30_000
/** Twenty heartbeats: a machine may be very busy. A folder of DuckDB has none, and no statement takes a day. */
const MAX_SILENT_MS = 20 * HEARTBEAT_MS
const MAX_SPILL_AGE_MS = 24 * 60 * 60_000

async function openFolder(home: string): Promise<string> {
  const spools = spoolFolder(home)
  await mkdir(spools, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(spools, PROCESS_PREFIX))
  await writeFile(join(folder, HEARTBEAT_FILE), '')
  return folder
}

/** The sign by which other processes know that the folder is in use. */
function keepAlive(folder: string): NodeJS.Timeout {
  const touch = () => {
    const now = new Date()
    // The folder was deleted a moment ago: then nobody needs the sign.
    utimes(join(folder, HEARTBEAT_FILE), now, now).catch(() => undefined)
  }
  return setInterval(touch, HEARTBEAT_MS).unref()
}

async function sweepFolder(folder: string): Promise<boolean> {
  const sign = await stat(join(folder, HEARTBEAT_FILE))
    .catch(() => stat(folder))
    .catch(() => undefined)
  const longest = basename(folder).startsWith('duckdb-') ? MAX_SPILL_AGE_MS : MAX_SILENT_MS
  if (!sign || Date.now() - sign.mtimeMs < longest) return false
  await rm(folder, { recursive: true, force: true })
  return true
}

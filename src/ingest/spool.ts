/**
 * The spool: a file is received whole before any transaction begins, so that nothing in the database ever waits for a
 * slow client. Each upload has a folder of its own, named after the process, and the folder goes with the upload.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../errors.ts'

export interface SpooledFile {
  /** The upload's own folder; whatever is made of the file goes there, too. */
  readonly folder: string
  readonly path: string
  readonly file_hash: string
  readonly byte_len: number
  remove(): Promise<void>
}

/** Over `limit` bytes it stops at once, and nothing is left. */
export async function spool(
  home: string,
  source: AsyncIterable<Uint8Array | string>,
  limit = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Promise<SpooledFile> {
  const folder = await openFolder(home)
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
  const remove = () => rm(folder, { recursive: true, force: true })
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

/** Folders of processes that are gone: killed in the middle of an upload. Returns how many. */
export async function sweepSpool(home: string): Promise<number> {
  const spools = join(home, 'spool')
  const names = await readdir(spools).catch(() => [])
  const dead = names.filter((name) => !isAlive(Number(name.split('-')[0])))
  await Promise.all(dead.map((name) => rm(join(spools, name), { recursive: true, force: true })))
  return dead.length
}

async function openFolder(home: string): Promise<string> {
  const spools = join(home, 'spool')
  await mkdir(spools, { recursive: true, mode: 0o700 })
  return mkdtemp(join(spools, `${process.pid}-`))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

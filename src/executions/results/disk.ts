/** Results as files below the home: `results/<execution_id>/<ref>.json`. Their rows are written after them, so a row's file is whole. */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errno } from '../../db/embedded/files.ts'

const FOLDER = 'results'
/** As the row has it: relative to the home. Rows of before have no scheme. */
const URI = /^(?:disk:)?results\/\d{1,19}\/\d{1,19}\.json$/

export function uriOf(executionId: string, ref: string): string {
  return `disk:${FOLDER}/${executionId}/${ref}.json`
}

/** `object` is an older name of disk. Rows of other tiers name places that are no files. */
export function isFile(tier: string): boolean {
  return tier === 'disk' || tier === 'object'
}

export function hashOf(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}

/** Durable when it resolves: the bytes first, then the name, then the folder that holds the name. */
export async function writeResult(home: string, uri: string, content: string): Promise<void> {
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
export async function readResult(home: string, uri: string): Promise<Buffer | undefined> {
  try {
    return await readFile(pathOf(home, uri))
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined
    throw error
  }
}

export async function removeResult(home: string, uri: string): Promise<void> {
  const path = pathOf(home, uri)
  await rm(path, { force: true })
  await rmdir(dirname(path)).catch(() => {})
}

/** Files that have not been written to since: their references, and drafts that a killed process left. */
export async function oldResults(
  home: string,
  before: Date,
): Promise<{ readonly files: readonly StoredResult[]; readonly drafts: readonly string[] }> {
  const files: StoredResult[] = []
  const drafts: string[] = []
  for (const execution of await namesIn(join(home, FOLDER))) {
    for (const name of await namesIn(join(home, FOLDER, execution))) {
      const path = join(home, FOLDER, execution, name)
      const { mtime } = await stat(path).catch(() => ({ mtime: undefined }))
      if (mtime === undefined || mtime >= before) continue
      const uri = `${FOLDER}/${execution}/${name}`
      if (URI.test(uri)) files.push({ ref: name.slice(0, -'.json'.length), uri })
      else if (name.endsWith('.part')) drafts.push(path)
    }
  }
  return { files, drafts }
}

export interface StoredResult {
  readonly ref: string
  readonly uri: string
}

export async function removeDrafts(paths: readonly string[]): Promise<void> {
  for (const path of paths) await unlink(path).catch(() => {})
}

/** A row says where its file is; a row that says something else leads nowhere. */
function pathOf(home: string, uri: string): string {
  if (!URI.test(uri)) throw new Error(`${uri} is not the name of a result`)
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

/**
 * The data folder. It is made beside its place and renamed into it when complete: an interrupted initdb
 * is never seen, and a folder without our marker is somebody else's or damaged, so it is left alone.
 */
import { chown, lchown, mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import type { Account } from './account.ts'
import type { Binaries, EmbeddedVersion } from './binaries.ts'
import { readIfThere } from './files.ts'
import { startGuarded } from './guarded.ts'
import { logSize, logTail } from './log.ts'
import { dataFolders, type Place } from './place.ts'

export interface ClusterOptions {
  readonly home: string
  readonly place: Place
  readonly version: EmbeddedVersion
  readonly binaries: Binaries
  readonly password: string
  /** False for throwaway data: saves the flush of some thousand files. */
  readonly sync: boolean
  readonly logFile: string
}

const MARKER = 'stagedoor.json'

/** Checks the data folder or makes it, and says where it is. */
export async function prepareCluster(options: ClusterOptions): Promise<string> {
  const { home, place, version } = options
  await removeDrafts(place.base)
  const folders = await dataFolders(place.base)
  const dataDir = join(place.base, `data-${version}`)
  if (folders.includes(`data-${version}`)) await checkCluster(home, dataDir, version, place.account)
  else if (folders.length > 0) throw otherVersion(home, folders[0]!.slice('data-'.length), version)
  else await makeCluster(options, dataDir)
  return dataDir
}

async function checkCluster(
  home: string,
  dataDir: string,
  version: EmbeddedVersion,
  account: Account | undefined,
): Promise<void> {
  const { uid } = await stat(dataDir)
  if (account === undefined && uid !== process.getuid?.()) {
    const reason = `${dataDir} belongs to another user (number ${uid})`
    throw new StagedoorError('home_not_writable', { home, reason })
  }
  const found = (await readIfThere(join(dataDir, 'PG_VERSION')))?.trim()
  if (found !== undefined && found !== String(version)) throw otherVersion(home, found, version)
  const missing = found === undefined ? 'PG_VERSION' : MARKER
  if (found === undefined || (await readIfThere(join(dataDir, MARKER))) === undefined) {
    const reason = `${dataDir} has no ${missing}, so Stagedoor did not finish making it, or did not make it at all`
    throw new StagedoorError('home_incomplete', { home, reason })
  }
  if (account !== undefined && uid !== account.uid) await chownAll(dataDir, account)
}

async function makeCluster(options: ClusterOptions, dataDir: string): Promise<void> {
  const { place, version, binaries, password, sync } = options
  const draft = await mkdtemp(`${dataDir}.new-`)
  try {
    const data = join(draft, 'data')
    const passwordFile = join(draft, 'password')
    await mkdir(data, { mode: 0o700 })
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (place.account) await chownAll(draft, place.account)
    const args = [
      `--pgdata=${data}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-instructions',
      ...(sync ? [] : ['--no-sync']),
    ]
    await initdb(options, binaries.initdb, args, localeArgs(version))
    const marker = { version, created: new Date().toISOString() }
    await writeFile(join(data, MARKER), `${JSON.stringify(marker)}\n`)
    if (place.account) await chown(join(data, MARKER), place.account.uid, place.account.gid)
    await rename(data, dataDir)
    if (sync) await syncFolder(place.base)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/**
 * Never the caller's LANG: it may mean SQL_ASCII, or lower-case no Vietnamese. From 17 on the server brings
 * its own C.UTF-8; the system's is asked for beside it for what still depends on it, and is missing on macOS.
 */
function localeArgs(version: EmbeddedVersion): string[][] {
  if (version === 15) return [['--locale=C.UTF-8']]
  const builtin = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  return [
    [...builtin, '--locale=C.UTF-8'],
    [...builtin, '--locale=C'],
  ]
}

async function initdb(
  { place, logFile }: ClusterOptions,
  program: string,
  args: string[],
  locales: string[][],
): Promise<void> {
  const before = await logSize(logFile)
  const log = await open(logFile, 'a', 0o600)
  try {
    for (const locale of locales) {
      const { code } = await startGuarded(program, [...args, ...locale], place.account, log.fd).exited
      if (code === 0) return
      if (code === null) break
    }
    const reason = `initdb failed:\n${await logTail(logFile, before)}`
    throw new StagedoorError('embedded_start_failed', { reason, log: logFile })
  } catch (cause) {
    if (cause instanceof StagedoorError) throw cause
    const reason = `initdb could not be run: ${(cause as Error).message}`
    throw new StagedoorError('embedded_start_failed', { reason, log: logFile }, { cause })
  } finally {
    await log.close()
  }
}

function otherVersion(home: string, found: string, wanted: EmbeddedVersion): StagedoorError {
  const reason = `its data is of PostgreSQL ${found}, and this Stagedoor runs PostgreSQL ${wanted}`
  const hint =
    `The data is unharmed. Start it with the Stagedoor that made it, export with pg_dump and import into a new ` +
    'folder, or choose another folder with STAGEDOOR_HOME.'
  return new StagedoorError('home_incomplete', { home, reason }, { hint })
}

/** What an interrupted initdb left. Its process is gone: it is guarded like the server. */
async function removeDrafts(base: string): Promise<void> {
  const drafts = (await readdir(base)).filter((name) => /^data-\d+\.new-/.test(name))
  for (const name of drafts) await rm(join(base, name), { recursive: true, force: true, maxRetries: 5 })
}

async function chownAll(folder: string, { uid, gid }: Account): Promise<void> {
  await chown(folder, uid, gid)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), uid, gid)
  }
}

/** A rename outlives a power cut only when its folder is flushed. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}

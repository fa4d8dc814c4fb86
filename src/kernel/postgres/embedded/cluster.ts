/**
 * The data folder of an embedded server, its secrets and its port. The data folder is created under a temporary name and renamed
 * when it is complete, so that an interrupted initdb is never used. A folder without our marker is left alone.
 */

import { createHmac, randomBytes, randomInt } from 'node:crypto'
import {
  chown,
  lchown,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import type { Account, Binaries, EmbeddedVersion } from './binaries.ts'
import { dataFolders, type ServerLocation } from './home.ts'
import { logSize, logTail } from './postmaster.ts'
import { startGuarded } from './server.ts'

interface ClusterOptions {
  readonly home: string
  readonly place: ServerLocation
  readonly version: EmbeddedVersion
  readonly binaries: Binaries
  readonly password: string
  /** False for tests: skips the fsync of some thousand files. */
  readonly sync: boolean
  readonly logFile: string
}

const MARKER = 'stagedoor.json'

/** Checks the data folder, or creates it, and returns its path. */
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
  const found = (await readIfExists(join(dataDir, 'PG_VERSION')))?.trim()
  if (found !== undefined && found !== String(version)) throw otherVersion(home, found, version)
  const missing = found === undefined ? 'PG_VERSION' : MARKER
  if (found === undefined || (await readIfExists(join(dataDir, MARKER))) === undefined) {
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
 * Not the caller's LANG, which may mean SQL_ASCII or may not lower-case Vietnamese. From 17 on PostgreSQL has its own C.UTF-8. The
 * system's C.UTF-8 is used as well for what still depends on it, except on macOS, which has none.
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

/** Deletes what an interrupted initdb left. Its process has ended, because the watcher stops it as it stops the server. */
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

/** A rename survives a power failure only after an fsync of its folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}

// The passwords and keys of one home: created once, stored in it, readable by its owner only.

export interface Secrets {
  readonly superuserPassword: string
  readonly apiPassword: string
  readonly migratorPassword: string
  readonly workerPassword: string
  readonly playbookPassword: string
  readonly proposerPassword: string
  readonly jwtSecret: string
}

type Kept = Omit<Secrets, 'playbookPassword' | 'proposerPassword'>

const NAMES: readonly (keyof Kept)[] = [
  'superuserPassword',
  'apiPassword',
  'migratorPassword',
  'workerPassword',
  'jwtSecret',
]

/** Reads the secrets, or creates them the first time. Two concurrent processes get the same ones. */
export async function readSecrets(home: string): Promise<Secrets> {
  const existing = await existingSecrets(home)
  if (existing) return existing
  const fresh = Object.fromEntries(NAMES.map((name) => [name, randomBytes(32).toString('base64url')]))
  await writeOnce(secretsFile(home), `${JSON.stringify(fresh, null, 2)}\n`, 0o600)
  return (await existingSecrets(home))!
}

/** The secrets of a home that has them; creates none. */
export async function existingSecrets(home: string): Promise<Secrets | undefined> {
  const content = await readIfExists(secretsFile(home))
  return content === undefined ? undefined : parse(home, content)
}

function parse(home: string, content: string): Secrets {
  let values: Record<string, unknown>
  try {
    values = Object(JSON.parse(content))
  } catch {
    throw homeIncomplete(home, 'secrets.json is not JSON')
  }
  for (const name of NAMES) {
    const value = values[name]
    // Characters that need no escaping in a URL.
    if (typeof value !== 'string' || !/^[\w-]{32,}$/.test(value)) {
      throw homeIncomplete(home, `secrets.json has no valid ${name}`)
    }
  }
  const kept = values as unknown as Kept
  return {
    ...kept,
    playbookPassword: derivePassword(kept.superuserPassword, 'stagedoor_playbook'),
    proposerPassword: derivePassword(kept.superuserPassword, 'stagedoor_proposer'),
  }
}

/** Derives the password of a login that older homes have no secret for, so that their files need no change. One-way. */
function derivePassword(password: string, login: string): string {
  return createHmac('sha256', password).update(login).digest('base64url')
}

function homeIncomplete(home: string, reason: string): StagedoorError {
  const hint = 'Put secrets.json back from a backup: without it nobody can log in to the data of this folder.'
  return new StagedoorError('home_incomplete', { home, reason }, { hint })
}

function secretsFile(home: string): string {
  return join(home, 'secrets.json')
}

// Atomic file writes: other processes see the whole file or none.

/** Replaces the file. */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const draft = await writeDraft(path, content, mode)
  await rename(draft, path)
}

/** Creates the file, or returns false if it exists. By link(2), which fails if the name exists; rename(2) would replace it. */
async function writeOnce(path: string, content: string, mode: number): Promise<boolean> {
  const draft = await writeDraft(path, content, mode)
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (errno(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** The content, or undefined where there is no such file. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return undefined
    throw error
  }
}

export function errno(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

async function writeDraft(path: string, content: string, mode: number): Promise<string> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  const file = await open(draft, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}

/**
 * Below the range of ephemeral ports: a client that reconnects while the server restarts could otherwise get the server's port as
 * its own and connect to itself.
 */
const FIRST = 20_000
const LAST = 32_000

/** The remembered port if it is still free, else another. */
export async function choosePort(remembered: number | undefined): Promise<number> {
  if (remembered !== undefined && (await isFree(remembered))) return remembered
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port found between ${FIRST} and ${LAST}`)
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

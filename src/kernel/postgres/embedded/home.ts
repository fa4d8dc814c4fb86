/** The home of an embedded server: its folders, the system user that the server runs as, and the lock of its one owner. */
import { createHash, randomBytes } from 'node:crypto'
import {
  access,
  chmod,
  constants,
  link,
  mkdir,
  readdir,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import { type Account, canEnter, chooseAccount, isRoot } from './binaries.ts'
import { errno, readIfExists, replaceFile } from './cluster.ts'
import { identityOf, isAlive } from './postmaster.ts'

export interface ServerLocation {
  /** The folder that holds the data folder and, if needed, a copy of the programs. */
  readonly base: string
  /** As root: the user that the server runs as. */
  readonly account: Account | undefined
}

/** Settings that a home keeps between starts. */
interface HomeSettings {
  readonly port?: number
  readonly base?: string
}

/** For root, when the server's user cannot enter the home. */
const ELSEWHERE = '/var/lib/stagedoor'

/** The home as an existing folder that we can write, by its real path. */
export async function prepareHome(home: string): Promise<string> {
  await makeFolders(home, isRoot() ? 0o755 : 0o700)
  await access(home, constants.W_OK | constants.X_OK)
  return realpath(home)
}

interface Traits {
  readonly remembered: HomeSettings
  /** Random, created once and stored only in the home. */
  readonly secret: string
}

export async function chooseLocation(
  home: string,
  { remembered, secret }: Traits,
  notice: (line: string) => void,
): Promise<ServerLocation> {
  if (!isRoot()) return { base: home, account: undefined }
  // Named after the home's random id, not after its path: a home that is deleted and created again at the same path
  // is another one, which cannot log in to the old data. It is found again, too, when the home was moved.
  const elsewhere = join(ELSEWHERE, createHash('sha256').update(`place ${secret}`).digest('hex').slice(0, 16))
  for (const base of [remembered.base, home, elsewhere]) {
    if (base === undefined || (await dataFolders(base)).length === 0) continue
    if (base !== home) notice(`The data of ${home} lies in ${base}.`)
    return { base, account: await accountOf(home, base, notice) }
  }
  const account = await requireAccount(home, notice)
  if (await canEnter(account, home)) return { base: home, account }
  await makeElsewhere(elsewhere)
  notice(`The system user ${account.name} cannot enter ${home}: the data is placed in ${elsewhere}.`)
  return { base: elsewhere, account }
}

/** The names of the data folders in a base: `data-18`. */
export async function dataFolders(base: string): Promise<string[]> {
  try {
    return (await readdir(base)).filter((name) => /^data-\d+$/.test(name))
  } catch (error) {
    if (errno(error) === 'ENOENT') return []
    throw error
  }
}

export async function readHomeSettings(home: string): Promise<HomeSettings> {
  try {
    const values = Object(JSON.parse((await readIfExists(memoryFile(home))) ?? '{}'))
    return {
      ...(Number.isInteger(values.port) && { port: values.port }),
      ...(typeof values.base === 'string' && { base: values.base }),
    }
  } catch {
    return {} // Without it the server gets another port.
  }
}

export async function saveHomeSettings(home: string, values: HomeSettings): Promise<void> {
  await replaceFile(memoryFile(home), `${JSON.stringify(values)}\n`, 0o644)
}

/** Runs a step that writes in the home. Errors of the file system become `home_not_writable`. */
export async function withHomeErrors<T>(home: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    const reason = REASONS[errno(cause) ?? '']
    if (cause instanceof StagedoorError || reason === undefined) throw cause
    throw new StagedoorError('home_not_writable', { home, reason }, { cause })
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file stands in its path',
  EEXIST: 'a file stands in its place',
  ENOENT: 'no folder can be made there',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is used up',
}

/** Existing data keeps its user; data that root copied in gets one. */
async function accountOf(home: string, base: string, notice: (line: string) => void): Promise<Account> {
  const [folder] = await dataFolders(base)
  const { uid, gid } = await stat(join(base, folder!))
  const account = uid === 0 ? await requireAccount(home, notice) : { name: `number ${uid}`, uid, gid }
  if (await canEnter(account, base)) return account
  const reason = `the system user ${account.name}, whom the data in ${base} belongs to, cannot enter it`
  throw new StagedoorError('home_not_writable', { home, reason })
}

async function requireAccount(home: string, notice: (line: string) => void): Promise<Account> {
  const account = await chooseAccount(notice)
  if (account) return account
  const reason = 'PostgreSQL does not run as root, and this system has no other user for it'
  throw new StagedoorError('embedded_start_failed', { reason, log: join(home, 'postgres.log') })
}

async function makeElsewhere(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  // Accessible whatever the umask is, because the server may run as another user. The data folder inside is private.
  await chmod(ELSEWHERE, 0o755)
  await chmod(folder, 0o755)
}

function memoryFile(home: string): string {
  return join(home, 'server.json')
}

/** Node's recursive mkdir never returns below /proc, where a folder exists in which nothing can be created. */
async function makeFolders(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return
    const parent = dirname(folder)
    if (code !== 'ENOENT' || parent === folder || (await isFolder(parent))) throw error
    await makeFolders(parent, mode)
    await mkdir(folder, { mode })
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

// The lock: one owner per home. A lock is a file `lock.<n>`, and the highest number counts. A process that finds the owner dead
// links `lock.<n+1>`, which succeeds for one process only. The highest file is never deleted, so numbers are not reused. After
// linking a process reads the folder again and yields to a higher number, so an outdated view cannot win.

interface Owner {
  readonly pid: number
  readonly identity?: string | undefined
  readonly released?: boolean
  /** Other processes may use its server, which runs until a person stops it. */
  readonly serves?: boolean
}

export interface HomeLock {
  /** Records whether other processes may use the server. */
  announce(serves: boolean): Promise<void>
  release(): Promise<void>
}

export async function takeLock(home: string): Promise<HomeLock> {
  const owner: Owner = { pid: process.pid, identity: identityOf(process.pid) }
  const claim = join(home, `claim-${process.pid}-${randomBytes(4).toString('hex')}`)
  await writeFile(claim, JSON.stringify(owner), { flag: 'wx' })
  try {
    const number = await win(home, claim)
    await removeBelow(home, number)
    const write = (state: Partial<Owner>) =>
      replaceFile(lockFile(home, number), JSON.stringify({ ...owner, ...state }), 0o644)
    return { announce: (serves) => write({ serves }), release: () => write({ released: true }) }
  } finally {
    await rm(claim, { force: true })
  }
}

/** The pid of the live process that owns the home and lets others use its server. */
export async function servingOwner(home: string): Promise<number | undefined> {
  const owner = await liveOwner(home, await highest(home))
  return owner?.serves === true ? owner.pid : undefined
}

async function win(home: string, claim: string): Promise<number> {
  for (;;) {
    const number = await highest(home)
    const owner = await liveOwner(home, number)
    if (owner) throw new StagedoorError('home_in_use', { pid: owner.pid, home })
    const next = number + 1
    if (!(await linkOnce(claim, lockFile(home, next)))) continue
    if ((await highest(home)) === next) return next
    await rm(lockFile(home, next), { force: true })
  }
}

async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (errno(error) === 'EEXIST') return false
    throw error
  }
}

/** Undefined when released, dead, replaced by another process with the same pid, or unreadable after a power cut. */
async function liveOwner(home: string, number: number): Promise<Owner | undefined> {
  if (number === 0) return undefined
  let owner: Owner
  try {
    owner = JSON.parse((await readIfExists(lockFile(home, number))) ?? '{}')
  } catch {
    return undefined
  }
  if (owner.released === true || !Number.isInteger(owner.pid) || !isAlive(owner.pid)) return undefined
  const now = identityOf(owner.pid)
  const same = owner.identity === undefined || now === undefined || owner.identity === now
  return same ? owner : undefined
}

async function highest(home: string): Promise<number> {
  return Math.max(0, ...(await numbers(home)))
}

async function removeBelow(home: string, number: number): Promise<void> {
  const older = (await numbers(home)).filter((candidate) => candidate < number)
  await Promise.all(older.map((candidate) => rm(lockFile(home, candidate), { force: true })))
}

async function numbers(home: string): Promise<number[]> {
  let names: string[] = []
  try {
    names = await readdir(home)
  } catch (error) {
    if (errno(error) !== 'ENOENT' && errno(error) !== 'ENOTDIR') throw error
  }
  return names.flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice(5))] : []))
}

function lockFile(home: string, number: number): string {
  return join(home, `lock.${number}`)
}

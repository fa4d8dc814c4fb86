/** Where the files of one home lie, and as whom the server runs on them. */
import { createHash } from 'node:crypto'
import { access, chmod, constants, mkdir, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import { type Account, canEnter, chooseAccount, isRoot } from './account.ts'
import { errno, readIfThere, writeWhole } from './files.ts'

export interface Place {
  /** The folder that holds the data folder and, if needed, a copy of the programs. */
  readonly base: string
  /** As root: the user that the server runs as. */
  readonly account: Account | undefined
}

/** What a home remembers from one start to the next. */
export interface Remembered {
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

export interface Traits {
  readonly remembered: Remembered
  /** Made at random once, kept in the home, and nowhere else. */
  readonly secret: string
}

export async function choosePlace(
  home: string,
  { remembered, secret }: Traits,
  notice: (line: string) => void,
): Promise<Place> {
  if (!isRoot()) return { base: home, account: undefined }
  // Named after what only this home has, never after its path: a home that is deleted and made again at the same path
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

export async function recall(home: string): Promise<Remembered> {
  try {
    const values = Object(JSON.parse((await readIfThere(memoryFile(home))) ?? '{}'))
    return {
      ...(Number.isInteger(values.port) && { port: values.port }),
      ...(typeof values.base === 'string' && { base: values.base }),
    }
  } catch {
    return {} // Only a memory: without it, another port.
  }
}

export async function remember(home: string, values: Remembered): Promise<void> {
  await writeWhole(memoryFile(home), `${JSON.stringify(values)}\n`, 0o644)
}

/** Runs a step that writes in the home; what the system says against it becomes `home_not_writable`. */
export async function inHome<T>(home: string, step: () => Promise<T>): Promise<T> {
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
  // Ours, not a user's: open to enter whatever the umask is. The data folder inside is closed.
  await chmod(ELSEWHERE, 0o755)
  await chmod(folder, 0o755)
}

function memoryFile(home: string): string {
  return join(home, 'server.json')
}

/** Node's own recursive mkdir never ends below /proc, where a parent exists in which nothing can be made. */
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

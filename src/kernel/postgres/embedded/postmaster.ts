/** One run of the server process: from its start to the end of its last backend. */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StagedoorError } from '../../errors.ts'
import type { Account } from './binaries.ts'
import { errno, readIfExists } from './cluster.ts'
import { type Exit, startGuarded } from './server.ts'

export interface LaunchOptions {
  readonly postgres: string
  readonly account: Account | undefined
  readonly dataDir: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly logFile: string
}

export interface Postmaster {
  readonly pid: number
  readonly exited: Promise<Exit>
  /** `fast` rolls back what is open and writes a checkpoint; `immediate` is a crash. */
  end(mode: 'fast' | 'immediate'): Promise<void>
}

/** Crash recovery can take minutes, during which the server reports "starting". */
const START_LIMIT = 300_000
const FAST_LIMIT = 60_000
const IMMEDIATE_LIMIT = 15_000

/** Starts the server and waits until it accepts connections. */
export async function launch(options: LaunchOptions): Promise<Postmaster> {
  const { dataDir, logFile } = options
  const before = await logSize(logFile)
  const log = await open(logFile, 'a', 0o600)
  const args = [
    '-D',
    dataDir,
    ...Object.entries(allSettings(options)).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
  ]
  const { child, exited } = startGuarded(options.postgres, args, options.account, log.fd)
  await log.close()

  let exit: Exit | Error | undefined
  exited.then(
    (value) => {
      exit = value
    },
    (error: Error) => {
      exit = error
    },
  )
  const end = async (mode: 'fast' | 'immediate'): Promise<void> => {
    child.ref()
    if (exit !== undefined) return
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    const ended = await pollUntil(() => exit !== undefined, mode === 'fast' ? FAST_LIMIT : IMMEDIATE_LIMIT)
    if (!ended && mode === 'fast') return end('immediate')
    if (!ended) child.kill('SIGKILL')
    await exited
  }

  const inTime = await pollUntil(
    async () => exit !== undefined || (await isReady(dataDir, child.pid)),
    START_LIMIT,
  )
  if (exit !== undefined || !inTime) {
    await end('fast')
    const outcome = !inTime ? `not ready after ${START_LIMIT / 1000} seconds` : describeExit(exit)
    const reason = `${outcome}\n${await logTail(logFile, before)}`
    throw new StagedoorError('embedded_start_failed', { reason, log: logFile })
  }
  // The server must not keep a program alive that forgets to stop it; the watcher then stops the server.
  child.unref()
  ;(child.stdin as Socket).unref()
  return { pid: child.pid!, exited, end }
}

export function describeExit(exit: Exit | Error | undefined): string {
  if (exit instanceof Error) return exit.message
  return exit?.signal ? `it was ended by ${exit.signal}` : `it ended with exit code ${exit?.code}`
}

/**
 * Prepares a folder whose owner was killed for a new start: ends the old server (its watcher does so, too, which does no harm), and
 * backends that outlived their postmaster.
 */
export async function stopLeftoverServers(
  dataDir: string,
  logFile: string,
  notice: (line: string) => void,
): Promise<void> {
  const pid = Number((await postmasterLines(dataDir))[0])
  if (!Number.isInteger(pid) || pid <= 0) return
  const folder = await realpath(dataDir)
  if (isAlive(pid)) {
    // PostgreSQL takes any live process with this pid for a server and would refuse to start.
    if (!serves(pid, folder)) await rm(join(dataDir, 'postmaster.pid'), { force: true })
    else {
      notice(`A PostgreSQL server (process ${pid}) was left behind on this folder: stopping it.`)
      await stopForeign(pid)
    }
  }
  // A busy backend notices only at the end of its query that its postmaster has ended. The server has crashed in any case.
  for (const backend of processesIn(folder)) signal(backend, 'SIGQUIT')
  const ended = await pollUntil(() => processesIn(folder).length === 0, IMMEDIATE_LIMIT)
  if (ended) return
  const reason = `these processes of an earlier run do not end: ${processesIn(folder).join(', ')}`
  throw new StagedoorError('embedded_start_failed', { reason, log: logFile })
}

async function stopForeign(pid: number): Promise<void> {
  for (const [name, limit] of [
    ['SIGINT', FAST_LIMIT],
    ['SIGQUIT', IMMEDIATE_LIMIT],
  ] as const) {
    signal(pid, name)
    if (await pollUntil(() => !isAlive(pid), limit)) return
  }
}

function allSettings({ port, settings }: LaunchOptions): Record<string, string> {
  return {
    shared_buffers: '128MB',
    max_connections: '200',
    log_line_prefix: '%m [%p] %q%u@%d ',
    ...settings,
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
  }
}

/** As pg_ctl does: the server writes its state into the eighth line of its pid file. */
async function isReady(dataDir: string, pid: number | undefined): Promise<boolean> {
  const lines = await postmasterLines(dataDir)
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}

async function postmasterLines(dataDir: string): Promise<string[]> {
  return ((await readIfExists(join(dataDir, 'postmaster.pid'))) ?? '').split('\n')
}

// Checks of processes that are not our children: whether one lives, and whether it is still the same one.

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  // A zombie still accepts signals. In a container whose first process does not reap its children it stays for ever.
  return !['Z', 'X'].includes(statFields(pid)?.[0] ?? '')
}

/**
 * Distinguishes a process from a later one with the same pid. Undefined where the system does not tell. Start times count from the
 * boot, so the id of the boot is part of it: small machines boot into the same pids and ticks.
 */
export function identityOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // Field 22 of the file; the two before the closing bracket are cut off.
    const started = statFields(pid)?.[19]
    return started === undefined
      ? undefined
      : `${readText('/proc/sys/kernel/random/boot_id')?.trim()}:${started}`
  }
  return ps(pid, 'lstart')
}

/** Whether this process is the postmaster of the data folder: its working directory is that folder. */
function serves(pid: number, folder: string): boolean {
  return stands(pid, folder) || (ps(pid, 'command')?.includes(`postgres -D ${folder} `) ?? false)
}

/** The server processes, postmaster and backends, whose working directory is the folder. Only on Linux. */
function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stands(pid, folder) && isAlive(pid))
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // It has just ended.
  }
}

/** Polls until the condition is true, or the time is over. Returns whether it became true. */
export async function pollUntil(
  condition: () => boolean | Promise<boolean>,
  milliseconds: number,
): Promise<boolean> {
  const end = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > end) return false
    await delay(10)
  }
  return true
}

/** The fields of /proc/<pid>/stat from the third on; the second is a name that may hold anything. */
function statFields(pid: number): string[] | undefined {
  const line = readText(`/proc/${pid}/stat`)
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')
}

/** Whether it is a PostgreSQL process: the working directory of a shell can be the folder, too. */
function stands(pid: number, folder: string): boolean {
  try {
    const program = readlinkSync(`/proc/${pid}/exe`)
    return readlinkSync(`/proc/${pid}/cwd`) === folder && /\/postgres( \(deleted\))?$/.test(program)
  } catch {
    return false // The process has ended, we may not read it, or this is not Linux.
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    const options = { encoding: 'utf8', env: { LC_ALL: 'C', PATH: process.env.PATH }, stdio: 'pipe' } as const
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], options).trim() || undefined
  } catch {
    return undefined
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

// postgres.log: one old file is kept, and its last lines are shown when a start fails.

const ROTATE_AT = 10 * 1024 * 1024
const SHOWN_LINES = 12
const SHOWN_BYTES = 8192

export async function rotateLog(path: string): Promise<void> {
  if ((await logSize(path)) > ROTATE_AT) await rename(path, `${path}.1`)
}

export async function logSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errno(error) === 'ENOENT') return 0
    throw error
  }
}

/** The last lines written after the given size. */
export async function logTail(path: string, after: number): Promise<string> {
  const size = await logSize(path)
  const from = Math.max(after, size - SHOWN_BYTES)
  if (size <= from) return ''
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const text = buffer.subarray(0, bytesRead).toString('utf8').trimEnd()
    return text.split('\n').slice(-SHOWN_LINES).join('\n')
  } finally {
    await file.close()
  }
}

/** One run of the server process: from its start to the end of its last backend. */
import { open, realpath, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import type { Account } from './account.ts'
import { readIfThere } from './files.ts'
import { type Exit, startGuarded } from './guarded.ts'
import { logSize, logTail } from './log.ts'
import { isAlive, processesIn, serves, signal, until } from './processes.ts'

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

/** Recovery after a crash can take minutes; the server lives and says "starting" all the while. */
const START_LIMIT = 300_000
const FAST_LIMIT = 60_000
const IMMEDIATE_LIMIT = 15_000

/** Starts the server and waits until it takes connections. */
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
    const gone = await until(() => exit !== undefined, mode === 'fast' ? FAST_LIMIT : IMMEDIATE_LIMIT)
    if (!gone && mode === 'fast') return end('immediate')
    if (!gone) child.kill('SIGKILL')
    await exited
  }

  const inTime = await until(
    async () => exit !== undefined || (await isReady(dataDir, child.pid)),
    START_LIMIT,
  )
  if (exit !== undefined || !inTime) {
    await end('fast')
    const outcome = !inTime ? `not ready after ${START_LIMIT / 1000} seconds` : describeExit(exit)
    const reason = `${outcome}\n${await logTail(logFile, before)}`
    throw new StagedoorError('embedded_start_failed', { reason, log: logFile })
  }
  // A program that forgets to stop the server must still be able to end; the watcher stops it then.
  child.unref()
  ;(child.stdin as Socket).unref()
  return { pid: child.pid!, exited, end }
}

export function describeExit(exit: Exit | Error | undefined): string {
  if (exit instanceof Error) return exit.message
  return exit?.signal ? `it was ended by ${exit.signal}` : `it ended with exit code ${exit?.code}`
}

/**
 * Makes way for a start on a folder that nobody owns: ends a server whose owner was killed (its watcher is
 * already at it, asking twice does no harm), and backends that outlived their postmaster.
 */
export async function endLeftovers(
  dataDir: string,
  logFile: string,
  notice: (line: string) => void,
): Promise<void> {
  const pid = Number((await postmasterLines(dataDir))[0])
  if (!Number.isInteger(pid) || pid <= 0) return
  const folder = await realpath(dataDir)
  if (isAlive(pid)) {
    // PostgreSQL would take any live process with this pid for a server and refuse to start.
    if (!serves(pid, folder)) await rm(join(dataDir, 'postmaster.pid'), { force: true })
    else {
      notice(`A PostgreSQL server (process ${pid}) was left behind on this folder: stopping it.`)
      await stopForeign(pid)
    }
  }
  // Without a postmaster, a busy backend notices only at its query's end; the server crashed in any case.
  for (const backend of processesIn(folder)) signal(backend, 'SIGQUIT')
  const gone = await until(() => processesIn(folder).length === 0, IMMEDIATE_LIMIT)
  if (gone) return
  const reason = `these processes of an earlier run do not end: ${processesIn(folder).join(', ')}`
  throw new StagedoorError('embedded_start_failed', { reason, log: logFile })
}

async function stopForeign(pid: number): Promise<void> {
  for (const [name, limit] of [
    ['SIGINT', FAST_LIMIT],
    ['SIGQUIT', IMMEDIATE_LIMIT],
  ] as const) {
    signal(pid, name)
    if (await until(() => !isAlive(pid), limit)) return
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
  return ((await readIfThere(join(dataDir, 'postmaster.pid'))) ?? '').split('\n')
}

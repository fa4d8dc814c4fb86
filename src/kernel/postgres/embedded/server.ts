/** The embedded PostgreSQL: one server per home, for users without a database of their own. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StagedoorError, textOfThrown } from '../../errors.ts'
import type { HealthCheck } from '../health.ts'
import { type Account, asAccount, type EmbeddedVersion, prepareBinaries } from './binaries.ts'
import { choosePort, existingSecrets, isFree, prepareCluster, readSecrets } from './cluster.ts'
import {
  chooseLocation,
  type HomeLock,
  prepareHome,
  readHomeSettings,
  saveHomeSettings,
  servingOwner,
  takeLock,
  withHomeErrors,
} from './home.ts'
import {
  describeExit,
  type LaunchOptions,
  launch,
  type Postmaster,
  rotateLog,
  stopLeftoverServers,
} from './postmaster.ts'

export interface EmbeddedServer {
  readonly port: number
  readonly dataDir: string
  readonly majorVersion: number
  readonly logFile: string
  /** postgres:// URL for the superuser `postgres` on 127.0.0.1 */
  url(database?: string): string
  /** Lets `findRunning` of other processes find it. Only for an owner that keeps the server running for them. */
  announce(): Promise<void>
  /** Fast shutdown. Resolves when the process has ended; idempotent. */
  stop(): Promise<void>
  /** Ends the server, with `immediate` as a crash would, and starts it again on the same port. */
  restart(mode: 'fast' | 'immediate'): Promise<void>
  /** Not ok while a server that ended by itself is being started again. */
  health(): HealthCheck
  /** Resolves once a server that ended by itself could not be started again within the limit. */
  readonly lost: Promise<StagedoorError>
}

export interface EmbeddedOptions {
  /** STAGEDOOR_HOME; everything lives below it: data, log, secrets, lock. */
  readonly home: string
  readonly version?: EmbeddedVersion
  /** `throwaway` never waits for the disk: for tests. */
  readonly durability?: 'safe' | 'throwaway'
  /** More settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called with messages for a person, for example that the data is in another folder. */
  readonly notice?: (line: string) => void
  /** For how long to try to restart a server that ended by itself (a crash, a full disk). Default 10 minutes. */
  readonly restartLimitMs?: number
}

export interface RunningServer {
  readonly port: number
  /** The Stagedoor process that owns the server. */
  readonly pid: number
  url(database?: string): string
}

const THROWAWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
/** Settings that callers cannot change, because this module relies on them. */
const RESERVED = [
  'port',
  'listen_addresses',
  'unix_socket_directories',
  'data_directory',
  'config_file',
  'hba_file',
]
const PORT_ATTEMPTS = 3
const RESTART_LIMIT_MS = 600_000
const MIN_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 30_000
/** A server that ends again sooner than this has not recovered: backoff and limit continue. */
const STEADY_MS = 60_000

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const settings = serverSettings(options)
  const home = await withHomeErrors(options.home, () => prepareHome(options.home))
  const lock = await withHomeErrors(home, () => takeLock(home))
  try {
    return await startLocked(home, lock, settings, options)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/**
 * The server that another Stagedoor process shares on this home, if it runs and answers. The server of a short-lived command is not
 * shared: it would stop while others use it. Changes nothing.
 */
export async function findRunning(home: string): Promise<RunningServer | undefined> {
  try {
    const pid = await servingOwner(home)
    if (pid === undefined) return undefined
    const [{ port }, secrets] = await Promise.all([readHomeSettings(home), existingSecrets(home)])
    if (port === undefined || secrets === undefined) return undefined
    const url = urlOf(port, secrets.superuserPassword)
    await ask(url())
    return { port, pid, url }
  } catch {
    return undefined // Still starting, or no permission to read its state: either way there is no server to connect to.
  }
}

async function startLocked(
  home: string,
  lock: HomeLock,
  settings: Record<string, string>,
  {
    version = 18,
    durability = 'safe',
    notice = () => {},
    restartLimitMs = RESTART_LIMIT_MS,
  }: EmbeddedOptions,
): Promise<EmbeddedServer> {
  const logFile = join(home, 'postgres.log')
  const { account, binaries, dataDir, remembered, password, base } = await withHomeErrors(home, async () => {
    await rotateLog(logFile)
    const remembered = await readHomeSettings(home)
    const password = (await readSecrets(home)).superuserPassword
    const place = await chooseLocation(home, { remembered, secret: password }, notice)
    const binaries = await prepareBinaries(version, place.account, place.base, notice)
    const sync = durability === 'safe'
    const dataDir = await prepareCluster({ home, place, version, binaries, password, sync, logFile })
    return { ...place, binaries, dataDir, remembered, password }
  })
  await stopLeftoverServers(dataDir, logFile, notice)
  const common = { postgres: binaries.postgres, account, dataDir, settings, logFile }
  const { port, postmaster } = await launchOnFreePort(common, remembered.port)
  const url = urlOf(port, password)
  try {
    await checkLogin(home, url())
    await saveHomeSettings(home, { port, base })
  } catch (error) {
    await postmaster.end('fast')
    throw error
  }
  const control = supervise({ ...common, port }, postmaster, lock, { notice, restartLimitMs })
  return {
    port,
    dataDir,
    majorVersion: version,
    logFile,
    url,
    announce: () => lock.announce(true),
    ...control,
  }
}

/**
 * Owns the server process: stop and restart run one after the other in the order of the calls, and a server that ended
 * by itself is started again with backoff until the limit has passed.
 */
function supervise(
  launchOptions: LaunchOptions,
  first: Postmaster,
  lock: HomeLock,
  { notice, restartLimitMs }: { notice: (line: string) => void; restartLimitMs: number },
): Pick<EmbeddedServer, 'stop' | 'restart' | 'health' | 'lost'> {
  const { dataDir, logFile } = launchOptions
  let current = first
  let ending = false
  let stopped: Promise<void> | undefined
  let turn: Promise<void> = Promise.resolve()
  let outage: Outage | undefined
  const stopping = new AbortController()
  let giveUp: (error: StagedoorError) => void
  const lost = new Promise<StagedoorError>((resolve) => {
    giveUp = resolve
  })

  const watch = (postmaster: Postmaster): void => {
    const startedAt = performance.now()
    const onExit = (exit: Exit | Error): void => {
      if (ending || postmaster !== current) return
      if (performance.now() - startedAt > STEADY_MS) outage = undefined
      outage ??= { since: new Date(), startedAt: performance.now(), attempts: 0, isOver: false, reason: '' }
      outage.isOver = false
      outage.reason = describeExit(exit)
      notice(
        `The embedded PostgreSQL ended by itself (${outage.reason}) and is being started again. Its log: ${logFile}`,
      )
      turn = turn.then(revive, revive)
    }
    void postmaster.exited.then(onExit, onExit)
  }

  const relaunch = async (): Promise<void> => {
    await stopLeftoverServers(dataDir, logFile, notice)
    current = await launch(launchOptions)
    watch(current)
  }

  const revive = async (): Promise<void> => {
    while (outage && !outage.isOver && !ending) {
      // The limit also ends a server that starts each time and soon ends again.
      if (outage.attempts > 0 && performance.now() - outage.startedAt >= restartLimitMs) {
        giveUp(
          new StagedoorError('embedded_lost', {
            attempts: outage.attempts,
            seconds: Math.round((performance.now() - outage.startedAt) / 1000),
            reason: outage.reason,
            log: logFile,
          }),
        )
        return
      }
      const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** outage.attempts)
      await delay(backoff, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (ending) return
      outage.attempts += 1
      try {
        await relaunch()
        outage.isOver = true
        notice(`The embedded PostgreSQL is running again, at attempt ${outage.attempts}.`)
      } catch (error) {
        const reason = textOfThrown(error)
        // Shows the last lines of the server's log once, not after every attempt.
        const shown = reason === outage.reason ? firstLine(reason) : reason
        outage.reason = reason
        notice(`The embedded PostgreSQL could not be started (attempt ${outage.attempts}): ${shown}`)
      }
    }
  }

  watch(first)

  const stop = async (): Promise<void> => {
    await lock.announce(false).catch(() => {}) // Commands that start now wait for the home.
    await current.end('fast')
    await lock.release()
  }
  const restart = async (mode: 'fast' | 'immediate'): Promise<void> => {
    ending = true
    await current.end(mode)
    outage = undefined
    ending = false
    await relaunch()
  }
  return {
    lost,
    health: () => {
      if (!outage || outage.isOver) return { name: 'embedded_postgres', ok: true, detail: 'running' }
      const detail = `down since ${outage.since.toISOString()}, restart attempt ${outage.attempts}: ${firstLine(outage.reason)}`
      return { name: 'embedded_postgres', ok: false, detail }
    },
    stop: () => {
      ending = true
      stopping.abort()
      stopped ??= turn.then(stop, stop)
      return stopped
    },
    restart: (mode) => {
      if (stopped) return Promise.reject(new StagedoorError('internal', { reason: 'the server was stopped' }))
      turn = turn.then(
        () => restart(mode),
        () => restart(mode),
      )
      return turn
    },
  }
}

/** One outage: from the unexpected end of a server until it has run for a while again. */
interface Outage {
  readonly since: Date
  readonly startedAt: number
  attempts: number
  isOver: boolean
  reason: string
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!
}

/** Another program can take the port between our check and the server's start: then another port is tried. */
async function launchOnFreePort(
  options: Omit<LaunchOptions, 'port'>,
  remembered: number | undefined,
): Promise<{ port: number; postmaster: Postmaster }> {
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(remembered)
    try {
      return { port, postmaster: await launch({ ...options, port }) }
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || (await isFree(port))) throw error
    }
  }
}

async function checkLogin(home: string, url: string): Promise<void> {
  try {
    await ask(url)
  } catch (cause) {
    if ((cause as { code?: string }).code !== '28P01') throw cause
    const reason = 'the password in secrets.json is not the one of its data'
    const hint = 'Put the secrets.json that belongs to this data back from a backup.'
    throw new StagedoorError('home_incomplete', { home, reason }, { hint, cause })
  }
}

async function ask(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // Without a listener a lost connection would end the process.
  try {
    await client.connect()
    await client.query('select 1')
  } finally {
    await client.end()
  }
}

function serverSettings({ durability, settings = {} }: EmbeddedOptions): Record<string, string> {
  for (const name of Object.keys(settings)) {
    if (RESERVED.includes(name) || !/^[a-z_][\w.]*$/i.test(name)) {
      const reason = `${name} cannot be set for the embedded server`
      throw new StagedoorError('argument_invalid', { reason })
    }
  }
  return durability === 'throwaway' ? { ...THROWAWAY, ...settings } : { ...settings }
}

function urlOf(port: number, password: string): (database?: string) => string {
  return (database = 'postgres') =>
    `postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`
}

// Starts a program that ends with this process. It runs in its own session, so that Ctrl-C in the terminal reaches only this
// process. A watcher interrupts it when our end of a pipe closes, however this process ended.

/**
 * The shell becomes the program (`exec`), so the child's pid and exit are the program's own. The watcher
 * is forked twice: as a child of the postmaster, its end would count as a crashed backend. A line on the pipe tells the watcher
 * that the program has ended, because another process may have its pid by then.
 */
const SCRIPT = `exec 3<&0 </dev/null
( (trap '' HUP INT TERM; read -r ended <&3 || kill -INT $$) >/dev/null 2>&1 & )
exec "$@" 3<&-`

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface Guarded {
  readonly child: ChildProcess
  readonly exited: Promise<Exit>
}

export function startGuarded(
  program: string,
  args: readonly string[],
  account: Account | undefined,
  output: number | 'pipe',
): Guarded {
  const options: SpawnOptions = {
    ...asAccount(account),
    detached: true,
    stdio: ['pipe', output, output],
    // Nothing of the caller's PG*, LD_* or locale variables reaches the server.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  }
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', program, ...args], options)
  child.stdin?.on('error', () => {}) // The watcher may have ended.
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      child.stdin?.end('ended\n')
      resolve({ code, signal })
    })
  })
  exited.catch(() => {}) // Callers who await it get the error; without this, Node would report an unhandled rejection.
  return { child, exited }
}

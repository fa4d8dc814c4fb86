/** A NATS server of a benchmark: core NATS on a free port of this machine, killed and started again at will. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { processCpuMs } from './cpu.ts'
import { BenchError, EXIT_ENVIRONMENT } from './errors.ts'
import { freePort } from './processes.ts'
import { type Nats, openNats } from './product.ts'

export interface BenchNats {
  readonly url: string
  /** Milliseconds that it has used so far. */
  cpuMs(): number
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>
  /** On the same port. */
  start(): Promise<void>
  stop(): Promise<void>
}

const PROGRAM = process.env.NATS_SERVER_PATH ?? 'nats-server'
const START_MS = 10_000

export async function startNats(): Promise<BenchNats> {
  const version = await natsVersion()
  if (version === undefined)
    throw new BenchError('nats-server is not installed.', {
      remedy: 'Install it (Debian: apt-get install nats-server), or name it in NATS_SERVER_PATH.',
      exitCode: EXIT_ENVIRONMENT,
    })
  const home = mkdtempSync(join(tmpdir(), 'stagedoor-bench-nats-'))
  const port = await freePort()
  const file = join(home, 'nats.conf')
  writeFileSync(
    file,
    `host: "127.0.0.1"\nport: ${port}\nping_interval: "5s"\nping_max: 2\nwrite_deadline: "5s"\n`,
  )
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    server = spawn(PROGRAM, ['-c', file], { stdio: 'ignore' })
    const deadline = performance.now() + START_MS
    while (!(await answers(port))) {
      if (performance.now() > deadline) throw new Error('nats-server does not answer')
      await delay(5)
    }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  await start()
  const killWithParent = (): void => void server?.kill('SIGKILL')
  process.once('exit', killWithParent)
  return {
    url: `nats://127.0.0.1:${port}`,
    cpuMs: () => processCpuMs(server!.pid!) ?? 0,
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      process.off('exit', killWithParent)
      await end('SIGTERM')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Undefined: it is not installed. */
export async function natsVersion(): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await promisify(execFile)(PROGRAM, ['--version'])
    return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0]
  } catch {
    return undefined
  }
}

const silent = (): void => {}
export const silentLog = {
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  fatal: silent,
} as unknown as Parameters<typeof openNats>[2]

/** The product's connection, once it is there. */
export async function connectNats(url: string, name = 'bench'): Promise<Nats> {
  const nats = openNats(
    {
      natsUrl: [url],
      natsCredentials: undefined,
      natsCa: undefined,
      natsInbox: '_INBOX',
      natsPlaintext: 'refuse',
      cell: 'bench',
    },
    name,
    silentLog,
  )!
  while (!nats.connected) await delay(5)
  return nats
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

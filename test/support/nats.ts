/** A NATS server of a test: core NATS on a free port of this machine, killed and started again at will. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { temporaryHome } from './temporary-home.ts'
import { until } from './until.ts'

export interface TestNats {
  readonly port: number
  readonly url: string
  readonly pid: number
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>
  /** On the same port. */
  start(): Promise<void>
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

/** `config` is added to its configuration: users, permissions, TLS. */
export async function startNats({
  config = '',
  host = '127.0.0.1',
}: {
  config?: string
  host?: string
} = {}): Promise<TestNats> {
  const port = await freePort(host)
  const home = temporaryHome('nats')
  const file = join(home, 'nats.conf')
  writeFileSync(
    file,
    `host: "${host}"\nport: ${port}\nping_interval: "5s"\nping_max: 2\nwrite_deadline: "5s"\n${config}\n`,
  )
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    server = spawn(process.env.NATS_SERVER_PATH ?? 'nats-server', ['-c', file], { stdio: 'ignore' })
    await until(`nats-server answers on port ${port}`, () => answers(host, port))
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGCONT')
    server.kill(signal)
    await ended
  }
  await start()
  return {
    port,
    url: `nats://${host}:${port}`,
    get pid() {
      return server!.pid!
    },
    kill: () => end('SIGKILL'),
    start,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
  }
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

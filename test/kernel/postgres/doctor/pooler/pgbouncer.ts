/** A real pgbouncer in front of one database, for the test of one file. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../../../support/cli.ts'
import { until } from '../../../../support/until.ts'

export interface Pooler {
  readonly url: string
  stop(): Promise<void>
}

export async function startPooler(target: string, mode: 'session' | 'transaction'): Promise<Pooler> {
  const program = findPgbouncer()
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-pgbouncer-'))
  const port = await freePort()
  const { hostname, port: serverPort, username, password, pathname } = new URL(target)
  const users = join(folder, 'users.txt')
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
`,
  )
  // It refuses to run as root, and whom it becomes must be able to read.
  const asRoot = process.getuid?.() === 0
  if (asRoot) for (const path of [folder, users, join(folder, 'pgbouncer.ini')]) chmodSync(path, 0o755)
  const child = spawn(program, [...(asRoot ? ['-u', 'nobody'] : []), join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await until('pgbouncer answers', async () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${log}`)
      return answers(url)
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

function findPgbouncer(): string {
  const program = process.env.PGBOUNCER_PATH ?? '/usr/sbin/pgbouncer'
  if (existsSync(program)) return program
  throw new Error('No pgbouncer: apt-get install pgbouncer, or name one with PGBOUNCER_PATH.')
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

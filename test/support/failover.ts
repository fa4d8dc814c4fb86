/**
 * A primary, a replica of it and one address for both: the failover of a server that had not sent its last commits. The embedded
 * programs have no pg_basebackup, so the replica is a copy of the data folder between pg_backup_start and pg_backup_stop.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { dirname, join, relative } from 'node:path'
import type pg from 'pg'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/kernel/postgres/embedded/server.ts'
import { until } from './until.ts'

export interface ReplicatedServer {
  /** The server that clients of `url` reach now, without the way through the proxy. */
  readonly current: EmbeddedServer
  /** Read only until the failover. */
  readonly replica: EmbeddedServer
  /** The same database through an address that outlives the failover. */
  url(direct: string): string
  /** The replica has everything; from now on it gets nothing more. */
  holdBackWal(): Promise<void>
  /** The primary dies with what the replica lacks, the replica is promoted, and the address leads to it. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** `prepare` runs on the primary before it is copied. `home` is an empty folder. */
export async function startReplicatedServer(
  home: string,
  prepare: (superuserUrl: string) => Promise<void>,
  replicaSettings: Record<string, string> = {},
): Promise<ReplicatedServer> {
  const homes = { primary: join(home, 'primary'), replica: join(home, 'replica') }
  const primary = await startEmbedded({ home: homes.primary, durability: 'throwaway' })
  await prepare(primary.url())
  await copyCluster(primary, homes)
  const { password } = new URL(primary.url())
  const replica = await startEmbedded({
    home: homes.replica,
    durability: 'throwaway',
    settings: {
      ...replicaSettings,
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password=${password}`,
    },
  })
  const proxy = await startProxy(primary.port)
  let current = primary
  let sender: number | undefined
  return {
    get current() {
      return current
    },
    replica,
    url: proxy.url,
    async holdBackWal() {
      sender = await withClient(primary.url(), untilCaughtUp)
      // A replica that only paused its replay would still have received everything.
      process.kill(sender, 'SIGSTOP')
    },
    async failOver() {
      proxy.cut()
      const processes = await withClient(primary.url(), processesOf)
      for (const pid of [postmasterOf(primary), ...processes]) killNow(pid)
      await primary.stop()
      await withClient(replica.url(), (client) => client.query('select pg_promote(true, 60)'))
      current = replica
      proxy.leadTo(replica.port)
    },
    async stop() {
      if (sender !== undefined) killNow(sender)
      await proxy.stop()
      await Promise.all([primary.stop(), replica.stop()])
    },
  }
}

async function copyCluster(
  primary: EmbeddedServer,
  homes: { primary: string; replica: string },
): Promise<void> {
  const copy = join(homes.replica, relative(homes.primary, primary.dataDir))
  mkdirSync(dirname(copy), { recursive: true, mode: 0o755 })
  copyFileSync(join(homes.primary, 'secrets.json'), join(homes.replica, 'secrets.json'))
  await withClient(primary.url(), async (client) => {
    await client.query(`select pg_backup_start('replica', true)`)
    execFileSync('cp', ['-a', primary.dataDir, copy])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(copy, 'backup_label'), rows[0]!.labelfile)
    writeFileSync(join(copy, 'standby.signal'), '')
  })
  rmSync(join(copy, 'postmaster.pid'))
  const { uid, gid } = statSync(copy)
  for (const name of ['backup_label', 'standby.signal']) chownSync(join(copy, name), uid, gid)
}

/** The process that sends WAL, once the replica has all that there is. */
/** Commits do not wait for the disk here, so what was written last is behind what was flushed. */
async function untilCaughtUp(client: pg.Client): Promise<number> {
  const { rows: written } = await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn')
  return until('the replica has everything', async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_replication where state = 'streaming' and replay_lsn >= $1`,
      [written[0]!.lsn],
    )
    return rows[0]?.pid
  })
}

async function processesOf(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where pid <> pg_backend_pid()',
  )
  return rows.map(({ pid }) => pid)
}

function postmasterOf({ dataDir }: EmbeddedServer): number {
  return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

async function startProxy(first: number) {
  const sockets = new Set<Socket>()
  let port: number | undefined = first
  const server = createServer((client) => {
    if (port === undefined) {
      client.destroy()
      return
    }
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.pipe(to)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = (server.address() as AddressInfo).port
  const cut = (): void => {
    port = undefined
    for (const socket of sockets) socket.destroy()
  }
  return {
    url(direct: string): string {
      const url = new URL(direct)
      url.port = String(own)
      return url.href
    },
    cut,
    leadTo(next: number): void {
      port = next
    },
    async stop(): Promise<void> {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

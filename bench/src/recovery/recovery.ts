/**
 * How long remote workers take to go on after a fault: until the first job ends, and until jobs end at their normal rate. Two gateways, two
 * worker hosts with 8 places each, jobs of 50 ms. Seconds count from when what failed is back (NATS, Postgres), else from the fault.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Benchmark, Contender, Figures, Task } from '../benchmark.ts'
import { atMost } from '../criteria.ts'
import { natsVersion } from '../nats.ts'
import { askAll } from '../processes.ts'
import { createPool, migrate } from '../product.ts'
import { enqueueNoops, type Hosts, startHosts } from '../remote/hosts.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { startReplicatedServer } from './failover.ts'

const HANDLER_MS = 50
const HOSTS = 2
const PLACES = 8
const STEADY_MS = 3000
const OUTAGE_MS = 3000
const SAMPLE_MS = 50
/** The rate is that of the last second. */
const WINDOW_MS = 1000
const NORMAL = 0.9
const MAX_WAIT_MS = 60_000
/** Jobs for so long are there before the fault. */
const BACKLOG_SECONDS = 12

interface Fault {
  readonly name: string
  readonly about: string
  /** Seconds to the first progress. */
  readonly bar: number
  /** In a quick run, too. */
  readonly quick?: true
  /** How much of the capacity is left afterwards; default 1. */
  readonly left?: number
  /** Returns the jobs that must end for progress; undefined: any. Resolves when what failed is back. */
  happen(world: RunningWorld): Promise<readonly string[] | undefined>
}

interface RunningWorld {
  readonly hosts: Hosts
  restartPostgres(): Promise<void>
  loseTail(): Promise<void>
}

const FAULTS: readonly Fault[] = [
  {
    name: 'worker_killed',
    about: 'kill -9 of a worker host',
    bar: 10,
    quick: true,
    left: 1 / HOSTS,
    async happen({ hosts }) {
      const [victim] = hosts.workers
      const running = await victim!.ask<string[]>('running')
      await victim!.kill()
      return running
    },
  },
  {
    name: 'worker_cut',
    about: 'a worker host that hears and says nothing any more',
    bar: 10,
    left: 1 / HOSTS,
    async happen({ hosts }) {
      const [victim] = hosts.workers
      const running = await victim!.ask<string[]>('running')
      process.kill(victim!.pid, 'SIGSTOP')
      return running
    },
  },
  {
    name: 'gateway_killed',
    about: 'kill -9 of a gateway; the other one stays',
    bar: 10,
    async happen({ hosts }) {
      // One that has workers: it is theirs whose jobs must end.
      const [attached] = await hosts.workers[0]!.ask<string[]>('gateways')
      const ids = await askAll<string[]>(hosts.gateways, 'gateways')
      const running = await hosts.workers[0]!.ask<string[]>('running')
      await hosts.gateways[ids.findIndex(([id]) => id === attached)]!.kill()
      return running
    },
  },
  {
    name: 'nats_killed',
    about: `kill -9 of NATS, back after ${OUTAGE_MS / 1000} s`,
    bar: 2,
    quick: true,
    async happen({ hosts }) {
      await hosts.nats!.kill()
      await delay(OUTAGE_MS)
      await hosts.nats!.start()
      return undefined
    },
  },
  {
    name: 'postgres_restarted',
    about: 'Postgres ends as in a crash and starts again',
    bar: 5,
    async happen({ restartPostgres }) {
      await restartPostgres()
      return undefined
    },
  },
  {
    name: 'lost_tail',
    about: 'failover to a replica that lacks the last two seconds',
    bar: 15,
    async happen({ loseTail }) {
      await loseTail()
      return undefined
    },
  },
]

export const recovery: Benchmark = {
  name: 'recovery',
  about:
    'seconds until remote workers go on after a fault: a worker, a gateway, NATS, Postgres, a failover with a lost tail',
  unit: 'faults',
  size: { full: FAULTS.length, quick: FAULTS.filter(({ quick }) => quick).length },
  rounds: { full: 5, quick: 1 },
  warmUp: false,
  freshDatabase: 'contender',
  contenders: FAULTS.map(contender),
  summarise(rounds) {
    const measured = FAULTS.filter(({ name }) => rounds[0]?.[name]?.first_s !== undefined)
    return {
      ...Object.fromEntries(
        measured.flatMap(({ name }) =>
          ['first_s', 'normal_s', 'rate_before'].map((field) => [
            `${name}_${field}`,
            medianOf(rounds, name, field),
          ]),
        ),
      ),
      lost: Math.max(...measured.map(({ name }) => worstOf(rounds, name, 'lost'))),
    }
  },
  criteria: [
    ...FAULTS.map(({ name, bar, quick }) => ({
      field: `${name}_first_s`,
      bar: atMost(bar),
      ...(!quick && { onlyFull: true as const }),
    })),
    { field: 'lost', bar: atMost(0), correctness: true },
  ],
  peers: async () => ({ nats: (await natsVersion()) ?? 'not installed' }),
}

function contender(fault: Fault): Contender {
  return {
    name: fault.name,
    about: fault.about,
    async run(task) {
      if (task.size < FAULTS.length && !fault.quick) return {}
      return fault.name === 'lost_tail' ? withReplica(fault) : withServer(task, fault)
    },
  }
}

function withServer({ database, size }: Task, fault: Fault): Promise<Figures> {
  return measure(fault, {
    url: () => database.url,
    workerUrl: database.workerUrl,
    drains: size >= FAULTS.length,
    restartPostgres: () => database.restartServer('immediate'),
    loseTail: () => Promise.reject(new Error('there is no replica')),
  })
}

async function withReplica(fault: Fault): Promise<Figures> {
  const home = await mkdtemp(join(tmpdir(), 'stagedoor-bench-'))
  await chmod(home, 0o755)
  const password = randomBytes(16).toString('hex')
  const server = await startReplicatedServer(home, async (primary) => {
    await migrate({ url: primary.url() })
    const client = new pg.Client(primary.url())
    await client.connect()
    await client.query(`alter role stagedoor_worker password '${password}'`)
    await client.end()
  })
  try {
    const workerUrl = new URL(server.url(server.current.url()))
    workerUrl.username = 'stagedoor_worker'
    workerUrl.password = password
    return await measure(fault, {
      url: () => server.current.url(),
      workerUrl: workerUrl.href,
      // What was enqueued or completed in the lost tail is gone, or runs again.
      drains: false,
      restartPostgres: () => Promise.reject(new Error('not here')),
      async loseTail() {
        await server.holdBackWal()
        await delay(2000)
        await server.failOver()
      },
    })
  } finally {
    await server.stop()
    await rm(home, { recursive: true, force: true })
  }
}

interface Place {
  /** The superuser's address of the server that is there now. */
  url(): string
  readonly workerUrl: string
  /** Waits for the last job, to count those that are lost. A quick run has no time for it. */
  readonly drains: boolean
  restartPostgres(): Promise<void>
  loseTail(): Promise<void>
}

async function measure(fault: Fault, place: Place): Promise<Figures> {
  const possible = (HOSTS * PLACES * 1000) / HANDLER_MS
  const jobs = possible * BACKLOG_SECONDS
  const pool = createPool(place.workerUrl, { role: 'dot_executor', max: 2, purpose: 'bench' })
  await enqueueNoops(pool, jobs)
  await pool.end()
  const hosts = await startHosts(place, {
    way: 'remote',
    gateways: 2,
    workers: HOSTS,
    perProcess: 1,
    concurrency: PLACES,
    handlerMs: HANDLER_MS,
  })
  const counter = new Counter(place.url)
  try {
    await counter.untilMore(0)
    const before = await counter.rate(STEADY_MS)
    const expected = before * (fault.left ?? 1)
    const mustEnd = await fault.happen({
      hosts,
      restartPostgres: place.restartPostgres,
      loseTail: place.loseTail,
    })
    const at = performance.now()
    const { firstMs, normalMs } = await counter.watch(at, expected * NORMAL, mustEnd)
    const lost = place.drains ? await counter.lostOf(jobs) : 0
    return { rate_before: before, first_s: firstMs / 1000, normal_s: normalMs / 1000, lost }
  } finally {
    for (const { pid } of hosts.workers) wake(pid)
    await counter.close()
    await hosts.stop()
  }
}

function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It was killed.
  }
}

/** Jobs that have ended by the tables, also while the server goes away and comes back. */
class Counter {
  private readonly url: () => string
  private client: pg.Client | undefined

  constructor(url: () => string) {
    this.url = url
  }

  async untilMore(than: number): Promise<void> {
    while ((await this.ended()) <= than) await delay(SAMPLE_MS)
  }

  async rate(ms: number): Promise<number> {
    const began = performance.now()
    const before = await this.ended()
    await delay(ms)
    return (((await this.ended()) - before) * 1000) / (performance.now() - began)
  }

  /** When the first job ended (of these, if any are named), and when so many ended within a second. */
  async watch(
    at: number,
    normalRate: number,
    mustEnd: readonly string[] | undefined,
  ): Promise<{ firstMs: number; normalMs: number }> {
    const samples: { at: number; ended: number }[] = []
    let firstMs: number | undefined
    let normalMs: number | undefined
    while (firstMs === undefined || normalMs === undefined) {
      const now = performance.now()
      if (now - at > MAX_WAIT_MS) throw new Error('the jobs do not go on')
      const ended = await this.ended()
      samples.push({ at: now, ended })
      const hasProgress = mustEnd?.length ? await this.someEnded(mustEnd) : ended > samples[0]!.ended
      if (hasProgress) firstMs ??= now - at
      const old = samples.findLast((sample) => now - sample.at >= WINDOW_MS)
      if (old && ((ended - old.ended) * 1000) / (now - old.at) >= normalRate) normalMs ??= now - at
      await delay(SAMPLE_MS)
    }
    return { firstMs, normalMs }
  }

  /** Waits until nothing is left to do. */
  async lostOf(jobs: number): Promise<number> {
    const deadline = performance.now() + 2 * MAX_WAIT_MS
    while (performance.now() < deadline) {
      const rows = await this.query<{ left: number }>(
        `select count(*)::int as left from iu_core.job_queue where job_kind = 'noop'`,
      )
      if (rows[0]!.left === 0) break
      await delay(SAMPLE_MS)
    }
    return jobs - (await this.ended())
  }

  async close(): Promise<void> {
    await this.client?.end().catch(() => {})
  }

  private async ended(): Promise<number> {
    const rows = await this.query<{ ended: number }>(
      `select count(*)::int as ended from iu_core.job_history where job_kind = 'noop' and outcome = 'completed'`,
    )
    return rows[0]!.ended
  }

  private async someEnded(jobs: readonly string[]): Promise<boolean> {
    const rows = await this.query<{ some: boolean }>(
      'select exists (select from iu_core.job_history where job_id = any ($1)) as some',
      [jobs],
    )
    return rows[0]!.some
  }

  private async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    for (;;) {
      try {
        this.client ??= await this.open()
        return (await this.client.query<Row>(sql, values)).rows
      } catch {
        await this.client?.end().catch(() => {})
        this.client = undefined
        await delay(SAMPLE_MS)
      }
    }
  }

  private async open(): Promise<pg.Client> {
    const client = new pg.Client(this.url())
    client.on('error', () => {})
    await client.connect()
    return client
  }
}

/**
 * 64 and 128 workers with one job of 20 ms at a time: each on the database, against workers without one behind a gateway. What Postgres
 * pays for a job, how many connections there are, how many jobs end, and how long an enqueue takes to begin.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Benchmark, Contender, Figures, Round, Task } from '../benchmark.ts'
import { postgresCpuMs } from '../cpu.ts'
import { atLeast, atMost } from '../criteria.ts'
import { natsVersion } from '../nats.ts'
import { askAll } from '../processes.ts'
import { createPool, enqueue } from '../product.ts'
import { medianOf, percentile, worstOf } from '../statistics.ts'
import { enqueueNoops, type Hosts, type HostsWanted, startHosts } from './hosts.ts'
import type { Begin } from './process.ts'

const WORKERS = [64, 128]
const HANDLER_MS = 20
const LATENCIES = { full: 200, quick: 60 }
/** Starting many processes takes longer than what is measured. */
const WORKERS_A_PROCESS = 16
const FULL_SECONDS = 8
const WARM_UP_MS = 1500
/** Enqueued and not measured: the first calls of everything. */
const LATENCY_WARM_UP = 20

const FIELDS = [
  'jobs_per_s',
  'postgres_us_per_job',
  'connections',
  'nats_us_per_job',
  'gateway_us_per_job',
  'worker_us_per_job',
  'latency_p50_ms',
  'latency_p95_ms',
] as const

export const remote: Benchmark = {
  name: 'remote',
  about: '64 and 128 workers with one job of 20 ms at a time: on the database, against behind a gateway',
  unit: 'seconds',
  size: { full: FULL_SECONDS, quick: 2 },
  rounds: { full: 3, quick: 1 },
  warmUp: false,
  settings: { max_connections: '1000' },
  freshDatabase: 'contender',
  contenders: WORKERS.flatMap((workers) => [contender('direct', workers), contender('remote', workers)]),
  summarise(rounds) {
    return {
      ...Object.assign({}, ...WORKERS.map((workers) => figuresOf(rounds, workers))),
      doubled: Math.max(
        ...WORKERS.flatMap((workers) =>
          (['direct', 'remote'] as const).map((way) => worstOf(rounds, nameOf(way, workers), 'doubled')),
        ),
      ),
    }
  },
  criteria: [
    ...WORKERS.flatMap((workers) => [
      { field: `remote_postgres_us_per_job_${workers}`, bar: atMost(120) },
      { field: `ratio_postgres_${workers}`, bar: atMost(0.1) },
      { field: `ratio_jobs_${workers}`, bar: atLeast(1.4) },
      { field: `remote_connections_${workers}`, bar: atMost(12) },
      { field: `remote_latency_p50_ms_${workers}`, bar: atMost(10) },
    ]),
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: async () => ({ nats: (await natsVersion()) ?? 'not installed' }),
}

function contender(way: 'direct' | 'remote', workers: number): Contender {
  return {
    name: nameOf(way, workers),
    about: way === 'direct' ? `${workers} workers on the database` : `${workers} workers behind one gateway`,
    run: (task) =>
      // A worker with one place that takes one job at a time, as many small hosts do; prefetching would give others nothing to do.
      measure(task, {
        way,
        workers,
        perProcess: WORKERS_A_PROCESS,
        handlerMs: HANDLER_MS,
        ...(way === 'direct' && { batch: 1 }),
      }),
  }
}

async function measure({ database, size }: Task, wanted: HostsWanted): Promise<Figures> {
  const superuser = await database.superuser()
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'bench' })
  const hosts = await startHosts(database, wanted)
  try {
    const count = size < FULL_SECONDS ? LATENCIES.quick : LATENCIES.full
    const latencies = await measureLatencies(superuser, pool, hosts, count)
    const possible = (wanted.workers * 1000) / HANDLER_MS
    const jobs = Math.ceil(possible * (size + WARM_UP_MS / 1000) * 1.1)
    await enqueueNoops(pool, jobs)
    await delay(WARM_UP_MS)
    const before = await usage(superuser, hosts)
    await delay(size * 1000)
    const after = await usage(superuser, hosts)
    const ran = after.ended - before.ended
    const each = (of: 'postgres' | 'nats' | 'gateway' | 'workers'): number =>
      ((after[of] - before[of]) * 1000) / Math.max(1, ran)
    const begins = (await askAll<Begin[]>(hosts.workers, 'begins')).flat()
    return {
      jobs_per_s: (ran * 1000) / (after.at - before.at),
      share: (ran * 1000) / (after.at - before.at) / possible,
      postgres_us_per_job: each('postgres'),
      connections: after.connections,
      nats_us_per_job: each('nats'),
      gateway_us_per_job: each('gateway'),
      worker_us_per_job: each('workers'),
      latency_p50_ms: percentile(latencies, 0.5),
      latency_p95_ms: percentile(latencies, 0.95),
      doubled: begins.length - new Set(begins.map(({ n }) => n)).size,
    }
  } finally {
    await superuser.query('truncate iu_core.job_queue, iu_core.job_key').catch(() => {})
    await hosts.stop()
    await pool.end()
  }
}

/** From the call of enqueue until a handler begins, one job at a time, workers idle. */
async function measureLatencies(
  superuser: pg.Client,
  pool: ReturnType<typeof createPool>,
  { workers }: Hosts,
  count: number,
): Promise<number[]> {
  const sent: number[] = []
  for (let n = 0; n < LATENCY_WARM_UP + count; n++) {
    sent.push(performance.timeOrigin + performance.now())
    await enqueue(pool, { job_kind: 'noop', payload: { n } })
    await delay(HANDLER_MS)
  }
  await untilEmpty(superuser)
  const begins = (await askAll<Begin[]>(workers, 'begins')).flat()
  return begins.filter(({ n }) => n >= LATENCY_WARM_UP).map(({ n, at }) => at - sent[n]!)
}

export async function untilEmpty(superuser: pg.Client, pollMs = 5): Promise<void> {
  for (;;) {
    const { rows } = await superuser.query({
      name: 'empty',
      text: 'select not exists (select from iu_core.job_queue) as empty',
    })
    if (rows[0].empty) return
    await delay(pollMs)
  }
}

/** What all processes have used so far, and the sessions of the database that are not the benchmark's. */
export async function usage(superuser: pg.Client, { nats, gateways, workers }: Hosts) {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const { rows } = await superuser.query<{ connections: number }>(
    `select count(*)::int as connections from pg_stat_activity
      where datname = current_database() and usename = 'stagedoor_worker'`,
  )
  return {
    // The benchmark has one itself, to enqueue.
    connections: rows[0]!.connections - 1,
    postgres: await postgresCpuMs(superuser),
    nats: nats?.cpuMs() ?? 0,
    gateway: sum(await askAll<number>(gateways, 'cpuMs')),
    workers: sum(await askAll<number>(workers, 'cpuMs')),
    ended: sum(await askAll<number>(workers, 'ended')),
    at: performance.now(),
  }
}

function figuresOf(rounds: readonly Round[], workers: number): Figures {
  const of = (way: 'direct' | 'remote', field: (typeof FIELDS)[number]): number =>
    medianOf(rounds, nameOf(way, workers), field)
  return {
    ...Object.fromEntries(
      (['direct', 'remote'] as const).flatMap((way) =>
        FIELDS.map((field) => [`${way}_${field}_${workers}`, of(way, field)]),
      ),
    ),
    [`ratio_postgres_${workers}`]: of('remote', 'postgres_us_per_job') / of('direct', 'postgres_us_per_job'),
    [`ratio_jobs_${workers}`]: of('remote', 'jobs_per_s') / of('direct', 'jobs_per_s'),
  }
}

function nameOf(way: 'direct' | 'remote', workers: number): string {
  return `${way}_${workers}`
}

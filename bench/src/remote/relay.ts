/** What the way through a gateway costs for a job, by how many jobs one message carries: gateway, NATS, worker and Postgres. */
import type { Benchmark, Contender, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { natsVersion } from '../nats.ts'
import { askAll } from '../processes.ts'
import { createPool } from '../product.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { enqueueNoops, startHosts } from './hosts.ts'
import type { Begin } from './process.ts'
import { untilEmpty, usage } from './remote.ts'

/** A worker with so many places gets so many jobs with an answer. */
const JOBS_A_MESSAGE = [1, 10, 100]
const FIELDS = ['gateway_us', 'nats_us', 'worker_us', 'postgres_us', 'jobs_per_s'] as const

export const relay: Benchmark = {
  name: 'relay',
  about: 'what a gateway, NATS and a remote worker cost for a job, at 1, 10 and 100 jobs a message',
  unit: 'jobs',
  size: { full: 20_000, quick: 4000 },
  rounds: { full: 3, quick: 1 },
  warmUp: false,
  freshDatabase: 'contender',
  contenders: JOBS_A_MESSAGE.map(contender),
  summarise: (rounds) => ({
    ...Object.fromEntries(
      JOBS_A_MESSAGE.flatMap((jobs) =>
        FIELDS.map((field) => [`${field}_by_${jobs}`, medianOf(rounds, `by_${jobs}`, field)]),
      ),
    ),
    missed: Math.max(...JOBS_A_MESSAGE.map((jobs) => worstOf(rounds, `by_${jobs}`, 'missed'))),
    doubled: Math.max(...JOBS_A_MESSAGE.map((jobs) => worstOf(rounds, `by_${jobs}`, 'doubled'))),
  }),
  criteria: [
    { field: 'jobs_per_s_by_100', bar: atLeast(0) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: async () => ({ nats: (await natsVersion()) ?? 'not installed' }),
}

function contender(jobs: number): Contender {
  return {
    name: `by_${jobs}`,
    about: `a worker with ${jobs} places`,
    run: (task) => measure(task, jobs),
  }
}

async function measure({ database, size }: Task, concurrency: number): Promise<Figures> {
  // One job at a time waits for every answer: as many would take minutes.
  const jobs = concurrency === 1 ? Math.ceil(size / 10) : size
  const superuser = await database.superuser()
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 2, purpose: 'bench' })
  const hosts = await startHosts(database, { way: 'remote', workers: 1, concurrency, handlerMs: 0 })
  try {
    const before = await usage(superuser, hosts)
    await enqueueNoops(pool, jobs)
    await untilEmpty(superuser)
    const after = await usage(superuser, hosts)
    const each = (of: 'postgres' | 'nats' | 'gateway' | 'workers'): number =>
      ((after[of] - before[of]) * 1000) / jobs
    const begins = (await askAll<Begin[]>(hosts.workers, 'begins')).flat()
    const different = new Set(begins.map(({ n }) => n)).size
    return {
      jobs_per_s: (jobs * 1000) / (after.at - before.at),
      gateway_us: each('gateway'),
      nats_us: each('nats'),
      worker_us: each('workers'),
      postgres_us: each('postgres'),
      missed: jobs - different,
      doubled: begins.length - different,
    }
  } finally {
    await hosts.stop()
    await pool.end()
  }
}

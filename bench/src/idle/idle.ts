/**
 * What processes cost that have nothing to do: a job worker and an engine each. Commits, connections and CPU of the server for each of
 * them, beside as many sessions that only listen: what a process costs that can be woken at all.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { postgresCpuMs } from '../cpu.ts'
import { atMost } from '../criteria.ts'
import { startNats } from '../nats.ts'
import { type BenchProcess, startProcess, startProcesses, stopAll } from '../processes.ts'
import { startHost } from '../remote/hosts.ts'
import type { BenchDatabase } from '../server.ts'
import { medianOf } from '../statistics.ts'

/** The number that the bars are for, and a smaller one: the cost of each must not depend on how many there are. */
const PROCESSES = { full: 32, quick: 8 }
const FEW = 4
const FULL_SECONDS = 20
/** Sessions that are not used any more are closed by then. */
const SETTLE_MS = 14_000

const FIELDS = ['commits_per_s', 'connections', 'cpu_percent'] as const
type Idle = Record<(typeof FIELDS)[number], number>
const SCRIPT = new URL('process.js', import.meta.url)

export const idle: Benchmark = {
  name: 'idle',
  about:
    '32 processes with nothing to do (job worker and engine): commits, connections and CPU of the server for each',
  unit: 'seconds',
  size: { full: FULL_SECONDS, quick: 6 },
  rounds: { full: 3, quick: 1 },
  warmUp: false,
  // While they start they have more sessions than later.
  settings: { max_connections: '500' },
  freshDatabase: 'contender',
  contenders: [
    { name: 'stagedoor', about: 'a job worker and an engine each', run: runProcesses },
    { name: 'listeners', about: 'one session each that only listens: the floor', run: runListeners },
    {
      name: 'remote',
      about: 'workers behind a gateway, without what the gateway costs with one',
      run: runRemote,
    },
  ],
  summarise(rounds) {
    const of = (contender: string, prefix: string): Figures =>
      Object.fromEntries(
        Object.keys(rounds[0]![contender]!).map((field) => [
          `${prefix}${field}`,
          medianOf(rounds, contender, field),
        ]),
      )
    return { ...of('stagedoor', ''), ...of('listeners', 'floor_'), ...of('remote', 'remote_') }
  },
  criteria: [
    { field: 'commits_per_s', bar: atMost(3) },
    { field: 'connections', bar: atMost(3) },
    { field: 'cpu_percent', bar: atMost(0.15) },
    // Nothing, but for a commit of the gateway more or less and what the clock of the CPU cannot tell.
    { field: 'remote_commits_per_s', bar: atMost(0.05), onlyFull: true },
    { field: 'remote_connections', bar: atMost(0), onlyFull: true },
    { field: 'remote_cpu_percent', bar: atMost(0.01), onlyFull: true },
  ],
}

async function runProcesses(task: Task): Promise<Figures> {
  const figures = await runDirect(task, processesOf(task))
  if (!isFull(task)) return figures
  const few = await runDirect(task, FEW)
  return { ...figures, ...Object.fromEntries(FIELDS.map((field) => [`${field}_of_${FEW}`, few[field]!])) }
}

type OneDatabase = Omit<Task, 'freshDatabase'>

function runDirect(task: OneDatabase, count: number): Promise<Idle> {
  return measure(task, count, SETTLE_MS, async () => {
    const processes = await startProcesses(count, () => startProcess(SCRIPT, task.database.workerUrl))
    return () => stopAll(processes)
  })
}

/** For the model: what one process costs. */
export function measureIdle(
  database: BenchDatabase,
  { count, seconds }: { count: number; seconds: number },
): Promise<{ commits_per_s: number; connections: number; cpu_percent: number }> {
  return runDirect({ database, size: seconds, round: 0 }, count)
}

function runListeners(task: Task): Promise<Figures> {
  const count = processesOf(task)
  return measure(task, count, 0, async () => {
    const sessions = await Promise.all(
      Array.from({ length: count }, async () => {
        const session = new pg.Client(task.database.workerUrl)
        await session.connect()
        await session.query('listen stagedoor')
        return session
      }),
    )
    return async () => {
      await Promise.all(sessions.map((session) => session.end()))
    }
  })
}

/**
 * A gateway with one worker, then with 32: what each further one adds. With its first worker a gateway opens the sessions that it needs for
 * any number of them; `gateway_…` is what it costs then. A quick run has no time for it.
 */
async function runRemote(task: Task): Promise<Figures> {
  if (!isFull(task)) return {}
  const { workerUrl } = task.database
  const count = processesOf(task)
  const nats = await startNats()
  const gateway = await startHost({ role: 'gateway', workerUrl, natsUrl: nats.url })
  const startWorkers = (workers: number): Promise<BenchProcess> =>
    startHost({ role: 'remote', natsUrl: nats.url, workers })
  try {
    const first = await startWorkers(1)
    try {
      const one = await measure(task, 1, SETTLE_MS, async () => async () => {})
      const all = await measure(task, 1, SETTLE_MS, async () => {
        const processes = await startProcesses(REMOTE_PROCESSES, (n) =>
          startWorkers(n === 0 ? count / REMOTE_PROCESSES - 1 : count / REMOTE_PROCESSES),
        )
        return () => stopAll(processes)
      })
      return {
        ...Object.fromEntries(FIELDS.map((field) => [field, (all[field] - one[field]) / (count - 1)])),
        ...Object.fromEntries(FIELDS.map((field) => [`gateway_${field}`, one[field]])),
      }
    } finally {
      await first.stop()
    }
  } finally {
    await gateway.stop()
    await nats.stop()
  }
}

const REMOTE_PROCESSES = 4

const isFull = ({ size }: Task): boolean => size >= FULL_SECONDS
const processesOf = (task: Task): number => (isFull(task) ? PROCESSES.full : PROCESSES.quick)

/** For each process, with the little that the server does by itself and what the measuring session adds. */
async function measure(
  { database, size }: OneDatabase,
  count: number,
  settleMs: number,
  start: () => Promise<() => Promise<void>>,
): Promise<Idle> {
  const client = await database.superuser()
  const stop = await start()
  try {
    await delay(settleMs)
    const before = await usage(client)
    const began = performance.now()
    await delay(size * 1000)
    const seconds = (performance.now() - began) / 1000
    const after = await usage(client)
    const each = (amount: number): number => amount / seconds / count
    return {
      commits_per_s: each(after.commits - before.commits),
      connections: after.connections / count,
      cpu_percent: each(after.cpuMs - before.cpuMs) / 10,
    }
  } finally {
    await stop()
  }
}

async function usage(client: pg.Client): Promise<{ commits: number; connections: number; cpuMs: number }> {
  // Other sessions report their counts when they are idle; this one does it now.
  const { rows } = await client.query<{ commits: number; connections: number }>(
    // Those of the processes: a benchmark has sessions of its own, one for each measurement.
    `select (select xact_commit::int from pg_stat_database where datname = current_database()) as commits,
            (select count(*)::int from pg_stat_activity
              where datname = current_database() and usename = 'stagedoor_worker') as connections`,
  )
  return { ...rows[0]!, cpuMs: await postgresCpuMs(client) }
}

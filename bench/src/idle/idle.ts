/**
 * What processes cost that have nothing to do: a job worker and an engine each. Commits, connections and CPU of the server for each of
 * them, beside as many sessions that only listen: what a process costs that can be woken at all.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { postgresCpuMs } from '../cpu.ts'
import { atMost } from '../criteria.ts'
import { medianOf } from '../statistics.ts'

/** The one that the bars are for, and those that a full run adds. */
const PROCESSES = 4
const MORE = [1, 8]
const FULL_SECONDS = 30
/** Sessions that are not used any more are closed by then. */
const SETTLE_MS = 14_000

const FIELDS = ['commits_per_s', 'connections', 'cpu_percent']
const SCRIPT = new URL('process.js', import.meta.url).pathname

export const idle: Benchmark = {
  name: 'idle',
  about:
    'processes with nothing to do (job worker and engine): commits, connections and CPU of the server for each',
  unit: 'seconds',
  size: { full: FULL_SECONDS, quick: 8 },
  rounds: { full: 3, quick: 1 },
  freshDatabase: 'contender',
  contenders: [
    { name: 'stagedoor', about: 'a job worker and an engine each', run: runProcesses },
    { name: 'listeners', about: 'one session each that only listens: the floor', run: runListeners },
  ],
  summarise(rounds) {
    const of = (contender: string, prefix: string): Figures =>
      Object.fromEntries(
        Object.keys(rounds[0]![contender]!).map((field) => [
          `${prefix}${field}`,
          medianOf(rounds, contender, field),
        ]),
      )
    return { ...of('stagedoor', ''), ...of('listeners', 'floor_') }
  },
  criteria: [
    { field: 'commits_per_s', bar: atMost(3) },
    { field: 'connections', bar: atMost(3) },
    { field: 'cpu_percent', bar: atMost(0.3), goal: atMost(0.15) },
  ],
}

async function runProcesses(task: Task): Promise<Figures> {
  const isFull = task.size >= FULL_SECONDS
  const figures: Record<string, number> = {}
  for (const count of isFull ? [PROCESSES, ...MORE] : [PROCESSES]) {
    const measured = await measure(task, count, () => startProcesses(task, count))
    for (const field of FIELDS)
      figures[count === PROCESSES ? field : `${field}_of_${count}`] = measured[field]!
  }
  return figures
}

function runListeners(task: Task): Promise<Figures> {
  return measure(task, PROCESSES, async () => {
    const sessions = await Promise.all(
      Array.from({ length: PROCESSES }, async () => {
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

async function startProcesses({ database }: Task, count: number): Promise<() => Promise<void>> {
  const processes: ChildProcess[] = []
  for (let n = 0; n < count; n++) {
    const started = fork(SCRIPT, [database.workerUrl])
    processes.push(started)
    await once(started, 'message')
  }
  return async () => {
    await Promise.all(
      processes.map(async (one) => {
        const ended = once(one, 'exit')
        one.send('stop')
        await ended
      }),
    )
  }
}

/** For each process, without what the server does by itself and what the measuring session adds. */
async function measure(
  { database, size }: Task,
  count: number,
  start: () => Promise<() => Promise<void>>,
): Promise<Figures> {
  const client = await database.superuser()
  const stop = await start()
  try {
    // The warm-up does not settle.
    await delay(size < 2 ? 0 : SETTLE_MS)
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
    `select (select xact_commit::int from pg_stat_database where datname = current_database()) as commits,
            (select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
                and backend_type = 'client backend') as connections`,
  )
  return { ...rows[0]!, cpuMs: await postgresCpuMs(client) }
}

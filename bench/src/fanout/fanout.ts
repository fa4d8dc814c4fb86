/**
 * One step, 10,000 shards over two processes, one step again when the last of them has ended. Compared with DBOS in two processes: a
 * workflow that puts a child workflow for each shard on a queue and waits for all of them.
 */
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { connectNats, startNats } from '../nats.ts'
import { peerVersions, runUnderNode } from '../node-version.ts'
import { medianOf, worstOf } from '../statistics.ts'

/** The input of a contender's script. */
export interface FanoutTask {
  readonly url: string
  readonly workerUrl: string
  readonly shards: number
  /** Processes wake each other over it. */
  readonly natsUrl?: string
}

const NODE = 20

const runScript =
  (script: string) =>
  ({ database, size }: Task, natsUrl?: string): Promise<Figures> =>
    runUnderNode(NODE, new URL(`${script}.js`, import.meta.url).pathname, {
      url: database.url,
      workerUrl: database.workerUrl,
      shards: size,
      ...(natsUrl !== undefined && { natsUrl }),
    } satisfies FanoutTask)
const runStagedoor = runScript('stagedoor')
const runDbos = runScript('dbos')

const plain: Benchmark = {
  name: 'fanout',
  about: '1 → 10,000 shards → 1 over two workers, compared with a DBOS queue and waitAll',
  unit: 'shards',
  size: { full: 10_000, quick: 1000 },
  rounds: { full: 3, quick: 3 },
  freshDatabase: 'contender',
  // The processes warm up for the same time.
  warmUp: false,
  contenders: [
    { name: 'stagedoor', about: 'a fan-out over two engines', run: (task) => runStagedoor(task) },
    { name: 'dbos', about: 'DBOS: a queue, two processes, waitAll', run: (task) => runDbos(task) },
  ],
  summarise(rounds) {
    const shards_per_s = medianOf(rounds, 'stagedoor', 'shards_per_s')
    const dbos_shards_per_s = medianOf(rounds, 'dbos', 'shards_per_s')
    return {
      shards_per_s,
      dbos_shards_per_s,
      ratio_dbos: shards_per_s / dbos_shards_per_s,
      share_of_other: medianOf(rounds, 'stagedoor', 'share_of_other'),
      missed: worstOf(rounds, 'stagedoor', 'missed'),
      doubled: worstOf(rounds, 'stagedoor', 'doubled'),
    }
  },
  criteria: [
    { field: 'ratio_dbos', bar: atLeast(16), goal: atLeast(20) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: () => peerVersions(NODE, ['@dbos-inc/dbos-sdk']),
}

/** Idle processes of others that hear every wake-up. */
const CROWD = 100

const withNats: Benchmark = {
  ...plain,
  name: 'fanout-nats',
  command: 'fanout --nats',
  rounds: { full: 3, quick: 1 },
  about: 'the same with wake-ups over NATS, and both ways beside 100 idle processes that hear them',
  settings: { max_connections: '300' },
  contenders: [
    ...plain.contenders,
    {
      name: 'stagedoor_nats',
      about: 'a fan-out over two engines that wake each other over NATS',
      run: (task) => overNats(task, 0),
    },
    {
      name: 'stagedoor_crowd',
      about: `without NATS, beside ${CROWD} sessions that listen`,
      async run(task) {
        const sessions = await Promise.all(
          Array.from({ length: CROWD }, async () => {
            const session = await task.database.worker()
            await session.query('listen stagedoor')
            return session
          }),
        )
        const figures = await runStagedoor(task)
        await Promise.all(sessions.map((session) => session.end()))
        return figures
      },
    },
    {
      name: 'nats_crowd',
      about: `over NATS, beside ${CROWD} connections that subscribe to wake-ups`,
      run: (task) => overNats(task, CROWD),
    },
  ],
  summarise(rounds) {
    const rate = (contender: string): number => medianOf(rounds, contender, 'shards_per_s')
    return {
      ...plain.summarise(rounds),
      nats_shards_per_s: rate('stagedoor_nats'),
      ratio_nats: rate('stagedoor_nats') / rate('stagedoor'),
      ratio_nats_dbos: rate('stagedoor_nats') / rate('dbos'),
      ratio_nats_crowd: rate('nats_crowd') / rate('stagedoor_crowd'),
      postgres_us: medianOf(rounds, 'stagedoor', 'postgres_us'),
      nats_postgres_us: medianOf(rounds, 'stagedoor_nats', 'postgres_us'),
      crowd_postgres_us: medianOf(rounds, 'stagedoor_crowd', 'postgres_us'),
      nats_crowd_postgres_us: medianOf(rounds, 'nats_crowd', 'postgres_us'),
      nats_server_us: medianOf(rounds, 'stagedoor_nats', 'nats_server_us'),
      missed: Math.max(...OURS.map((contender) => worstOf(rounds, contender, 'missed'))),
      doubled: Math.max(...OURS.map((contender) => worstOf(rounds, contender, 'doubled'))),
    }
  },
  criteria: [
    { field: 'ratio_nats', bar: atLeast(0.9) },
    { field: 'ratio_nats_dbos', bar: atLeast(10) },
    // ratio_nats_crowd is only reported: without NATS a crowd costs 13 % of the CPU of Postgres, so there is little to gain (decision 0020).
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
}
const OURS = ['stagedoor', 'stagedoor_nats', 'stagedoor_crowd', 'nats_crowd']

async function overNats(task: Task, crowd: number): Promise<Figures> {
  const nats = await startNats()
  try {
    const others = await Promise.all(Array.from({ length: crowd }, () => connectNats(nats.url)))
    for (const other of others) other.subscribe(other.subject('wake', '>'), () => {})
    const before = nats.cpuMs()
    const figures = await runStagedoor(task, nats.url)
    const nats_server_us = ((nats.cpuMs() - before) * 1000) / task.size
    await Promise.all(others.map((other) => other.close()))
    return { ...figures, nats_server_us }
  } finally {
    await nats.stop()
  }
}

export const fanout: Benchmark = { ...plain, variants: { nats: withNats } }

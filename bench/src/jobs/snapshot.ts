/**
 * The same drain while somebody holds an old snapshot (a long report, a backup): the rows of finished jobs cannot be
 * removed, and a queue that looks for work from its head reads over more and more of them.
 */
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { peerVersions } from '../node-version.ts'
import { medianOf, worstOf } from '../statistics.ts'
import { drainWith } from './jobs.ts'

const NODE = 22
/** Only the drain counts here. */
const ONLY_DRAIN = { latencies: 1, few: Number.POSITIVE_INFINITY }

export const jobsSnapshot: Benchmark = {
  name: 'jobs-snapshot',
  about:
    'a drain of 600,000 jobs while one session holds a REPEATABLE READ snapshot, compared with graphile-worker',
  unit: 'jobs',
  size: { full: 600_000, quick: 100_000 },
  rounds: { full: 3, quick: 1 },
  freshDatabase: 'contender',
  warmUp: false,
  contenders: [
    {
      name: 'stagedoor',
      about: 'the worker, nobody holds a snapshot',
      run: drainWith('stagedoor', ONLY_DRAIN),
    },
    { name: 'stagedoor_held', about: 'the worker while a snapshot is held', run: underSnapshot('stagedoor') },
    {
      name: 'graphile_held',
      about: 'graphile-worker while a snapshot is held',
      run: underSnapshot('graphile'),
    },
  ],
  summarise(rounds) {
    const drain_per_s = medianOf(rounds, 'stagedoor', 'drain_per_s')
    const held_drain_per_s = medianOf(rounds, 'stagedoor_held', 'drain_per_s')
    const graphile_held_drain_per_s = medianOf(rounds, 'graphile_held', 'drain_per_s')
    return {
      drain_per_s,
      held_drain_per_s,
      graphile_held_drain_per_s,
      ratio_self: held_drain_per_s / drain_per_s,
      ratio_graphile: held_drain_per_s / graphile_held_drain_per_s,
      missed: worstOf(rounds, 'stagedoor_held', 'missed'),
      doubled: worstOf(rounds, 'stagedoor_held', 'doubled'),
    }
  },
  criteria: [
    { field: 'ratio_self', bar: atLeast(0), goal: atLeast(0.95) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: () => peerVersions(NODE, ['graphile-worker']),
}

function underSnapshot(script: string) {
  return async (task: Task): Promise<Figures> => {
    const holder = await task.database.superuser()
    await holder.query('begin isolation level repeatable read')
    await holder.query('select 1')
    try {
      return await drainWith(script, ONLY_DRAIN)(task)
    } finally {
      await holder.query('rollback')
    }
  }
}

/**
 * One step, 10,000 shards over two processes, one step again when the last of them has ended. Compared with DBOS in two processes: a
 * workflow that puts a child workflow for each shard on a queue and waits for all of them.
 */
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { peerVersions, runUnderNode } from '../node-version.ts'
import { medianOf, worstOf } from '../statistics.ts'

/** The input of a contender's script. */
export interface FanoutTask {
  readonly url: string
  readonly workerUrl: string
  readonly shards: number
}

const NODE = 20

const runScript =
  (script: string) =>
  ({ database, size }: Task): Promise<Figures> =>
    runUnderNode(NODE, new URL(`${script}.js`, import.meta.url).pathname, {
      url: database.url,
      workerUrl: database.workerUrl,
      shards: size,
    } satisfies FanoutTask)

export const fanout: Benchmark = {
  name: 'fanout',
  about: '1 → 10,000 shards → 1 over two workers, compared with a DBOS queue and waitAll',
  unit: 'shards',
  size: { full: 10_000, quick: 1000 },
  rounds: { full: 3, quick: 3 },
  freshDatabase: 'contender',
  contenders: [
    { name: 'stagedoor', about: 'a fan-out over two engines', run: runScript('stagedoor') },
    { name: 'dbos', about: 'DBOS: a queue, two processes, waitAll', run: runScript('dbos') },
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
    { field: 'ratio_dbos', bar: atLeast(2), goal: atLeast(10) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: () => peerVersions(NODE, ['@dbos-inc/dbos-sdk']),
}

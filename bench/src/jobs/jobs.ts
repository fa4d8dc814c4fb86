/**
 * A queue's whole life: bulk enqueue, drain until the table says that nothing is left, and how long a single job takes from
 * its enqueue to its start. Compared with graphile-worker and pg-boss, each in the mode that is best for it. The peers' newest
 * versions need a newer Node than we do, so everybody runs under that one.
 */
import type { Benchmark, Figures, Round, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { peerVersions, runUnderNode } from '../node-version.ts'
import { medianOf, worstOf } from '../statistics.ts'

/** What a script of a contender is handed. */
export interface DrainTask {
  readonly url: string
  readonly workerUrl: string
  readonly jobs: number
  /** A drain of fewer before it, in which the start of the workers counts for more; 0: none. */
  readonly few: number
  readonly latencies: number
}

const NODE = 22
const PEERS = ['graphile-worker', 'pg-boss']
const LATENCIES = { max: 300, share: 0.01 }
const FEW = 20_000

export const drainWith =
  (script: string, { latencies = LATENCIES.max, few = FEW } = {}) =>
  ({ database, size }: Task): Promise<Figures> =>
    runUnderNode(NODE, new URL(`${script}.js`, import.meta.url).pathname, {
      url: database.url,
      workerUrl: database.workerUrl,
      jobs: size,
      few: size > few ? few : 0,
      latencies: Math.min(latencies, Math.round(size * LATENCIES.share)),
    } satisfies DrainTask)

export const jobs: Benchmark = {
  name: 'jobs',
  about:
    '100,000 no-op jobs enqueued and drained, and 300 latencies, compared with graphile-worker and pg-boss',
  unit: 'jobs',
  size: { full: 100_000, quick: 20_000 },
  rounds: { full: 3, quick: 3 },
  freshDatabase: 'contender',
  // Each process warms up for the same time.
  warmUp: false,
  contenders: [
    { name: 'stagedoor', about: 'the worker, history kept', run: drainWith('stagedoor') },
    {
      name: 'graphile',
      about: 'graphile-worker: localQueue 500, completions batched',
      run: drainWith('graphile'),
    },
    { name: 'pgboss', about: 'pg-boss: fetch and complete by 500', run: drainWith('pgboss') },
  ],
  summarise(rounds) {
    const ratio = (field: string, peer: string): number =>
      medianOf(rounds, 'stagedoor', field) / medianOf(rounds, peer, field)
    const toFastest = (field: string): number => Math.max(ratio(field, 'graphile'), ratio(field, 'pgboss'))
    const hasFew = rounds.some((round) => round.stagedoor?.few_drain_per_s !== undefined)
    return {
      ...under('', 'stagedoor', rounds, hasFew),
      ...under('graphile_', 'graphile', rounds, hasFew),
      ...under('pgboss_', 'pgboss', rounds, hasFew),
      ratio_drain_graphile: ratio('drain_per_s', 'graphile'),
      ratio_drain_pgboss: ratio('drain_per_s', 'pgboss'),
      ...(hasFew && {
        ratio_few_graphile: ratio('few_drain_per_s', 'graphile'),
        ratio_few_pgboss: ratio('few_drain_per_s', 'pgboss'),
      }),
      ratio_latency_p50: toFastest('latency_p50_ms'),
      ratio_latency_p99: toFastest('latency_p99_ms'),
      missed: worstOf(rounds, 'stagedoor', 'missed'),
      doubled: worstOf(rounds, 'stagedoor', 'doubled'),
    }
  },
  criteria: [
    { field: 'ratio_drain_graphile', bar: atLeast(2), goal: atLeast(2.5) },
    { field: 'ratio_drain_pgboss', bar: atLeast(2), goal: atLeast(2.5) },
    { field: 'ratio_few_graphile', bar: atLeast(1.4), goal: atLeast(2.5), onlyFull: true },
    { field: 'ratio_few_pgboss', bar: atLeast(1.4), goal: atLeast(2.5), onlyFull: true },
    { field: 'ratio_latency_p50', bar: atMost(0.7) },
    { field: 'ratio_latency_p99', bar: atMost(1) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: () => peerVersions(NODE, PEERS),
}

function under(prefix: string, contender: string, rounds: readonly Round[], hasFew: boolean): Figures {
  const fields = [
    'enqueue_per_s',
    'drain_per_s',
    ...(hasFew ? ['few_drain_per_s'] : []),
    'latency_p50_ms',
    'latency_p99_ms',
  ]
  return Object.fromEntries(fields.map((field) => [`${prefix}${field}`, medianOf(rounds, contender, field)]))
}

/**
 * Many small executions at once, each step durable before the next begins: 1,000 × 4 no-op steps, 100 at a time, and one
 * alone. Compared with DBOS, and absurd where its schema is available: its npm package has the client only, the tables come from a
 * tool of another ecosystem. Whoever has them says where: BENCH_ABSURD_SQL=path/to/absurd.sql.
 */
import type { Benchmark, Contender, Figures, Round, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { peerVersions, runUnderNode } from '../node-version.ts'
import { medianOf, worstOf } from '../statistics.ts'

/** The input of a contender's script. */
export interface StepsTask {
  readonly url: string
  readonly workerUrl: string
  readonly executions: number
  /** Executions that run one after the other. */
  readonly alone: number
  /** absurd's tables, for its script. */
  readonly schema?: string
}

export const STEPS = 4
export const AT_ONCE = 100

const NODE = 20
const ALONE = { max: 100, share: 0.1 }
const SCHEMA = process.env.BENCH_ABSURD_SQL

const runScript =
  (script: string) =>
  ({ database, size }: Task): Promise<Figures> =>
    runUnderNode(NODE, new URL(`${script}.js`, import.meta.url).pathname, {
      url: database.url,
      workerUrl: database.workerUrl,
      executions: size,
      alone: Math.min(ALONE.max, Math.ceil(size * ALONE.share)),
      ...(SCHEMA && { schema: SCHEMA }),
    } satisfies StepsTask)

const absurd: Contender = {
  name: 'absurd',
  about: 'absurd: a task of 4 steps, its worker 100 at once',
  run: runScript('absurd'),
}

export const steps: Benchmark = {
  name: 'steps',
  about: '1,000 executions × 4 no-op steps, 100 at once, and one alone, compared with DBOS (and absurd)',
  unit: 'executions',
  size: { full: 1000, quick: 300 },
  rounds: { full: 5, quick: 3 },
  freshDatabase: 'contender',
  // Each process warms up for the same time.
  warmUp: false,
  contenders: [
    { name: 'stagedoor', about: 'the engine', run: runScript('stagedoor') },
    { name: 'dbos', about: 'DBOS: a workflow of 4 steps, 20 sessions', run: runScript('dbos') },
    ...(SCHEMA ? [absurd] : []),
  ],
  summarise(rounds) {
    const steps_per_s = medianOf(rounds, 'stagedoor', 'steps_per_s')
    return {
      ...under('', 'stagedoor', rounds),
      ...under('dbos_', 'dbos', rounds),
      ...(SCHEMA && under('absurd_', 'absurd', rounds)),
      ratio_dbos: steps_per_s / medianOf(rounds, 'dbos', 'steps_per_s'),
      ...(SCHEMA && { ratio_absurd: steps_per_s / medianOf(rounds, 'absurd', 'steps_per_s') }),
      missed: worstOf(rounds, 'stagedoor', 'missed'),
      doubled: worstOf(rounds, 'stagedoor', 'doubled'),
    }
  },
  criteria: [
    { field: 'ratio_dbos', bar: atLeast(10), goal: atLeast(15) },
    { field: 'single_p50_ms', bar: atMost(0.6) },
    ...(SCHEMA ? [{ field: 'ratio_absurd', bar: atLeast(1), goal: atLeast(10) }] : []),
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
  peers: async () => ({
    ...(await peerVersions(NODE, ['@dbos-inc/dbos-sdk', ...(SCHEMA ? ['absurd-sdk'] : [])])),
    ...(!SCHEMA && { 'absurd-sdk': 'left out (no schema in its package; BENCH_ABSURD_SQL names one)' }),
  }),
}

function under(prefix: string, contender: string, rounds: readonly Round[]): Figures {
  const fields = ['steps_per_s', 'single_p50_ms', 'single_execution_p50_ms']
  return Object.fromEntries(fields.map((field) => [`${prefix}${field}`, medianOf(rounds, contender, field)]))
}

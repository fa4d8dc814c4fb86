/** The model of many hosts: its parameters measured, its predictions compared with real runs, and what follows for 10 to 1,000 hosts. */
import type { Benchmark, Figures } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import type { Report } from '../harness.ts'
import { natsVersion } from '../nats.ts'
import { MEASUREMENTS, parametersOf } from './measure.ts'
import { contentionUs, type Parameters, writeParameters } from './parameters.ts'
import { sizingText, writeSizing } from './sizing.ts'
import { CELLS, type Comparison, compare, errorOf, MAX_ERROR, type Pair, RUNS } from './validate.ts'

const measure: Benchmark = {
  name: 'model-measure',
  command: 'model --measure',
  about: 'the costs that the model is made of',
  unit: 'run',
  size: { full: 1, quick: 1 },
  rounds: { full: 1, quick: 1 },
  warmUp: false,
  // The runs count their statements.
  // And autovacuum would come by in some of them: it took up to 240 µs a job in one pass of three. What it costs is measured apart.
  settings: { max_connections: '500', shared_preload_libraries: 'pg_stat_statements', autovacuum: 'off' },
  freshDatabase: 'contender',
  contenders: MEASUREMENTS,
  peers: async () => ({ nats: (await natsVersion()) ?? 'not installed' }),
  summarise: ([round]) => headlines(parametersOf(round!, HERE)),
  criteria: [],
  epilogue: (report) => sizingText(parametersOf(report.rounds[0]!, report)),
  onRecord(report) {
    const parameters = parametersOf(report.rounds[0]!, report)
    writeParameters(parameters)
    writeSizing(parameters)
  },
}

export const model: Benchmark = {
  ...measure,
  name: 'model',
  command: 'model',
  about:
    'a model of many hosts: its parameters, its predictions beside real runs, and what 10 to 1,000 hosts need',
  contenders: [...MEASUREMENTS, ...RUNS],
  summarise([round]) {
    const comparisons = compare(parametersOf(round!, HERE), round!)
    return { cells: comparisons.length, ...worst(comparisons), ...headlines(parametersOf(round!, HERE)) }
  },
  criteria: [
    { field: 'cells', bar: atLeast(CELLS.length), correctness: true },
    { field: 'error_rate', bar: atMost(MAX_ERROR.rate), correctness: true },
    { field: 'error_postgres', bar: atMost(MAX_ERROR.postgres), correctness: true },
    { field: 'error_latency', bar: atMost(MAX_ERROR.latency), correctness: true },
  ],
  variants: { measure },
  epilogue(report) {
    const parameters = parametersOf(report.rounds[0]!, report)
    return `${comparisonTable(compare(parameters, report.rounds[0]!))}\n\n${sizingText(parameters)}`
  },
}

/** What a person looks for first among the parameters. */
function headlines({ postgres, node, nats }: Parameters): Figures {
  const batched = (jobs: number): number =>
    (postgres.claim.base_us + postgres.complete.base_us) / jobs +
    postgres.claim.row_us +
    postgres.complete.row_us
  return {
    job_us_alone: batched(1),
    job_us_by_10: batched(10),
    job_us_by_100: batched(100),
    contention_us: contentionUs(postgres.contention, 1, 10),
    cold_factor: postgres.cold.at(-1)!.factor,
    commit_ms: postgres.commit_ms,
    notify_us: postgres.notify_us,
    listener_us: postgres.listener_us,
    idle_cpu_percent: postgres.idle.cpu_percent,
    idle_commits_per_s: postgres.idle.commits_per_s,
    node_statement_us: node.statement_us,
    node_job_us: node.job_us,
    ...(nats && { nats_server_us: nats.request[0]!.server_us, nats_node_us: nats.request[0]!.node_us }),
  }
}

const HERE = {
  machine: { cores: 0, memory_gb: 0, cpu: '', system: '' },
  versions: {},
  started_at: '',
} satisfies Pick<Report, 'machine' | 'versions' | 'started_at'>

function worst(comparisons: readonly Comparison[]): Figures {
  const of = (what: keyof typeof MAX_ERROR): number[] => comparisons.map((one) => errorOf(one[what]))
  return Object.fromEntries(
    (['rate', 'postgres', 'latency'] as const).flatMap((what) => [
      [`error_${what}`, Math.max(...of(what))],
      [`cells_wrong_${what}`, of(what).filter((error) => error > MAX_ERROR[what]).length],
    ]),
  )
}

export function comparisonTable(comparisons: readonly Comparison[]): string {
  const cells = (pair: Pair): string =>
    `${pair.real.toPrecision(4).padStart(8)} ${percent(pair.spread).padStart(5)} ${pair.predicted.toPrecision(4).padStart(8)} ${`${Math.round(100 * (pair.predicted / pair.real - 1))} %`.padStart(7)}`
  const percent = (share: number | undefined): string =>
    share === undefined ? '' : `${Math.round(100 * share)} %`
  const counts = ({ real, predicted }: Pair): string =>
    `${real.toPrecision(3).padStart(6)} ${predicted.toPrecision(3).padStart(6)}`
  return [
    'mode      processes  ms  cores |     jobs/s apart   model   error | Postgres µs apart  model   error | p95 ms apart   model   error | claims/100 model | begins/100 model | ends/100 model',
    ...comparisons.map(
      (one) =>
        `${one.mode.padEnd(9)} ${String(one.processes).padStart(9)} ${String(one.handlerMs).padStart(3)} ${one.coresFree.toFixed(2).padStart(6)} | ${cells(one.rate)} | ${cells(one.postgres)} | ${cells(one.latency)} | ${counts(one.claims)}  | ${counts(one.begins)}   | ${counts(one.completions)}`,
    ),
  ].join('\n')
}

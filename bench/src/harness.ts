/** Runs a benchmark: contenders in turn, several rounds, each on a fresh database, then medians. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Benchmark, Figures, Round, Task } from './benchmark.ts'
import { judge, type Verdict } from './criteria.ts'
import { describeMachine, type Machine } from './machine.ts'
import type { BenchServer } from './server.ts'
import { medians, rounded } from './statistics.ts'

export interface RunOptions {
  readonly quick: boolean
  readonly data?: string | undefined
  readonly language?: string | undefined
  /** Instead of as many as the benchmark has. */
  readonly rounds?: number | undefined
  readonly progress: (line: string) => void
}

export interface Report {
  readonly benchmark: string
  /** What follows `npm run -s bench -- `. */
  readonly command: string
  readonly quick: boolean
  readonly unit: string
  readonly size: number
  /** The folder of `--data`; it is of one machine, so it is not printed. */
  readonly data?: string
  /** The fields of BENCHMARKS.md. In the JSON line they are at the top level. */
  readonly figures: Figures
  readonly verdicts: readonly Verdict[]
  readonly medians: Readonly<Record<string, Figures>>
  readonly rounds: readonly Round[]
  /** The pass at a size of its own, if there was one. */
  readonly at_scale?: AtScale
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly settings: Readonly<Record<string, string>>
  readonly started_at: string
  readonly took_s: number
}

export interface AtScale {
  readonly size: number
  readonly contender: string
  readonly figures: Figures
}

/** A tenth of the work, not measured: it compiles what JavaScript and PostgreSQL compile on first use. */
const WARM_UP = 0.1
const MIN_ROUNDS = 3
/** 45 seconds, less what the server takes to start and stop. */
const QUICK_MS = 38_000

export async function runBenchmark(
  benchmark: Benchmark,
  server: Pick<BenchServer, 'freshDatabase' | 'versions' | 'settings'>,
  { quick, data, language, rounds: wanted, progress }: RunOptions,
): Promise<Report> {
  const started = new Date()
  const size = quick ? benchmark.size.quick : benchmark.size.full
  const count =
    wanted ??
    (data !== undefined ? benchmark.roundsOf?.(data) : undefined) ??
    (quick ? benchmark.rounds.quick : benchmark.rounds.full)
  const begun = performance.now()
  const given = { ...(data !== undefined && { data }), ...(language !== undefined && { language }) }
  if (!benchmark.takesData && benchmark.warmUp !== false) {
    progress('warm-up')
    await runRound(benchmark, server, { size: Math.ceil(size * WARM_UP), round: 0 }, () => {})
  }
  const rounds: Round[] = []
  for (let round = 0; round < count; round++) {
    const heading = `round ${round + 1} of ${count}`
    if (quick && isLate(performance.now() - begun, round)) {
      progress(`stopped after ${round} rounds: this machine is slow, and --quick keeps its time`)
      break
    }
    rounds.push(
      await runRound(benchmark, server, { size, round, ...given }, (line) =>
        progress(`${heading} · ${line}`),
      ),
    )
  }
  const atScale = quick ? undefined : await runAtScale(benchmark, server, progress)
  const figures = roundAll(benchmark.summarise(rounds, atScale?.figures))
  return {
    benchmark: benchmark.name,
    command: benchmark.command ?? benchmark.name,
    quick,
    unit: benchmark.unit,
    size,
    ...(data !== undefined && { data }),
    figures,
    verdicts: judge(benchmark.criteria, figures),
    medians: medians(rounds),
    rounds,
    ...(atScale && { at_scale: atScale }),
    machine: describeMachine(),
    versions: {
      ...server.versions,
      node: process.versions.node,
      ...(await benchmark.peers?.()),
    },
    settings: server.settings,
    started_at: started.toISOString(),
    took_s: rounded((Date.now() - started.getTime()) / 1000),
  }
}

/** Whether one more round like those before would take a quick run beyond its time. */
export function isLate(elapsedMs: number, roundsDone: number): boolean {
  if (roundsDone < MIN_ROUNDS) return false
  return elapsedMs + elapsedMs / roundsDone > QUICK_MS
}

/** In every round another contender goes first, so that none always has the warmer or the colder server. */
export function inTurn<T>(items: readonly T[], round: number): T[] {
  const first = round % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

async function runRound(
  benchmark: Benchmark,
  server: Pick<BenchServer, 'freshDatabase'>,
  what: Omit<Task, 'database' | 'freshDatabase'>,
  progress: (line: string) => void,
): Promise<Round> {
  const measured = new Map<string, Figures>()
  let shared: Task | undefined
  const freshTask = async (): Promise<Task> => {
    const task = { database: await server.freshDatabase(), freshDatabase: server.freshDatabase, ...what }
    if (!benchmark.prepare) return task
    const figures = await benchmark.prepare(task)
    progress(describe('prepare', figures))
    measured.set('prepare', roundAll(figures))
    return task
  }
  if (benchmark.freshDatabase === 'round') shared = await freshTask()
  for (const contender of inTurn(benchmark.contenders, what.round)) {
    const task = shared ?? (await freshTask())
    collectGarbage()
    const figures = await contender.run(task)
    progress(describe(contender.name, figures))
    measured.set(contender.name, roundAll(figures))
    if (!shared) await task.database.drop()
  }
  await shared?.database.drop()
  // In the order in which they are declared, whoever went first.
  const names = ['prepare', ...benchmark.contenders.map(({ name }) => name)]
  return Object.fromEntries(
    names.filter((name) => measured.has(name)).map((name) => [name, measured.get(name)!]),
  )
}

async function runAtScale(
  { atScale, unit }: Benchmark,
  server: Pick<BenchServer, 'freshDatabase'>,
  progress: (line: string) => void,
): Promise<AtScale | undefined> {
  if (!atScale) return undefined
  const { size, contender } = atScale
  const database = await server.freshDatabase()
  collectGarbage()
  const figures = await contender.run({ database, freshDatabase: server.freshDatabase, size, round: 0 })
  await database.drop()
  progress(`${size.toLocaleString('en-US')} ${unit} · ${describe(contender.name, figures)}`)
  return { size, contender: contender.name, figures: roundAll(figures) }
}

function describe(name: string, figures: Figures): string {
  const list = Object.entries(figures).map(([field, value]) => `${field} ${rounded(value)}`)
  return `${name}: ${list.join(', ')}`
}

function roundAll(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([field, value]) => [field, rounded(value)]))
}

let gc: (() => void) | undefined

/** Garbage of one contender must not be collected in the time of another. */
function collectGarbage(): void {
  if (!gc) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
}

/**
 * Real runs that the model must predict: so many processes, handlers of so many milliseconds, each way of telling workers of jobs. Each cell
 * drains a backlog (rate, CPU of Postgres for a job) and then gets jobs one by one (latency from the enqueue to the begin).
 */
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Contender, Figures, Round, Task } from '../benchmark.ts'
import { machineBusyMs, postgresCpuMs } from '../cpu.ts'
import { type BenchNats, startNats } from '../nats.ts'
import { askAll, type BenchProcess, startProcess, startProcesses, stopAll } from '../processes.ts'
import { createPool, enqueue } from '../product.ts'
import { enqueueNoops, startHost } from '../remote/hosts.ts'
import { untilEmpty } from '../remote/remote.ts'
import type { BenchDatabase } from '../server.ts'
import { median, percentile, perSecond } from '../statistics.ts'
import { wakeByNats } from '../wakeups.ts'
import { Simulation } from './events.ts'
import { statementCalls } from './measure.ts'
import type { Parameters } from './parameters.ts'
import type { WorkerProcess } from './process.ts'
import { type Mode, predict } from './queue-model.ts'

export interface Cell {
  readonly mode: Mode
  readonly processes: number
  readonly handlerMs: number
}

/** Of one cell, predicted and real. */
export interface Comparison extends Cell {
  readonly coresFree: number
  readonly rate: Pair
  readonly postgres: Pair
  readonly latency: Pair
  /** Statements for 100 jobs: where the CPU differs they say whether batches do. Not judged. */
  readonly claims: Pair
  readonly begins: Pair
  readonly completions: Pair
}

export interface Pair {
  readonly real: number
  /** Of the passes, as a share of `real`. */
  readonly spread?: number
  readonly predicted: number
}

export const MAX_ERROR = { rate: 0.15, postgres: 0.15, latency: 0.3 } as const

const PROCESSES = [1, 2, 4]
const HANDLERS_MS = [0, 5, 50]
export const MODES: readonly Mode[] = ['direct', 'wake-ups', 'gateway']
const SLOTS = 10
const BATCH = 100
const PASSES = 3
const DRAIN_SECONDS = 2
const DRAIN_POLL_MS = 100
/** Of the jobs of a drain: they begin before anything is counted. */
const WARM_SHARE = 0.2
const WARM_UP_JOBS = 100
/** Of jobs that take no time, per process. */
const MAX_RATE = 15_000
const ARRIVALS_PER_S = 100
const ARRIVALS = 200
/** The real run and the predicted one get the same: a few bursts more or less decide what is behind the 95th percentile. */
const GAPS_MS: readonly number[] = gapsMs()
const SCRIPT = new URL('process.js', import.meta.url)

export const CELLS: readonly Cell[] = MODES.flatMap((mode) =>
  PROCESSES.flatMap((processes) => HANDLERS_MS.map((handlerMs) => ({ mode, processes, handlerMs }))),
)

export const RUNS: readonly Contender[] = [
  {
    name: contenderOf('direct'),
    about: 'workers that NOTIFY wakes',
    run: (task) => runCells(task, 'direct'),
  },
  {
    name: contenderOf('wake-ups'),
    about: 'workers that NATS wakes',
    run: (task) => runCells(task, 'wake-ups'),
  },
  {
    name: contenderOf('gateway'),
    about: 'remote workers behind a gateway',
    run: (task) => runCells(task, 'gateway'),
  },
]

export function contenderOf(mode: Mode): string {
  return `runs_${mode.replace('-', '_')}`
}

/** All cells of a mode in turn, and so three times: what a cell differs by between them no model can predict. */
async function runCells(task: Task, mode: Mode): Promise<Figures> {
  const cells = CELLS.filter((candidate) => candidate.mode === mode)
  const runs = new Map<Cell, CellRun[]>(cells.map((cell) => [cell, []]))
  for (let pass = 0; pass < PASSES; pass++)
    for (const cell of cells) {
      const run = await runCell(task, cell).catch((error: Error) => {
        // Without NATS, or in a build without these: the run fails for want of cells, and says why.
        console.error(`  ${mode} cannot be run: ${error.message}`)
        return undefined
      })
      if (run === undefined) return {}
      runs.get(cell)!.push(run)
      console.error(
        `  ${mode}, ${cell.processes} × ${cell.handlerMs} ms: ${Object.entries(run.figures)
          .map(([field, value]) => `${field} ${value.toPrecision(4)}`)
          .join(', ')}`,
      )
    }
  return Object.fromEntries(
    cells.flatMap((cell) =>
      Object.entries(figuresOf(runs.get(cell)!)).map(([field, value]) => [`${keyOf(cell)}.${field}`, value]),
    ),
  )
}

interface CellRun {
  readonly figures: Readonly<Record<string, number>>
  readonly latencies: readonly number[]
}

/** The median of the passes; latencies of all of them together. With it how far they are apart, as a share of the median. */
function figuresOf(runs: readonly CellRun[]): Record<string, number> {
  const figures: Record<string, number> = {}
  const p95s = runs.map(({ latencies }) => percentile([...latencies], 0.95))
  for (const field of Object.keys(runs[0]!.figures))
    figures[field] = median(runs.map((run) => run.figures[field]!))
  figures.latency_p95_ms = percentile(
    runs.flatMap(({ latencies }) => latencies),
    0.95,
  )
  for (const [field, values] of [
    ['jobs_per_s', runs.map((run) => run.figures.jobs_per_s!)],
    ['postgres_us', runs.map((run) => run.figures.postgres_us!)],
    ['latency_p95_ms', p95s],
  ] as const)
    figures[`${field}_spread`] = (Math.max(...values) - Math.min(...values)) / figures[field]!
  return figures
}

const keyOf = ({ processes, handlerMs }: Cell): string => `p${processes}h${handlerMs}`

async function runCell({ database }: Task, cell: Cell): Promise<CellRun> {
  const superuser = await database.superuser()
  await superuser.query('truncate iu_core.job_queue, iu_core.job_key')
  await superuser.query('create extension if not exists pg_stat_statements')
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 4, purpose: 'bench' })
  const jobs = backlogOf(cell)
  const nats = cell.mode === 'direct' ? undefined : await startNats()
  const started: BenchProcess[] = []
  let wakeups: Awaited<ReturnType<typeof wakeByNats>> | undefined
  try {
    const workers = await startProcesses(cell.processes, () => startWorkers(cell, database, nats?.url))
    started.push(...workers)
    if (nats) wakeups = await wakeByNats(database.workerUrl, nats.url)
    if (cell.mode !== 'gateway') await askAll(workers, 'go')
    else started.push(await startHost({ role: 'gateway', workerUrl: database.workerUrl, natsUrl: nats!.url }))
    // Sessions are opened and statements planned: the model knows what they cost afterwards.
    await enqueueNoops(pool, WARM_UP_JOBS * cell.processes)
    await untilEmpty(superuser)
    await pool.query(`select iu_core.fn_job_pause('noop')`)
    await enqueueNoops(pool, jobs)
    await superuser.query('vacuum analyze iu_core.job_queue')
    await superuser.query('checkpoint')
    await askAll(workers, 'begins')
    const drained = await drain(
      superuser,
      { workers, all: started, jobs, handlerMs: cell.handlerMs, nats },
      () => pool.query(`select iu_core.fn_job_resume('noop')`),
    )
    // Dead rows of the drain, which the model does not have.
    await superuser.query('vacuum analyze iu_core.job_queue, iu_core.job_key')
    await superuser.query('checkpoint')
    return { figures: drained, latencies: await paced(superuser, pool, workers) }
  } finally {
    await stopAll(started)
    await wakeups?.close()
    await nats?.stop()
    await pool.end()
    await superuser.end()
  }
}

function startWorkers({ mode, handlerMs }: Cell, { workerUrl }: BenchDatabase, natsUrl: string | undefined) {
  if (mode === 'gateway')
    return startHost({
      role: 'remote',
      natsUrl: natsUrl!,
      concurrency: SLOTS,
      handlerMs,
      awaitsGateway: false,
    })
  return startProcess(SCRIPT, {
    workerUrl,
    ...(natsUrl !== undefined && { natsUrl }),
    slots: SLOTS,
    batch: BATCH,
    handlerMs,
  } satisfies WorkerProcess)
}

function backlogOf({ processes, handlerMs }: Cell): number {
  if (handlerMs === 0) return MAX_RATE * DRAIN_SECONDS
  return Math.round(((processes * SLOTS * 1000) / handlerMs) * DRAIN_SECONDS)
}

async function drain(
  superuser: pg.Client,
  {
    workers,
    all,
    jobs,
    handlerMs,
    nats,
  }: {
    readonly workers: readonly BenchProcess[]
    /** With the gateway. */
    readonly all: readonly BenchProcess[]
    readonly jobs: number
    readonly handlerMs: number
    readonly nats: BenchNats | undefined
  },
  begin: () => Promise<unknown>,
) {
  const usage = async () => ({
    postgres: await postgresCpuMs(superuser),
    ours:
      (await askAll<number>(all, 'cpuMs')).reduce((sum, ms) => sum + ms, 0) +
      ownCpuMs() +
      (nats?.cpuMs() ?? 0),
    machine: machineBusyMs(),
    at: performance.timeOrigin + performance.now(),
  })
  await begin()
  // Sessions have made new plans after the analysis, and all processes are warm, when a part of the jobs has begun.
  const begins: { at: number }[] = []
  while (begins.length < jobs * WARM_SHARE) {
    await delay(10)
    begins.push(...(await askAll<{ at: number }[]>(workers, 'begins')).flat())
  }
  await superuser.query('select pg_stat_statements_reset()')
  const { rows } = await superuser.query<{ left: number }>(
    'select count(*)::int as left from iu_core.job_queue',
  )
  const { left } = rows[0]!
  const before = await usage()
  // Rarely: each question is CPU of Postgres.
  await untilEmpty(superuser, DRAIN_POLL_MS)
  const after = await usage()
  const calls = await statementCalls(superuser)
  const later = (await askAll<{ at: number }[]>(workers, 'begins')).flat()
  const lastAt = later.reduce((last, { at }) => Math.max(last, at), 0) + handlerMs
  const elapsed = after.at - before.at
  const postgres = after.postgres - before.postgres
  const others = after.machine - before.machine - postgres - (after.ours - before.ours)
  return {
    jobs_per_s: perSecond(left, lastAt - before.at),
    postgres_us: (postgres * 1000) / left,
    cores_free: Math.max(0.3, availableParallelism() - Math.max(0, others) / elapsed),
    claims_by_100: (calls.claims * 100) / left,
    begins_by_100: (calls.begins * 100) / left,
    completions_by_100: (calls.completions * 100) / left,
  }
}

async function paced(superuser: pg.Client, pool: Pool, workers: readonly BenchProcess[]): Promise<number[]> {
  const sent: number[] = []
  const enqueued: Promise<unknown>[] = []
  const beganAt = performance.now()
  let dueMs = 0
  for (const [n, gapMs] of GAPS_MS.entries()) {
    dueMs += gapMs
    await delay(Math.max(0, beganAt + dueMs - performance.now()))
    sent.push(performance.timeOrigin + performance.now())
    enqueued.push(enqueue(pool, { job_kind: 'noop', payload: { n } }))
  }
  await Promise.all(enqueued)
  await untilEmpty(superuser)
  const begins = (await askAll<{ n: number; at: number }[]>(workers, 'begins')).flat()
  return begins.map(({ n, at }) => at - sent[n]!)
}

type Pool = ReturnType<typeof createPool>

function gapsMs(): number[] {
  const chance = new Simulation(1)
  return Array.from({ length: ARRIVALS }, () =>
    Math.max(1, Math.round(chance.exponential(1000 / ARRIVALS_PER_S))),
  )
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Predicts each cell that was run. */
export function compare(parameters: Parameters, round: Round): Comparison[] {
  return CELLS.flatMap((cell) => {
    const figures = round[contenderOf(cell.mode)]
    const real = (field: string): number | undefined => figures?.[`${keyOf(cell)}.${field}`]
    const pair = (field: string, predicted: number): Pair => ({
      real: real(field)!,
      ...(real(`${field}_spread`) !== undefined && { spread: real(`${field}_spread`)! }),
      predicted,
    })
    const coresFree = real('cores_free')
    if (coresFree === undefined) return []
    const world = {
      mode: cell.mode,
      processes: cell.processes,
      slots: SLOTS,
      batch: BATCH,
      handlerMs: cell.handlerMs,
      cores: coresFree,
      sameMachine: true,
    }
    const drained = predict(parameters, {
      ...world,
      load: { jobs: backlogOf(cell), warmUpJobs: WARM_SHARE * backlogOf(cell) },
    })
    const latencies = predict(parameters, {
      ...world,
      load: { perSecond: ARRIVALS_PER_S, seconds: ARRIVALS / ARRIVALS_PER_S, gapsMs: GAPS_MS, sessions: 4 },
    })
    return [
      {
        ...cell,
        coresFree,
        rate: pair('jobs_per_s', drained.jobs_per_s),
        postgres: pair('postgres_us', drained.postgres_us_per_job),
        latency: pair('latency_p95_ms', latencies.latency_p95_ms),
        claims: pair('claims_by_100', 100 * drained.claims_per_job),
        begins: pair('begins_by_100', 100 * drained.begins_per_job),
        completions: pair('completions_by_100', 100 / drained.jobs_per_completion),
      },
    ]
  })
}

export const errorOf = ({ real, predicted }: Pair): number => Math.abs(predicted - real) / real

/** Figures for Prometheus: what this process counted, and what the database says when it is asked. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Pass } from '../events/dispatcher.ts'
import type { ReaderLag } from '../events/lag.ts'
import type { EngineHooks } from '../executions/engine/hooks.ts'
import type { ExecutionStatistics } from '../executions/statistics.ts'
import type { WorkerHooks } from '../jobs/metrics.ts'
import type { KindStatistics } from '../jobs/statistics.ts'
import type { ProjectionHooks } from '../search/hooks.ts'
import type { SearchStatus } from '../search/status.ts'
import { engineMeasures, executionGauges } from './measures/executions.ts'
import { projectionMeasures, searchGauges } from './measures/search.ts'

/** What executors did over HTTP. */
export interface LeaseCounts {
  claimed(jobs: number): void
  completed(jobs: number): void
  failed(jobs: number): void
}

export interface Measured {
  readonly queue: readonly KindStatistics[]
  readonly readers: readonly ReaderLag[]
  readonly issues: readonly { severity: string; open: number }[]
  readonly executions: ExecutionStatistics
  readonly search: SearchStatus
}

export interface Measures {
  readonly contentType: string
  /** For the workers of this process. */
  readonly worker: WorkerHooks
  readonly executors: LeaseCounts
  /** For the engine of this process. */
  readonly engine: EngineHooks
  /** For the worker of search in this process. */
  readonly search: ProjectionHooks
  /** For the dispatcher of this process. */
  dispatched(pass: Pass): void
  /** The text of a scrape. */
  render(now: Measured): Promise<string>
  /** Only what this process counted. */
  renderOwn(): Promise<string>
}

export function createMeasures(): Measures {
  const registry = new Registry()
  const registers = [registry]
  const claimed = new Counter({
    name: 'stagedoor_jobs_claimed_total',
    help: 'Jobs that were leased through this process',
    labelNames: ['by'],
    registers,
  })
  const ended = new Counter({
    name: 'stagedoor_jobs_ended_total',
    help: 'Attempts that ended in this process, by outcome',
    labelNames: ['by', 'kind', 'outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'stagedoor_job_duration_seconds',
    help: 'How long the handlers of this process took',
    labelNames: ['kind'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300],
    registers,
  })
  const reaped = new Counter({
    name: 'stagedoor_jobs_reaped_total',
    help: 'Jobs that this process took back from dead workers',
    registers,
  })
  const leasesLost = new Counter({
    name: 'stagedoor_leases_lost_total',
    help: 'Leases that the workers of this process lost',
    registers,
  })
  const fired = new Counter({
    name: 'stagedoor_schedules_fired_total',
    help: 'Jobs that schedules enqueued through this process',
    labelNames: ['schedule'],
    registers,
  })
  const dispatched = new Counter({
    name: 'stagedoor_events_dispatched_total',
    help: 'What the dispatcher of this process did: events, and what consumers made of them',
    labelNames: ['what'],
    registers,
  })
  const database = new Registry()
  const renderJobs = databaseGauges([database])
  const renderExecutions = executionGauges([database])
  const renderSearch = searchGauges([database])
  const overHttp = (outcome: string) => (jobs: number) =>
    ended.inc({ by: 'executor', kind: '', outcome }, jobs)
  return {
    contentType: registry.contentType,
    worker: {
      claimed: (jobs) => claimed.inc({ by: 'worker' }, jobs),
      ended(job, outcome, ms) {
        ended.inc({ by: 'worker', kind: job.job_kind, outcome })
        duration.observe({ kind: job.job_kind }, ms / 1000)
      },
      leaseLost: () => leasesLost.inc(),
      reaped: (jobs) => reaped.inc(jobs),
      fired: (schedule) => fired.inc({ schedule }),
    },
    executors: {
      claimed: (jobs) => claimed.inc({ by: 'executor' }, jobs),
      completed: overHttp('completed'),
      failed: overHttp('failed'),
    },
    engine: engineMeasures(registers),
    search: projectionMeasures(registers),
    dispatched(pass) {
      for (const [what, count] of Object.entries(pass)) dispatched.inc({ what }, count)
    },
    async render(now) {
      renderJobs(now)
      renderExecutions(now.executions)
      renderSearch(now.search)
      return `${await registry.metrics()}\n${await database.metrics()}`
    },
    renderOwn: () => registry.metrics(),
  }
}

/** Each scrape says anew what there is: a kind without jobs is not said to have none for ever. */
function databaseGauges(registers: Registry[]): (now: Measured) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name: `stagedoor_${name}`, help, labelNames, registers })
  const jobs = gauge('jobs', 'Jobs in the queue and among the dead letters', ['kind', 'state'])
  const oldest = gauge('job_oldest_due_seconds', 'How long the oldest due job has been waiting', ['kind'])
  const lag = gauge('event_reader_lag_seconds', 'Age of the oldest event that a reader has not read', [
    'reader',
  ])
  const unread = gauge('event_reader_unread_events', 'Events that a reader has not read, up to 10000', [
    'reader',
  ])
  const dispatch = gauge(
    'dispatch_lag_seconds',
    'Age of the oldest event that no consumer was asked about',
    [],
  )
  const issues = gauge('system_issues_open', 'System issues that nobody has resolved', ['severity'])
  return (now) => {
    for (const one of [jobs, oldest, lag, unread, issues]) one.reset()
    for (const kind of now.queue) {
      const of = { kind: kind.job_kind }
      for (const state of ['waiting', 'later', 'running', 'dead'] as const) {
        jobs.set({ ...of, state }, kind[state])
      }
      oldest.set(of, kind.oldest_due_s ?? 0)
    }
    for (const { reader, lag_s, unread: count } of now.readers) {
      lag.set({ reader }, lag_s)
      unread.set({ reader }, count)
    }
    dispatch.set(now.readers.find(({ reader }) => reader === 'consumers')?.lag_s ?? 0)
    for (const { severity, open } of now.issues) issues.set({ severity }, open)
  }
}

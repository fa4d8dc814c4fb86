/** Metrics for Prometheus: counters of this process, and gauges that a scrape reads from the database. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Pass } from '../events/dispatcher.ts'
import type { ReaderLag } from '../events/outbox.ts'
import type { EngineHooks } from '../executions/engine/engine.ts'
import type { ExecutionStatistics } from '../executions/queries.ts'
import type { Pool } from '../jobs/pools.ts'
import type { KindStatistics } from '../jobs/queue.ts'
import type { WorkerHooks } from '../jobs/worker-types.ts'
import type { WakeupHooks } from '../runtime/nats-wakeups.ts'
import type { GatewayHooks, GatewayState } from '../runtime/remote/gateway.ts'
import type { ProjectionHooks } from '../search/projection.ts'
import type { SearchStatus } from '../search/status.ts'
import type { Process } from './processes.ts'
import type { RemoteWorkerHooks } from './remote-worker.ts'
import type { ReplicaHooks } from './replica.ts'

/** Counts what executors do over HTTP. */
export interface ExecutorHooks {
  onClaim(jobs: number): void
  onComplete(jobs: number): void
  onFail(jobs: number): void
}

/** Counts what a remote worker runs. */
export interface RemoteWorkerMetrics extends RemoteWorkerHooks {
  watch(worker: { readonly gateway: string | undefined; readonly running: number }): void
}

interface DatabaseMetrics {
  readonly processes: readonly Process[]
  readonly pools: readonly Pool[]
  readonly queue: readonly KindStatistics[]
  readonly readers: readonly ReaderLag[]
  readonly issues: readonly { severity: string; open: number }[]
  readonly executions: ExecutionStatistics
  readonly search: SearchStatus
}

/** Counts what a gateway does, and shows what it has at each scrape. */
export interface GatewayMetrics extends Required<GatewayHooks> {
  onClaim(jobs: number): void
  /** Undefined: there is no gateway any more. */
  watch(state: (() => GatewayState) | undefined): void
}

export interface Metrics {
  readonly contentType: string
  /** For the workers of this process. */
  readonly worker: WorkerHooks
  readonly executors: ExecutorHooks
  /** For the engine of this process. */
  readonly engine: EngineHooks
  /** For the search worker of this process. */
  readonly search: ProjectionHooks
  /** For reads that a replica may answer. */
  readonly replica: ReplicaHooks
  /** For the wake-ups of this process. */
  readonly wakeups: WakeupHooks & { onNats(connected: boolean): void }
  /** For the gateway of this process. */
  readonly gateway: GatewayMetrics
  /** For a process that is a remote worker. */
  readonly remote: RemoteWorkerMetrics
  /** For the dispatcher of this process. */
  onPass(pass: Pass): void
  /** The text of a scrape. */
  render(now: DatabaseMetrics): Promise<string>
  /** The text of a scrape without the database: only the counters of this process. */
  renderOwn(): Promise<string>
}

export function createMetrics(): Metrics {
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
  const renderProcesses = processGauges([database])
  const renderPools = poolGauges([database])
  const overHttp = (outcome: string) => (jobs: number) =>
    ended.inc({ by: 'executor', kind: '', outcome }, jobs)
  return {
    contentType: registry.contentType,
    worker: {
      onClaim: (jobs) => claimed.inc({ by: 'worker' }, jobs),
      onCallEnd(job, outcome, ms) {
        ended.inc({ by: 'worker', kind: job.job_kind, outcome })
        duration.observe({ kind: job.job_kind }, ms / 1000)
      },
      onLeaseLost: () => leasesLost.inc(),
      onReap: (jobs) => reaped.inc(jobs),
      onSchedule: (schedule) => fired.inc({ schedule }),
    },
    executors: {
      onClaim: (jobs) => claimed.inc({ by: 'executor' }, jobs),
      onComplete: overHttp('completed'),
      onFail: overHttp('failed'),
    },
    engine: engineMetrics(registers),
    search: projectionMetrics(registers),
    replica: replicaMetrics(registers),
    wakeups: wakeupMetrics(registers),
    gateway: gatewayMetrics(registers),
    remote: remoteWorkerMetrics(registers),
    onPass(pass) {
      for (const [what, count] of Object.entries(pass)) dispatched.inc({ what }, count)
    },
    async render(now) {
      renderJobs(now)
      renderExecutions(now.executions)
      renderSearch(now.search)
      renderProcesses(now.processes)
      renderPools(now.pools)
      return `${await registry.metrics()}\n${await database.metrics()}`
    },
    renderOwn: () => registry.metrics(),
  }
}

/** Each scrape resets them: a deleted kind of jobs must not be reported with 0 for ever. */
function databaseGauges(registers: Registry[]): (now: DatabaseMetrics) => void {
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

function processGauges(registers: Registry[]): (processes: readonly Process[]) => void {
  const gauge = new Gauge({
    name: 'stagedoor_processes',
    help: 'Processes on this database by role, version and state: alive, draining, or silent for more than 20 s',
    labelNames: ['role', 'version', 'state'],
    registers,
  })
  return (processes) => {
    gauge.reset()
    for (const { roles, version, is_alive, draining_at } of processes)
      for (const role of roles)
        gauge.inc({ role, version, state: !is_alive ? 'silent' : draining_at ? 'draining' : 'alive' })
  }
}

function poolGauges(registers: Registry[]): (pools: readonly Pool[]) => void {
  const wanted = new Gauge({
    name: 'stagedoor_wanted_workers',
    help: 'So many workers of the pool begin what is due within ten seconds, each with 10 jobs or 50 steps at once',
    labelNames: ['pool'],
    registers,
  })
  return (pools) => {
    wanted.reset()
    for (const { pool, wanted_workers } of pools) wanted.set({ pool }, wanted_workers)
  }
}

function replicaMetrics(registers: Registry[]): ReplicaHooks {
  const reads = new Counter({
    name: 'stagedoor_replica_reads_total',
    help: 'Reads that a replica may answer: by the replica, or by the primary because the replica was behind, broken, or refused',
    labelNames: ['answer'],
    registers,
  })
  for (const answer of ['replica', 'behind', 'broken', 'refused']) reads.inc({ answer }, 0)
  const lag = new Gauge({
    name: 'stagedoor_replica_lag_seconds',
    help: 'How far the replica of this process is behind the primary',
    registers,
  })
  return {
    onRead: (answer) => reads.inc({ answer }),
    onLag: (ms) => lag.set(ms / 1000),
  }
}

function wakeupMetrics(registers: Registry[]): Metrics['wakeups'] {
  const wakeups = new Counter({
    name: 'stagedoor_wakeups_total',
    help: 'Wake-ups that reached this process: told in it, by NOTIFY, or by NATS',
    labelNames: ['carrier'],
    registers,
  })
  for (const carrier of ['process', 'notify', 'nats']) wakeups.inc({ carrier }, 0)
  const garbage = new Counter({
    name: 'stagedoor_wakeups_garbage_total',
    help: 'Messages on subjects of wake-ups, and notifications, that this process could not read and ignored',
    registers,
  })
  const lag = new Histogram({
    name: 'stagedoor_wakeup_lag_seconds',
    help: 'How long a message of this process to itself took over NATS',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1],
    registers,
  })
  let connected: Gauge | undefined
  return {
    onWakeup: (carrier) => wakeups.inc({ carrier }),
    onGarbage: () => garbage.inc(),
    onEcho: (ms) => lag.observe(ms / 1000),
    onNats(isConnected) {
      connected ??= new Gauge({
        name: 'stagedoor_nats_connected',
        help: 'Whether this process is connected to NATS; not reported without NATS_URL',
        registers,
      })
      connected.set(isConnected ? 1 : 0)
    },
  }
}

function gatewayMetrics(registers: Registry[]): GatewayMetrics {
  let state: (() => GatewayState) | undefined
  const gauge = (name: string, help: string, read: (now: GatewayState) => number) =>
    new Gauge({
      name: `stagedoor_gateway_${name}`,
      help,
      registers,
      collect() {
        this.set(state === undefined ? 0 : read(state()))
      },
    })
  gauge('attached', 'Slots of the remote workers that are attached to this gateway', (now) => now.attached)
  gauge('free', 'Slots of remote workers that are free', (now) => now.free)
  gauge('offered', 'Calls that were sent to a remote worker and are not confirmed', (now) => now.offered)
  gauge('held', 'Calls that remote workers run', (now) => now.held)
  gauge('ends_waiting', 'Calls that ended and are not committed', (now) => now.endsWaiting)
  const counter = (name: string, help: string) =>
    new Counter({ name: `stagedoor_gateway_${name}_total`, help, registers })
  const adopted = counter('adopted', 'Calls that this gateway took over from another')
  const reoffered = counter('reoffered', 'Calls that were sent to another worker because none confirmed them')
  const garbage = counter('garbage', 'Messages that have no known shape')
  const crashed = counter('crashed', 'Calls whose remote worker became silent')
  const batch = new Histogram({
    name: 'stagedoor_gateway_batch_size',
    help: 'Jobs that one claim for remote workers brought',
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
    registers,
  })
  return {
    onAdopted: (calls) => adopted.inc(calls),
    onReoffered: (calls) => reoffered.inc(calls),
    onGarbage: () => garbage.inc(),
    onCrashed: (calls) => crashed.inc(calls),
    onClaim: (jobs) => {
      if (jobs > 0) batch.observe(jobs)
    },
    watch(next) {
      state = next
    },
  }
}

function remoteWorkerMetrics(registers: Registry[]): RemoteWorkerMetrics {
  const ended = new Counter({
    name: 'stagedoor_remote_ended_total',
    help: 'Jobs and steps that ended in this remote worker, by outcome',
    labelNames: ['what', 'name', 'outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'stagedoor_remote_call_seconds',
    help: 'How long the handlers of this remote worker took',
    labelNames: ['what', 'name'],
    buckets: SECONDS,
    registers,
  })
  return {
    // Only a remote worker reports these: 0 in another process would say that something is wrong.
    watch(worker) {
      new Gauge({
        name: 'stagedoor_remote_attached',
        help: '1 while this remote worker is attached to a gateway',
        registers,
        collect() {
          this.set(worker.gateway === undefined ? 0 : 1)
        },
      })
      new Gauge({
        name: 'stagedoor_remote_running',
        help: 'Calls that this remote worker runs',
        registers,
        collect() {
          this.set(worker.running)
        },
      })
    },
    onCallEnd({ what, name }, outcomes, ms) {
      for (const outcome of outcomes) ended.inc({ what, name, outcome })
      duration.observe({ what, name }, ms / 1000)
    },
  }
}

const SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300]

function engineMetrics(registers: Registry[]): EngineHooks {
  const events = new Counter({
    name: 'stagedoor_execution_events_total',
    help: 'Events that this process wrote into the logs of executions',
    registers,
  })
  const flush = new Histogram({
    name: 'stagedoor_execution_flush_seconds',
    help: 'How long a flush of events took until it was durable',
    buckets: SECONDS,
    registers,
  })
  const steps = new Counter({
    name: 'stagedoor_steps_ended_total',
    help: 'Steps and items of loops that ended in this process, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'stagedoor_step_duration_seconds',
    help: 'How long the tools of a step or an item took in this process',
    buckets: SECONDS,
    registers,
  })
  const ended = new Counter({
    name: 'stagedoor_executions_ended_total',
    help: 'Executions that this process drove to their end',
    registers,
  })
  const lag = new Histogram({
    name: 'stagedoor_projection_lag_seconds',
    help: 'How old the oldest event was when it was folded',
    buckets: SECONDS,
    registers,
  })
  const behind = new Gauge({
    name: 'stagedoor_projection_behind_seconds',
    help: 'For how long the execution of this process that is furthest behind its log has been so',
    registers,
  })
  const shards = new Counter({
    name: 'stagedoor_engine_shards_taken_total',
    help: 'Shards that this process took over',
    registers,
  })
  const lost = new Counter({
    name: 'stagedoor_engine_leases_lost_total',
    help: 'Leases that the engine of this process lost',
    registers,
  })
  return {
    onFlush(_executions, count, ms) {
      events.inc(count)
      flush.observe(ms / 1000)
    },
    onCommandEnd(_step, outcome, ms) {
      steps.inc({ outcome })
      duration.observe(ms / 1000)
    },
    onProject: (_executions, _events, lagMs) => lag.observe(lagMs / 1000),
    onLag: (lagMs) => behind.set(lagMs / 1000),
    onExecutionEnd: () => ended.inc(),
    onShardTaken: () => shards.inc(),
    onLeaseLost: () => lost.inc(),
  }
}

function executionGauges(registers: Registry[]): (now: ExecutionStatistics) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `stagedoor_${name}`, help, labelNames, registers })
  const live = gauge('executions', 'Executions that have not ended, by status', ['status'])
  const lag = gauge('projection_last_lag_seconds', 'The largest lag of a shard when it was last projected')
  const inbox = gauge('execution_inbox', 'Messages to executions that are not delivered yet')
  const oldest = gauge(
    'execution_inbox_oldest_seconds',
    'Age of the oldest message that is not delivered yet',
  )
  const commands = gauge('execution_commands', 'Items of loops that engines run or will run', ['state'])
  const waits = gauge('execution_waits', 'Steps that wait for a time, an event or a person')
  const engines = gauge('engines', 'Processes that drive executions or run their items')
  const ownerless = gauge('execution_shards_without_owner', 'Shards that no living engine holds')
  const days = gauge('execution_partition_days', 'For how many days ahead the log has partitions')
  return (now) => {
    live.reset()
    for (const { status, executions } of now.live) live.set({ status }, executions)
    lag.set(now.projection_lag_ms / 1000)
    inbox.set(now.inbox)
    oldest.set(now.inbox_oldest_s)
    commands.set({ state: 'running' }, now.commands_running)
    commands.set({ state: 'waiting' }, now.commands_waiting)
    waits.set(now.waits)
    engines.set(now.engines)
    ownerless.set(now.shards_without_owner)
    days.set(now.partition_days)
  }
}

function projectionMetrics(registers: Registry[]): ProjectionHooks {
  const rows = new Counter({
    name: 'stagedoor_search_projected_total',
    help: 'Units and documents that this process worked on for search, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const chunks = new Counter({
    name: 'stagedoor_search_chunks_embedded_total',
    help: 'Chunks that this process sent to an embedder',
    labelNames: ['collection'],
    registers,
  })
  const duration = new Histogram({
    name: 'stagedoor_search_batch_duration_seconds',
    help: 'How long a batch took from the claim until it was in search',
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers,
  })
  return {
    onDone(count, ms) {
      rows.inc({ outcome: 'done' }, count)
      duration.observe(ms / 1000)
    },
    onFailed(count, deadLetters) {
      rows.inc({ outcome: 'failed' }, count - deadLetters)
      if (deadLetters > 0) rows.inc({ outcome: 'dead_letter' }, deadLetters)
    },
    onWaiting: (count) => rows.inc({ outcome: 'waiting' }, count),
    onEmbedded: (collection, count) => chunks.inc({ collection }, count),
  }
}

function searchGauges(registers: Registry[]): (now: SearchStatus) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `stagedoor_search_${name}`, help, labelNames, registers })
  const outbox = gauge('outbox', 'Units and documents on their way into search, by status', ['status'])
  const oldest = gauge('oldest_due_seconds', 'How long the oldest due unit or document has been waiting')
  const outage = gauge('waiting_for_outage', 'Those that wait for an embedder or a store that is away')
  const chunks = gauge('chunks', 'Chunks in search', ['source'])
  const points = gauge('points', 'Vectors in a collection', ['collection', 'state'])
  const tokens = gauge('tokens_today', 'What the embedders that cost took today', ['embedder', 'model'])
  return (now) => {
    for (const one of [outbox, chunks, points, tokens]) one.reset()
    for (const status of ['pending', 'processing', 'dead_letter', 'due'] as const)
      outbox.set({ status }, now.outbox[status])
    oldest.set(now.outbox.oldest_due_s ?? 0)
    outage.set(now.outage?.rows ?? 0)
    chunks.set({ source: 'unit' }, now.chunks.units)
    chunks.set({ source: 'document' }, now.chunks.documents)
    for (const { collection, state, points: count } of now.collections)
      if (state !== 'legacy') points.set({ collection, state }, count)
    const today = now.cost[0]?.day
    for (const { day, embedder, model, tokens: count } of now.cost)
      if (day === today) tokens.set({ embedder, model }, count)
  }
}

/**
 * The engine: drives executions and runs their commands. Any number of processes may run one. Each owns some of the shards under a
 * lease; when a process dies, others continue its executions.
 */
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { StagedoorError } from '../../kernel/errors.ts'
import {
  DedicatedConnection,
  type Pool,
  reserveSessions,
  watchHistory,
} from '../../kernel/postgres/connection.ts'
import { mapConnectionError } from '../../kernel/postgres/errors.ts'
import type { HealthCheck } from '../../kernel/postgres/health.ts'
import { announceHistory, OTHER_HISTORY, type OtherHistory } from '../../kernel/postgres/history.ts'
import { guardHooks } from '../../runtime/hooks.ts'
import type { Lead } from '../../runtime/leader.ts'
import { DEFAULT_LEASE_MS } from '../../runtime/lease.ts'
import { PeriodicTasks } from '../../runtime/periodic-tasks.ts'
import type { CallRef, RemoteCalls, ResumeCall } from '../../runtime/remote/calls.ts'
import { Wake } from '../../runtime/wake.ts'
import { openWakeups, type Wakeups } from '../../runtime/wakeups.ts'
import { type ExecutionOutcome, waitForEnd } from '../control.ts'
import type { ResultStore } from '../results.ts'
import { type HandlerTool, ToolError, type Tools } from '../tools/tool.ts'
import { CommandRouter, errorMessage, LocalCommands } from './commands.ts'
import { DatabaseClock } from './database-clock.ts'
import { Driver } from './driver.ts'
import { Inbox, WAITS_DUE_SQL, WaitPoller } from './inbox.ts'
import { Catalog } from './load.ts'
import { type Append, LogWriter } from './log-writer.ts'
import { Projector } from './projection.ts'
import { Shards } from './shards.ts'
import { CommandWorker } from './worker.ts'

const DEFAULT_CONCURRENCY = 50
const POLL_MS = 250
const REAP_MS = 1000
const MISSING_HANDLERS_MS = 5000
const EVICT_MS = 1000
const REPORT_LAG_MS = 1000
/** Executions leave the memory that wait for a time, an event or a person; and those that wait for other engines. */
const EVICT_WAITING_MS = 2000
const EVICT_IDLE_MS = 30_000
const MAX_RELEASE_WAIT_MS = 2000
const RELEASE_POLL_MS = 20
const RETRY_MS = 300
/** In case the notification of an ended lease is missed. */
const LEASE_POLL_MS = 1000
const CLOCK_WARNING_MS = 10_000
/** While executions wait for the clock they try every 100 ms. */
const CLOCK_TROUBLE_MS = 1000
const FLUSH_TIMEOUT_MS = 30_000
const CRASH_MS = 1000
/** The session for the log is closed when nothing was written for so long. */
const FLUSH_IDLE_MS = 10_000
/** Commands that are due later are told together. */
const LATER_STEP_MS = 100
const MAX_LATER_MS = 3_600_000
/** Reaping dead engines, ending waits, finding missing handlers. */
const LEAD = 'executions'
const REAP_DUE_SQL = `(select 0 where exists (select from noetl.engine e where e.leased_until <= clock_timestamp())
  or exists (select from noetl.execution_shard s where not exists (
       select from noetl.engine e where e.engine_id = s.owner and e.leased_until > clock_timestamp())))`
const INBOX_DUE_SQL = `(select 0 from noetl.execution_shard s
  where s.owner = ? and (select true from noetl.inbox i where i.shard_id = s.shard_id limit 1) limit 1)`
const COMMANDS_DUE_SQL = '(select 0 from noetl.command c where c.leased_by is null limit 1)'
/** Some commands exist, or handlers of commands were missed. */
const HANDLERS_DUE_SQL = `(select 0 where exists (select from noetl.command) or exists (select from noetl.missing_handler))`

/** Throws when the database cannot be reached or refuses. Once started, the engine survives both. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { drives = true, runs = true, concurrency = DEFAULT_CONCURRENCY } = options
  if (!drives && !runs)
    throw new StagedoorError('argument_invalid', { reason: 'An engine drives, runs, or both' })
  if (typeof concurrency === 'number' && (!Number.isInteger(concurrency) || concurrency < 1)) {
    throw new StagedoorError('argument_invalid', { reason: 'concurrency is a whole number from 1' })
  }
  const engine = new RunningEngine(options)
  await engine.start()
  return engine
}

/**
 * An engine of a gateway: it claims steps and items for the free slots of remote workers, which run their handlers; their other tools run
 * here. It drives nothing. `handlers`: what each of the workers offers.
 */
export async function startGatewayEngine(options: GatewayEngineOptions): Promise<GatewayEngine> {
  const { remote, handlers, tools, ...rest } = options
  const engine = new RunningEngine(
    {
      ...rest,
      tools: { ...tools, handler: handlersElsewhere(handlers) },
      drives: false,
      concurrency: () => remote.slots,
    },
    remote,
  )
  await engine.start()
  return engine
}

/** Each command calls them through tools/remote-handler.ts, with the lease that it has. */
function handlersElsewhere(names: readonly string[]): HandlerTool {
  const tool = () => Promise.reject(new ToolError('This handler runs in remote workers'))
  return Object.assign(tool, { names })
}

class RunningEngine implements GatewayEngine {
  private readonly options: EngineOptions
  private readonly concurrency: () => number
  /** Of a gateway. */
  private readonly remote: RemoteCalls | undefined
  private readonly log: Logger
  private readonly hooks: EngineHooks
  private readonly leaseMs: number
  private readonly heartbeats: DedicatedConnection
  /** Of a gateway, where many engines share one pool: the session for heartbeats is none of them. */
  private readonly reserved: Pool | undefined
  private readonly flushes: DedicatedConnection
  private readonly writer: LogWriter
  private readonly handlers: ReadonlySet<string>
  private readonly name: string
  private readonly local: LocalCommands
  private readonly router: CommandRouter
  private readonly driver: Driver
  private readonly catalog: Catalog
  private readonly tasks: PeriodicTasks
  private readonly waiters = new Map<string, Set<(outcome: ExecutionOutcome) => void>>()
  private shards!: Shards
  /** Of an engine that drives. */
  private snowflakes!: SnowflakeIds
  private readonly clock = new DatabaseClock()
  /** The last time that no id could be made. */
  private clockRefusal: { readonly at: number; readonly message: string } | undefined
  private clockWarnedAt = Number.NEGATIVE_INFINITY
  private inbox: Inbox | undefined
  private worker: CommandWorker | undefined
  private projector: Projector | undefined
  private waits: WaitPoller | undefined
  private wakeups: Wakeups | undefined
  private lead: Lead | undefined
  /** Some commands exist, so their handlers may be missing. */
  private mayLackHandlers = true
  /** Of commands that are due later, by when they are told. */
  private readonly later = new Map<number, { readonly keys: Set<string>; readonly timer: NodeJS.Timeout }>()
  private readonly leaseEnded = new Wake()
  private unwatchHistory = (): void => {}
  private unwatchSlots = (): void => {}
  /** To be announced before the engine registers again. */
  private otherHistory: OtherHistory | undefined
  /** A registration that did not end by itself: what it holds is given back before the engine registers again. */
  private abandoned: string | undefined
  private supervision: Promise<void> | undefined
  private lastId = '0'
  private stopping = false
  private stopped: Promise<void> | undefined

  constructor(options: EngineOptions, remote?: RemoteCalls) {
    const { pool, tools, results, concurrency = DEFAULT_CONCURRENCY } = options
    this.options = options
    this.remote = remote
    this.concurrency = typeof concurrency === 'number' ? () => concurrency : concurrency
    this.log = options.log ?? pino({ level: 'silent' })
    this.tasks = new PeriodicTasks(this.log)
    this.hooks = guardHooks(options.hooks ?? {}, this.log)
    this.leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    this.reserved = remote && reserveSessions(pool, 1)
    this.heartbeats = new DedicatedConnection(this.reserved ?? pool, this.leaseMs / 2)
    this.flushes = new DedicatedConnection(pool, FLUSH_TIMEOUT_MS, { idleMs: FLUSH_IDLE_MS })
    this.catalog = new Catalog(pool)
    this.handlers = new Set(tools.handler?.names)
    this.name = options.name ?? `${hostname()} ${process.pid}`
    this.writer = new LogWriter({
      connection: this.flushes,
      engine: () => this.id,
      epochOf: (shard) => this.shards.epochOf(shard),
      onFenced: () => this.shards.heartbeat(),
      onLogMoved: (error) => this.onLogMoved(error),
      onFlush: (appends, ms) => this.onFlush(appends, ms),
      log: this.log,
    })
    this.local = new LocalCommands({
      tools,
      results,
      concurrency: this.concurrency,
      log: this.log,
      worker: this.name,
      mayBegin: () => this.shards.mayBegin,
      ...(this.hooks.onCommandEnd && { onCommandEnd: this.hooks.onCommandEnd }),
    })
    this.router = new CommandRouter({
      handlers: this.handlers,
      results,
      log: this.log,
      runLocal: (execution, command) => this.local.begin(execution, command),
      append: (append) => this.writer.append(append),
    })
    this.driver = new Driver({
      pool,
      catalog: this.catalog,
      results,
      log: this.log,
      engine: () => this.id,
      now: () => this.clock.now(),
      nextId: () => this.nextId(),
      idsAfter: (id) => this.snowflakes.after(id),
      append: (append) => this.writer.append(append),
      begin: (execution, command) => this.router.dispatch(execution, command),
      forget: (ids) => this.inbox?.readAgain(ids),
      forgetShard: (shard) => this.inbox?.forgetShard(shard),
      project: (executions, shard) => {
        for (const execution of executions) this.projector?.add(execution, shard)
      },
      onExecutionEnd: (outcome) => this.onExecutionEnd(outcome),
    })
  }

  get id(): string {
    return this.shards.engine
  }

  async start(): Promise<void> {
    const { pool, drives = true, runs = true } = this.options
    this.unwatchHistory = watchHistory(pool, (change) => this.onOtherHistory(change))
    try {
      // The sessions for heartbeats and for the log, before the lease begins: through a slow network to open one takes seconds of it.
      const sessions = drives ? [this.heartbeats, this.flushes] : [this.heartbeats]
      await Promise.all(sessions.map((session) => session.query('select 1')))
      await this.register()
    } catch (error) {
      this.unwatchHistory()
      await this.closeSessions()
      throw mapConnectionError(error)
    }
    if (drives) this.startDriving()
    if (runs) this.worker = this.startWorker()
    this.unwatchSlots = this.remote?.onSlots(() => this.concurrencyChanged()) ?? this.unwatchSlots
    try {
      await this.shards.start()
    } catch (error) {
      // The caller gets no engine: what has begun must not go on by itself.
      await this.stop()
      throw mapConnectionError(error)
    }
    this.supervision = this.superviseLease()
    this.wakeups = this.openWakeups()
    this.tasks.every(REAP_MS, () => (this.wakeups?.works ? Promise.resolve() : this.reap()))
    if (drives)
      this.tasks.every(MISSING_HANDLERS_MS, () =>
        this.leads && this.mayLackHandlers ? this.checkMissingHandlers() : Promise.resolve(),
      )
    this.tasks.every(EVICT_MS, async () => this.driver.evict(EVICT_IDLE_MS, EVICT_WAITING_MS))
    this.tasks.every(REPORT_LAG_MS, async () => this.hooks.onLag?.(this.projector?.lagMs ?? 0))
  }

  health(): HealthCheck {
    const trouble = this.stopping
      ? 'stopping'
      : this.shards.over
        ? 'its lease has passed; it registers again'
        : (this.writer.trouble ?? this.clockTrouble)
    const detail = `${this.shards.size} shards, ${this.driver.size} executions in memory, ${this.local.size} steps running`
    return { name: 'executions', ok: trouble === undefined, detail: trouble ?? detail }
  }

  wait(execution: string, { signal }: { signal?: AbortSignal } = {}): Promise<ExecutionOutcome> {
    return waitForEnd(this.options.pool, execution, [this], signal)
  }

  whenEnded(execution: string, callback: (outcome: ExecutionOutcome) => void): () => void {
    const callbacks = this.waiters.get(execution) ?? new Set()
    this.waiters.set(execution, callbacks.add(callback))
    return () => {
      callbacks.delete(callback)
      if (callbacks.size === 0) this.waiters.delete(execution)
    }
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  concurrencyChanged(): void {
    this.worker?.concurrencyChanged()
  }

  async adopt(from: string, commands: readonly CallRef[], resume: ResumeCall): Promise<string[]> {
    if (this.worker === undefined || this.stopping)
      throw new Error('this engine takes no commands over just now')
    return this.worker.adopt(from, commands, resume)
  }

  async crash(error: unknown): Promise<void> {
    this.stopping = true
    void this.tasks.stop()
    this.leaseEnded.now()
    const isGateway = this.remote !== undefined
    // What runs in a remote worker did not end this process.
    const commands = isGateway ? [] : (this.worker?.runningCommands ?? [])
    const steps = [...this.local.runningCommands, ...commands]
    if (steps.length > 0)
      this.log.fatal(
        { steps, reason: errorMessage(error) },
        'the process ends; one of these steps may be the cause',
      )
    // Ends are written first, if the database takes them at once.
    const drained = Promise.all([this.writer.drain(), this.worker?.drain()]).catch(() => {})
    await Promise.race([drained, delay(CRASH_MS)])
    // The remote workers have until the lease ends to find another gateway, which adopts what they run.
    if (!isGateway) await this.shards.leave(commands)
  }

  private async shutDown(): Promise<void> {
    this.stopping = true
    const graceMs = this.options.shutdownMs ?? 30_000
    void this.tasks.stop()
    this.leaseEnded.now()
    await this.supervision
    await Promise.all([this.waits?.stop(), this.inbox?.stop()])
    await Promise.all([this.worker?.stop(graceMs), this.local.close(graceMs)])
    await this.writer.drain()
    this.driver.snapshotAll()
    await this.writer.drain()
    await this.projector?.stop()
    this.driver.close()
    await this.shards.leave()
    for (const { timer } of this.later.values()) clearTimeout(timer)
    this.wakeups?.tell('shards')
    await this.wakeups?.close()
    this.unwatchHistory()
    this.unwatchSlots()
    await this.closeSessions()
  }

  private async closeSessions(): Promise<void> {
    await Promise.all([this.heartbeats.release(), this.flushes.release()])
    await this.reserved?.end()
  }

  private startDriving(): void {
    const { pool, pollMs = POLL_MS } = this.options
    const { log } = this
    this.inbox = new Inbox({
      pool,
      log,
      pollMs: () => this.pollMs,
      lease: () => this.shards,
      deliver: (rows) => this.driver.deliver(rows),
      stuck: () => this.driver.stuckExecutions,
    })
    this.projector = new Projector({
      pool,
      log,
      engine: () => this.id,
      epochOf: (shard) => this.shards.epochOf(shard),
      onFenced: () => this.shards.heartbeat(),
      onProject: (executions, events, lagMs, ms) =>
        this.hooks.onProject?.(executions.length, events, lagMs, ms),
    })
    this.waits = new WaitPoller({
      pool,
      log,
      pollMs,
      leads: () => this.leads,
      isTold: () => this.pollMs === undefined,
      onWake: () => this.inbox?.now(),
    })
  }

  /** How long those who wait do so without a wake-up; undefined: the poll of the process wakes them. */
  private get pollMs(): number | undefined {
    return this.options.pollMs ?? (this.wakeups?.works ? undefined : POLL_MS)
  }

  private get leads(): boolean {
    return this.lead?.mine ?? true
  }

  private startWorker(): CommandWorker {
    const { pool, tools, results } = this.options
    return new CommandWorker({
      pool,
      catalog: this.catalog,
      tools,
      results,
      concurrency: this.concurrency,
      ...(this.remote && { remote: this.remote }),
      pollMs: () => this.pollMs,
      log: this.log,
      lease: () => this.shards,
      onEndsWritten: (shards) => this.tellInbox(shards),
      ...(this.hooks.onCommandEnd && { onCommandEnd: this.hooks.onCommandEnd }),
    })
  }

  private async register(): Promise<void> {
    const { pool, drives = true, runs = true, sendsHeartbeats = true } = this.options
    const { leaseMs, name } = this
    const shards: Shards = await Shards.take({
      pool,
      connection: this.heartbeats,
      terms: { name, drives, runs, handlers: [...this.handlers], leaseMs, sendsHeartbeats },
      clock: this.clock,
      log: this.log,
      onTaken: (shard, lastEventId) => this.onShardTaken(shards, shard, lastEventId),
      onLost: (shard) => this.onShardLost(shard),
      onSurplus: (shard) => void this.release(shards, shard),
      onHeartbeat: () => void this.worker?.dropUnwanted().catch(() => {}),
      onLeaseLost: (reason) => this.onLeaseLost(reason),
    })
    this.shards = shards
    if (shards.node === null) return
    this.snowflakes = new SnowflakeIds(shards.node, { now: () => Math.floor(this.clock.now()) })
    this.snowflakes.after(this.lastId)
  }

  private nextId(): string {
    try {
      this.lastId = this.snowflakes.next()
      return this.lastId
    } catch (error) {
      const now = performance.now()
      // Its executions wait and try again.
      if (now - this.clockWarnedAt > CLOCK_WARNING_MS) {
        this.clockWarnedAt = now
        this.log.warn({ err: error }, 'executions wait until the clock of the database has caught up')
      }
      this.clockRefusal = { at: now, message: (error as Error).message }
      throw error
    }
  }

  private get clockTrouble(): string | undefined {
    const { clockRefusal } = this
    return clockRefusal && performance.now() - clockRefusal.at < CLOCK_TROUBLE_MS
      ? clockRefusal.message
      : undefined
  }

  /** A lease ends before the engine has its next: its executions and commands are dropped by then. */
  private onLeaseLost(reason: string): void {
    this.worker?.lose()
    this.writer.retryNow()
    this.hooks.onLeaseLost?.(reason)
    this.leaseEnded.now()
  }

  /** The last commits may be lost: nothing that is in memory follows from what the database has now. */
  private onOtherHistory(change: OtherHistory): void {
    this.otherHistory = change
    this.catalog.forget()
    this.worker?.forget()
    this.shards?.lose(OTHER_HISTORY)
  }

  /** The same, found by the log itself where the server does not tell its history. */
  private onLogMoved(error: Error): void {
    this.log.error({ err: error }, 'commits of this engine are lost; everything is read again')
    this.abandoned = this.id
    this.catalog.forget()
    this.worker?.forget()
    this.shards.lose('the log is not where it was left')
  }

  private async endFormerRegistration(): Promise<void> {
    const { otherHistory, abandoned } = this
    const { pool } = this.options
    if (otherHistory !== undefined) await announceHistory(pool, this.log, otherHistory)
    if (abandoned !== undefined) await pool.query('select noetl.fn_engine_leave($1)', [abandoned])
    if (this.otherHistory === otherHistory) this.otherHistory = undefined
    this.abandoned = undefined
  }

  /** As long as the engine runs it holds a lease or tries to get one. Nothing else registers it, and only a stop ends this. */
  private async superviseLease(): Promise<void> {
    while (!this.stopping) {
      if (!this.shards.over) {
        await this.leaseEnded.wait(LEASE_POLL_MS)
        continue
      }
      try {
        await this.endFormerRegistration()
        await this.register()
        const { shards } = this
        await shards.startRetrying()
        if (shards.over) continue
        this.log.info({ engine: shards.engine }, 'registered again')
        this.inbox?.now()
        this.worker?.now()
      } catch (error) {
        this.log.warn({ err: error }, 'registering the engine failed; will be retried')
        await this.leaseEnded.wait(RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  private onShardTaken(shards: Shards, shard: number, lastEventId: string): void {
    if (this.stopping) return
    this.snowflakes.after(lastEventId)
    this.hooks.onShardTaken?.(shard)
    void this.driver.take(shard, shards.epochOf(shard)!).then(() => this.inbox?.now())
  }

  private onShardLost(shard: number): void {
    this.driver.drop(shard)
    this.writer.retryNow()
    this.hooks.onShardLost?.(shard)
  }

  /** Another engine gets the shard: what runs in it ends first, if it does so soon. */
  private async release(shards: Shards, shard: number): Promise<void> {
    this.driver.leave(shard)
    const until = performance.now() + MAX_RELEASE_WAIT_MS
    while (performance.now() < until && !this.driver.isDrained(shard)) await delay(RELEASE_POLL_MS)
    if (shards.epochOf(shard) === undefined) return
    this.driver.drop(shard)
    await shards
      .release(shard)
      .catch((error) => this.log.debug({ err: error, shard }, 'a shard could not be released'))
  }

  private onFlush(appends: readonly Append[], ms: number): void {
    let events = 0
    let hasWaits = false
    const shards = new Set<number>()
    const commands = new Set<string>()
    for (const append of appends) {
      events += append.events.length
      if (append.events.length > 0) this.projector?.add(append.execution_id, append.shard_id)
      if (append.inbox !== undefined) this.inbox?.forget(append.inbox)
      hasWaits ||= append.waits !== undefined
      for (const { execution_id } of append.messages ?? []) shards.add(shardOf(execution_id))
      for (const { needs, process_after } of append.commands ?? []) {
        const key = needs === undefined ? '' : JSON.stringify(needs)
        if (process_after === undefined) commands.add(key)
        else this.tellLater(key, Date.parse(process_after))
      }
      // Commands of a paused execution are not claimed.
      if (append.events.some(({ event_type }) => event_type === 'execution.resumed')) commands.add('')
    }
    this.tellInbox(shards)
    for (const key of commands) this.tellCommands(key)
    if (hasWaits) this.tellWaits()
    this.hooks.onFlush?.(appends.length, events, ms)
  }

  // After the commit: functions that every engine calls all the time do not notify (decision 0020).

  private tellInbox(shards: ReadonlySet<number>): void {
    if (shards.size === 0) return
    if (this.wakeups === undefined) this.inbox?.now()
    else this.wakeups.tell('inbox', [...shards].join())
  }

  private tellCommands(key: string): void {
    if (this.wakeups === undefined) this.commandsDue(key)
    else this.wakeups.tell('commands', key)
  }

  private tellWaits(): void {
    if (this.wakeups === undefined) this.waits?.now()
    else this.wakeups.tell('waits')
  }

  private tellLater(key: string, dueAt: number): void {
    const at = Math.ceil(dueAt / LATER_STEP_MS) * LATER_STEP_MS
    const inMs = Math.ceil(at - this.clock.now())
    if (inMs <= 0) {
      this.tellCommands(key)
      return
    }
    // The poll finds them.
    if (inMs > MAX_LATER_MS) return
    const known = this.later.get(at)
    if (known !== undefined) {
      known.keys.add(key)
      return
    }
    const keys = new Set([key])
    const timer = setTimeout(() => {
      this.later.delete(at)
      for (const one of keys) this.tellCommands(one)
    }, inMs)
    this.later.set(at, { keys, timer })
  }

  private has(needs: readonly string[] = []): boolean {
    return needs.every((name) => this.handlers.has(name))
  }

  /** Commands that only other engines can run are no reason to claim. */
  private commandsDue(needs: string): void {
    if (needs === '' || this.has(JSON.parse(needs) as string[])) this.worker?.now()
  }

  private onExecutionEnd(outcome: ExecutionOutcome): void {
    this.hooks.onExecutionEnd?.(outcome.execution_id)
    for (const callback of this.waiters.get(outcome.execution_id) ?? []) callback(outcome)
    this.waiters.delete(outcome.execution_id)
  }

  private openWakeups(): Wakeups | undefined {
    const { listenUrl, drives = true } = this.options
    if (listenUrl === undefined) return undefined
    const wakeups = openWakeups(listenUrl, this.log)
    wakeups.on('commands', (needs) => this.commandsDue(needs))
    wakeups.onChange(() => {
      this.inbox?.now()
      this.worker?.now()
      this.waits?.now()
    })
    wakeups.ask({
      sql: COMMANDS_DUE_SQL,
      values: () => (this.worker?.isWaiting ? [] : undefined),
      onDue: () => this.worker?.now(),
    })
    if (drives) this.askAsDriver(wakeups)
    return wakeups
  }

  private askAsDriver(wakeups: Wakeups): void {
    const { sendsHeartbeats = true } = this.options
    const reap = (): void => void this.tasks.once(() => this.reap())
    wakeups.on('inbox', (shards) => {
      if (shards === '' || shards.split(',').some((shard) => this.shards.epochOf(Number(shard))))
        this.inbox?.now()
    })
    wakeups.on('waits', () => {
      if (this.leads) this.waits?.now()
    })
    wakeups.on('shards', () => {
      if (sendsHeartbeats && !this.stopping && !this.shards.over) void this.shards.heartbeat().catch(() => {})
    })
    wakeups.ask({
      sql: INBOX_DUE_SQL,
      values: () => (this.shards.over ? undefined : [this.shards.engine]),
      onDue: () => this.inbox?.now(),
    })
    this.lead = wakeups.lead(LEAD, () => {
      reap()
      this.waits?.now()
    })
    wakeups.ask({ sql: REAP_DUE_SQL, values: () => [], lead: LEAD, onDue: reap })
    wakeups.ask({ sql: WAITS_DUE_SQL, values: () => [], lead: LEAD, onDue: () => this.waits?.now() })
    wakeups.ask({
      sql: HANDLERS_DUE_SQL,
      values: () => [],
      lead: LEAD,
      onDue: () => {
        this.mayLackHandlers = true
      },
      onIdle: () => {
        this.mayLackHandlers = false
      },
    })
  }

  /** Commands whose handler no process has wait for it. An issue is opened for people; with a grace period they fail after it. */
  private async checkMissingHandlers(): Promise<void> {
    const { pool, handlerIssueMs = 60_000, handlerGraceMs } = this.options
    const { rows } = await pool.query<{ failed: number }>(
      `select noetl.fn_handlers_review_missing($1 * interval '1 millisecond', $2 * interval '1 millisecond') as failed`,
      [handlerIssueMs, handlerGraceMs ?? null],
    )
    const { failed } = rows[0]!
    if (failed === 0) return
    this.log.error(
      { commands: failed },
      'steps failed: no running process has had their handler for too long',
    )
    this.inbox?.now()
  }

  /** Frees shards and commands of dead engines, and takes free shards sooner than the next heartbeat would. */
  private async reap(): Promise<void> {
    const { rows } = await this.options.pool.query<{ free: boolean }>(
      `select noetl.fn_engine_reap(), exists (
         select from noetl.execution_shard s where not exists (
           select from noetl.engine e where e.engine_id = s.owner and e.leased_until > clock_timestamp())) as free`,
    )
    const { drives = true, sendsHeartbeats = true } = this.options
    if (!rows[0]!.free) return
    if (this.wakeups !== undefined) this.wakeups.tell('shards')
    else if (drives && sendsHeartbeats) await this.shards.heartbeat()
  }
}

export interface EngineOptions {
  /** Sessions as dot_executor; the engine itself uses up to eight of them. */
  readonly pool: Pool
  /**
   * A direct connection for wake-ups, one session for everything of this process that names the same. Without it messages and
   * commands are found by polling alone.
   */
  readonly listenUrl?: string
  /** Steps that call a handler which is not among them are run by engines that have it, and wait while none has. */
  readonly tools: Tools
  readonly results: ResultStore
  readonly log?: Logger
  /** Shown to people; default: host and process. */
  readonly name?: string
  /** Steps at once, and items of loops at once; default 50. A function may say 0; `concurrencyChanged` tells the engine to ask it again. */
  readonly concurrency?: number | (() => number)
  /** False: it only runs items of loops, and steps, of executions that other engines drive. */
  readonly drives?: boolean
  /** False: it runs only steps of executions that it drives itself. */
  readonly runs?: boolean
  /** After this long without a heartbeat its shards go to others; default 6 s. */
  readonly leaseMs?: number
  /** How often to poll without a wake-up; default 250 while wake-ups do not work, and as the process polls (wakeups.ts) while they do. */
  readonly pollMs?: number
  /** How long a step waits for a handler that no running process has before it fails; default: for ever. */
  readonly handlerGraceMs?: number
  /** After this long a system issue says that a handler is missing; default 60 s. */
  readonly handlerIssueMs?: number
  /** How long running steps may take to end when the engine stops; default 30 s. */
  readonly shutdownMs?: number
  readonly hooks?: EngineHooks
  /** False: no heartbeat is ever sent, as by a process that was frozen. For tests. */
  readonly sendsHeartbeats?: boolean
}

export interface Engine {
  /** Its registration; another one after a lost lease. */
  readonly id: string
  health(): HealthCheck
  /** How the execution ended, also if another engine drives it. When this engine does, it resolves at once after the end. */
  wait(execution: string, options?: { signal?: AbortSignal }): Promise<ExecutionOutcome>
  /** Calls back when the end of the execution is durable, if this engine drives it to there. Returns how to forget it. */
  whenEnded(execution: string, callback: (outcome: ExecutionOutcome) => void): () => void
  /** Begins nothing new, lets running steps end, and gives its shards back. The same promise however often it is called. */
  stop(): Promise<void>
  /**
   * The process is about to end because of this error, for example a rejection that nobody handled: names the running steps and
   * gives the lease back. Never throws.
   */
  crash(error: unknown): Promise<void>
}

export interface GatewayEngineOptions
  extends Omit<
    EngineOptions,
    'tools' | 'concurrency' | 'drives' | 'runs' | 'handlerGraceMs' | 'handlerIssueMs'
  > {
  readonly tools: Omit<Tools, 'handler'>
  readonly remote: RemoteCalls
  readonly handlers: readonly string[]
}

export interface GatewayEngine extends Engine {
  /** The function `concurrency` says something else now. */
  concurrencyChanged(): void
  /**
   * Remote workers run these commands, and the gateway is gone whose engine `from` held their leases. Returns the calls that go on under this
   * engine, for each of which it has called `resume` by then; the others are void. Throws where it cannot say.
   */
  adopt(from: string, commands: readonly CallRef[], resume: ResumeCall): Promise<string[]>
}

/** Hooks for metrics. They run for every step, so keep them short. */
export interface EngineHooks {
  /** A flush is durable. */
  onFlush?(executions: number, events: number, ms: number): void
  /** A command ended in this process. */
  onCommandEnd?(step: string, outcome: 'completed' | 'failed', ms: number): void
  /** `lagMs`: how old the oldest event was when it was folded. */
  onProject?(executions: number, events: number, lagMs: number, ms: number): void
  /** Every second: for how long the execution that is furthest behind its log has been so. */
  onLag?(lagMs: number): void
  /** The end of an execution is durable. */
  onExecutionEnd?(execution: string): void
  onShardTaken?(shard: number): void
  onShardLost?(shard: number): void
  onLeaseLost?(reason: string): void
}

/** As noetl.fn_shard_of. */
function shardOf(execution: string): number {
  const id = BigInt(execution)
  return Number(((id >> 22n) ^ id) & 15n)
}

const EPOCH = Date.UTC(2024, 0, 1)
const COUNTERS = 4096
const PER_MILLISECOND = 2 ** 22
const HALF = 1_000_000
/** A clock that goes back by more is not the work of NTP. */
const MAX_CLOCK_BACKSTEP_MS = 50

/**
 * Ids that rise with time: milliseconds since 2024 (41 bits), the node that made them (10), a counter (12). As strings, put
 * together from two halves that fit a double: 80 ns an id, where a BigInt takes up to twice that.
 */
export class SnowflakeIds {
  private readonly node: number
  private readonly now: () => number
  /** The latest that the clock has said. */
  private clock = 0
  /** The millisecond of the last id; ahead of the clock after it went back a little, or `after` an id of a faster one. */
  private last = 0
  private counter = -1

  constructor(node: number, { now = Date.now }: { readonly now?: () => number } = {}) {
    if (!Number.isInteger(node) || node < 0 || node > 1023)
      throw new RangeError(`${node} is not a node number`)
    this.node = node
    this.now = now
  }

  /** Greater than every id before it. */
  next(): string {
    const now = this.now() - EPOCH
    if (now > this.clock) this.clock = now
    else if (this.clock - now > MAX_CLOCK_BACKSTEP_MS) {
      throw new StagedoorError('clock_went_back', { milliseconds: this.clock - now })
    }
    if (now > this.last) {
      this.last = now
      this.counter = 0
    } else if (++this.counter === COUNTERS) {
      this.last += 1
      this.counter = 0
    }
    return idOf(this.last, this.node * COUNTERS + this.counter)
  }

  /** Every later id of any engine is greater than this one. */
  after(id: string): void {
    const millisecond = Number(BigInt(id) >> 22n)
    if (millisecond < this.last) return
    this.last = millisecond
    this.counter = COUNTERS - 1
  }
}

/** millisecond * 2^22 + low, in decimal. */
function idOf(millisecond: number, low: number): string {
  const above = Math.floor(millisecond / HALF)
  const below = (millisecond - above * HALF) * PER_MILLISECOND + low
  const carried = Math.floor(below / HALF)
  const high = above * PER_MILLISECOND + carried
  const rest = below - carried * HALF
  return high === 0 ? String(rest) : String(high) + String(rest).padStart(6, '0')
}

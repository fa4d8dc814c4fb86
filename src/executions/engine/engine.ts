/**
 * Drives executions and runs their commands, as many processes side by side as one likes: each holds some of the shards under a
 * lease, and what a process leaves when it dies goes on in another.
 */
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { mapConnectionError } from '../../db/database-error.ts'
import type { HealthCheck } from '../../db/health.ts'
import { harmless } from '../../db/hooks.ts'
import { KeptConnection } from '../../db/kept-connection.ts'
import { type Listener, listen } from '../../db/listen.ts'
import { Repeating } from '../../db/repeating.ts'
import { Wake } from '../../db/wake.ts'
import { StagedoorError } from '../../errors.ts'
import { type ExecutionOutcome, waitForEnd } from '../outcome.ts'
import { textOf } from '../run-command.ts'
import { Catalog } from './catalog.ts'
import { Driver } from './driver.ts'
import type { Engine, EngineOptions } from './engine-options.ts'
import type { Append } from './flush.ts'
import { HandOver } from './hand-over.ts'
import type { EngineHooks } from './hooks.ts'
import { Inbox } from './inbox.ts'
import { LocalCommands } from './local-commands.ts'
import { LogWriter } from './log-writer.ts'
import { Projector } from './projector.ts'
import { Shards } from './shards.ts'
import { Snowflakes } from './snowflake.ts'
import { Waits } from './waits.ts'
import { CommandWorker } from './worker.ts'

export type { Engine, EngineOptions } from './engine-options.ts'

export const DEFAULT_LEASE_MS = 6000
const REAP_MS = 1000
const HANDLERS_MS = 5000
const EVICT_MS = 1000
const LAG_MS = 1000
/** In memory without a reason: executions that wait for a time, an event or a person; and those that wait for other engines. */
const WAITING_MS = 2000
const IDLE_MS = 30_000
const GIVE_MS = 2000
const GIVE_LOOK_MS = 20
const RETRY_MS = 300
/** The net under the notice of a lease that ended. */
const LEASE_LOOK_MS = 1000
const FLUSH_TIMEOUT_MS = 30_000
const CRASH_MS = 1000

/** Throws when the database cannot be reached or refuses; later the engine goes on by itself. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { drives = true, runs = true, concurrency = 50 } = options
  if (!drives && !runs)
    throw new StagedoorError('argument_invalid', { reason: 'An engine drives, runs, or both' })
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new StagedoorError('argument_invalid', { reason: 'concurrency is a whole number from 1' })
  }
  const engine = new RunningEngine(options)
  await engine.start()
  return engine
}

class RunningEngine implements Engine {
  private readonly options: EngineOptions
  private readonly log: Logger
  private readonly hooks: EngineHooks
  private readonly leaseMs: number
  private readonly beats: KeptConnection
  private readonly flushes: KeptConnection
  private readonly writer: LogWriter
  private readonly handlers: ReadonlySet<string>
  private readonly local: LocalCommands
  private readonly handOver: HandOver
  private readonly driver: Driver
  private readonly catalog: Catalog
  private readonly errands: Repeating
  private readonly waiters = new Map<string, Set<(outcome: ExecutionOutcome) => void>>()
  private shards!: Shards
  private snowflakes!: Snowflakes
  private inbox: Inbox | undefined
  private worker: CommandWorker | undefined
  private projector: Projector | undefined
  private waits: Waits | undefined
  private listener: Listener | undefined
  private readonly leaseEnded = new Wake()
  private supervision: Promise<void> | undefined
  private lastId = '0'
  private stopping = false
  private stopped: Promise<void> | undefined

  constructor(options: EngineOptions) {
    const { pool, tools, results, concurrency = 50 } = options
    this.options = options
    this.log = options.log ?? pino({ level: 'silent' })
    this.errands = new Repeating(this.log)
    this.hooks = harmless(options.hooks ?? {}, this.log)
    this.leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    this.beats = new KeptConnection(pool, this.leaseMs / 2)
    this.flushes = new KeptConnection(pool, FLUSH_TIMEOUT_MS)
    this.catalog = new Catalog(pool)
    this.handlers = new Set(tools.handler?.names)
    this.writer = new LogWriter({
      connection: this.flushes,
      engine: () => this.id,
      epochOf: (shard) => this.shards.epochOf(shard),
      fenced: () => this.shards.look(),
      flushed: (appends, ms) => this.flushed(appends, ms),
      log: this.log,
    })
    this.local = new LocalCommands({
      tools,
      results,
      concurrency,
      log: this.log,
      mayBegin: () => this.shards.mayBegin,
      ...(this.hooks.ran && { ran: this.hooks.ran }),
    })
    this.handOver = new HandOver({
      handlers: this.handlers,
      results,
      log: this.log,
      runHere: (execution, command) => this.local.begin(execution, command),
      append: (append) => this.writer.append(append),
    })
    this.driver = new Driver({
      pool,
      catalog: this.catalog,
      results,
      log: this.log,
      engine: () => this.id,
      nextId: () => {
        this.lastId = this.snowflakes.next()
        return this.lastId
      },
      idsAfter: (id) => this.snowflakes.after(id),
      append: (append) => this.writer.append(append),
      begin: (execution, command) => this.handOver.begin(execution, command),
      forget: (ids) => this.inbox?.forget(ids),
      forgetShard: (shard) => this.inbox?.forgetShard(shard),
      behind: (executions, shard) => {
        for (const execution of executions) this.projector?.add(execution, shard)
      },
      ended: (outcome) => this.ended(outcome),
    })
  }

  get id(): string {
    return this.shards.engine
  }

  async start(): Promise<void> {
    const { drives = true, runs = true, listenUrl, pollMs = 250 } = this.options
    try {
      // The sessions for heartbeats and for the log, before the lease begins: through a slow network to open one takes seconds of it.
      const sessions = drives ? [this.beats, this.flushes] : [this.beats]
      await Promise.all(sessions.map((session) => session.query('select 1')))
      await this.register()
    } catch (error) {
      await Promise.all([this.beats.release(), this.flushes.release()])
      throw mapConnectionError(error)
    }
    if (drives) this.startDriving(pollMs)
    if (runs) this.worker = this.startWorker(pollMs)
    try {
      await this.shards.start()
    } catch (error) {
      // Nobody gets to hold it: what has begun must not go on by itself.
      await this.stop()
      throw mapConnectionError(error)
    }
    this.supervision = this.superviseLease()
    this.errands.every(REAP_MS, () => this.reap())
    if (drives) this.errands.every(HANDLERS_MS, () => this.lookForMissingHandlers())
    this.errands.every(EVICT_MS, async () => this.driver.evict(IDLE_MS, WAITING_MS))
    this.errands.every(LAG_MS, async () => this.hooks.behind?.(this.projector?.lagMs ?? 0))
    if (listenUrl !== undefined) this.listener = this.listen(listenUrl)
  }

  health(): HealthCheck {
    const trouble = this.stopping
      ? 'stopping'
      : this.shards.over
        ? 'its lease has passed; it registers again'
        : this.writer.trouble
    const detail = `${this.shards.size} shards, ${this.driver.size} executions in memory, ${this.local.size} steps running`
    return { name: 'executions', ok: trouble === undefined, detail: trouble ?? detail }
  }

  wait(execution: string, { signal }: { signal?: AbortSignal } = {}): Promise<ExecutionOutcome> {
    return waitForEnd(this.options.pool, execution, [this], signal)
  }

  whenEnded(execution: string, told: (outcome: ExecutionOutcome) => void): () => void {
    const waiting = this.waiters.get(execution) ?? new Set()
    this.waiters.set(execution, waiting.add(told))
    return () => {
      waiting.delete(told)
      if (waiting.size === 0) this.waiters.delete(execution)
    }
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  async crash(error: unknown): Promise<void> {
    this.stopping = true
    this.errands.stop()
    this.leaseEnded.now()
    const handed = this.worker?.inHand ?? []
    const steps = [...this.local.inHand, ...handed]
    if (steps.length > 0)
      this.log.fatal(
        { steps, reason: textOf(error) },
        'the process ends; one of these steps may be the cause',
      )
    // What has ended is written first, if the database takes it at once.
    const settled = Promise.all([this.writer.settled(), this.worker?.settled()]).catch(() => {})
    await Promise.race([settled, delay(CRASH_MS)])
    await this.shards.leave(handed)
  }

  private async shutDown(): Promise<void> {
    this.stopping = true
    const graceMs = this.options.shutdownMs ?? 30_000
    this.errands.stop()
    this.leaseEnded.now()
    await this.supervision
    await Promise.all([this.waits?.stop(), this.inbox?.stop()])
    await Promise.all([this.worker?.stop(graceMs), this.local.close(graceMs)])
    await this.writer.settled()
    this.driver.snapshotAll()
    await this.writer.settled()
    await this.projector?.stop()
    this.driver.close()
    await this.shards.leave()
    await this.listener?.stop()
    await Promise.all([this.beats.release(), this.flushes.release()])
  }

  private startDriving(pollMs: number): void {
    const { pool } = this.options
    const { log } = this
    this.inbox = new Inbox({
      pool,
      log,
      pollMs,
      lease: () => this.shards,
      tell: (rows) => this.driver.tell(rows),
      resting: () => this.driver.resting,
    })
    this.projector = new Projector({
      pool,
      log,
      engine: () => this.id,
      epochOf: (shard) => this.shards.epochOf(shard),
      fenced: () => this.shards.look(),
      projected: (executions, events, lagMs, ms) =>
        this.hooks.projected?.(executions.length, events, lagMs, ms),
    })
    this.waits = new Waits({ pool, log, pollMs, woken: () => this.inbox?.now() })
  }

  private startWorker(pollMs: number): CommandWorker {
    const { pool, tools, results, concurrency = 50 } = this.options
    return new CommandWorker({
      pool,
      catalog: this.catalog,
      tools,
      results,
      concurrency,
      pollMs,
      log: this.log,
      lease: () => this.shards,
      ended: () => this.inbox?.now(),
      ...(this.hooks.ran && { ran: this.hooks.ran }),
    })
  }

  private async register(): Promise<void> {
    const {
      pool,
      drives = true,
      runs = true,
      name = `${hostname()} ${process.pid}`,
      beats = true,
    } = this.options
    const { leaseMs } = this
    const shards: Shards = await Shards.take({
      pool,
      kept: this.beats,
      terms: { name, drives, runs, handlers: [...this.handlers], leaseMs, beats },
      log: this.log,
      taken: (shard, lastEventId) => this.taken(shards, shard, lastEventId),
      lost: (shard) => this.lost(shard),
      surplus: (shard) => void this.give(shards, shard),
      beat: () => void this.worker?.dropUnwanted().catch(() => {}),
      over: (reason) => this.leaseOver(reason),
    })
    this.shards = shards
    this.snowflakes = new Snowflakes(shards.node)
    this.snowflakes.after(this.lastId)
  }

  /** A lease ends before the engine has its next: what it drove and ran is dropped by then. */
  private leaseOver(reason: string): void {
    this.worker?.lose()
    this.writer.hurry()
    this.hooks.leaseLost?.(reason)
    this.leaseEnded.now()
  }

  /** As long as the engine runs it holds a lease or tries to get one: nobody else registers it, and nothing ends this but a stop. */
  private async superviseLease(): Promise<void> {
    while (!this.stopping) {
      if (!this.shards.over) {
        await this.leaseEnded.wait(LEASE_LOOK_MS)
        continue
      }
      try {
        await this.register()
        const { shards } = this
        await shards.startRetrying()
        if (shards.over) continue
        this.log.info({ engine: shards.engine }, 'registered again')
        this.inbox?.now()
        this.worker?.now()
      } catch (error) {
        this.log.warn({ err: error }, 'the engine could not register; trying again')
        await this.leaseEnded.wait(RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  private taken(shards: Shards, shard: number, lastEventId: string): void {
    if (this.stopping) return
    this.snowflakes.after(lastEventId)
    this.hooks.shardTaken?.(shard)
    void this.driver.take(shard, shards.epochOf(shard)!).then(() => this.inbox?.now())
  }

  private lost(shard: number): void {
    this.driver.drop(shard)
    this.writer.hurry()
    this.hooks.shardLost?.(shard)
  }

  /** Another engine is to have it: what runs there ends first, if it does so soon. */
  private async give(shards: Shards, shard: number): Promise<void> {
    this.driver.leave(shard)
    const until = performance.now() + GIVE_MS
    while (performance.now() < until && !this.driver.isAtRest(shard)) await delay(GIVE_LOOK_MS)
    if (shards.epochOf(shard) === undefined) return
    this.driver.drop(shard)
    await shards.give(shard).catch((error) => this.log.debug({ err: error, shard }, 'a shard was not given'))
  }

  private flushed(appends: readonly Append[], ms: number): void {
    let events = 0
    let told = false
    let issued = false
    for (const append of appends) {
      events += append.events.length
      if (append.events.length > 0) this.projector?.add(append.execution_id, append.shard_id)
      if (append.inbox !== undefined) this.inbox?.forget(append.inbox)
      told ||= append.messages !== undefined
      issued ||= append.commands?.some(({ needs }) => this.has(needs)) ?? false
    }
    if (told) this.inbox?.now()
    if (issued) this.worker?.now()
    this.hooks.flushed?.(appends.length, events, ms)
  }

  private has(needs: readonly string[] = []): boolean {
    return needs.every((name) => this.handlers.has(name))
  }

  /** Those that only others can run are no reason to look. */
  private commandsDue(payload: string): void {
    const lists = payload === '' ? [[]] : (JSON.parse(payload) as string[][])
    if (lists.some((needs) => this.has(needs))) this.worker?.now()
  }

  private ended(outcome: ExecutionOutcome): void {
    this.hooks.ended?.(outcome.execution_id)
    for (const told of this.waiters.get(outcome.execution_id) ?? []) told(outcome)
    this.waiters.delete(outcome.execution_id)
  }

  private listen(url: string): Listener {
    return listen({
      url,
      channels: ['stagedoor_inbox', 'stagedoor_command'],
      log: this.log,
      heard: (payload, channel) => {
        if (channel === 'stagedoor_command') this.commandsDue(payload)
        else if (payload === '' || payload.split(',').some((shard) => this.shards.epochOf(Number(shard))))
          this.inbox?.now()
      },
      connected: () => {
        this.inbox?.now()
        this.worker?.now()
      },
    })
  }

  /** Commands whose handler no process has wait for it; people are told, and with a grace they fail after it. */
  private async lookForMissingHandlers(): Promise<void> {
    const { pool, handlerIssueMs = 60_000, handlerGraceMs } = this.options
    const { rows } = await pool.query<{ failed: number }>(
      `select noetl.fn_handlers_missing($1 * interval '1 millisecond', $2 * interval '1 millisecond') as failed`,
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

  /** What dead engines held is free again, and somebody must take it: sooner than the next heartbeat would. */
  private async reap(): Promise<void> {
    const { rows } = await this.options.pool.query<{ free: boolean }>(
      `select noetl.fn_engine_reap(), exists (
         select from noetl.execution_shard s where not exists (
           select from noetl.engine e where e.engine_id = s.owner and e.leased_until > clock_timestamp())) as free`,
    )
    const { drives = true, beats = true } = this.options
    if (rows[0]!.free && drives && beats) await this.shards.look()
  }
}

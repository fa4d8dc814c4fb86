/**
 * Runs commands that are rows of noetl.command, also of executions that other engines drive: prefetches them, limits concurrency, and writes
 * their ends into the inboxes of their executions.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Json, JsonObject } from '../../kernel/json.ts'
import type { Pool } from '../../kernel/postgres/connection.ts'
import { isConnectionError, isTransient } from '../../kernel/postgres/errors.ts'
import { storableText } from '../../kernel/text.ts'
import { BatchWriter, retryWhenTransient } from '../../runtime/batch-writer.ts'
import { InFlight } from '../../runtime/in-flight.ts'
import { type AbortSource, LazyAbortController } from '../../runtime/lazy-abort.ts'
import { LEASE_REFUSED, UnansweredClaims } from '../../runtime/lease.ts'
import { ClaimSize } from '../../runtime/prefetch.ts'
import type { CallRef, RemoteCalls, ResumeCall } from '../../runtime/remote/calls.ts'
import { retryWhileUnavailable } from '../../runtime/retry.ts'
import { Wake } from '../../runtime/wake.ts'
import { parseResultUri } from '../event.ts'
import { planOf } from '../machine/plan.ts'
import type { Playbook } from '../playbook/definition.ts'
import type { ResultStore } from '../results.ts'
import { CommandCalls, itemCall } from '../tools/remote-handler.ts'
import type { Tools } from '../tools/tool.ts'
import { type CommandOutcome, runCommand } from './commands.ts'
import type { Catalog } from './load.ts'
import type { RemoteScope } from './log-writer.ts'
import { type EngineLease, isFenced } from './shards.ts'

interface CommandWorkerDeps {
  readonly pool: Pool
  readonly catalog: Catalog
  readonly tools: Tools
  readonly results: ResultStore
  readonly concurrency: () => number
  /** Handlers run in these workers: nothing is claimed that they have no room for. */
  readonly remote?: RemoteCalls
  /** How long to wait without a wake-up; undefined: for as long as it takes. */
  pollMs(): number | undefined
  readonly log: Logger
  lease(): EngineLease
  /** Ends were written: they are in the inboxes of these shards. */
  onEndsWritten(shards: ReadonlySet<number>): void
  onCommandEnd?(step: string, outcome: CommandOutcome['status'], ms: number): void
}

interface ClaimedCommand extends pg.QueryResultRow {
  readonly command_id: string
  readonly execution_id: string
  readonly shard_id: number
  readonly catalog_id: string
  /** Of an item; a step has a scope instead. */
  readonly loop_id: string | null
  readonly node_name: string
  readonly item_index: number | null
  readonly item: Json | null
  readonly has_item: boolean
  readonly scope: RemoteScope | null
  readonly attempt: number
  readonly crashes: number
  readonly lease_epoch: number
}

/** A command that ran under another gateway until it was moved to this one. */
interface AdoptedCommand extends ClaimedCommand {
  readonly elapsed_ms: number
  /** It was ours also before, by the snapshot of the statement. */
  readonly was_mine: boolean
}

/** A command that was claimed and whose end is not written: waiting (no controller yet), running, or being written. */
interface TrackedCommand {
  readonly command: ClaimedCommand
  controller?: LazyAbortController
  isRunning?: boolean
  /** The calls that it makes to remote workers. */
  calls?: CommandCalls
}

/** What the tools of a command see. */
interface CommandInputs {
  readonly scope: JsonObject
  readonly item?: Json
  readonly index?: number
  readonly cause?: string | null
  readonly parent_ref?: string
}

const COMMAND_COLUMNS =
  'command_id, execution_id, shard_id, catalog_id, loop_id, node_name, item_index, item, item is not null as has_item, scope, attempt, crashes, lease_epoch'
/** As in fn_command_claim. */
const SUSPECT_CRASHES = 3
const CLAIM_RETRY_MS = 200
const LEASE_LOST_REASON = new Error('the lease of its engine has passed')
const UNWANTED_REASON = new Error('its loop or its execution has ended')
const STOPPED_REASON = new Error('the engine stops')
const UNSTORABLE = 'it failed, and the database does not store its error'

export class CommandWorker {
  private readonly deps: CommandWorkerDeps
  private readonly size: ClaimSize
  private readonly ends: BatchWriter<CommandEnd>
  private readonly releases: BatchWriter<CommandRelease>
  private readonly scopes: LoopScopes
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  /** By the id of the command. */
  private readonly tracked = new Map<string, TrackedCommand>()
  private waiting: TrackedCommand[] = []
  private readonly running = new InFlight()
  private readonly unanswered = new UnansweredClaims()
  private stopping = false
  private waits = false

  constructor(deps: CommandWorkerDeps) {
    this.deps = deps
    this.size = new ClaimSize(deps.concurrency, { claimsAhead: deps.remote === undefined })
    this.scopes = new LoopScopes(deps.pool, deps.results)
    this.ends = createCommandEndWriter({
      pool: deps.pool,
      log: deps.log,
      onWritten: (ends, counted) => {
        for (const { tracked } of ends) this.forgetCommand(tracked, counted.has(tracked.command.command_id))
        deps.onEndsWritten(new Set(ends.map(({ tracked }) => tracked.command.shard_id)))
      },
      onUnwritable: ({ engine, tracked }) => this.releases.add({ engine, tracked, crashed: true }),
      lingerMs: () => (this.stopping ? 0 : this.size.lingerMs(this.waiting.length)),
    })
    this.releases = createCommandReleaseWriter({
      pool: deps.pool,
      log: deps.log,
      onWritten: (releases) => {
        for (const { tracked } of releases) this.forgetCommand(tracked, false)
      },
    })
    this.loop = this.claimUntilStopped()
  }

  /** It has room and found no command. */
  get isWaiting(): boolean {
    return this.waits
  }

  /** Ids of the commands that run. */
  get runningCommands(): readonly string[] {
    return [...this.tracked].flatMap(([id, { controller }]) => (controller === undefined ? [] : [id]))
  }

  /** Resolves when every end is in the database. */
  async drain(): Promise<void> {
    await Promise.all([this.ends.drain(), this.releases.drain()])
  }

  /** There may be new commands, or a new lease. */
  now(): void {
    this.wake.now()
  }

  /** There is room for more commands, or for fewer. */
  concurrencyChanged(): void {
    this.begin()
  }

  /**
   * Goes on with commands whose remote workers lost their gateway: moves their leases from that gateway's engine to ours, and calls `resume`
   * for each call that is ours now. The other commands have another lease or none, are more than one call, or run here in another call.
   * Returns these calls. Throws where it cannot say.
   */
  async adopt(from: string, commands: readonly CallRef[], resume: ResumeCall): Promise<string[]> {
    const { pool, remote } = this.deps
    const lease = this.deps.lease()
    if (remote === undefined || commands.length === 0) return []
    if (this.stopping || lease.over) throw cannotSay()
    try {
      const { rows } = await retryWhileUnavailable(
        () =>
          pool.query<AdoptedCommand>(
            `select ${COMMAND_COLUMNS}, (extract(epoch from clock_timestamp() - started_at) * 1000)::integer as elapsed_ms,
                    exists (select from noetl.command b where b.command_id = a.command_id and b.leased_by = $2) as was_mine
               from noetl.fn_command_adopt($1, $2, $3, $4) a`,
            [from, lease.engine, commands.map(({ id }) => id), commands.map(({ epoch }) => epoch)],
          ),
        () => !lease.over,
      )
      return await this.goOnWith(lease, rows, resume)
    } catch (error) {
      if (isFenced(error)) lease.lose(LEASE_REFUSED)
      // It may have counted: then the commands are ours, and nobody runs them.
      else this.unanswered.add()
      throw error
    }
  }

  /** With every heartbeat: commands that nobody wants any more are aborted. */
  async dropUnwanted(): Promise<void> {
    if (this.tracked.size === 0) return
    const lease = this.deps.lease()
    const asked = new Map(this.tracked)
    const { rows } = await this.deps.pool.query<{ command_id: string }>(
      'select command_id from noetl.fn_command_cancelled($1, $2) command_id',
      [lease.engine, [...asked.keys()]],
    )
    if (lease.over) return
    // One that was released and claimed again meanwhile is another.
    const unwanted = new Set<TrackedCommand>()
    for (const { command_id } of rows) {
      const tracked = asked.get(command_id)!
      if (this.tracked.get(command_id) === tracked) unwanted.add(tracked)
    }
    if (unwanted.size === 0) return
    this.waiting = this.waiting.filter((tracked) => !unwanted.has(tracked))
    for (const tracked of unwanted) this.abandon(tracked, UNWANTED_REASON)
  }

  /** The lease is lost, and with it every command that was claimed. */
  lose(): void {
    this.waiting = []
    this.ends.drop()
    this.releases.drop()
    this.unanswered.reset()
    for (const tracked of [...this.tracked.values()]) this.abandon(tracked, LEASE_LOST_REASON)
  }

  /** The database has another history. */
  forget(): void {
    this.scopes.forgetAll()
  }

  /** Waiting commands go back with the lease; running ones may end in this time. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true
    this.wake.now()
    for (const { command } of this.waiting) this.tracked.delete(command.command_id)
    this.waiting = []
    await this.loop
    await this.running.idleWithin(graceMs)
    for (const { controller } of this.tracked.values()) controller?.abort(STOPPED_REASON)
    await this.drain()
  }

  private abandon(tracked: TrackedCommand, reason: Error): void {
    tracked.controller?.abort(reason)
    this.forgetCommand(tracked, false)
  }

  /** `counted`: its end is in the inbox of its execution. */
  private forgetCommand(tracked: TrackedCommand, counted: boolean): void {
    const { command_id } = tracked.command
    // The same command may be ours again, under another epoch.
    if (this.tracked.get(command_id) === tracked) this.tracked.delete(command_id)
    tracked.calls?.settle(counted)
  }

  private async claimUntilStopped(): Promise<void> {
    while (!this.stopping) {
      const lease = this.deps.lease()
      if (lease.over) {
        await this.wake.wait(CLAIM_RETRY_MS)
        continue
      }
      try {
        await this.unanswered.check(() => this.acceptUntrackedCommands(lease))
        const limit = this.size.next(this.running.size, this.waiting.length)
        const isShort = limit === 0 || (await this.claim(lease, limit)) < limit
        if (isShort && !this.stopping) await this.waitForCommands(limit === 0)
      } catch (error) {
        if (isFenced(error)) {
          lease.lose(LEASE_REFUSED)
          continue
        }
        if (isConnectionError(error)) this.unanswered.add()
        this.deps.log.warn({ err: error }, 'claiming commands failed; will be retried')
        await this.wake.wait(CLAIM_RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  private async waitForCommands(isFull: boolean): Promise<void> {
    this.waits = !isFull
    await this.wake.wait(isFull ? undefined : this.deps.pollMs())
    this.waits = false
  }

  private async claim(lease: EngineLease, limit: number): Promise<number> {
    const { pool, remote } = this.deps
    const { rows } = await pool.query<ClaimedCommand>({
      name: 'stagedoor_command_claim',
      text: `select ${COMMAND_COLUMNS} from noetl.fn_command_claim($1, $2, $3)`,
      values: [lease.engine, limit, remote === undefined ? null : (remote.workers ?? 1)],
    })
    await this.accept(lease, rows)
    return rows.length
  }

  /** Runs commands that are leased by us and that we do not know: those of a claim whose answer was lost. */
  private async acceptUntrackedCommands(lease: EngineLease): Promise<void> {
    // One that ends while the question is under way is in its answer, and not tracked any more: it must not run again.
    const known = new Set(this.tracked.keys())
    const { rows } = await this.deps.pool.query<ClaimedCommand>(
      `select ${COMMAND_COLUMNS} from noetl.command where leased_by = $1`,
      [lease.engine],
    )
    await this.accept(
      lease,
      rows.filter(({ command_id }) => !known.has(command_id) && !this.tracked.has(command_id)),
    )
  }

  private async accept(lease: EngineLease, commands: readonly ClaimedCommand[]): Promise<void> {
    // Under a lease that has ended they belong to other engines.
    if (commands.length === 0 || this.stopping || lease.over) return
    for (const command of commands) this.waiting.push(this.track(command))
    // All playbooks at once; one that fails here is read again by its command.
    await this.readPlaybooks(commands)
    this.begin()
  }

  private track(command: ClaimedCommand): TrackedCommand {
    const tracked: TrackedCommand = { command }
    this.tracked.set(command.command_id, tracked)
    return tracked
  }

  private async readPlaybooks(commands: readonly ClaimedCommand[]): Promise<void> {
    await this.deps.catalog.read(commands.map(({ catalog_id }) => catalog_id)).catch(() => {})
  }

  private begin(): void {
    while (this.running.size < this.deps.concurrency() && this.waiting.length > 0) {
      if (!this.deps.lease().mayBegin) return
      void this.run(this.waiting.shift()!)
    }
    if (this.deps.remote !== undefined) this.releaseWaiting()
    if (!this.stopping && this.size.next(this.running.size, this.waiting.length) > 0) this.wake.now()
  }

  /** The remote workers that they were claimed for are gone; other engines may have room. */
  private releaseWaiting(): void {
    for (const tracked of this.waiting) this.releases.add(this.releaseOf(tracked, false))
    this.waiting = []
  }

  private releaseOf(tracked: TrackedCommand, crashed: boolean): CommandRelease {
    return { engine: this.deps.lease().engine, tracked, crashed }
  }

  private async run(tracked: TrackedCommand, elapsedMs = 0): Promise<void> {
    this.running.begin()
    const began = performance.now() - elapsedMs
    const controller = tracked.controller ?? new LazyAbortController()
    tracked.controller = controller
    tracked.isRunning = true
    const calls = tracked.calls ?? this.callsOf(tracked.command)
    if (calls !== undefined) tracked.calls = calls
    const { engine } = this.deps.lease()
    const { command_id, node_name } = tracked.command
    const outcome = await this.outcomeOf(tracked, controller, elapsedMs)
    const ms = performance.now() - began
    this.size.took(ms)
    tracked.isRunning = false
    if (controller.aborted || this.tracked.get(command_id) !== tracked) {
      calls?.settle(false)
    } else if (calls?.unfinished !== undefined) {
      const { crashed, reason } = calls.unfinished
      if (crashed) this.deps.log.warn({ command_id, reason }, 'a step runs again elsewhere')
      this.releases.add(this.releaseOf(tracked, crashed))
    } else {
      this.deps.onCommandEnd?.(node_name, outcome.status, ms)
      const where = calls?.worker === undefined ? {} : { worker: storableText(calls.worker) }
      this.ends.add({ engine, tracked, outcome, ms: Math.round(ms), ...where })
    }
    this.running.end()
    this.begin()
  }

  private callsOf({ command_id, lease_epoch, crashes }: ClaimedCommand): CommandCalls | undefined {
    const { remote, tools } = this.deps
    if (remote === undefined) return undefined
    const isSuspect = crashes >= SUSPECT_CRASHES
    const { engine } = this.deps.lease()
    return new CommandCalls(remote, tools.handler?.names ?? [], {
      ...{ engine, command_id, lease_epoch, isSuspect },
    })
  }

  /** Of commands that were just moved to us: their calls run already. */
  private async goOnWith(
    lease: EngineLease,
    moved: readonly AdoptedCommand[],
    resume: ResumeCall,
  ): Promise<string[]> {
    if (this.stopping || lease.over) throw cannotSay()
    const commands = moved.filter(
      ({ command_id, was_mine }) => !(was_mine && this.tracked.get(command_id)?.isRunning),
    )
    const added = commands.map((command) => {
      const known = this.tracked.get(command.command_id)
      // Ours before another gateway had it, and not forgotten yet.
      if (known !== undefined) {
        this.releases.remove(({ tracked }) => tracked === known)
        this.abandon(known, UNWANTED_REASON)
      }
      return this.track(command)
    })
    await this.readPlaybooks(commands)
    if (lease.over) throw cannotSay()
    const ours: string[] = []
    added.forEach((tracked, n) => {
      const command = commands[n]!
      // Lost, or unwanted, while its playbook was read.
      if (this.tracked.get(command.command_id) !== tracked) return
      const name = this.onlyHandlerOf(command)
      if (name === undefined) {
        this.releases.add(this.releaseOf(tracked, false))
        return
      }
      tracked.controller = new LazyAbortController()
      tracked.calls = this.callsOf(command)!
      // Before the worker is told that it may go on: its end may come at once.
      tracked.calls.adopt(name, resume, tracked.controller.signal)
      ours.push(itemCall(command))
      void this.run(tracked, command.elapsed_ms)
    })
    return ours
  }

  /** The handler of a step that does nothing but call it. */
  private onlyHandlerOf({ catalog_id, node_name }: ClaimedCommand): string | undefined {
    const playbook = this.deps.catalog.find(catalog_id)?.playbook
    const tools = playbook && planOf(playbook).steps.get(node_name)?.step.tools
    return tools?.length === 1 && tools[0]!.tool === 'handler' ? tools[0]!.call : undefined
  }

  private async outcomeOf(
    { command, calls }: TrackedCommand,
    aborts: AbortSource,
    elapsedMs: number,
  ): Promise<CommandOutcome> {
    const { command_id, execution_id, node_name, attempt } = command
    const { tools } = this.deps
    try {
      const { scope, cause = null, ...place } = await this.inputsOf(command)
      const playbook = await this.playbookOf(command, aborts)
      if (calls !== undefined) calls.isAdoptable = this.onlyHandlerOf(command) !== undefined
      const about = scope.execution as { started_by: string; workspace: string | null }
      return await runCommand({
        playbook,
        step: planOf(playbook).steps.get(node_name)!.step,
        scope,
        ...place,
        elapsedMs,
        tools: calls === undefined ? tools : { ...tools, handler: calls.tool },
        results: this.deps.results,
        context: {
          execution_id,
          command_id,
          playbook: playbook.name,
          step: node_name,
          attempt,
          ...(place.index !== undefined && { index: place.index }),
          workspace_id: about.workspace,
          started_by: about.started_by,
          cause,
          log: this.deps.log,
        },
        aborts,
      })
    } catch (error) {
      return { status: 'failed', error: (error as Error).message, retryable: true }
    }
  }

  private async playbookOf({ catalog_id }: ClaimedCommand, aborts: AbortSource): Promise<Playbook> {
    const { catalog } = this.deps
    await retryWhileUnavailable(
      () => catalog.read([catalog_id]),
      () => !aborts.aborted,
    )
    const known = catalog.find(catalog_id)
    if (known === undefined) throw new Error(`its playbook is not in the catalogue: ${catalog_id}`)
    return known.playbook
  }

  private async inputsOf(command: ClaimedCommand): Promise<CommandInputs> {
    const { execution_id, loop_id, item_index, scope } = command
    if (loop_id === null) {
      const value = await retryWhileUnavailable(() => this.deps.results.load(scope!))
      const { cause, parent_ref } = scope!
      return { scope: value as JsonObject, cause, ...(parent_ref !== undefined && { parent_ref }) }
    }
    const { items, scope: known, parent_ref } = await this.scopes.of(execution_id, loop_id)
    const index = item_index!
    const item = command.has_item ? command.item : ((await items())[index] ?? null)
    return { scope: known, item, index, ...(parent_ref !== undefined && { parent_ref }) }
  }
}

/** Another gateway may have an answer, or this one later. */
function cannotSay(): Error {
  return new Error('this engine takes no commands over just now')
}

interface LoopScope {
  readonly scope: JsonObject
  /** What its items come from, if that is stored by reference. */
  readonly parent_ref?: string
  /** For those whose command does not carry its item. */
  items(): Promise<readonly Json[]>
}

const MAX_LOOP_SCOPES = 100
/** As they are stored; in memory a collection takes a multiple of it. */
const MAX_LOOP_SCOPE_BYTES = 128 * 1024 * 1024

/** What the items of loops see: read once by each engine that runs some of them. */
export class LoopScopes {
  private readonly pool: Pool
  private readonly results: ResultStore
  private readonly maxBytes: number
  /** The least recently used comes first. */
  private readonly known = new Map<string, Promise<LoopScope>>()
  private readonly bytes = new Map<string, number>()

  constructor(pool: Pool, results: ResultStore, maxBytes = MAX_LOOP_SCOPE_BYTES) {
    this.pool = pool
    this.results = results
    this.maxBytes = maxBytes
  }

  of(execution: string, loop: string): Promise<LoopScope> {
    const scope = this.known.get(loop) ?? this.begin(execution, loop)
    this.known.delete(loop)
    this.known.set(loop, scope)
    this.makeRoom(loop)
    return scope
  }

  forgetAll(): void {
    this.known.clear()
    this.bytes.clear()
  }

  private begin(execution: string, loop: string): Promise<LoopScope> {
    const read = this.read(execution, loop)
    read.catch(() => this.forget(loop))
    return read
  }

  private async read(execution: string, loop: string): Promise<LoopScope> {
    const { rows } = await retryWhileUnavailable(() =>
      this.pool.query<{ context: JsonObject }>('select noetl.fn_loop_scope($1, $2) as context', [
        execution,
        loop,
      ]),
    )
    const { context } = rows[0]!
    const parent = context.collection_ref ?? context.scope_ref
    let items: Promise<Json> | undefined
    return {
      scope: (await this.load(loop, context, 'scope')) as JsonObject,
      ...(typeof parent === 'string' && { parent_ref: parseResultUri(parent) }),
      items: () => {
        items ??= this.load(loop, context, 'collection').catch((error) => {
          // The next one asks again.
          items = undefined
          throw error
        })
        return items as Promise<readonly Json[]>
      },
    }
  }

  private async load(loop: string, context: JsonObject, name: string): Promise<Json> {
    const ref = context[`${name}_ref`]
    if (typeof ref !== 'string') return context[name] ?? {}
    const bytes = (context[`${name}_bytes`] as number | undefined) ?? 0
    const value = await retryWhileUnavailable(() => this.results.load({ ref: parseResultUri(ref), bytes }))
    if (this.known.has(loop)) this.bytes.set(loop, (this.bytes.get(loop) ?? 0) + bytes)
    this.makeRoom(loop)
    return value
  }

  private makeRoom(needed: string): void {
    let bytes = 0
    for (const some of this.bytes.values()) bytes += some
    for (const loop of this.known.keys()) {
      if (this.known.size <= MAX_LOOP_SCOPES && bytes <= this.maxBytes) return
      if (loop === needed) continue
      bytes -= this.bytes.get(loop) ?? 0
      this.forget(loop)
    }
  }

  private forget(loop: string): void {
    this.known.delete(loop)
    this.bytes.delete(loop)
  }
}

interface CommandEnd {
  readonly engine: string
  readonly tracked: TrackedCommand
  readonly outcome: CommandOutcome
  /** How long it ran. */
  readonly ms: number
  /** The remote worker where it ran. */
  readonly worker?: string
  /** It has nothing that was made by others: nothing else is left to try. */
  readonly isLast?: boolean
}

interface CommandEndWriterDeps {
  readonly pool: Pool
  readonly log: Logger
  /** Those that counted are in the inbox of their execution; the other commands are not ours any more. */
  onWritten(ends: readonly CommandEnd[], counted: ReadonlySet<string>): void
  /** The database takes no end of this command: it must not stay leased by an engine that has forgotten it. */
  onUnwritable(end: CommandEnd): void
  lingerMs(): number
}

/** Writes the ends of commands into the inboxes of their executions. */
function createCommandEndWriter(deps: CommandEndWriterDeps): BatchWriter<CommandEnd> {
  const { pool, log, onWritten, onUnwritable } = deps
  const writer = new BatchWriter<CommandEnd>({
    lingerMs: () => deps.lingerMs(),
    async write(ends) {
      const outcomes = ends.map(({ tracked, ms, worker, outcome }) => ({
        command_id: tracked.command.command_id,
        lease_epoch: tracked.command.lease_epoch,
        ms,
        worker,
        ...outcome,
      }))
      const { rows } = await pool.query<{ command_id: string }>({
        name: 'stagedoor_command_end',
        text: 'select noetl.fn_command_end($1, $2) as command_id',
        // All of one lease: when it is lost the writer drops what was added under it.
        values: [ends[0]!.engine, JSON.stringify(outcomes)],
      })
      onWritten(ends, new Set(rows.map(({ command_id }) => command_id)))
    },
    onFailure(error, ends, pause) {
      if (isTransient(error)) log.warn({ err: error }, 'writing the ends of commands failed; will be retried')
      return retryWhenTransient(error, ends, pause)
    },
    onRefused(end, error) {
      log.error({ err: error, command_id: end.tracked.command.command_id }, 'end of a command rejected')
      const { outcome, worker: _worker, ...rest } = end
      if (end.isLast) onUnwritable(end)
      else if (outcome.status === 'failed') {
        const { retryable } = outcome
        writer.add({ ...rest, outcome: { status: 'failed', error: UNSTORABLE, retryable }, isLast: true })
      } else {
        const reason = storableText(`its result cannot be stored: ${error.message}`)
        writer.add({ ...end, outcome: { status: 'failed', error: reason, retryable: false } })
      }
    },
  })
  return writer
}

interface CommandRelease {
  readonly engine: string
  readonly tracked: TrackedCommand
  /** What ran it is gone, and the crash is charged to it. */
  readonly crashed: boolean
}

interface CommandReleaseWriterDeps {
  readonly pool: Pool
  readonly log: Logger
  /** They are free, or were not ours any more. */
  onWritten(releases: readonly CommandRelease[]): void
}

/** Gives commands back that no remote worker has finished. */
function createCommandReleaseWriter(deps: CommandReleaseWriterDeps): BatchWriter<CommandRelease> {
  const { pool, log, onWritten } = deps
  return new BatchWriter<CommandRelease>({
    async write(releases) {
      for (const crashed of [true, false]) {
        const some = releases.filter((release) => release.crashed === crashed)
        if (some.length === 0) continue
        const commands = some.map(({ tracked }) => tracked.command)
        await pool.query('select noetl.fn_command_release($1, $2, $3, $4)', [
          some[0]!.engine,
          commands.map(({ command_id }) => command_id),
          commands.map(({ lease_epoch }) => lease_epoch),
          crashed,
        ])
      }
      onWritten(releases)
    },
    onFailure(error, releases, pause) {
      if (isTransient(error)) log.warn({ err: error }, 'releasing commands failed; will be retried')
      return retryWhenTransient(error, releases, pause)
    },
    onRefused(release, error) {
      log.error(
        { err: error, command_id: release.tracked.command.command_id },
        'release of a command rejected',
      )
      onWritten([release])
    },
  })
}

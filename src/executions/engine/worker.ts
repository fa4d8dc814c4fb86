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
import { LEASE_REFUSED, UnansweredClaims } from '../../runtime/lease.ts'
import { ClaimSize } from '../../runtime/prefetch.ts'
import { retryWhileUnavailable } from '../../runtime/retry.ts'
import { Wake } from '../../runtime/wake.ts'
import { parseResultUri } from '../event.ts'
import { planOf } from '../machine/plan.ts'
import type { Playbook } from '../playbook/definition.ts'
import type { ResultStore } from '../results.ts'
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
  readonly concurrency: number
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
  readonly lease_epoch: number
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
  'command_id, execution_id, shard_id, catalog_id, loop_id, node_name, item_index, item, item is not null as has_item, scope, attempt, lease_epoch'
const CLAIM_RETRY_MS = 200
const LEASE_LOST_REASON = new Error('the lease of its engine has passed')
const UNWANTED_REASON = new Error('its loop or its execution has ended')
const STOPPED_REASON = new Error('the engine stops')

export class CommandWorker {
  private readonly deps: CommandWorkerDeps
  private readonly size: ClaimSize
  private readonly ends: BatchWriter<CommandEnd>
  private readonly scopes: LoopScopes
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  /** Every command that was claimed and whose end is not written: waiting (no controller yet), running, or being written. */
  private readonly tracked = new Map<string, AbortController | undefined>()
  private waiting: ClaimedCommand[] = []
  private readonly running = new InFlight()
  private readonly unanswered = new UnansweredClaims()
  private stopping = false
  private waits = false

  constructor(deps: CommandWorkerDeps) {
    this.deps = deps
    this.size = new ClaimSize(deps.concurrency)
    this.scopes = new LoopScopes(deps.pool, deps.results)
    this.ends = createCommandEndWriter({
      pool: deps.pool,
      log: deps.log,
      onWritten: (ends) => {
        // Under a later lease the same command may be ours again.
        const { engine } = deps.lease()
        for (const end of ends) if (end.engine === engine) this.tracked.delete(end.command_id)
        deps.onEndsWritten(new Set(ends.map((end) => end.shard_id)))
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
    return [...this.tracked].flatMap(([id, controller]) => (controller === undefined ? [] : [id]))
  }

  /** Resolves when every end is in the database. */
  drain(): Promise<void> {
    return this.ends.drain()
  }

  /** There may be new commands, or a new lease. */
  now(): void {
    this.wake.now()
  }

  /** With every heartbeat: commands that nobody wants any more are aborted. */
  async dropUnwanted(): Promise<void> {
    if (this.tracked.size === 0) return
    const lease = this.deps.lease()
    const { rows } = await this.deps.pool.query<{ command_id: string }>(
      'select command_id from noetl.fn_command_cancelled($1, $2) command_id',
      [lease.engine, [...this.tracked.keys()]],
    )
    if (lease.over) return
    const unwanted = new Set(rows.map((row) => row.command_id))
    if (unwanted.size === 0) return
    this.waiting = this.waiting.filter(({ command_id }) => !unwanted.has(command_id))
    for (const id of unwanted) this.abandon(id, UNWANTED_REASON)
  }

  /** The lease is lost, and with it every command that was claimed. */
  lose(): void {
    this.waiting = []
    this.ends.drop()
    this.unanswered.reset()
    for (const id of [...this.tracked.keys()]) this.abandon(id, LEASE_LOST_REASON)
  }

  /** The database has another history. */
  forget(): void {
    this.scopes.forgetAll()
  }

  /** Waiting commands go back with the lease; running ones may end in this time. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true
    this.wake.now()
    for (const { command_id } of this.waiting) this.tracked.delete(command_id)
    this.waiting = []
    await this.loop
    await this.running.idleWithin(graceMs)
    for (const controller of this.tracked.values()) controller?.abort(STOPPED_REASON)
    await this.ends.drain()
  }

  private abandon(id: string, reason: Error): void {
    this.tracked.get(id)?.abort(reason)
    this.tracked.delete(id)
  }

  private async claimUntilStopped(): Promise<void> {
    while (!this.stopping) {
      const lease = this.deps.lease()
      if (lease.over) {
        await this.wake.wait(CLAIM_RETRY_MS)
        continue
      }
      try {
        await this.unanswered.check(() => this.adoptUntrackedCommands(lease))
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
    const { rows } = await this.deps.pool.query<ClaimedCommand>({
      name: 'stagedoor_command_claim',
      text: `select ${COMMAND_COLUMNS} from noetl.fn_command_claim($1, $2)`,
      values: [lease.engine, limit],
    })
    await this.accept(lease, rows)
    return rows.length
  }

  /** Runs commands that are leased by us and that we do not know: those of a claim whose answer was lost. */
  private async adoptUntrackedCommands(lease: EngineLease): Promise<void> {
    const { rows } = await this.deps.pool.query<ClaimedCommand>(
      `select ${COMMAND_COLUMNS} from noetl.command where leased_by = $1`,
      [lease.engine],
    )
    await this.accept(
      lease,
      rows.filter(({ command_id }) => !this.tracked.has(command_id)),
    )
  }

  private async accept(lease: EngineLease, commands: readonly ClaimedCommand[]): Promise<void> {
    // Under a lease that has ended they belong to other engines.
    if (commands.length === 0 || this.stopping || lease.over) return
    for (const { command_id } of commands) this.tracked.set(command_id, undefined)
    this.waiting.push(...commands)
    // All playbooks at once; one that fails here is read again by its command.
    await this.deps.catalog.read(commands.map(({ catalog_id }) => catalog_id)).catch(() => {})
    this.begin()
  }

  private begin(): void {
    while (this.running.size < this.deps.concurrency && this.waiting.length > 0) {
      if (!this.deps.lease().mayBegin) return
      void this.run(this.waiting.shift()!)
    }
    if (!this.stopping && this.size.next(this.running.size, this.waiting.length) > 0) this.wake.now()
  }

  private async run(command: ClaimedCommand): Promise<void> {
    this.running.begin()
    const began = performance.now()
    const controller = new AbortController()
    const { engine } = this.deps.lease()
    this.tracked.set(command.command_id, controller)
    const outcome = await this.outcomeOf(command, controller.signal)
    const ms = performance.now() - began
    this.size.took(ms)
    if (!controller.signal.aborted && this.tracked.get(command.command_id) === controller) {
      this.deps.onCommandEnd?.(command.node_name, outcome.status, ms)
      const { command_id, shard_id, lease_epoch } = command
      this.ends.add({ engine, command_id, shard_id, lease_epoch, outcome, ms: Math.round(ms) })
    }
    this.running.end()
    this.begin()
  }

  private async outcomeOf(command: ClaimedCommand, signal: AbortSignal): Promise<CommandOutcome> {
    const { command_id, execution_id, node_name, attempt } = command
    try {
      const { scope, cause = null, ...place } = await this.inputsOf(command)
      const playbook = await this.playbookOf(command, signal)
      const about = scope.execution as { started_by: string; workspace: string | null }
      return await runCommand({
        playbook,
        step: planOf(playbook).steps.get(node_name)!.step,
        scope,
        ...place,
        tools: this.deps.tools,
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
          signal,
          log: this.deps.log,
        },
      })
    } catch (error) {
      return { status: 'failed', error: (error as Error).message, retryable: true }
    }
  }

  private async playbookOf({ catalog_id }: ClaimedCommand, signal: AbortSignal): Promise<Playbook> {
    const { catalog } = this.deps
    await retryWhileUnavailable(
      () => catalog.read([catalog_id]),
      () => !signal.aborted,
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
  readonly command_id: string
  readonly shard_id: number
  readonly lease_epoch: number
  readonly outcome: CommandOutcome
  /** How long it ran. */
  readonly ms: number
}

interface CommandEndWriterDeps {
  readonly pool: Pool
  readonly log: Logger
  /** The end is in the inbox of its execution, or the command is not ours any more. */
  onWritten(ends: readonly CommandEnd[]): void
}

/** Writes the ends of commands into the inboxes of their executions. */
function createCommandEndWriter({ pool, log, onWritten }: CommandEndWriterDeps): BatchWriter<CommandEnd> {
  const writer = new BatchWriter<CommandEnd>({
    async write(ends) {
      const outcomes = ends.map(({ command_id, lease_epoch, ms, outcome }) => ({
        command_id,
        lease_epoch,
        ms,
        ...outcome,
      }))
      await pool.query({
        name: 'stagedoor_command_end',
        text: 'select noetl.fn_command_end($1, $2)',
        // All of one lease: when it is lost the writer drops what was added under it.
        values: [ends[0]!.engine, JSON.stringify(outcomes)],
      })
      onWritten(ends)
    },
    onFailure(error, ends, pause) {
      if (isTransient(error)) log.warn({ err: error }, 'writing the ends of commands failed; will be retried')
      return retryWhenTransient(error, ends, pause)
    },
    onRefused(end, error) {
      log.error({ err: error, command_id: end.command_id }, 'end of a command rejected')
      if (end.outcome.status === 'failed') return onWritten([end])
      const reason = storableText(`its result cannot be stored: ${error.message}`)
      writer.add({ ...end, outcome: { status: 'failed', error: reason, retryable: false } })
    },
  })
  return writer
}

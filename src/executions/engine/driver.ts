/**
 * The executions that this process owns, by shard: loaded when a shard is taken, given what the inbox has for them, dropped with the
 * shard. At the end StuckExecutions: those that could not continue and are read again later.
 */
import type { Logger } from 'pino'
import type { Pool } from '../../kernel/postgres/connection.ts'
import { retryWhileUnavailable } from '../../runtime/retry.ts'
import { type ExecutionOutcome, outcomeOf } from '../control.ts'
import { commandsWithHandlers, resumeAfterLoad } from '../machine/decide.ts'
import { type ExecutionState, isOver, onlyWaits } from '../machine/state.ts'
import { isLoopBusy, yieldUntilLoopIsFree } from '../playbook/budget.ts'
import type { ExecutionAddress } from './append.ts'
import { DrivenExecution, type DrivenExecutionDeps } from './driven-execution.ts'
import { type InboxRow, inputOf, startOf } from './inbox.ts'
import {
  type CatalogEntry,
  findRemoteCommands,
  hasEnded,
  loadCheckpoints,
  loadShardCheckpoints,
  loadStates,
  withSeed,
} from './load.ts'
import type { Append } from './log-writer.ts'
import { isFenced } from './shards.ts'

interface DriverDeps extends Omit<DrivenExecutionDeps, 'read' | 'onEnd' | 'onEndedBefore' | 'onStuck'> {
  readonly pool: Pool
  engine(): string
  /** Ids that are made from now on come after it. */
  idsAfter(eventId: string): void
  /** Rows of the inbox that were read may be read again. */
  forget(inboxIds: readonly string[]): void
  forgetShard(shard: number): void
  /** Projects them: their log may be ahead of their projection. */
  project(executions: readonly string[], shard: number): void
  onExecutionEnd(outcome: ExecutionOutcome): void
}

interface OwnedShard {
  readonly shard: number
  readonly epoch: string
  loaded: boolean
  /** Nothing new is begun in it: it goes to another engine. */
  leaving: boolean
  /** Rows that came before it was loaded. */
  early: InboxRow[]
}

/** A row, and the ownership under which it was read: under a later one it does not count. */
interface OwnedRow {
  readonly row: InboxRow
  readonly owned: OwnedShard
}

const RETRY_MS = 200
const SHARD_LOST_REASON = new Error('the shard of its execution was lost')
const EXECUTION_ENDED_REASON = new Error('its execution has ended')
const NO_COMMANDS: ReadonlySet<string> = new Set()
const NO_EXECUTIONS: ReadonlySet<string> = new Set()

export class Driver {
  private readonly deps: DriverDeps
  private readonly executions = new Map<string, DrivenExecution>()
  private readonly shards = new Map<number, OwnedShard>()
  private readonly stuck: StuckExecutions
  /** Rows of the inbox are delivered in their order, whatever must be read first. */
  private chain: Promise<void> = Promise.resolve()
  private readonly executionDeps: DrivenExecutionDeps
  private readonly log: Logger

  constructor(deps: DriverDeps) {
    this.deps = deps
    this.log = deps.log
    this.executionDeps = this.createExecutionDeps()
    this.stuck = new StuckExecutions({
      log: deps.log,
      forget: (inboxIds) => deps.forget(inboxIds),
      retry: (id, shard) => this.reload(id, shard),
    })
  }

  get size(): number {
    return this.executions.size
  }

  /** Executions that get nothing delivered for now. */
  get stuckExecutions(): string[] {
    return this.stuck.executions
  }

  /** The shard is ours: its executions that have not ended continue. */
  async take(shard: number, epoch: string): Promise<void> {
    const owned: OwnedShard = { shard, epoch, loaded: false, leaving: false, early: [] }
    this.shards.set(shard, owned)
    while (this.shards.get(shard) === owned) {
      try {
        await this.load(owned)
        return
      } catch (error) {
        if (isFenced(error)) return
        this.log.warn({ err: error, shard }, 'loading the executions of a shard failed; will be retried')
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  drop(shard: number): void {
    this.shards.delete(shard)
    this.deps.forgetShard(shard)
    this.stuck.dropShard(shard)
    for (const execution of this.of(shard)) this.remove(execution, SHARD_LOST_REASON)
  }

  /** The shard goes to another engine: nothing of the inbox is delivered to it any more. */
  leave(shard: number): void {
    const owned = this.shards.get(shard)
    if (owned !== undefined) owned.leaving = true
  }

  isLeaving(shard: number): boolean {
    return this.shards.get(shard)?.leaving ?? true
  }

  /** Nothing of the shard runs here or is on the way to the database. */
  isDrained(shard: number): boolean {
    return this.of(shard).every((execution) => execution.isFlushed && execution.commands.size === 0)
  }

  /** Delivers rows of the inbox, in order. Resolves when all are delivered. */
  deliver(rows: readonly InboxRow[]): Promise<void> {
    // The owner is looked up now: later the shard may have been another's meanwhile, who consumed them, and be ours again.
    const ownedRows: OwnedRow[] = []
    for (const row of rows) {
      const owned = this.shards.get(row.shard_id)
      if (owned === undefined) this.deps.forget([row.inbox_id])
      else ownedRows.push({ row, owned })
    }
    return this.enqueueDelivery(() => ownedRows)
  }

  private enqueueDelivery(rowsOf: () => readonly OwnedRow[]): Promise<void> {
    return this.enqueue(async () => {
      const rows = rowsOf()
      await this.deliverNow(rows).catch((error) => {
        this.log.error({ err: error }, 'rows of the inbox could not be delivered; they will be read again')
        this.deps.forget(rows.map(({ row }) => row.inbox_id))
      })
    })
  }

  private enqueue(work: () => Promise<void>): Promise<void> {
    this.chain = this.chain.then(work)
    return this.chain
  }

  /** Drops executions from memory that only wait for something from outside. */
  evict(idleMs: number, waitingMs: number): void {
    const now = performance.now()
    for (const execution of this.executions.values()) {
      if (!execution.idle) continue
      const idleForMs = now - execution.touchedAt
      if (idleForMs < (onlyWaits(execution.state) ? waitingMs : idleMs)) continue
      execution.snapshot(() => {
        if (execution.idle && this.executions.get(execution.id) === execution)
          this.remove(execution, SHARD_LOST_REASON)
      })
    }
  }

  /** Writes snapshots for the next owner. */
  snapshotAll(): void {
    for (const execution of this.executions.values()) if (execution.isFlushed) execution.snapshot(() => {})
  }

  close(): void {
    for (const shard of [...this.shards.keys()]) this.drop(shard)
  }

  private of(shard: number): DrivenExecution[] {
    return [...this.executions.values()].filter((execution) => execution.shard === shard)
  }

  private async load(owned: OwnedShard): Promise<void> {
    const { pool, catalog } = this.deps
    const { shard } = owned
    const found = await loadShardCheckpoints(pool, this.deps.engine(), shard)
    const open = found.filter(({ ended }) => !ended)
    const { states, broken } = await loadStates(pool, open)
    await catalog.read([...states.values()].map((state) => state.catalog_id))
    const remote = await this.findRemote(states.values())
    if (this.shards.get(shard) !== owned) return
    for (const state of states.values()) {
      this.deps.idsAfter(state.last_event_id)
      if (!onlyWaits(state)) this.resumeLoaded(owned, state, remote)
    }
    for (const [id, error] of broken) this.stuck.add(id, shard, error)
    this.deps.project(
      found.map(({ execution_id }) => execution_id),
      shard,
    )
    await this.deliverEarly(owned)
  }

  /** Rows that came before the shard was loaded are delivered before all later ones. */
  private deliverEarly(owned: OwnedShard): Promise<void> {
    return this.enqueueDelivery(() => {
      owned.loaded = true
      return owned.early.splice(0).map((row) => ({ row, owned }))
    })
  }

  /** Commands of these executions that other engines run, or whose end is in the inbox: they must not begin here as well. */
  private async findRemote(states: Iterable<ExecutionState>): Promise<ReadonlySet<string>> {
    const asked: [string, string][] = []
    for (const state of states) {
      const playbook = this.deps.catalog.find(state.catalog_id)?.playbook
      if (playbook === undefined || isOver(state)) continue
      for (const id of commandsWithHandlers(playbook, state)) asked.push([state.execution_id, id])
    }
    if (asked.length === 0) return NO_COMMANDS
    return retryWhileUnavailable(() => findRemoteCommands(this.deps.pool, asked))
  }

  /** Takes an execution into memory that was just loaded. */
  private resumeLoaded(owned: OwnedShard, state: ExecutionState, remote: ReadonlySet<string>): void {
    this.deps.idsAfter(state.last_event_id)
    if (isOver(state)) return
    const entry = this.deps.catalog.find(state.catalog_id)
    if (entry === undefined) {
      this.stuck.add(state.execution_id, owned.shard, unknownPlaybook(state.catalog_id))
      return
    }
    const execution = this.add(state.execution_id, owned, entry, state)
    try {
      const { run, timers, continues } = resumeAfterLoad(entry.playbook, state)
      execution.resume(
        run.filter(({ command_id }) => !remote.has(command_id)),
        timers,
        continues,
      )
    } catch (error) {
      this.markStuck(execution, error as Error)
    }
  }

  private add(
    id: string,
    { shard, epoch }: OwnedShard,
    entry: CatalogEntry,
    state: ExecutionState | undefined,
  ): DrivenExecution {
    const execution = new DrivenExecution(
      { execution_id: id, shard_id: shard, epoch },
      entry,
      state,
      this.executionDeps,
    )
    this.executions.set(id, execution)
    return execution
  }

  private createExecutionDeps(): DrivenExecutionDeps {
    return {
      ...this.deps,
      begin: (execution, command) => {
        if (!this.isLeaving(execution.shard)) this.deps.begin(execution, command)
      },
      read: async (id) => {
        const [checkpoint] = await loadCheckpoints(this.deps.pool, [id])
        if (checkpoint === undefined) return (await hasEnded(this.deps.pool, id)) ? 'ended' : undefined
        const { states, broken } = await loadStates(this.deps.pool, [checkpoint])
        if (broken.has(id)) throw broken.get(id)
        return states.get(id)
      },
      onEnd: (execution, last) => {
        this.deps.forget(execution.unconsumedInbox())
        this.remove(execution, EXECUTION_ENDED_REASON)
        this.stuck.forget(execution.id)
        this.deps.onExecutionEnd(outcomeOf(last))
      },
      onEndedBefore: (execution) => {
        const inbox = execution.unconsumedInbox()
        this.remove(execution, EXECUTION_ENDED_REASON)
        this.consume(execution.address, inbox)
      },
      onStuck: (execution, error) => this.markStuck(execution, error),
    }
  }

  private async deliverNow(rows: readonly OwnedRow[]): Promise<void> {
    const ready = rows.filter((one) => this.isReady(one))
    await this.deps.catalog.read(
      ready.flatMap(({ row }) => (row.kind === 'start' ? [row.body.catalog_id as string] : [])),
    )
    const over = await this.loadMissing(ready)
    for (const one of ready) {
      if (isLoopBusy()) await yieldUntilLoopIsFree()
      this.deliverOne(one, over)
    }
  }

  private isReady({ row, owned }: OwnedRow): boolean {
    // All of its rows were forgotten with the shard.
    if (!this.isOurs(owned)) return false
    if (owned.leaving || this.stuck.has(row.execution_id)) this.deps.forget([row.inbox_id])
    else if (owned.loaded) return true
    else owned.early.push(row)
    return false
  }

  private isOurs(owned: OwnedShard): boolean {
    return this.shards.get(owned.shard) === owned
  }

  /**
   * Executions that are not in memory, all in one statement. What a `start` is for has no log yet. Returns those that have ended or
   * were never known.
   */
  private async loadMissing(ready: readonly OwnedRow[]): Promise<ReadonlySet<string>> {
    const starting = new Set(ready.flatMap(({ row }) => (row.kind === 'start' ? [row.execution_id] : [])))
    const missing = new Map<string, OwnedShard>()
    for (const { row, owned } of ready)
      if (!this.executions.has(row.execution_id) && !starting.has(row.execution_id))
        missing.set(row.execution_id, owned)
    if (missing.size === 0) return NO_EXECUTIONS
    const over = new Set<string>()
    const found = await retryWhileUnavailable(() => loadCheckpoints(this.deps.pool, [...missing.keys()]))
    const { states, broken } = await retryWhileUnavailable(() => loadStates(this.deps.pool, found))
    await this.deps.catalog.read([...states.values()].map((state) => state.catalog_id))
    const remote = await this.findRemote(states.values())
    for (const [id, owned] of missing) {
      if (!this.isOurs(owned)) continue
      const state = states.get(id)
      if (broken.has(id)) this.stuck.add(id, owned.shard, broken.get(id)!)
      else if (state === undefined || isOver(state)) over.add(id)
      else this.resumeLoaded(owned, state, remote)
    }
    return over
  }

  private deliverOne({ row, owned }: OwnedRow, over: ReadonlySet<string>): void {
    if (!this.isOurs(owned)) return
    const { execution_id: id, inbox_id: inboxId } = row
    const known = this.executions.get(id)
    // A start that is read twice goes the same way: consumed before the first one's flush, the execution would be lost.
    if (known !== undefined) known.deliver({ input: inputOf(row), inboxId })
    // It could not be read, or got stuck a moment ago: it is not in memory, and it has not ended.
    else if (this.stuck.has(id)) this.deps.forget([inboxId])
    else if (row.kind === 'start') this.start(row, owned)
    else if (over.has(id))
      this.consume({ execution_id: id, shard_id: owned.shard, epoch: owned.epoch }, [inboxId])
    // It was in memory a moment ago, and was evicted or has ended since: the row is read again.
    else this.deps.forget([inboxId])
  }

  private start(row: InboxRow, owned: OwnedShard): void {
    const { execution_id: id, inbox_id: inboxId } = row
    const catalogId = row.body.catalog_id as string
    const entry = this.deps.catalog.find(catalogId)
    if (entry === undefined) {
      this.stuck.add(id, owned.shard, unknownPlaybook(catalogId), [inboxId])
      return
    }
    const input = startOf(row, entry.version)
    const execution = this.add(id, owned, entry, undefined)
    if (input.rerun_of === undefined) execution.deliver({ input, inboxId })
    else execution.deliverLater(withSeed(this.deps.pool, input).then((whole) => ({ input: whole, inboxId })))
  }

  /** It has ended, or was never known. */
  private consume(address: ExecutionAddress, inbox: readonly string[]): void {
    this.log.debug({ execution_id: address.execution_id, inbox }, 'message for an ended execution discarded')
    this.deps.append({
      ...address,
      events: [],
      inbox,
      onDurable: () => {},
      onRefused: () => this.deps.forget(inbox),
    } satisfies Append)
  }

  private markStuck(execution: DrivenExecution, error: Error): void {
    // It was dropped meanwhile, with all that it had in hand.
    if (this.executions.get(execution.id) !== execution) return
    const inbox = execution.unconsumedInbox()
    this.remove(execution, error)
    this.stuck.add(execution.id, execution.shard, error, inbox)
  }

  private remove(execution: DrivenExecution, reason: Error): void {
    execution.drop(reason)
    this.executions.delete(execution.id)
  }

  /** In the order of deliveries: what it gets from now on comes after it is in memory again. */
  private reload(id: string, shard: number): void {
    void this.enqueue(async () => {
      this.stuck.remove(id)
      await this.readAgain(id, shard).catch((error) => this.stuck.add(id, shard, error))
    })
  }

  private async readAgain(id: string, shard: number): Promise<void> {
    const owned = this.shards.get(shard)
    if (!owned?.loaded || this.executions.has(id)) return
    const state = await this.executionDeps.read(id)
    if (state === undefined || state === 'ended') return
    await this.deps.catalog.read([state.catalog_id])
    const remote = await this.findRemote([state])
    if (this.isOurs(owned)) this.resumeLoaded(owned, state, remote)
  }
}

function unknownPlaybook(catalogId: string): Error {
  return new Error(`its playbook is not in the catalogue: ${catalogId}`)
}

interface StuckExecutionsDeps {
  readonly log: Logger
  /** Rows of the inbox are not read while their execution is stuck: those in memory are read again afterwards. */
  forget(inboxIds: readonly string[]): void
  retry(execution: string, shard: number): void
}

const MIN_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 60_000

/** Executions that could not continue: each is left alone for a while, then read again. Neither a crash nor a hot loop. */
class StuckExecutions {
  private readonly deps: StuckExecutionsDeps
  private readonly known = new Map<string, { readonly shard: number; readonly timer: NodeJS.Timeout }>()
  /** How long each waited last time. */
  private readonly backoffs = new Map<string, number>()

  constructor(deps: StuckExecutionsDeps) {
    this.deps = deps
  }

  get executions(): string[] {
    return [...this.known.keys()]
  }

  has(execution: string): boolean {
    return this.known.has(execution)
  }

  add(execution: string, shard: number, error: Error, inbox: readonly string[] = []): void {
    this.deps.forget(inbox)
    if (this.known.has(execution)) return
    const backoffMs = Math.min(MAX_BACKOFF_MS, 2 * (this.backoffs.get(execution) ?? MIN_BACKOFF_MS / 2))
    this.backoffs.set(execution, backoffMs)
    this.deps.log.error(
      { err: error, execution_id: execution, again_in_ms: backoffMs },
      'execution is stuck; will be retried',
    )
    const timer = setTimeout(() => this.deps.retry(execution, shard), backoffMs)
    this.known.set(execution, { shard, timer })
  }

  /** It is about to be read again. */
  remove(execution: string): void {
    this.known.delete(execution)
  }

  /** It has ended. */
  forget(execution: string): void {
    this.backoffs.delete(execution)
  }

  dropShard(shard: number): void {
    for (const [execution, stuck] of this.known) {
      if (stuck.shard !== shard) continue
      clearTimeout(stuck.timer)
      this.known.delete(execution)
    }
  }
}

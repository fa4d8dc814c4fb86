/**
 * One execution in the memory of its owner. Deliveries go through the machine in order; what the machine decides is appended to the
 * log at once, and takes effect when it is durable. The state is ahead of the database by the appends on the way: when one is
 * refused the state is read again. Below it the execution's values, timers and snapshots.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/json.ts'
import { type AbortSource, LazyAbortController } from '../../runtime/lazy-abort.ts'
import { retryWhileUnavailable } from '../../runtime/retry.ts'
import type { ExecutionEvent, ResultValue } from '../event.ts'
import { decide } from '../machine/decide.ts'
import {
  type Decision,
  type Input,
  type LocalCommand,
  type Ports,
  StoreNeeded,
  type Timer,
  ValueNeeded,
} from '../machine/decision.ts'
import { scopeOf } from '../machine/plan.ts'
import { type ExecutionState, FOLD_VERSION } from '../machine/state.ts'
import { isLoopBusy, yieldUntilLoopIsFree } from '../playbook/budget.ts'
import type { ResultStore } from '../results.ts'
import { appendOf, type ExecutionAddress, failedEnd, withoutResult } from './append.ts'
import type { Catalog, CatalogEntry } from './load.ts'
import { type Append, type Checkpoint, PoisonEvent, ShardLost } from './log-writer.ts'

/** An input for an execution, and the row of the inbox that it comes from. */
export interface Delivery {
  readonly input: Input
  readonly inboxId?: string
  /** How often what it led to was refused. */
  readonly refusals?: number
}

export interface DrivenExecutionDeps {
  readonly catalog: Catalog
  readonly results: ResultStore
  readonly log: Logger
  /** Milliseconds since 1970, by the clock of the database. */
  now(): number
  nextId(): string
  append(append: Append): void
  /** The issue of the command is durable. */
  begin(execution: DrivenExecution, command: LocalCommand): void
  /** As of the end of its log; undefined: it has none. */
  read(execution: string): Promise<ExecutionState | 'ended' | undefined>
  /** Its log ended under another owner: what it was given goes to nobody. */
  onEndedBefore(execution: DrivenExecution): void
  /** Its end is durable; `last` says how it ended. */
  onEnd(execution: DrivenExecution, last: ExecutionEvent): void
  /** Nothing more can be done with it for now. */
  onStuck(execution: DrivenExecution, error: Error): void
}

type CommandScope = ReturnType<typeof scopeOf>

const CLOCK_RETRY_MS = 100
/** An execution that is read again each time and refused each time counts as stuck. */
const MAX_REFUSALS = 5
const NO_CHILDREN: ReadonlyMap<string, CatalogEntry> = new Map()

export class DrivenExecution {
  readonly address: ExecutionAddress
  readonly entry: CatalogEntry
  /** Local commands that are to be run or run. */
  readonly commands = new Set<string>()
  state: ExecutionState | undefined
  /** When it last got a delivery. */
  touchedAt = performance.now()
  private readonly deps: DrivenExecutionDeps
  private readonly ports: Ports
  private readonly snapshots: SnapshotPolicy
  private readonly values: ExecutionValues
  private readonly timers: ExecutionTimers
  private readonly abortController = new LazyAbortController()
  private queue: Delivery[] = []
  /** Appended and not durable, in order. */
  private written: Delivery[] = []
  /** How many things must be fetched before the next input: a value may be on its way when an earlier input is refused. */
  private fetching = 0
  private dropped = false
  /** It must end with this error, as soon as its appends on the way are durable. */
  private fatal: Error | undefined
  /** Appends of before a refusal do not count any more. */
  private generation = 0
  /** Refusals since something of it was last durable. */
  private refusals = 0

  constructor(
    address: ExecutionAddress,
    entry: CatalogEntry,
    state: ExecutionState | undefined,
    deps: DrivenExecutionDeps,
  ) {
    this.address = address
    this.entry = entry
    this.state = state
    this.deps = deps
    this.snapshots = new SnapshotPolicy(state?.seq ?? 0)
    this.timers = new ExecutionTimers({
      now: () => deps.now(),
      onDue: ({ node_id, index }) =>
        this.deliver({ input: { kind: 'due', node_id, ...(index !== undefined && { index }) } }),
    })
    this.values = new ExecutionValues(this.id, deps.results, () => !this.dropped)
    this.ports = {
      now: () => new Date(deps.now()),
      nextId: () => deps.nextId(),
      value: (result) => this.values.value(result),
      store: (value, name, nodeName) => this.values.store(value, name, nodeName),
    }
  }

  get id(): string {
    return this.address.execution_id
  }

  get shard(): number {
    return this.address.shard_id
  }

  /** Aborted when nobody waits for its commands any more: they end together. */
  get aborts(): AbortSource {
    return this.abortController
  }

  get over(): boolean {
    return this.dropped
  }

  /** Nothing of it is on the way to the database. */
  get isFlushed(): boolean {
    return (
      this.fetching === 0 && this.queue.length === 0 && this.written.length === 0 && this.fatal === undefined
    )
  }

  /** Nothing of it is under way in this process. */
  get idle(): boolean {
    return this.isFlushed && this.commands.size === 0 && this.timers.size === 0 && this.state !== undefined
  }

  deliver(delivery: Delivery): void {
    if (this.dropped) return
    this.touchedAt = performance.now()
    this.queue.push(delivery)
    this.decideWaiting()
  }

  /** Its first input needs something that must be fetched; every other delivery waits. */
  deliverLater(fetched: Promise<Delivery>): void {
    const first = fetched.then((delivery) => {
      this.queue.unshift(delivery)
    })
    this.pause(first)
  }

  /** It continues after it was loaded: commands that had been issued and had not ended begin again. */
  resume(run: readonly LocalCommand[], timers: readonly Timer[], continues: boolean): void {
    for (const command of run) if (!this.commands.has(command.command_id)) this.deps.begin(this, command)
    for (const timer of timers) this.timers.arm(timer)
    if (continues) this.deliver({ input: { kind: 'continue', through: this.state!.last_event_id } })
  }

  /** The command is issued and has not ended, as far as is known here. */
  awaits({ node_id, command_id, loop_id, index, attempt }: LocalCommand): boolean {
    const active = this.dropped ? undefined : this.state?.active[node_id]
    if (active?.kind === 'command') return active.command_id === command_id && active.retry_at === undefined
    if (active?.kind !== 'loop' || active.loop_id !== loop_id) return false
    const open = active.open[String(index)]
    return open?.attempt === attempt && open.retry_at === undefined
  }

  /** What the tools of a command see; 'unloaded' when a part must be fetched first, undefined when nobody wants it. */
  scopeNow(command: LocalCommand): CommandScope | 'unloaded' {
    try {
      return this.state && scopeOf(this.entry.playbook, this.state, command, this.ports)
    } catch (error) {
      if (error instanceof ValueNeeded) return 'unloaded'
      throw error
    }
  }

  async scopeOf(command: LocalCommand): Promise<CommandScope> {
    for (;;) {
      if (this.dropped || this.state === undefined) return undefined
      try {
        return scopeOf(this.entry.playbook, this.state, command, this.ports)
      } catch (error) {
        if (!(error instanceof ValueNeeded)) throw error
        await this.values.load(error.result)
      }
    }
  }

  /** Writes a snapshot to load it from, if there is anything new in it. */
  snapshot(onDurable: () => void): void {
    if (this.state === undefined || this.snapshots.seq === this.state.seq) {
      onDurable()
      return
    }
    const text = JSON.stringify(this.state)
    const checkpoint = checkpointOf(this.state, text)
    this.deps.append({
      ...this.address,
      events: [],
      checkpoint,
      onDurable: () => {
        this.snapshots.recordWritten(checkpoint.last_seq, text.length)
        onDurable()
      },
      onRefused: () => {},
    })
  }

  /** It leaves the memory: its shard was lost, it has ended, or it only waits. */
  drop(reason: Error): void {
    this.dropped = true
    this.abortController.abort(reason)
    this.timers.clear()
  }

  /** Rows of the inbox that it has and that are not consumed. */
  unconsumedInbox(): string[] {
    return [...this.written, ...this.queue].flatMap(({ inboxId }) => inboxId ?? [])
  }

  private decideWaiting(): void {
    try {
      this.decideAll()
    } catch (error) {
      this.fail(error as Error)
    }
  }

  private decideAll(): void {
    while (this.fetching === 0 && !this.dropped && this.fatal === undefined && this.queue.length > 0) {
      if (isLoopBusy()) {
        this.pause(yieldUntilLoopIsFree())
        return
      }
      let decision: Decision
      try {
        decision = decide(this.entry.playbook, this.state, this.queue[0]!.input, this.ports)
      } catch (error) {
        this.fetchFor(error)
        return
      }
      this.values.forgetStored()
      this.accept(this.queue.shift()!, decision)
    }
  }

  /** Fetches what the machine misses, and it decides again. Anything else that it throws is a mistake of ours. */
  private fetchFor(error: unknown): void {
    if (error instanceof ValueNeeded) this.pause(this.values.load(error.result))
    else if (error instanceof StoreNeeded) this.pause(this.values.save(error))
    // No id can be made just now; that is not the execution's fault.
    else if (error instanceof StagedoorError && error.code === 'clock_went_back')
      this.pause(delay(CLOCK_RETRY_MS))
    else this.fail(error as Error)
  }

  private accept(delivery: Delivery, decision: Decision): void {
    const isFirst = this.state === undefined
    this.state = decision.state
    this.written.push(delivery)
    if (decision.children.length === 0) {
      this.append(delivery, decision, isFirst, NO_CHILDREN)
      return
    }
    // The next decision must not be appended before this one.
    const { generation } = this
    const names = decision.children.map(({ playbook }) => playbook)
    const read = this.retrying(() => this.deps.catalog.latest(names)).then(
      (latest) => {
        if (!this.dropped && generation === this.generation) this.append(delivery, decision, isFirst, latest)
      },
      // Its state is ahead of a log that nobody will write.
      (error) => this.deps.onStuck(this, error),
    )
    this.pause(read)
  }

  private append(
    delivery: Delivery,
    decision: Decision,
    isFirst: boolean,
    latest: ReadonlyMap<string, CatalogEntry>,
  ): void {
    const { generation } = this
    const checkpoint = this.snapshots.checkpointWith(decision, isFirst)
    // Before later decisions change the state.
    const through = decision.state?.last_event_id
    this.deps.append({
      ...appendOf(this.address, this.entry, decision, latest),
      ...(checkpoint && { checkpoint }),
      ...(delivery.inboxId !== undefined && { inbox: [delivery.inboxId] }),
      onDurable: () => {
        if (generation === this.generation) this.onDurable(decision, through)
      },
      onRefused: (error) => {
        if (generation === this.generation) this.onRefused(error)
      },
    })
  }

  private onDurable(decision: Decision, through: string | undefined): void {
    this.written.shift()
    this.refusals = 0
    if (this.dropped) return
    for (const command of decision.run) this.deps.begin(this, command)
    for (const timer of decision.timers) this.timers.arm(timer)
    if (decision.ended) this.deps.onEnd(this, decision.events.at(-1)!)
    else if (decision.continues && through !== undefined)
      this.deliver({ input: { kind: 'continue', through } })
    this.endIfFatal()
  }

  private pause(until: Promise<unknown>): void {
    this.fetching++
    until
      .catch((error) => this.fail(error as Error))
      .finally(() => {
        this.fetching--
        this.endIfFatal()
        this.decideWaiting()
      })
  }

  /** The refused input, and all that followed it, is decided again on the state as it is in the log. */
  private onRefused(error: Error): void {
    if (error instanceof ShardLost || this.dropped) return
    this.generation++
    if (++this.refusals > MAX_REFUSALS) {
      this.deps.onStuck(this, error)
      return
    }
    this.values.forgetStored()
    const [first, ...later] = [...this.written.splice(0), ...this.queue.splice(0)]
    if (first === undefined) return
    const instead = error instanceof PoisonEvent ? withoutResult(first, error) : first
    this.queue = [instead ?? first, ...later]
    const read = this.retrying(() => this.deps.read(this.id)).then(
      (state) => {
        if (this.dropped) return
        if (state === 'ended') return this.deps.onEndedBefore(this)
        this.state = state
        this.snapshots.seq = 0
        if (instead === undefined) this.fail(error)
      },
      (why) => this.deps.onStuck(this, why),
    )
    this.pause(read)
  }

  /** The execution ends with this error; never the process, and never the others. */
  private fail(error: Error): void {
    if (this.dropped || this.fatal !== undefined) return
    this.deps.log.error({ err: error, execution_id: this.id }, 'execution cannot continue and fails')
    this.fatal = error
    this.endIfFatal()
  }

  private endIfFatal(): void {
    if (this.fatal === undefined || this.dropped || this.fetching > 0 || this.written.length > 0) return
    try {
      this.endWith(this.fatal)
    } catch (error) {
      this.deps.onStuck(this, error as Error)
    }
  }

  private endWith(error: Error): void {
    const end = failedEnd({
      state: this.state,
      entry: this.entry,
      first: this.queue[0]?.input,
      error,
      nextId: () => this.deps.nextId(),
    })
    // It counts as fetching until it is durable, so that it is not done twice.
    const inbox = this.unconsumedInbox()
    this.written = this.queue
    this.queue = []
    this.fetching++
    this.deps.append({
      ...this.address,
      ...end,
      inbox,
      ended: true,
      onDurable: () => {
        if (!this.dropped) this.deps.onEnd(this, end.events.at(-1)!)
      },
      onRefused: (why) => {
        if (!(why instanceof ShardLost) && !this.dropped) this.deps.onStuck(this, why)
      },
    })
  }

  private retrying<T>(ask: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(ask, () => !this.dropped)
  }
}

type Reference = Extract<ResultValue, { readonly ref: string }>

const MAX_LOADED_VALUES = 32

/** The values that an execution refers to, as far as they are in memory. The machine asks for what it misses, and is called again. */
class ExecutionValues {
  private readonly execution: string
  private readonly results: ResultStore
  private readonly isWanted: () => boolean
  /** An error is thrown when the value is read. */
  private readonly loaded = new Map<string, { readonly value: Json } | { readonly error: unknown }>()
  private stored = new Map<string, ResultValue>()

  constructor(execution: string, results: ResultStore, isWanted: () => boolean) {
    this.execution = execution
    this.results = results
    this.isWanted = isWanted
  }

  value(result: Reference): Json {
    const known = this.loaded.get(result.ref)
    if (known === undefined) throw new ValueNeeded(result)
    // The least recently used makes room first.
    this.loaded.delete(result.ref)
    this.loaded.set(result.ref, known)
    if ('error' in known) throw known.error
    return known.value
  }

  store(value: Json, name: string, nodeName: string): ResultValue {
    const known = this.stored.get(name)
    if (known === undefined) throw new StoreNeeded(value, name, nodeName)
    return known
  }

  /** Names belong to one decision, also those still on their way: the next may call another value by the same name. */
  forgetStored(): void {
    this.stored = new Map()
  }

  async load(result: Reference): Promise<void> {
    const loaded = await retryWhileUnavailable(() => this.results.load(result), this.isWanted).then(
      (value) => ({ value }),
      (error) => ({ error }),
    )
    if (this.loaded.size >= MAX_LOADED_VALUES) this.loaded.delete(this.loaded.keys().next().value!)
    this.loaded.set(result.ref, loaded)
  }

  async save({ value, key, node_name }: StoreNeeded): Promise<void> {
    const { stored } = this
    const origin = { execution_id: this.execution, node_name, name: key }
    stored.set(key, await retryWhileUnavailable(() => this.results.store(value, origin), this.isWanted))
  }
}

/** Node's timers take no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** When something of an execution is tried again, while its owner has it in memory. */
class ExecutionTimers {
  private readonly deps: { now(): number; onDue(timer: Timer): void }
  private readonly running = new Map<string, NodeJS.Timeout>()

  constructor(deps: { now(): number; onDue(timer: Timer): void }) {
    this.deps = deps
  }

  get size(): number {
    return this.running.size
  }

  arm(timer: Timer): void {
    const key = `${timer.node_id}:${timer.index ?? ''}`
    const leftMs = Math.ceil(Date.parse(timer.at) - this.deps.now())
    clearTimeout(this.running.get(key))
    const running = setTimeout(
      () => {
        this.running.delete(key)
        if (leftMs > MAX_TIMEOUT_MS) this.arm(timer)
        else this.deps.onDue(timer)
      },
      Math.min(MAX_TIMEOUT_MS, Math.max(0, leftMs)),
    )
    this.running.set(key, running)
  }

  clear(): void {
    for (const running of this.running.values()) clearTimeout(running)
    this.running.clear()
  }
}

const MIN_EVENTS_BETWEEN = 500
const MAX_EVENTS_BETWEEN = 20_000
const BYTES_PER_EVENT = 20

/**
 * When a snapshot of a state is worth its bytes: after so many events that it adds little to what they cost themselves (an event
 * some 40 µs, a snapshot 0.1 µs for each byte), and the larger the state is, the rarer. So a step costs the same at the end of a
 * long execution as at its start, and loading the execution folds no more events than this.
 */
class SnapshotPolicy {
  /** Of the last snapshot. */
  seq: number
  private after = MIN_EVENTS_BETWEEN

  constructor(seq: number) {
    this.seq = seq
  }

  /** What is written with a decision: with the first one at least that there is such an execution. */
  checkpointWith({ state, ended }: Decision, isFirst: boolean): Checkpoint | undefined {
    if (state === undefined) return undefined
    const isDue = !ended && state.seq - this.seq >= this.after
    if (!isDue) return isFirst ? checkpointOf(state, null) : undefined
    const text = JSON.stringify(state)
    this.recordWritten(state.seq, text.length)
    return checkpointOf(state, text)
  }

  recordWritten(seq: number, bytes: number): void {
    this.seq = seq
    this.after = Math.min(MAX_EVENTS_BETWEEN, Math.max(MIN_EVENTS_BETWEEN, bytes / BYTES_PER_EVENT))
  }
}

function checkpointOf({ seq, last_event_id }: ExecutionState, state: string | null): Checkpoint {
  return { last_event_id, last_seq: seq, fold_version: FOLD_VERSION, state }
}

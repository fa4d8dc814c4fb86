/**
 * One execution in the memory of its owner. What it is told goes through the machine in order; what follows is appended to the
 * log at once, and begins when it is durable. Its state is ahead of the database by what is on the way: when that is refused
 * the state is read again.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StagedoorError } from '../../errors.ts'
import type { ExecutionEvent } from '../event.ts'
import { decide } from '../machine/decide.ts'
import {
  type Decision,
  type Input,
  KeepNeeded,
  type LocalCommand,
  type Ports,
  type Timer,
  ValueNeeded,
} from '../machine/decision.ts'
import { scopeOf } from '../machine/scope.ts'
import type { ExecutionState } from '../machine/state.ts'
import { isLoopBusy, untilLoopIsFree } from '../playbook/budget.ts'
import type { ResultStore } from '../results/store.ts'
import type { Catalog, CatalogEntry } from './catalog.ts'
import { type Address, decided } from './decided.ts'
import { ExecutionTimers } from './execution-timers.ts'
import { ExecutionValues } from './execution-values.ts'
import { failedEnd, withoutItsResult } from './failure.ts'
import type { Append } from './flush.ts'
import { PoisonEvent, ShardLost } from './log-writer.ts'
import { patiently } from './patience.ts'
import { checkpointOf, SnapshotPace } from './snapshot-pace.ts'

/** What an execution is told, and the row of the inbox that says so. */
export interface Delivery {
  readonly input: Input
  readonly inboxId?: string
  /** How often what follows from it was refused. */
  readonly refusals?: number
}

export interface DrivenSurroundings {
  readonly catalog: Catalog
  readonly results: ResultStore
  readonly log: Logger
  nextId(): string
  append(append: Append): void
  /** Its issue is durable. */
  begin(execution: DrivenExecution, command: LocalCommand): void
  /** As of the end of its log; undefined: it has none. */
  read(execution: string): Promise<ExecutionState | 'ended' | undefined>
  /** Its log ended under another owner: nobody is left to tell. */
  endedBefore(execution: DrivenExecution): void
  /** Its end is durable; `last` says how it ended. */
  ended(execution: DrivenExecution, last: ExecutionEvent): void
  /** Nothing more can be done with it for now. */
  stuck(execution: DrivenExecution, error: Error): void
}

type Scope = ReturnType<typeof scopeOf>

const CLOCK_MS = 100
/** What is read again each time and refused each time is left alone for a while. */
const MOST_REFUSALS = 5
const NO_CHILDREN: ReadonlyMap<string, CatalogEntry> = new Map()

export class DrivenExecution {
  readonly address: Address
  readonly entry: CatalogEntry
  /** Local commands that are to be run or run. */
  readonly commands = new Set<string>()
  state: ExecutionState | undefined
  /** When something was last heard of it. */
  touchedAt = performance.now()
  private readonly around: DrivenSurroundings
  private readonly ports: Ports
  private readonly pace: SnapshotPace
  private readonly values: ExecutionValues
  private readonly timers = new ExecutionTimers(({ node_id, index }) =>
    this.deliver({ input: { kind: 'due', node_id, ...(index !== undefined && { index }) } }),
  )
  /** Of all its commands: they end together. */
  private controller: AbortController | undefined
  private queue: Delivery[] = []
  /** Appended and not durable, in order. */
  private written: Delivery[] = []
  /** How much must be fetched before the next input: a value may be on its way when an earlier input is refused. */
  private fetching = 0
  private gone = false
  /** It must end with this, as soon as what is on the way has arrived. */
  private fatal: Error | undefined
  /** Appends of before a refusal say nothing any more. */
  private generation = 0
  /** Since something of it was last durable. */
  private refusals = 0

  constructor(
    address: Address,
    entry: CatalogEntry,
    state: ExecutionState | undefined,
    around: DrivenSurroundings,
  ) {
    this.address = address
    this.entry = entry
    this.state = state
    this.around = around
    this.pace = new SnapshotPace(state?.seq ?? 0)
    this.values = new ExecutionValues(this.id, around.results, () => !this.gone)
    this.ports = {
      now: () => new Date(),
      nextId: () => around.nextId(),
      value: (result) => this.values.value(result),
      keep: (value, name, nodeName) => this.values.keep(value, name, nodeName),
    }
  }

  get id(): string {
    return this.address.execution_id
  }

  get shard(): number {
    return this.address.shard_id
  }

  /** Aborted when nobody waits for its commands any more. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    return this.controller.signal
  }

  get over(): boolean {
    return this.gone
  }

  /** Nothing of it is on the way to the database. */
  get settled(): boolean {
    return (
      this.fetching === 0 && this.queue.length === 0 && this.written.length === 0 && this.fatal === undefined
    )
  }

  /** Nothing of it is under way in this process. */
  get idle(): boolean {
    return this.settled && this.commands.size === 0 && this.timers.size === 0 && this.state !== undefined
  }

  deliver(delivery: Delivery): void {
    if (this.gone) return
    this.touchedAt = performance.now()
    this.queue.push(delivery)
    this.work()
  }

  /** Its first input needs something that is not there yet; whatever else it is told waits. */
  deliverLater(fetched: Promise<Delivery>): void {
    const first = fetched.then((delivery) => {
      this.queue.unshift(delivery)
    })
    this.pause(first)
  }

  /** It goes on after it was read: what had been issued and had not ended begins again. */
  resume(run: readonly LocalCommand[], timers: readonly Timer[], goOn: boolean): void {
    for (const command of run) if (!this.commands.has(command.command_id)) this.around.begin(this, command)
    for (const timer of timers) this.timers.arm(timer)
    if (goOn) this.deliver({ input: { kind: 'go_on' } })
  }

  /** It is issued and has not ended, as far as is known here. */
  awaits({ node_id, command_id, loop_id, index, attempt }: LocalCommand): boolean {
    const active = this.gone ? undefined : this.state?.active[node_id]
    if (active?.kind === 'command') return active.command_id === command_id && active.retry_at === undefined
    if (active?.kind !== 'loop' || active.loop_id !== loop_id) return false
    const open = active.open[String(index)]
    return open?.attempt === attempt && open.retry_at === undefined
  }

  /** What the tools of a command see; 'unloaded' when a part must be fetched first, undefined when nobody wants it. */
  scopeNow(command: LocalCommand): Scope | 'unloaded' {
    try {
      return this.state && scopeOf(this.entry.playbook, this.state, command, this.ports)
    } catch (error) {
      if (error instanceof ValueNeeded) return 'unloaded'
      throw error
    }
  }

  async scopeOf(command: LocalCommand): Promise<Scope> {
    for (;;) {
      if (this.gone || this.state === undefined) return undefined
      try {
        return scopeOf(this.entry.playbook, this.state, command, this.ports)
      } catch (error) {
        if (!(error instanceof ValueNeeded)) throw error
        await this.values.load(error.result)
      }
    }
  }

  /** Writes the snapshot that it will be read from, if there is anything new in it. */
  snapshot(durable: () => void): void {
    if (this.state === undefined || this.pace.seq === this.state.seq) {
      durable()
      return
    }
    const text = JSON.stringify(this.state)
    const checkpoint = checkpointOf(this.state, text)
    this.around.append({
      ...this.address,
      events: [],
      checkpoint,
      durable: () => {
        this.pace.written(checkpoint.last_seq, text.length)
        durable()
      },
      refused: () => {},
    })
  }

  /** Out of memory: its shard was lost, it has ended, or waits for something that is not here. */
  drop(reason: Error): void {
    this.gone = true
    this.controller?.abort(reason)
    this.timers.clear()
  }

  /** Rows of the inbox that it has and that are not consumed. */
  inboxInHand(): string[] {
    return [...this.written, ...this.queue].flatMap(({ inboxId }) => inboxId ?? [])
  }

  private work(): void {
    try {
      this.decideAll()
    } catch (error) {
      this.fail(error as Error)
    }
  }

  private decideAll(): void {
    while (this.fetching === 0 && !this.gone && this.fatal === undefined && this.queue.length > 0) {
      if (isLoopBusy()) {
        this.pause(untilLoopIsFree())
        return
      }
      let decision: Decision
      try {
        decision = decide(this.entry.playbook, this.state, this.queue[0]!.input, this.ports)
      } catch (error) {
        this.fetchFor(error)
        return
      }
      this.values.forgetKept()
      this.accept(this.queue.shift()!, decision)
    }
  }

  /** What the machine misses is brought, and it decides again. Anything else that it throws is its own mistake. */
  private fetchFor(error: unknown): void {
    if (error instanceof ValueNeeded) this.pause(this.values.load(error.result))
    else if (error instanceof KeepNeeded) this.pause(this.values.store(error))
    // No id can be made just now; that is nobody's fault here.
    else if (error instanceof StagedoorError && error.code === 'clock_went_back') this.pause(delay(CLOCK_MS))
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
    const read = this.patiently(() => this.around.catalog.latest(names)).then(
      (latest) => {
        if (!this.gone && generation === this.generation) this.append(delivery, decision, isFirst, latest)
      },
      // Its state is ahead of a log that nobody will write.
      (error) => this.around.stuck(this, error),
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
    const checkpoint = this.pace.checkpointWith(decision, isFirst)
    this.around.append({
      ...decided(this.address, this.entry, decision, latest),
      ...(checkpoint && { checkpoint }),
      ...(delivery.inboxId !== undefined && { inbox: [delivery.inboxId] }),
      durable: () => {
        if (generation === this.generation) this.durable(decision)
      },
      refused: (error) => {
        if (generation === this.generation) this.refused(error)
      },
    })
  }

  private durable(decision: Decision): void {
    this.written.shift()
    this.refusals = 0
    if (this.gone) return
    for (const command of decision.run) this.around.begin(this, command)
    for (const timer of decision.timers) this.timers.arm(timer)
    if (decision.ended) this.around.ended(this, decision.events.at(-1)!)
    else if (decision.go_on)
      this.deliver({ input: { kind: 'go_on', through: decision.events.at(-1)?.event_id } })
    this.endIfFatal()
  }

  private pause(until: Promise<unknown>): void {
    this.fetching++
    until
      .catch((error) => this.fail(error as Error))
      .finally(() => {
        this.fetching--
        this.endIfFatal()
        this.work()
      })
  }

  /** What was refused, and all that followed it, is told again to the state as it is in the log. */
  private refused(error: Error): void {
    if (error instanceof ShardLost || this.gone) return
    this.generation++
    if (++this.refusals > MOST_REFUSALS) {
      this.around.stuck(this, error)
      return
    }
    this.values.forgetKept()
    const [first, ...later] = [...this.written.splice(0), ...this.queue.splice(0)]
    if (first === undefined) return
    const instead = error instanceof PoisonEvent ? withoutItsResult(first, error) : first
    this.queue = [instead ?? first, ...later]
    const read = this.patiently(() => this.around.read(this.id)).then(
      (state) => {
        if (this.gone) return
        if (state === 'ended') return this.around.endedBefore(this)
        this.state = state
        this.pace.seq = 0
        if (instead === undefined) this.fail(error)
      },
      (why) => this.around.stuck(this, why),
    )
    this.pause(read)
  }

  /** The execution ends with this error; never the process, and never the others. */
  private fail(error: Error): void {
    if (this.gone || this.fatal !== undefined) return
    this.around.log.error({ err: error, execution_id: this.id }, 'an execution cannot go on and is failed')
    this.fatal = error
    this.endIfFatal()
  }

  private endIfFatal(): void {
    if (this.fatal === undefined || this.gone || this.fetching > 0 || this.written.length > 0) return
    try {
      this.endWith(this.fatal)
    } catch (error) {
      this.around.stuck(this, error as Error)
    }
  }

  private endWith(error: Error): void {
    const first = this.queue[0]?.input
    const end = failedEnd(this.state, this.entry, first, error, () => this.around.nextId())
    // On the way until it is durable, so that it is not done twice.
    const inbox = this.inboxInHand()
    this.written = this.queue
    this.queue = []
    this.fetching++
    this.around.append({
      ...this.address,
      ...end,
      inbox,
      ended: true,
      durable: () => {
        if (!this.gone) this.around.ended(this, end.events.at(-1)!)
      },
      refused: (why) => {
        if (!(why instanceof ShardLost) && !this.gone) this.around.stuck(this, why)
      },
    })
  }

  private patiently<T>(ask: () => Promise<T>): Promise<T> {
    return patiently(ask, () => !this.gone)
  }
}

/**
 * What a decision is made from (Input, Ports), its result (Decision), and the DecisionBuilder with which the machine makes it. At the end
 * the two failures that may end a decision early.
 */
import { textOfThrown } from '../../kernel/errors.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { type ExecutionEvent, MAX_INLINE_BYTES, type NewEvent, type ResultValue } from '../event.ts'
import { ExpressionError } from '../playbook/cel.ts'
import type { Plan } from './plan.ts'
import {
  type ExecutionState,
  fold,
  type LoopActivation,
  type Parent,
  RevocableChanges,
  type Seed,
  type StepOutcome,
} from './state.ts'

export type Input =
  | StartInput
  | CommandEndedInput
  | WokenInput
  | ChildEndedInput
  | { readonly kind: 'cancel'; readonly by: string; readonly reason?: string | null }
  | { readonly kind: 'pause'; readonly by: string }
  | { readonly kind: 'resume'; readonly by: string }
  /** A `timer` is due. */
  | { readonly kind: 'due'; readonly node_id: string; readonly index?: number }
  /**
   * A decision with `continues` is durable, or the execution was loaded. `through`: the last event that is durable for certain; the
   * state may be ahead of it. Results that only later events make readable wait for a `continue` of their own.
   */
  | { readonly kind: 'continue'; readonly through: string }

export interface StartInput {
  readonly kind: 'start'
  readonly execution_id: string
  readonly catalog_id: string
  readonly version: number
  readonly args: JsonObject
  readonly workspace_id: string | null
  readonly started_by: string
  readonly cause: string | null
  readonly correlation_id: string | null
  readonly depth: number
  readonly parent: Parent | null
  /** A rerun: from which step, and what `SeedFinder` found in the old log (undefined: that step was never entered there). */
  readonly rerun_of?: string
  readonly from_step?: string
  readonly seed?: Seed | undefined
}

export interface CommandEndedInput {
  readonly kind: 'command_ended'
  readonly command_id: string
  readonly node_id: string
  readonly loop_id?: string | null
  readonly index?: number | null
  readonly attempt: number
  readonly status: 'completed' | 'failed'
  readonly result?: ResultValue | null
  readonly error?: string | null
  readonly retryable?: boolean
  /** Which process ran it, and for how many milliseconds; absent where nobody could say. */
  readonly worker?: string | null
  readonly ms?: number | null
}

export interface WokenInput {
  readonly kind: 'woken'
  readonly node_id: string
  readonly status: string
  readonly event_id?: string | null
  readonly subject?: string | null
  readonly payload?: Json
  /** On a request for approval: who decided what, and what was filled in. */
  readonly decision?: Json
}

export interface ChildEndedInput {
  readonly kind: 'child_ended'
  /** The child. */
  readonly execution_id: string
  readonly node_id: string
  readonly index?: number | null
  readonly attempt?: number | null
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly result?: ResultValue | null
  readonly error?: string | null
}

export interface Ports {
  now(): Date
  /** Increases with every call: ids of events, loops and child executions. */
  nextId(): string
  /** Throws ValueNeeded if the value is not in memory. Any other error fails the step that needs the value. */
  value(result: { readonly ref: string; readonly bytes: number }): Json
  /** Stores a value over MAX_INLINE_BYTES; throws StoreNeeded until it is durable. `name` is the same each time the decision is tried. */
  store(value: Json, name: string, node_name: string): ResultValue
  /** Maximal number of items that one decision issues: a large loop must not delay other executions. Default 1,000. */
  readonly max_items?: number
}

/** The driver loads the value and decides again; the state is unchanged. */
export class ValueNeeded extends Error {
  override readonly name = 'ValueNeeded'
  readonly result: { readonly ref: string; readonly bytes: number }
  constructor(result: { readonly ref: string; readonly bytes: number }) {
    super(`the value of ${result.ref} is not loaded`)
    this.result = result
  }
}

/** The driver stores the value and decides again; the state is unchanged. */
export class StoreNeeded extends Error {
  override readonly name = 'StoreNeeded'
  readonly value: Json
  /** The name under which `ports.store` will ask again. */
  readonly key: string
  readonly node_name: string
  constructor(value: Json, key: string, node_name: string) {
    super(`the value ${key} is not stored`)
    this.value = value
    this.key = key
    this.node_name = node_name
  }
}

/** Everything is written by one flush; `run` and `continues` take effect when it is durable. */
export interface Decision {
  /** After the events; undefined when the execution is unknown. The state that was passed in is changed in place. */
  readonly state: ExecutionState | undefined
  /** Complete except for worker_id and created_at. */
  readonly events: ExecutionEvent[]
  /** To be run by the owner, or by another engine for it; scope and item come from `scopeOf` when it begins. */
  readonly run: LocalCommand[]
  readonly commands: NewCommand[]
  readonly commands_cancelled: { readonly loop_id: string | null }[]
  readonly waits: NewWait[]
  readonly waits_ended: { readonly node_id: string }[]
  readonly children: NewChild[]
  readonly messages: NewMessage[]
  readonly timers: Timer[]
  readonly collect: NewCollection[]
  /** There is more to do: the driver sends {kind: 'continue', through: the last event of the state} when this is durable. */
  readonly continues: boolean
  readonly ended: boolean
}

export interface LocalCommand {
  readonly node_id: string
  readonly step: string
  readonly command_id: string
  readonly attempt: number
  readonly loop_id?: string
  readonly index?: number
}

/** A row of noetl.command. */
export interface NewCommand {
  readonly command_id: string
  readonly loop_id: string
  readonly node_id: string
  readonly node_name: string
  readonly item_index: number
  /** Absent if it is large: then it is read from the collection. */
  readonly item?: Json
  readonly attempt: number
  /** ISO 8601; absent: at once. */
  readonly process_after?: string
}

/** A row of noetl.wait. */
export interface NewWait {
  readonly node_id: string
  readonly kind: 'timer' | 'event' | 'approval'
  /** ISO 8601. */
  readonly wake_at?: string
  readonly event_domain?: string
  readonly event_type?: string
  readonly subject?: string
  readonly match?: JsonObject
  /** Events count from when this entry of a step began; absent: from the beginning of the execution. */
  readonly since_node?: string
  readonly staging_record_id?: string
}

/** The inbox message `start` of a child. An unknown playbook is answered by child_ended FAILED. */
export interface NewChild {
  readonly execution_id: string
  readonly playbook: string
  readonly args: JsonObject
  readonly node_id: string
  readonly index?: number
  readonly attempt: number
  readonly depth: number
  /** The event that started it. */
  readonly cause_event_id: string
}

export interface NewMessage {
  readonly execution_id: string
  readonly kind: 'child_ended' | 'cancel'
  readonly body: JsonObject
}

export interface Timer {
  readonly node_id: string
  readonly index?: number
  /** ISO 8601. */
  readonly at: string
}

/** The results of a loop's items, collected under `ref_id` by the same flush. */
export interface NewCollection {
  readonly loop_id: string
  readonly ref_id: string
  readonly node_name: string
}

/** A step whose arcs are to be taken. */
export interface EndedStep {
  readonly step: string
  readonly event_id: string
  readonly outcome: StepOutcome
}

/** Builds one decision. Each event is folded into the state when it is emitted, so that the rest of the decision sees it. */
export class DecisionBuilder {
  readonly plan: Plan
  readonly ports: Ports
  readonly tokens: EndedStep[] = []
  readonly run: LocalCommand[] = []
  commands: NewCommand[] = []
  children: NewChild[] = []
  readonly commandsCancelled: { readonly loop_id: string | null }[] = []
  readonly waits: NewWait[] = []
  readonly waitsEnded: { readonly node_id: string }[] = []
  readonly messages: NewMessage[] = []
  readonly timers: Timer[] = []
  readonly collect: NewCollection[] = []
  /** Issued items whose child playbook gets invalid arguments. */
  readonly refused: { readonly loop: LoopActivation; readonly index: number; readonly error: string }[] = []
  /** Executions that this decision starts; they are not durable yet. */
  readonly started = new Set<string>()
  continues = false
  /** Items issued so far, and steps that ended as they were entered. */
  items = 0
  idle = 0
  readonly #events: ExecutionEvent[] = []
  readonly #changes = new RevocableChanges()
  #state: ExecutionState | undefined

  constructor(plan: Plan, state: ExecutionState | undefined, ports: Ports) {
    this.plan = plan
    this.ports = ports
    this.#state = state
  }

  /** Defined after the first event. */
  get state(): ExecutionState {
    return this.#state!
  }

  get known(): boolean {
    return this.#state !== undefined
  }

  get paused(): boolean {
    return this.state.status === 'PAUSED'
  }

  get over(): boolean {
    return this.state.status !== 'RUNNING' && this.state.status !== 'PAUSED'
  }

  begin(
    event: NewEvent,
    execution: { execution_id: string; catalog_id: string; parent: Parent | null },
  ): string {
    return this.#append(event, execution, 1, null)
  }

  /** Adds the event and returns its event_id; `from` is the event that it follows from. The event object is changed. */
  emit(event: NewEvent, from: string | null): string {
    return this.#append(event, this.state, this.state.seq + 1, from)
  }

  /** Stores a large value first. `name` identifies it within the decision. */
  storeIfLarge(value: Json, name: string, node_name: string): ResultValue {
    return isLarge(value) ? this.ports.store(value, name, node_name) : { value }
  }

  /** A step has ended: its arcs are taken in this decision, unless the state says that they must wait. */
  endStep(node_id: string, step: string, event_id: string): void {
    const { active, steps } = this.state
    if (active[node_id] === undefined) this.tokens.push({ step, event_id, outcome: steps[step]! })
    else if (!this.paused) this.continues = true
  }

  /** The loop ends early: its items that this decision issued are dropped. */
  drop({ loop_id, node_id }: LoopActivation): void {
    this.commands = this.commands.filter((command) => command.loop_id !== loop_id)
    this.children = this.children.filter((child) => child.node_id !== node_id)
  }

  startChild(child: NewChild): void {
    this.children.push(child)
    this.started.add(child.execution_id)
  }

  /** The execution ends: nothing that this decision issued is started. */
  dropAll(): void {
    for (const list of [this.run, this.commands, this.children, this.waits, this.timers, this.tokens])
      list.length = 0
    this.continues = false
  }

  revoke(): void {
    this.#changes.revoke()
  }

  build(): Decision {
    return {
      state: this.#state,
      events: this.#events,
      run: this.run,
      commands: this.commands,
      commands_cancelled: this.commandsCancelled,
      waits: this.waits,
      waits_ended: this.waitsEnded,
      children: this.children,
      messages: this.messages,
      timers: this.timers,
      collect: this.collect,
      continues: this.continues,
      ended: this.known && this.over && this.#events.length > 0,
    }
  }

  /** Completes the event in place: copies of events took a tenth of a decision's time. */
  #append(
    event: NewEvent,
    { execution_id, catalog_id, parent }: Pick<ExecutionState, 'execution_id' | 'catalog_id' | 'parent'>,
    seq: number,
    from: string | null,
  ): string {
    const whole = event as { -readonly [Field in keyof ExecutionEvent]: ExecutionEvent[Field] }
    whole.execution_id = execution_id
    whole.event_id = this.ports.nextId()
    whole.seq = seq
    whole.catalog_id = catalog_id
    whole.parent_event_id = from
    whole.parent_execution_id = parent === null ? null : parent.execution_id
    this.#state = fold(this.#state, whole, this.#changes)
    this.#events.push(whole)
    return whole.event_id
  }
}

/** A result as events carry it. */
export function okResult(result: ResultValue): JsonObject {
  return 'ref' in result
    ? { status: 'ok', ref: result.ref, bytes: result.bytes }
    : { status: 'ok', value: result.value }
}

export function isLarge(value: Json, maxBytes = MAX_INLINE_BYTES): boolean {
  if (typeof value !== 'object' && typeof value !== 'string') return false
  // Each item of a list takes at least one byte and a comma.
  if (Array.isArray(value) && value.length * 2 > maxBytes) return true
  return Buffer.byteLength(JSON.stringify(value)) > maxBytes
}

const MAX_MESSAGE_LENGTH = 4_000

/** Fails the execution. */
export class PlaybookFailure extends Error {
  override readonly name = 'PlaybookFailure'
  readonly node_name: string | undefined
  readonly from: string | undefined
  constructor(message: string, node_name?: string, from?: string) {
    super(truncateMessage(message))
    this.node_name = node_name
    this.from = from
  }
}

/** The step or the item cannot begin; its on_error decides what follows. */
export class InputFailure extends Error {
  override readonly name = 'InputFailure'
  constructor(message: string) {
    super(truncateMessage(message))
  }
}

/** The text of an error. ValueNeeded and StoreNeeded are no errors: they are thrown on to the driver. */
export function reasonOf(thrown: unknown): string {
  const needed = thrown instanceof ExpressionError ? thrown.cause : thrown
  if (needed instanceof ValueNeeded || needed instanceof StoreNeeded) throw needed
  return textOfThrown(thrown)
}

export function truncateMessage(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 3)}...` : message
}

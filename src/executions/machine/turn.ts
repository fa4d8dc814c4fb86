/** One decision in the making. Its events are folded as they are emitted: what is decided next sees them. */
import { type ExecutionEvent, INLINE_BYTES, type NewEvent, type ResultValue } from '../event.ts'
import type { Json, JsonObject } from '../playbook/definition.ts'
import { Revocable } from './changes.ts'
import type {
  Decision,
  LocalCommand,
  NewChild,
  NewCollection,
  NewCommand,
  NewMessage,
  NewWait,
  Ports,
  Timer,
} from './decision.ts'
import { fold } from './fold.ts'
import type { Plan } from './plan.ts'
import type { ExecutionState, LoopActivation, Parent, StepOutcome } from './state.ts'

/** A step whose arcs are to be taken. */
export interface Token {
  readonly step: string
  readonly event_id: string
  readonly outcome: StepOutcome
}

export class Turn {
  readonly plan: Plan
  readonly ports: Ports
  readonly tokens: Token[] = []
  readonly run: LocalCommand[] = []
  commands: NewCommand[] = []
  children: NewChild[] = []
  readonly commandsGone: { readonly loop_id: string | null }[] = []
  readonly waits: NewWait[] = []
  readonly waitsGone: { readonly node_id: string }[] = []
  readonly messages: NewMessage[] = []
  readonly timers: Timer[] = []
  readonly collect: NewCollection[] = []
  /** Items handed out whose playbook cannot be given its arguments. */
  readonly refused: { readonly loop: LoopActivation; readonly index: number; readonly error: string }[] = []
  /** Executions that this turn begins: nobody knows of them yet. */
  readonly started = new Set<string>()
  goOn = false
  /** Items handed out so far, and steps that ended as they were entered. */
  items = 0
  idle = 0
  readonly #events: ExecutionEvent[] = []
  readonly #changes = new Revocable()
  #state: ExecutionState | undefined

  constructor(plan: Plan, state: ExecutionState | undefined, ports: Ports) {
    this.plan = plan
    this.ports = ports
    this.#state = state
  }

  /** There is one: whoever asks comes after the first event. */
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

  /** Takes the event over and answers its event_id; `from` is the event that it follows from. */
  emit(event: NewEvent, from: string | null): string {
    return this.#append(event, this.state, this.state.seq + 1, from)
  }

  /** Large values are kept first; `name` tells those of one decision apart. */
  kept(value: Json, name: string, node_name: string): ResultValue {
    return isLarge(value) ? this.ports.keep(value, name, node_name) : { value }
  }

  /** A step has ended: its arcs are taken in this turn, unless the fold says that they have to wait. */
  ended(node_id: string, step: string, event_id: string): void {
    const { active, steps } = this.state
    if (active[node_id] === undefined) this.tokens.push({ step, event_id, outcome: steps[step]! })
    else if (!this.paused) this.goOn = true
  }

  /** The loop ends before its items: those of this turn never begin. */
  drop({ loop_id, node_id }: LoopActivation): void {
    this.commands = this.commands.filter((command) => command.loop_id !== loop_id)
    this.children = this.children.filter((child) => child.node_id !== node_id)
  }

  startChild(child: NewChild): void {
    this.children.push(child)
    this.started.add(child.execution_id)
  }

  /** The execution ends: nothing of this turn begins. */
  dropAll(): void {
    for (const list of [this.run, this.commands, this.children, this.waits, this.timers, this.tokens])
      list.length = 0
    this.goOn = false
  }

  revoke(): void {
    this.#changes.revoke()
  }

  decision(): Decision {
    return {
      state: this.#state,
      events: this.#events,
      run: this.run,
      commands: this.commands,
      commands_gone: this.commandsGone,
      waits: this.waits,
      waits_gone: this.waitsGone,
      children: this.children,
      messages: this.messages,
      timers: this.timers,
      collect: this.collect,
      go_on: this.goOn,
      ended: this.known && this.over && this.#events.length > 0,
    }
  }

  /** Completed in place: a copy of each event was a tenth of a decision's cost. */
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

export function isLarge(value: Json, most = INLINE_BYTES): boolean {
  if (typeof value !== 'object' && typeof value !== 'string') return false
  // No item of a list is shorter than itself and a comma.
  if (Array.isArray(value) && value.length * 2 > most) return true
  return Buffer.byteLength(JSON.stringify(value)) > most
}

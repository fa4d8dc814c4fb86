/** What the machine is told, what it may ask for, and what it answers. */
import type { ExecutionEvent, ResultValue } from '../event.ts'
import type { Json, JsonObject } from '../playbook/definition.ts'
import type { ExecutionState, Parent, StepOutcome } from './state.ts'

export type Input =
  | StartInput
  | CommandEndedInput
  | WokenInput
  | ChildEndedInput
  | { readonly kind: 'cancel'; readonly by: string; readonly reason?: string | null }
  | { readonly kind: 'pause'; readonly by: string }
  | { readonly kind: 'resume'; readonly by: string }
  /** The time of a `timer` has come. */
  | { readonly kind: 'due'; readonly node_id: string; readonly index?: number }
  /**
   * A decision said `go_on` and is durable. `through`: its last event, when later ones of the execution are still on their way;
   * what only those make readable waits for its own go_on.
   */
  | { readonly kind: 'go_on'; readonly through?: string | undefined }

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
  /** A rerun: from where, and what `SeedFinder` found in the old log (undefined: that step was never entered there). */
  readonly rerun_of?: string
  readonly from_step?: string
  readonly seed?: Seed | undefined
}

/** What had ended in the old execution when its step was last entered. */
export interface Seed {
  readonly steps: Record<string, StepOutcome>
  readonly entries: Record<string, number>
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
}

export interface WokenInput {
  readonly kind: 'woken'
  readonly node_id: string
  readonly status: string
  readonly event_id?: string | null
  readonly subject?: string | null
  readonly payload?: Json
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
  /** Rises with every call: ids of events, loops and child executions. */
  nextId(): string
  /** Throws ValueNeeded when it is not in memory; any other error fails what needs the value. */
  value(result: { readonly ref: string; readonly bytes: number }): Json
  /** Of a value over INLINE_BYTES; throws KeepNeeded until it is durable. `name` is the same each time the decision is tried. */
  keep(value: Json, name: string, node_name: string): ResultValue
  /** Items that one decision hands out at the most: a large loop must not keep the other executions waiting. 1,000 unless told. */
  readonly most_items?: number
}

/** Load it and decide again: the state is as it was. */
export class ValueNeeded extends Error {
  override readonly name = 'ValueNeeded'
  readonly result: { readonly ref: string; readonly bytes: number }
  constructor(result: { readonly ref: string; readonly bytes: number }) {
    super(`the value of ${result.ref} is not loaded`)
    this.result = result
  }
}

/** Keep it in the result store and decide again: the state is as it was. */
export class KeepNeeded extends Error {
  override readonly name = 'KeepNeeded'
  readonly value: Json
  /** Under which `ports.keep` will ask again. */
  readonly key: string
  readonly node_name: string
  constructor(value: Json, key: string, node_name: string) {
    super(`the value ${key} is not kept`)
    this.value = value
    this.key = key
    this.node_name = node_name
  }
}

/** All of it belongs into one flush; `run` and `go_on` begin when that is durable. */
export interface Decision {
  /** After the events; undefined when the execution is unknown. The state that was passed in is changed in place. */
  readonly state: ExecutionState | undefined
  /** Whole, but for worker_id and created_at. */
  readonly events: ExecutionEvent[]
  /** To be run by the owner, or handed over by it; scope and item come from `scopeOf` when it begins. */
  readonly run: LocalCommand[]
  readonly commands: NewCommand[]
  readonly commands_gone: { readonly loop_id: string | null }[]
  readonly waits: NewWait[]
  readonly waits_gone: { readonly node_id: string }[]
  readonly children: NewChild[]
  readonly messages: NewMessage[]
  readonly timers: Timer[]
  readonly collect: NewCollection[]
  /** There is more to do: give it {kind: 'go_on', through: the last of these events} when this is durable. */
  readonly go_on: boolean
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
  /** Absent: large, to be fetched from the collection. */
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

/** The inbox `start` of a child; a playbook that is not known answers with child_ended FAILED. */
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

/** Results of a loop's items, put together under `ref_id` in the same flush. */
export interface NewCollection {
  readonly loop_id: string
  readonly ref_id: string
  readonly node_name: string
}

/**
 * A playbook as it is run: what YAML and `definePlaybook()` are brought to, and what noetl.catalog.payload holds. Short forms
 * that people write are gone here: every step has a list of tools, every arc stands in a list.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

export const TOOLS = ['sql', 'http', 'handler', 'staging', 'ingest', 'unit', 'playbook', 'duckdb'] as const
export type ToolName = (typeof TOOLS)[number]

export interface Playbook {
  readonly name: string
  readonly description?: string
  /** What an execution can be given, with the values that hold otherwise. */
  readonly args: JsonObject
  /** Where it begins. */
  readonly start: string
  readonly steps: readonly Step[]
  /** What the whole gives back: templates, rendered at its end. */
  readonly output?: Json
}

export interface Step {
  readonly step: string
  readonly description?: string
  /** Run in order as one command; each sees the result of the one before it as `prev`. Empty for a step that waits. */
  readonly tools: readonly ToolCall[]
  readonly loop?: Loop
  readonly wait?: Wait
  readonly retry: Retry
  /** Of one attempt. */
  readonly timeout_ms?: number
  /** After the last attempt: fail ends the execution, continue goes on along the arcs (`error` is set there). */
  readonly on_error: 'fail' | 'continue'
  readonly next: Next
}

export interface ToolCall {
  readonly tool: ToolName
  /** Of a handler or a playbook: its name. */
  readonly call?: string
  /** Strings in it may hold `${ CEL }`; one that is nothing else keeps the type of its value. */
  readonly args: JsonObject
}

export interface Retry {
  /** All attempts together; 1 is no retry. */
  readonly attempts: number
  readonly backoff_ms: number
  readonly backoff_most_ms: number
}

export type LoopMode = 'sequential' | 'parallel' | 'fanout'

/** Attempts of an item are those of the step's `retry`. */
export interface Loop {
  /** A list, or `${ CEL }` that gives one. */
  readonly in: Json
  /** What an item is called in expressions; its place is `index`. */
  readonly as: string
  readonly mode: LoopMode
  readonly max_in_flight: number
  /** The first item that fails for good ends the loop. */
  readonly fail_fast: boolean
  /** Some done and some failed is not a failure of the step. */
  readonly allow_partial: boolean
  /** Named in loop.shard.enqueued. */
  readonly key?: string
}

export type Wait =
  | { readonly kind: 'timer'; readonly for_ms?: number; readonly until?: string }
  | {
      readonly kind: 'event'
      readonly domain: string
      readonly type: string
      readonly subject?: string
      readonly match?: JsonObject
      /** A step: events count from when it was last entered. Absent: from the beginning of the execution. */
      readonly since?: string
      readonly timeout_ms?: number
    }
  | { readonly kind: 'approval'; readonly record: string; readonly timeout_ms?: number }

export interface Next {
  /** exclusive: the first arc that holds; inclusive: every arc that holds, side by side. */
  readonly mode: 'exclusive' | 'inclusive'
  readonly arcs: readonly Arc[]
}

export interface Arc {
  /** CEL; absent: always. */
  readonly when?: string
  readonly step: string
}

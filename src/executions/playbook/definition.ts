/**
 * The normal form of a playbook, to which YAML and `definePlaybook()` are converted and which noetl.catalog.payload stores. It has no
 * short forms: every step has a list of tools, and every arc is in a list.
 */
import type { Duration } from '../../kernel/duration.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'

export const TOOLS = [
  'sql',
  'http',
  'handler',
  'staging',
  'approval',
  'ingest',
  'unit',
  'playbook',
  'duckdb',
] as const
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
  /**
   * Run in order as one command; each sees the result of the one before it as `prev`. Empty for a step that waits; a step that asks for an
   * approval runs its tool `approval` and then waits.
   */
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
  readonly max_backoff_ms: number
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
  /** For the decision on what the tool `approval` of this step has asked for. */
  | { readonly kind: 'request' }

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

// A playbook as people write it, in TypeScript or in YAML: with short forms, and durations in words.

/** `Name` is every step's name: an arc to a step that there is not does not compile. */
export interface WrittenPlaybook<Name extends string = string> {
  readonly name: string
  readonly description?: string
  readonly args?: JsonObject
  /** The first step unless said. */
  readonly start?: NoInfer<Name>
  readonly steps: readonly WrittenStep<Name>[]
  readonly output?: Json
}

export interface WrittenStep<Name extends string = string> {
  readonly step: Name
  readonly description?: string
  /** One tool, with its `call` and `args`; or several in `tools`. */
  readonly tool?: ToolName
  readonly call?: string
  readonly args?: JsonObject
  readonly tools?: readonly WrittenTool[]
  readonly loop?: WrittenLoop
  readonly wait?: WrittenWait
  /** Asks people, and waits for their decision: the arguments of the tool `approval`. */
  readonly approval?: JsonObject
  readonly retry?: number | WrittenRetry
  readonly timeout?: Duration
  readonly on_error?: 'fail' | 'continue'
  readonly next?: WrittenNext<NoInfer<Name>>
}

interface WrittenTool {
  readonly tool: ToolName
  readonly call?: string
  readonly args?: JsonObject
}

interface WrittenLoop {
  readonly in: string | readonly Json[]
  readonly as?: string
  readonly mode?: LoopMode
  readonly max_in_flight?: number
  readonly fail_fast?: boolean
  readonly allow_partial?: boolean
  readonly key?: string
}

interface WrittenRetry {
  readonly attempts: number
  readonly backoff?: Duration
  readonly max_backoff?: Duration
}

type WrittenWait =
  | { readonly for: Duration }
  | { readonly until: string }
  | {
      /** `domain.type`, as in staging.record_approved. */
      readonly event: string
      readonly subject?: string
      readonly match?: JsonObject
      /** A step: events count from when it was last entered. Absent: from the beginning of the execution. */
      readonly since?: string
      readonly timeout?: Duration
    }
  | { readonly approval: string; readonly timeout?: Duration }

type WrittenNext<Name extends string = string> =
  | Name
  | readonly (Name | WrittenArc<Name>)[]
  | { readonly mode?: 'exclusive' | 'inclusive'; readonly arcs: readonly (Name | WrittenArc<Name>)[] }

interface WrittenArc<Name extends string = string> {
  readonly when?: string
  readonly step: Name
}

// How things of a playbook may be called.

/** A step's name stands in expressions (`steps.fetch.result`) and in ids. */
export const STEP_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
export const PLAYBOOK_NAME = /^[a-z][a-z0-9_.:-]{0,62}$/
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,62}$/

/** Roots of expressions; an item of a loop must not hide one. */
export const EXPRESSION_ROOTS = [
  'args',
  'steps',
  'execution',
  'secret',
  'prev',
  'index',
  'result',
  'error',
  'fanin',
] as const

/** CEL would read these as something else. */
const CEL_RESERVED_WORDS: ReadonlySet<string> = new Set(
  `as break const continue else for function if import in let loop package namespace return var void while true false
  null prototype cel optional dyn int uint double string bool bytes list map type null_type has size timestamp duration`.split(
    /\s+/,
  ),
)

export function isReservedInCel(name: string): boolean {
  return CEL_RESERVED_WORDS.has(name)
}

/** The same name in letters that are allowed: fetch-all is fetch_all. */
export function toStepName(name: string): string {
  const plain = name.trim().replaceAll(/[^A-Za-z0-9_]+/g, '_')
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, 63)
}

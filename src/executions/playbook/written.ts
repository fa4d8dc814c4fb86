/** A playbook as people write it, in TypeScript or in YAML: with short forms, and durations in words. */
import type { Json, JsonObject, LoopMode, ToolName } from './definition.ts'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd'
/** 500ms, 30s, 5m, 2h, 2d. */
export type Duration = `${number}${Unit}`

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
  /** One tool, with `call` and `args` beside it; or several in `tools`. */
  readonly tool?: ToolName
  readonly call?: string
  readonly args?: JsonObject
  readonly tools?: readonly WrittenTool[]
  readonly loop?: WrittenLoop
  readonly wait?: WrittenWait
  readonly retry?: number | WrittenRetry
  readonly timeout?: Duration
  readonly on_error?: 'fail' | 'continue'
  readonly next?: WrittenNext<NoInfer<Name>>
}

export interface WrittenTool {
  readonly tool: ToolName
  readonly call?: string
  readonly args?: JsonObject
}

export interface WrittenLoop {
  readonly in: string | readonly Json[]
  readonly as?: string
  readonly mode?: LoopMode
  readonly max_in_flight?: number
  readonly fail_fast?: boolean
  readonly allow_partial?: boolean
  readonly key?: string
}

export interface WrittenRetry {
  readonly attempts: number
  readonly backoff?: Duration
  readonly backoff_most?: Duration
}

export type WrittenWait =
  | { readonly for: Duration }
  | { readonly until: string }
  | {
      /** `domain.type`, as in staging.record_approved. */
      readonly event: string
      readonly subject?: string
      readonly match?: JsonObject
      readonly timeout?: Duration
    }
  | { readonly approval: string; readonly timeout?: Duration }

export type WrittenNext<Name extends string = string> =
  | Name
  | readonly (Name | WrittenArc<Name>)[]
  | { readonly mode?: 'exclusive' | 'inclusive'; readonly arcs: readonly (Name | WrittenArc<Name>)[] }

export interface WrittenArc<Name extends string = string> {
  readonly when?: string
  readonly step: Name
}

/** What runs a step: a tool takes rendered arguments and gives JSON. */
import type { Logger } from 'pino'
import type { Json, JsonObject, ToolName } from './playbook/definition.ts'

export interface ToolContext {
  readonly execution_id: string
  /** The same for every run of one attempt: pass it on as an idempotency key. */
  readonly command_id: string
  readonly playbook: string
  readonly step: string
  readonly attempt: number
  /** Of the item, in a loop. */
  readonly index?: number
  readonly workspace_id: string | null
  /** On whose behalf. */
  readonly started_by: string
  /** The event that the execution follows from. */
  readonly cause: string | null
  /** Aborted when the time of the attempt is up, the execution was cancelled, the lease was lost or the process stops. */
  readonly signal: AbortSignal
  /** When the time of the attempt is up; absent: it has no limit. */
  readonly deadline?: Date
  readonly log: Logger
}

export type Tool = (
  call: string | undefined,
  args: JsonObject,
  context: ToolContext,
) => Promise<Json | undefined>
/** The tool `handler`, and what it can be called for: steps that call another are run by a process that has it. */
export interface HandlerTool extends Tool {
  readonly names: readonly string[]
}
/** `playbook` is not among them: the engine starts executions itself. */
export type Tools = Readonly<Partial<Record<Exclude<ToolName, 'playbook' | 'handler'>, Tool>>> & {
  readonly handler?: HandlerTool
}

/** Thrown by tools. Everything else that a tool throws counts as retryable. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly retryable: boolean
  constructor(message: string, { retryable = false, cause }: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryable = retryable
  }
}

/**
 * A function of the user's, called by name with `tool: handler`. What it is given is JSON that the playbook wrote, and what
 * type that has only its author knows: any, so that a handler may name the type of its arguments.
 */
// biome-ignore lint/suspicious/noExplicitAny: a parameter of any other type refuses handlers that say what they take
export type PlaybookHandler = (args: any, context: ToolContext) => Promise<unknown> | unknown
export type PlaybookHandlers = Readonly<Record<string, PlaybookHandler>>

/** Gives the handlers their types; they are returned as they are. */
export function definePlaybookHandlers<Handlers extends PlaybookHandlers>(handlers: Handlers): Handlers {
  return handlers
}

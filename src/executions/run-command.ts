/**
 * One attempt of a step, or of an item of its loop: its tools in order, in the time that the step allows. What they give
 * back on the way to the last one stays in this process; the last one's result is kept before this resolves.
 */
import { StagedoorError, textOfThrown } from '../errors.ts'
import { patiently } from './engine/patience.ts'
import type { ResultValue } from './event.ts'
import { isLoopBusy, untilLoopIsFree } from './playbook/budget.ts'
import type { Json, JsonObject, Playbook, Step, ToolCall } from './playbook/definition.ts'
import { ExpressionError, render, type Scope, withSecrets } from './playbook/expressions.ts'
import { asJson } from './results/json-value.ts'
import type { ResultStore } from './results/store.ts'
import { storable } from './storable.ts'
import { type ToolContext, ToolError, type Tools } from './tool.ts'
import { SecretsUsed } from './tools/secrets-used.ts'

export interface CommandRun {
  readonly playbook: Playbook
  readonly step: Step
  /** What its expressions refer to, loaded. */
  readonly scope: Scope
  /** Of a loop. */
  readonly item?: Json
  readonly index?: number
  readonly tools: Tools
  readonly results: ResultStore
  readonly context: ToolContext
  /** Default: the environment variable STAGEDOOR_SECRET_<NAME>. */
  readonly secret?: (name: string) => string | undefined
  /** The reference that the result is made from. */
  readonly parent_ref?: string
}

export type CommandOutcome =
  | { readonly status: 'completed'; readonly result: ResultValue }
  | { readonly status: 'failed'; readonly error: string; readonly retryable: boolean }

const MOST_ERROR_CHARACTERS = 2000

/** Never rejects. */
export async function runCommand(run: CommandRun): Promise<CommandOutcome> {
  const secrets = new SecretsUsed(run.secret ?? secretOfEnvironment)
  const attempt = new Attempt(run.step.timeout_ms, run.context)
  try {
    const value = secrets.maskedIn(await attempt.within(runTools(run, attempt.context, secrets)))
    const origin = {
      execution_id: run.context.execution_id,
      node_name: run.step.step,
      command_id: run.context.command_id,
      ...(run.parent_ref !== undefined && { parent_ref: run.parent_ref }),
    }
    // What was done stays done while the database is away.
    const result = await patiently(
      () => run.results.keep(value, origin),
      () => !run.context.signal.aborted,
    )
    return { status: 'completed', result }
  } catch (error) {
    return {
      status: 'failed',
      error: shortened(secrets.masked(textOf(error))),
      retryable: isRetryable(error),
    }
  } finally {
    attempt.end()
  }
}

export function secretOfEnvironment(name: string): string | undefined {
  return process.env[`STAGEDOOR_SECRET_${name}`]
}

async function runTools(run: CommandRun, context: ToolContext, secrets: SecretsUsed): Promise<Json> {
  let prev: Json = null
  for (const call of run.step.tools) {
    context.signal.throwIfAborted()
    if (isLoopBusy()) await untilLoopIsFree()
    const args = withSecrets(render(call.args, scopeOf(run, prev)), secrets.resolve) as JsonObject
    prev = asJson(await toolOf(run.tools, call)(call.call, args, context))
  }
  return prev
}

function scopeOf({ step, scope, item, index }: CommandRun, prev: Json): Scope {
  if (step.loop === undefined) return { ...scope, prev }
  return { ...scope, prev, [step.loop.as]: item, index }
}

function toolOf(tools: Tools, { tool }: ToolCall): NonNullable<Tools[keyof Tools]> {
  const found = tool === 'playbook' ? undefined : tools[tool]
  if (found !== undefined) return found
  throw new ToolError(`This process has no tool ${tool}; it has ${Object.keys(tools).join(', ') || 'none'}`)
}

/** The time of one attempt, and everything else that ends it early. */
class Attempt {
  readonly context: ToolContext
  private readonly outer: AbortSignal
  private readonly timeoutMs: number | undefined
  private readonly controller = new AbortController()
  private readonly timer: NodeJS.Timeout | undefined
  private readonly stop = () => this.controller.abort(new Stopped(this.outer.reason))

  constructor(timeoutMs: number | undefined, context: ToolContext) {
    this.outer = context.signal
    this.timeoutMs = timeoutMs
    this.context = {
      ...context,
      signal: this.controller.signal,
      ...(timeoutMs !== undefined && { deadline: new Date(Date.now() + timeoutMs) }),
    }
    // By hand, not by AbortSignal.any: the outer signal lives as long as the engine, and what hangs on it is taken off again.
    if (this.outer.aborted) this.stop()
    else this.outer.addEventListener('abort', this.stop, { once: true })
    if (timeoutMs !== undefined) {
      this.timer = setTimeout(() => this.controller.abort(this.timedOut()), timeoutMs)
    }
  }

  /** A tool that does not listen to the signal is no longer waited for. */
  async within<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.controller
    let reject: (reason: unknown) => void = () => {}
    const aborted = new Promise<never>((_, fail) => {
      reject = fail
    })
    const listener = () => reject(signal.reason)
    signal.addEventListener('abort', listener, { once: true })
    try {
      return await Promise.race([work, aborted])
    } catch (error) {
      // Whatever a tool throws because it was told to stop, the reason is why.
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', listener)
    }
  }

  end(): void {
    clearTimeout(this.timer)
    this.outer.removeEventListener('abort', this.stop)
  }

  private timedOut(): ToolError {
    return new ToolError(`timed out after ${(this.timeoutMs ?? 0) / 1000} s`, { retryable: true })
  }
}

class Stopped extends Error {
  constructor(reason: unknown) {
    super(`stopped: ${reason instanceof Error ? reason.message : String(reason)}`, { cause: reason })
  }
}

function isRetryable(error: unknown): boolean {
  try {
    if (error instanceof ToolError || error instanceof StagedoorError) return error.retryable
    return !(error instanceof ExpressionError)
  } catch {
    return true
  }
}

export function textOf(thrown: unknown): string {
  return textOfThrown(thrown, (error) => {
    // Of several addresses that did not answer Node says nothing but a list.
    if (error.message === '' && error instanceof AggregateError) return textOf(error.errors[0])
    return String(error.message || error.name)
  })
}

/** It goes into the log. */
function shortened(text: string): string {
  return storable(text.length > MOST_ERROR_CHARACTERS ? `${text.slice(0, MOST_ERROR_CHARACTERS - 1)}…` : text)
}

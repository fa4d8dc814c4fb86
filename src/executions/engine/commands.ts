/**
 * Commands of steps, when their issue is durable. The CommandRouter runs most of them here (LocalCommands); one that calls a handler
 * which this process was not given becomes a row of noetl.command for an engine that has it, and its end comes back through the
 * inbox. Where none has it just now the row waits: its only process may be restarting. `runCommand` is one attempt, wherever
 * it runs, and SecretMask keeps secrets out of its result and its error.
 */
import type { Logger } from 'pino'
import { StagedoorError, textOfThrown } from '../../kernel/errors.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { storableText } from '../../kernel/text.ts'
import { InFlight } from '../../runtime/in-flight.ts'
import { type AbortSource, LazyAbortController } from '../../runtime/lazy-abort.ts'
import { retryWhileUnavailable } from '../../runtime/retry.ts'
import type { ResultValue } from '../event.ts'
import type { LocalCommand } from '../machine/decision.ts'
import { parentRefOf, planOf } from '../machine/plan.ts'
import type { AttemptRun } from '../machine/waits.ts'
import { isLoopBusy, yieldUntilLoopIsFree } from '../playbook/budget.ts'
import { ExpressionError, type Scope } from '../playbook/cel.ts'
import type { Playbook, Step, ToolCall } from '../playbook/definition.ts'
import { render, withSecrets } from '../playbook/expressions.ts'
import { type ResultStore, requireJson } from '../results.ts'
import { type ToolContext, ToolError, type Tools } from '../tools/tool.ts'
import type { DrivenExecution } from './driven-execution.ts'
import { type Append, type CommandRow, ShardLost, Superseded } from './log-writer.ts'

interface CommandRouterDeps {
  readonly handlers: ReadonlySet<string>
  readonly results: ResultStore
  readonly log: Logger
  runLocal(execution: DrivenExecution, command: LocalCommand): void
  append(append: Append): void
}

export class CommandRouter {
  private readonly deps: CommandRouterDeps

  constructor(deps: CommandRouterDeps) {
    this.deps = deps
  }

  dispatch(execution: DrivenExecution, command: LocalCommand): void {
    const { needs } = planOf(execution.entry.playbook).steps.get(command.step)!
    if (needs.every((name) => this.deps.handlers.has(name))) this.deps.runLocal(execution, command)
    else void this.dispatchRemote(execution, command, needs)
  }

  private async dispatchRemote(
    execution: DrivenExecution,
    command: LocalCommand,
    needs: readonly string[],
  ): Promise<void> {
    execution.commands.add(command.command_id)
    try {
      await this.writeRow(execution, command, needs)
    } catch (error) {
      const retryable = !(error instanceof ToolError) || error.retryable
      this.fail(
        execution,
        command,
        `it cannot be given to another engine: ${(error as Error).message}`,
        retryable,
      )
    }
  }

  private async writeRow(
    execution: DrivenExecution,
    command: LocalCommand,
    needs: readonly string[],
  ): Promise<void> {
    const row = await this.rowOf(execution, command, needs)
    // Its end may have come meanwhile. Every later decision is written after the row.
    if (row === undefined || !execution.awaits(command)) {
      execution.commands.delete(command.command_id)
      return
    }
    this.deps.append({
      ...execution.address,
      events: [],
      commands: [row],
      onDurable: () => execution.commands.delete(command.command_id),
      onRefused: (error) => {
        if (error instanceof ShardLost) return
        if (error instanceof Superseded) void this.dispatchRemote(execution, command, needs)
        else this.fail(execution, command, `it cannot be given to another engine: ${error.message}`, false)
      },
    })
  }

  /** Undefined when nobody wants it any more. Items see what their loop began with; a step gets its scope with the row. */
  private async rowOf(
    execution: DrivenExecution,
    command: LocalCommand,
    needs: readonly string[],
  ): Promise<CommandRow | undefined> {
    const { command_id, node_id, step: node_name, attempt, loop_id, index } = command
    const { execution_id, shard_id } = execution.address
    const { catalog_id } = execution.entry
    const row = { command_id, execution_id, shard_id, catalog_id, node_id, node_name, attempt, needs }
    if (loop_id !== undefined) return { ...row, loop_id, item_index: index!, handed_over: true }
    const seen = await execution.scopeOf(command)
    if (seen === undefined) return undefined
    const { state, entry } = execution
    const parent_ref = state && parentRefOf(entry.playbook, state, command)
    const parent = parent_ref !== undefined && { parent_ref }
    const origin = { execution_id, node_name, command_id, name: 'scope', ...parent }
    const stored = await retryWhileUnavailable(
      () => this.deps.results.store(seen.scope, origin),
      () => !execution.over,
    )
    return { ...row, scope: { ...stored, cause: state?.cause ?? null, ...parent }, handed_over: true }
  }

  private fail(execution: DrivenExecution, command: LocalCommand, reason: string, retryable: boolean): void {
    execution.commands.delete(command.command_id)
    if (!execution.awaits(command)) return
    this.deps.log.warn({ command_id: command.command_id, reason }, 'step cannot be dispatched')
    deliverEnd(execution, command, { status: 'failed', error: storableText(reason), retryable })
  }
}

interface LocalCommandsDeps {
  readonly tools: Tools
  readonly results: ResultStore
  concurrency(): number
  readonly log: Logger
  /** The name of this engine, for the log of executions. */
  readonly worker: string
  /** False: the lease has passed by the clock, and nothing may begin under it. */
  mayBegin(): boolean
  onCommandEnd?(command: string, outcome: CommandOutcome['status'], ms: number): void
}

/** Commands of steps that run where their execution is driven: so many at a time, each begun after its issue was durable. */
export class LocalCommands {
  private readonly deps: LocalCommandsDeps
  private waiting: { execution: DrivenExecution; command: LocalCommand }[] = []
  /** Ids of the commands that run. */
  private readonly runningIds = new Set<string>()
  private readonly running = new InFlight()
  private closed = false

  constructor(deps: LocalCommandsDeps) {
    this.deps = deps
  }

  get size(): number {
    return this.running.size
  }

  get runningCommands(): readonly string[] {
    return [...this.runningIds]
  }

  begin(execution: DrivenExecution, command: LocalCommand): void {
    if (this.closed) return
    execution.commands.add(command.command_id)
    if (this.running.size < this.deps.concurrency()) void this.run(execution, command)
    else this.waiting.push({ execution, command })
  }

  /** Begins nothing new: issued commands are for the next owner. Resolves when the running ones have ended, or the time is up. */
  async close(graceMs: number): Promise<void> {
    this.closed = true
    this.waiting = []
    await this.running.idleWithin(graceMs)
  }

  private async run(execution: DrivenExecution, command: LocalCommand): Promise<void> {
    this.running.begin()
    try {
      if (this.deps.mayBegin() && !execution.over) await this.runOne(execution, command)
    } catch (error) {
      this.deps.log.error(
        { err: error, command_id: command.command_id },
        'the end of a command could not be delivered',
      )
    } finally {
      execution.commands.delete(command.command_id)
      this.running.end()
      const next = this.closed ? undefined : this.waiting.shift()
      if (next) void this.run(next.execution, next.command)
    }
  }

  private async runOne(execution: DrivenExecution, command: LocalCommand): Promise<void> {
    const { aborts } = execution
    const began = performance.now()
    this.runningIds.add(command.command_id)
    const outcome = await this.outcomeOf(execution, command, aborts).finally(() =>
      this.runningIds.delete(command.command_id),
    )
    // Nobody waits for it any more: its execution has ended, or goes on elsewhere and runs it again.
    if (outcome === undefined || aborts.aborted || execution.over) return
    const ms = performance.now() - began
    this.deps.onCommandEnd?.(command.step, outcome.status, ms)
    execution.commands.delete(command.command_id)
    deliverEnd(execution, command, outcome, { worker: this.deps.worker, ms: Math.round(ms) })
  }

  private async outcomeOf(
    execution: DrivenExecution,
    command: LocalCommand,
    aborts: AbortSource,
  ): Promise<CommandOutcome | undefined> {
    try {
      const known = execution.scopeNow(command)
      const seen = known === 'unloaded' ? await execution.scopeOf(command) : known
      if (seen === undefined) return undefined
      const { playbook } = execution.entry
      const state = execution.state!
      const parent_ref = parentRefOf(playbook, state, command)
      return await runCommand({
        playbook,
        step: planOf(playbook).steps.get(command.step)!.step,
        ...seen,
        ...(command.index !== undefined && { index: command.index }),
        tools: this.deps.tools,
        results: this.deps.results,
        ...(parent_ref !== undefined && { parent_ref }),
        context: {
          execution_id: execution.id,
          command_id: command.command_id,
          playbook: playbook.name,
          step: command.step,
          attempt: command.attempt,
          ...(command.index !== undefined && { index: command.index }),
          workspace_id: state.workspace_id,
          started_by: state.started_by,
          cause: state.cause,
          log: this.deps.log,
        },
        aborts,
      })
    } catch (error) {
      return {
        status: 'failed',
        error: storableText(textOfThrown(error)),
        retryable: true,
      }
    }
  }
}

function deliverEnd(
  execution: DrivenExecution,
  command: LocalCommand,
  outcome: CommandOutcome,
  run?: AttemptRun,
): void {
  const { command_id, node_id, attempt, loop_id, index } = command
  execution.deliver({
    input: {
      kind: 'command_ended',
      command_id,
      node_id,
      attempt,
      ...(loop_id !== undefined && { loop_id }),
      ...(index !== undefined && { index }),
      ...outcome,
      ...run,
    },
  })
}

/** What tools are told of the command; the attempt adds its own end. */
export type CommandContext = Omit<ToolContext, 'signal' | 'deadline'>

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
  readonly context: CommandContext
  /** Its execution ends it early, or its engine. */
  readonly aborts: AbortSource
  /** Default: the environment variable STAGEDOOR_SECRET_<NAME>. */
  readonly secret?: (name: string) => string | undefined
  /** The reference that the result is made from. */
  readonly parent_ref?: string
  /** How much of its time has passed: it began under another engine, and goes on under this one. */
  readonly elapsedMs?: number
}

export type CommandOutcome =
  | { readonly status: 'completed'; readonly result: ResultValue }
  | { readonly status: 'failed'; readonly error: string; readonly retryable: boolean }

const MAX_ERROR_LENGTH = 2000

/**
 * One attempt of a step, or of an item of its loop: its tools in order, in the time that the step allows. The results of all tools
 * but the last stay in this process; the last one's result is stored before this resolves. Never rejects.
 */
export async function runCommand(run: CommandRun): Promise<CommandOutcome> {
  const secrets = new SecretMask(run.secret ?? secretFromEnvironment)
  const attempt = new CommandAttempt(run.step.timeout_ms, run.context, run.aborts, run.elapsedMs)
  try {
    const value = secrets.maskJson(await attempt.within(runTools(run, attempt, secrets)))
    const origin = {
      execution_id: run.context.execution_id,
      node_name: run.step.step,
      command_id: run.context.command_id,
      ...(run.parent_ref !== undefined && { parent_ref: run.parent_ref }),
    }
    // The tools have done their work: while the database is unavailable their result waits here.
    const result = await retryWhileUnavailable(
      () => run.results.store(value, origin),
      () => !run.aborts.aborted,
    )
    return { status: 'completed', result }
  } catch (error) {
    return failureOf(error, secrets)
  } finally {
    attempt.end()
  }
}

export function secretFromEnvironment(name: string): string | undefined {
  return process.env[`STAGEDOOR_SECRET_${name}`]
}

async function runTools(run: CommandRun, attempt: CommandAttempt, secrets: SecretMask): Promise<Json> {
  let prev: Json = null
  for (const call of run.step.tools) {
    attempt.throwIfAborted()
    if (isLoopBusy()) await yieldUntilLoopIsFree()
    const args = withSecrets(render(call.args, scopeWithItem(run, prev)), secrets.resolve) as JsonObject
    prev = requireJson(await toolOf(run.tools, call)(call.call, args, attempt.context))
  }
  return prev
}

function scopeWithItem({ step, scope, item, index }: CommandRun, prev: Json): Scope {
  if (step.loop === undefined) return { ...scope, prev }
  return { ...scope, prev, [step.loop.as]: item, index }
}

function toolOf(tools: Tools, { tool }: ToolCall): NonNullable<Tools[keyof Tools]> {
  const found = tool === 'playbook' ? undefined : tools[tool]
  if (found !== undefined) return found
  throw new ToolError(`This process has no tool ${tool}; it has ${Object.keys(tools).join(', ') || 'none'}`)
}

/** The time of one attempt, and everything else that ends it early. */
export class CommandAttempt {
  readonly context: ToolContext
  private readonly timeoutMs: number | undefined
  private readonly own = new LazyAbortController()
  private readonly timer: NodeJS.Timeout | undefined
  /** What hangs on its execution, which lives longer, is taken off again. */
  private readonly forgetOuter: () => void

  constructor(timeoutMs: number | undefined, context: CommandContext, outer: AbortSource, elapsedMs = 0) {
    const { own } = this
    this.timeoutMs = timeoutMs
    const leftMs = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - elapsedMs)
    this.context = {
      ...context,
      get signal() {
        return own.signal
      },
      ...(leftMs !== undefined && { deadline: new Date(Date.now() + leftMs) }),
    }
    this.forgetOuter = outer.onAbort(() => own.abort(new Stopped(outer.reason)))
    if (leftMs !== undefined) this.timer = setTimeout(() => own.abort(this.timedOut()), leftMs)
  }

  throwIfAborted(): void {
    if (this.own.aborted) throw this.own.reason
  }

  /** A tool that does not listen to the signal is no longer waited for. */
  async within<T>(work: Promise<T>): Promise<T> {
    const { own } = this
    let reject: (reason: unknown) => void = () => {}
    const aborted = new Promise<never>((_, fail) => {
      reject = fail
    })
    const forget = own.onAbort(() => reject(own.reason))
    try {
      return await Promise.race([work, aborted])
    } catch (error) {
      // Whatever an aborted tool throws, the reason of the abort counts.
      throw own.aborted ? own.reason : error
    } finally {
      forget()
    }
  }

  end(): void {
    clearTimeout(this.timer)
    this.forgetOuter()
  }

  private timedOut(): ToolError {
    return new ToolError(`timed out after ${(this.timeoutMs ?? 0) / 1000} s`, { retryable: true })
  }
}

class Stopped extends Error {
  constructor(reason: unknown) {
    super(`stopped: ${textOfThrown(reason)}`, { cause: reason })
  }
}

/** What a tool threw, as it goes into the log. */
export function failureOf(
  error: unknown,
  secrets?: { maskText(text: string): string },
): CommandOutcome & { readonly status: 'failed' } {
  const text = errorMessage(error)
  return {
    status: 'failed',
    error: truncateError(secrets === undefined ? text : secrets.maskText(text)),
    retryable: isRetryable(error),
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

export function errorMessage(thrown: unknown): string {
  return textOfThrown(thrown, (error) => {
    // Of several addresses that did not answer Node says nothing but a list.
    if (error.message === '' && error instanceof AggregateError) return errorMessage(error.errors[0])
    return String(error.message || error.name)
  })
}

/** It goes into the log. */
function truncateError(text: string): string {
  return storableText(text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH - 1)}…` : text)
}

/** The secrets that one command was given: it masks them in the command's result and error. */
class SecretMask {
  private readonly values = new Set<string>()
  private known: string[] | undefined
  private readonly secret: (name: string) => string | undefined

  constructor(secret: (name: string) => string | undefined) {
    this.secret = secret
  }

  readonly resolve = (name: string): string | undefined => {
    const value = this.secret(name)
    if (value && !this.values.has(value)) {
      this.values.add(value)
      this.known = undefined
    }
    return value
  }

  /** A result is stored and shown: a tool that gives back what it was given must not put a secret there. */
  maskJson(value: Json): Json {
    if (this.values.size === 0) return value
    if (typeof value === 'string') return this.maskText(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => this.maskJson(item))
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [this.maskText(name), this.maskJson(field as Json)]),
    )
  }

  maskText(text: string): string {
    if (this.values.size === 0) return text
    return this.forms().reduce((masked, form) => masked.replaceAll(form, '***'), text)
  }

  /** Also as they look inside JSON and in an address. The longest first: one may be part of another. */
  private forms(): string[] {
    if (this.known !== undefined) return this.known
    const forms = [...this.values].flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '')),
      Buffer.from(value).toString('base64'),
    ])
    this.known = [...new Set(forms)].filter((form) => form !== '').sort((a, b) => b.length - a.length)
    return this.known
  }
}

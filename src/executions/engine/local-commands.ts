/** Commands of steps that run where their execution is driven: so many at a time, each begun after its issue was durable. */
import type { Logger } from 'pino'
import type { LocalCommand } from '../machine/decision.ts'
import { planOf } from '../machine/plan.ts'
import { madeFrom } from '../machine/scope.ts'
import type { ResultStore } from '../results/store.ts'
import { type CommandOutcome, runCommand } from '../run-command.ts'
import { storable } from '../storable.ts'
import type { Tools } from '../tool.ts'
import type { DrivenExecution } from './driven-execution.ts'

export interface LocalRunning {
  readonly tools: Tools
  readonly results: ResultStore
  readonly concurrency: number
  readonly log: Logger
  /** False: the lease has passed by the clock, and nothing may begin under it. */
  mayBegin(): boolean
  ran?(command: string, outcome: CommandOutcome['status'], ms: number): void
}

export class LocalCommands {
  private readonly around: LocalRunning
  private waiting: { execution: DrivenExecution; command: LocalCommand }[] = []
  /** By their ids. */
  private readonly begun = new Set<string>()
  private running = 0
  private closed = false
  private rested: (() => void) | undefined

  constructor(around: LocalRunning) {
    this.around = around
  }

  get size(): number {
    return this.running
  }

  get inHand(): readonly string[] {
    return [...this.begun]
  }

  begin(execution: DrivenExecution, command: LocalCommand): void {
    if (this.closed) return
    execution.commands.add(command.command_id)
    if (this.running < this.around.concurrency) void this.run(execution, command)
    else this.waiting.push({ execution, command })
  }

  /** Nothing new begins: what is issued is for the next owner. Resolves when what runs has ended, or the time is up. */
  async close(graceMs: number): Promise<void> {
    this.closed = true
    this.waiting = []
    if (this.running === 0) return
    const ended = new Promise<void>((resolve) => {
      this.rested = resolve
    })
    let timer: NodeJS.Timeout | undefined
    const time = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([ended, time])
    clearTimeout(timer)
  }

  private async run(execution: DrivenExecution, command: LocalCommand): Promise<void> {
    this.running++
    try {
      if (this.around.mayBegin() && !execution.over) await this.runOne(execution, command)
    } catch (error) {
      this.around.log.error(
        { err: error, command_id: command.command_id },
        'the end of a command was not taken',
      )
    } finally {
      execution.commands.delete(command.command_id)
      this.running--
      if (this.running === 0) this.rested?.()
      const next = this.closed ? undefined : this.waiting.shift()
      if (next) void this.run(next.execution, next.command)
    }
  }

  private async runOne(execution: DrivenExecution, command: LocalCommand): Promise<void> {
    const { signal } = execution
    const began = performance.now()
    this.begun.add(command.command_id)
    const outcome = await this.outcomeOf(execution, command, signal).finally(() =>
      this.begun.delete(command.command_id),
    )
    // Nobody waits for it any more: its execution has ended, or goes on elsewhere and runs it again.
    if (outcome === undefined || signal.aborted || execution.over) return
    this.around.ran?.(command.step, outcome.status, performance.now() - began)
    const { command_id, node_id, attempt, loop_id, index } = command
    execution.commands.delete(command_id)
    execution.deliver({
      input: {
        kind: 'command_ended',
        command_id,
        node_id,
        attempt,
        ...(loop_id !== undefined && { loop_id }),
        ...(index !== undefined && { index }),
        ...outcome,
      },
    })
  }

  private async outcomeOf(
    execution: DrivenExecution,
    command: LocalCommand,
    signal: AbortSignal,
  ): Promise<CommandOutcome | undefined> {
    try {
      const known = execution.scopeNow(command)
      const seen = known === 'unloaded' ? await execution.scopeOf(command) : known
      if (seen === undefined) return undefined
      const { playbook } = execution.entry
      const state = execution.state!
      const parent_ref = madeFrom(playbook, state, command)
      return await runCommand({
        playbook,
        step: planOf(playbook).steps.get(command.step)!.step,
        ...seen,
        ...(command.index !== undefined && { index: command.index }),
        tools: this.around.tools,
        results: this.around.results,
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
          signal,
          log: this.around.log,
        },
      })
    } catch (error) {
      return { status: 'failed', error: storable((error as Error).message ?? String(error)), retryable: true }
    }
  }
}

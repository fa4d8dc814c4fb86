/**
 * Commands of steps, when their issue is durable: most run here. One that calls a handler which this process was not given
 * becomes a row of noetl.command for an engine that has it, and its end comes back through the inbox. Where none has it just
 * now the row waits: its only process may be restarting.
 */
import type { Logger } from 'pino'
import type { LocalCommand } from '../machine/decision.ts'
import { planOf } from '../machine/plan.ts'
import { madeFrom } from '../machine/scope.ts'
import type { ResultStore } from '../results/store.ts'
import { storable } from '../storable.ts'
import { ToolError } from '../tool.ts'
import type { DrivenExecution } from './driven-execution.ts'
import type { Append, CommandRow } from './flush.ts'
import { ShardLost, Superseded } from './log-writer.ts'
import { patiently } from './patience.ts'

export interface HandingOver {
  readonly handlers: ReadonlySet<string>
  readonly results: ResultStore
  readonly log: Logger
  runHere(execution: DrivenExecution, command: LocalCommand): void
  append(append: Append): void
}

export class HandOver {
  private readonly around: HandingOver

  constructor(around: HandingOver) {
    this.around = around
  }

  begin(execution: DrivenExecution, command: LocalCommand): void {
    const { needs } = planOf(execution.entry.playbook).steps.get(command.step)!
    if (needs.every((name) => this.around.handlers.has(name))) this.around.runHere(execution, command)
    else void this.beginElsewhere(execution, command, needs)
  }

  private async beginElsewhere(
    execution: DrivenExecution,
    command: LocalCommand,
    needs: readonly string[],
  ): Promise<void> {
    execution.commands.add(command.command_id)
    try {
      await this.handOver(execution, command, needs)
    } catch (error) {
      const retryable = !(error instanceof ToolError) || error.retryable
      this.fail(execution, command, `it cannot be handed over: ${(error as Error).message}`, retryable)
    }
  }

  private async handOver(
    execution: DrivenExecution,
    command: LocalCommand,
    needs: readonly string[],
  ): Promise<void> {
    const row = await this.rowOf(execution, command, needs)
    // Its end may have come meanwhile. From here on whatever is decided is written after the row.
    if (row === undefined || !execution.awaits(command)) {
      execution.commands.delete(command.command_id)
      return
    }
    this.around.append({
      ...execution.address,
      events: [],
      commands: [row],
      durable: () => execution.commands.delete(command.command_id),
      refused: (error) => {
        if (error instanceof ShardLost) return
        if (error instanceof Superseded) void this.beginElsewhere(execution, command, needs)
        else this.fail(execution, command, `it cannot be handed over: ${error.message}`, false)
      },
    })
  }

  /** Undefined when nobody wants it any more. Items see what their loop began with; a step is told. */
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
    const parent_ref = state && madeFrom(entry.playbook, state, command)
    const parent = parent_ref !== undefined && { parent_ref }
    const origin = { execution_id, node_name, command_id, name: 'scope', ...parent }
    const kept = await patiently(
      () => this.around.results.keep(seen.scope, origin),
      () => !execution.over,
    )
    return { ...row, scope: { ...kept, cause: state?.cause ?? null, ...parent }, handed_over: true }
  }

  private fail(execution: DrivenExecution, command: LocalCommand, reason: string, retryable: boolean): void {
    execution.commands.delete(command.command_id)
    if (!execution.awaits(command)) return
    const { command_id, node_id, attempt, loop_id, index } = command
    this.around.log.warn({ command_id, reason }, 'a step cannot be run')
    execution.deliver({
      input: {
        kind: 'command_ended',
        command_id,
        node_id,
        attempt,
        ...(loop_id !== undefined && { loop_id }),
        ...(index !== undefined && { index }),
        status: 'failed',
        error: storable(reason),
        retryable,
      },
    })
  }
}

/** Commands of steps: handed to the owner, ended, tried again. */
import type { CommandEndedInput } from './decision.ts'
import { shortened } from './failures.ts'
import { itemEnded } from './loops.ts'
import type { PlannedStep } from './plan.ts'
import { type Attempt, isDue, retryAt } from './retry.ts'
import type { CommandActivation, ExecutionState } from './state.ts'
import { okResult, type Turn } from './turn.ts'

export function commandIdOf({ execution_id }: ExecutionState, node_id: string, attempt: number): string {
  return `${execution_id}:${node_id}:${attempt}`
}

export function issueCommand(
  turn: Turn,
  { name }: PlannedStep,
  node_id: string,
  attempt: number,
  from: string,
): void {
  const command_id = commandIdOf(turn.state, node_id, attempt)
  turn.emit(
    {
      event_type: 'command.issued',
      node_id,
      node_name: name,
      node_type: 'command',
      status: 'issued',
      meta: { command_id, attempt },
    },
    from,
  )
  turn.run.push({ node_id, step: name, command_id, attempt })
}

/** Late ones, of an attempt or a loop that is over, say nothing. */
export function commandEnded(turn: Turn, input: CommandEndedInput): void {
  const active = turn.state.active[input.node_id]
  if (active?.kind === 'loop') {
    const open = active.open[String(input.index)]
    if (open === undefined || open.retry_at !== undefined || open.attempt !== input.attempt) return
    if (input.loop_id != null && input.loop_id !== active.loop_id) return
    itemEnded(turn, active, input.index!, attemptOf(input))
  } else if (active?.kind === 'command') {
    if (active.command_id !== input.command_id || active.retry_at !== undefined) return
    stepAttempted(turn, active, attemptOf(input))
  }
}

function stepAttempted(turn: Turn, active: CommandActivation, ended: Attempt): void {
  const { node_id, step, event_id, attempt, command_id } = active
  const planned = turn.plan.steps.get(step)!
  if (ended.status === 'completed') {
    const completed = turn.emit(
      {
        event_type: 'command.completed',
        node_id,
        node_name: step,
        node_type: 'command',
        status: 'completed',
        result: okResult(ended.result),
        meta: { command_id, attempt },
      },
      event_id,
    )
    turn.ended(node_id, step, completed)
    return
  }
  const retry_at = retryAt(turn, planned.step.retry, attempt, ended.retryable)
  const failed = attemptFailed(turn, planned, node_id, attempt, ended.error, retry_at, event_id)
  if (retry_at === undefined) turn.ended(node_id, step, failed)
  else if (!turn.paused)
    retryStep(turn, node_id, retry_at, () => issueCommand(turn, planned, node_id, attempt + 1, failed))
}

/** Of a step: of its command, or of the playbook that it runs. */
export function attemptFailed(
  turn: Turn,
  { name }: PlannedStep,
  node_id: string,
  attempt: number,
  error: string,
  retry_at: string | undefined,
  from: string,
): string {
  const meta = {
    command_id: commandIdOf(turn.state, node_id, attempt),
    attempt,
    final: retry_at === undefined,
  }
  return turn.emit(
    {
      event_type: 'command.failed',
      node_id,
      node_name: name,
      node_type: 'command',
      status: 'failed',
      result: { status: 'error' },
      error: shortened(error),
      meta: retry_at === undefined ? meta : { ...meta, retry_at },
    },
    from,
  )
}

/** Now, or when its time has come. */
export function retryStep(turn: Turn, node_id: string, retry_at: string, begin: () => void): void {
  if (isDue(turn, retry_at)) begin()
  else turn.timers.push({ node_id, at: retry_at })
}

function attemptOf({ status, result, error, retryable }: CommandEndedInput): Attempt {
  if (status === 'completed') return { status, result: result ?? { value: null } }
  return { status, error: error ?? 'it failed and did not say why', retryable: retryable ?? true }
}

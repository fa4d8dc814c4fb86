/** Steps that run another playbook: an execution of its own, which tells this one how it ended. */
import { attemptFailed, retryStep } from './commands.ts'
import type { ChildEndedInput } from './decision.ts'
import { exitStep } from './exit.ts'
import { InputFailure, shortened } from './failures.ts'
import { childArgs, toolScopeOf } from './inputs.ts'
import { itemEnded } from './loops.ts'
import type { PlannedStep } from './plan.ts'
import { type Attempt, retryAt } from './retry.ts'
import type { ChildActivation } from './state.ts'
import type { Turn } from './turn.ts'

/** Throws InputFailure before anything has happened. */
export function startChild(
  turn: Turn,
  planned: PlannedStep,
  node_id: string,
  attempt: number,
  from: string,
): void {
  const args = childArgs(planned, toolScopeOf(turn, planned))
  const execution_id = turn.ports.nextId()
  const event_id = turn.emit(
    {
      event_type: 'step.enter',
      node_id,
      node_name: planned.name,
      node_type: 'step',
      status: 'running',
      meta: { child_execution_id: execution_id, attempt },
    },
    from,
  )
  const playbook = planned.child!.call!
  turn.startChild({
    execution_id,
    playbook,
    args,
    node_id,
    attempt,
    depth: turn.state.depth + 1,
    cause_event_id: event_id,
  })
}

/** A step's playbook is tried again: its arguments may have become wrong since. */
export function startChildAgain(turn: Turn, { node_id, step, attempt, event_id }: ChildActivation): void {
  const planned = turn.plan.steps.get(step)!
  try {
    startChild(turn, planned, node_id, attempt + 1, event_id)
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    exitStep(turn, planned, node_id, { status: 'failed', error: thrown.message }, event_id)
  }
}

export function childEnded(turn: Turn, input: ChildEndedInput): void {
  const active = turn.state.active[input.node_id]
  if (active?.kind === 'loop') {
    const open = active.open[String(input.index)]
    if (open?.child !== input.execution_id || open.retry_at !== undefined) return
    itemEnded(turn, active, input.index!, attemptOf(input))
  } else if (active?.kind === 'child') {
    if (active.child !== input.execution_id || active.retry_at !== undefined) return
    childAttempted(turn, active, attemptOf(input))
  }
}

function childAttempted(turn: Turn, active: ChildActivation, ended: Attempt): void {
  const { node_id, step, event_id, attempt } = active
  const planned = turn.plan.steps.get(step)!
  const retry_at =
    ended.status === 'failed' ? retryAt(turn, planned.step.retry, attempt, ended.retryable) : undefined
  if (ended.status === 'completed') {
    exitStep(turn, planned, node_id, ended, event_id)
  } else if (retry_at === undefined) {
    exitStep(turn, planned, node_id, { status: 'failed', error: shortened(ended.error) }, event_id)
  } else {
    attemptFailed(turn, planned, node_id, attempt, ended.error, retry_at, event_id)
    if (!turn.paused) retryStep(turn, node_id, retry_at, () => startChildAgain(turn, active))
  }
}

/** One that a person cancelled is not tried again. */
function attemptOf({ execution_id, status, result, error }: ChildEndedInput): Attempt {
  if (status === 'COMPLETED') return { status: 'completed', result: result ?? { value: null } }
  const what = status === 'CANCELLED' ? 'was cancelled' : 'failed'
  const why = error ? `: ${error}` : ''
  return {
    status: 'failed',
    error: `execution ${execution_id} ${what}${why}`,
    retryable: status === 'FAILED',
  }
}

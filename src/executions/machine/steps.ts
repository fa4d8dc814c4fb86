/** Steps: a step is entered and issues a command, starts a loop, a wait or a child playbook, or fails if its inputs are invalid. */
import {
  type ChildEndedInput,
  type CommandEndedInput,
  type DecisionBuilder,
  InputFailure,
  okResult,
  PlaybookFailure,
  truncateMessage,
} from './decision.ts'
import { itemEnded, startLoop } from './loops.ts'
import { childArgs, type PlannedStep, readValue, toolScopeOf } from './plan.ts'
import type { ChildActivation, CommandActivation, ExecutionState } from './state.ts'
import {
  type AttemptOutcome,
  type AttemptRun,
  exitStep,
  isDue,
  retryAt,
  startRequestedWait,
  startWait,
} from './waits.ts'

const MAX_ENTRIES = 1_000_000
/** Limit per decision of steps that end as soon as they are entered: beyond it, arcs form a cycle in which nothing runs. */
const MAX_IDLE_ENTRIES = 1_000

export function enterStep(decision: DecisionBuilder, name: string, from: string): void {
  const planned = decision.plan.steps.get(name)
  if (planned === undefined) throw new PlaybookFailure(`there is no step ${name}`, undefined, from)
  if (decision.state.entered >= MAX_ENTRIES) {
    throw new PlaybookFailure(`more than ${MAX_ENTRIES} steps were entered`, name, from)
  }
  const node_id = `${name}#${(decision.state.entries[name] ?? 0) + 1}`
  try {
    beginStep(decision, planned, node_id, from)
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    exitStep(decision, { planned, node_id, from, exit: { status: 'failed', error: thrown.message } })
  }
  if (decision.state.active[node_id] === undefined && ++decision.idle > MAX_IDLE_ENTRIES) {
    throw new PlaybookFailure(
      `steps lead back to ${name} again and again and nothing runs in between`,
      name,
      decision.state.last_event_id,
    )
  }
}

function beginStep(decision: DecisionBuilder, planned: PlannedStep, node_id: string, from: string): void {
  if (planned.step.wait && planned.step.wait.kind !== 'request') startWait(decision, planned, node_id, from)
  else if (planned.step.loop) startLoop(decision, planned, node_id, from)
  else if (planned.child) startChild(decision, { planned, node_id, attempt: 1, from })
  else issueCommand(decision, { planned, node_id, attempt: 1, from })
}

function commandIdOf({ execution_id }: ExecutionState, node_id: string, attempt: number): string {
  return `${execution_id}:${node_id}:${attempt}`
}

/** An attempt at a step; `from` is the event that it follows from. */
interface StepAttempt {
  readonly planned: PlannedStep
  readonly node_id: string
  readonly attempt: number
  readonly from: string
}

export function issueCommand(
  decision: DecisionBuilder,
  { planned: { name }, node_id, attempt, from }: StepAttempt,
): void {
  const command_id = commandIdOf(decision.state, node_id, attempt)
  decision.emit(
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
  decision.run.push({ node_id, step: name, command_id, attempt })
}

/** Ignores late ends: of an earlier attempt, or of a loop that has ended. */
export function handleCommandEnded(decision: DecisionBuilder, input: CommandEndedInput): void {
  const active = decision.state.active[input.node_id]
  if (active?.kind === 'loop') {
    const open = active.open[String(input.index)]
    if (open === undefined || open.retry_at !== undefined || open.attempt !== input.attempt) return
    if (input.loop_id != null && input.loop_id !== active.loop_id) return
    itemEnded(decision, active, input.index!, commandAttempt(input))
  } else if (active?.kind === 'command') {
    if (active.command_id !== input.command_id || active.retry_at !== undefined) return
    commandAttempted(decision, active, commandAttempt(input))
  }
}

function commandAttempted(decision: DecisionBuilder, active: CommandActivation, ended: AttemptOutcome): void {
  const { node_id, step, event_id, attempt, command_id } = active
  const planned = decision.plan.steps.get(step)!
  if (ended.status === 'completed') {
    const completed = decision.emit(
      {
        event_type: 'command.completed',
        node_id,
        node_name: step,
        node_type: 'command',
        status: 'completed',
        result: okResult(ended.result),
        meta: { command_id, attempt, ...ended.run },
      },
      event_id,
    )
    if (planned.step.wait?.kind === 'request')
      startRequestedWait(decision, planned, node_id, completed, readValue(ended.result, decision.ports))
    else decision.endStep(node_id, step, completed)
    return
  }
  const retry_at = retryAt(decision, planned.step.retry, attempt, ended.retryable)
  const failed = emitAttemptFailed(decision, {
    planned,
    node_id,
    attempt,
    error: ended.error,
    retry_at,
    run: ended.run,
    from: event_id,
  })
  if (retry_at === undefined) decision.endStep(node_id, step, failed)
  else if (!decision.paused)
    retryStep(decision, node_id, retry_at, () =>
      issueCommand(decision, { planned, node_id, attempt: attempt + 1, from: failed }),
    )
}

interface FailedAttempt extends StepAttempt {
  readonly error: string
  readonly retry_at: string | undefined
  readonly run?: AttemptRun | undefined
}

/** Emits the failure of an attempt: of a command, or of a child playbook. */
function emitAttemptFailed(
  decision: DecisionBuilder,
  { planned: { name }, node_id, attempt, error, retry_at, run, from }: FailedAttempt,
): string {
  const meta = {
    command_id: commandIdOf(decision.state, node_id, attempt),
    attempt,
    final: retry_at === undefined,
    ...run,
  }
  return decision.emit(
    {
      event_type: 'command.failed',
      node_id,
      node_name: name,
      node_type: 'command',
      status: 'failed',
      result: { status: 'error' },
      error: truncateMessage(error),
      meta: retry_at === undefined ? meta : { ...meta, retry_at },
    },
    from,
  )
}

/** Retries now, or when it is due. */
export function retryStep(
  decision: DecisionBuilder,
  node_id: string,
  retry_at: string,
  begin: () => void,
): void {
  if (isDue(decision, retry_at)) begin()
  else decision.timers.push({ node_id, at: retry_at })
}

function commandAttempt(input: CommandEndedInput): AttemptOutcome {
  const { status, result, error, retryable, worker, ms } = input
  const run = { ...(worker != null && { worker }), ...(ms != null && { ms }) }
  if (status === 'completed') return { status, result: result ?? { value: null }, run }
  return { status, error: error ?? 'failed without a reason', retryable: retryable ?? true, run }
}

/** Starts the child playbook of a step as an execution of its own. Throws InputFailure before it changes anything. */
function startChild(decision: DecisionBuilder, { planned, node_id, attempt, from }: StepAttempt): void {
  const args = childArgs(planned, toolScopeOf(decision, planned))
  const execution_id = decision.ports.nextId()
  const event_id = decision.emit(
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
  decision.startChild({
    execution_id,
    playbook,
    args,
    node_id,
    attempt,
    depth: decision.state.depth + 1,
    cause_event_id: event_id,
  })
}

/** Starts the child playbook again. Its arguments are computed again, and may be invalid by now. */
export function retryChild(
  decision: DecisionBuilder,
  { node_id, step, attempt, event_id }: ChildActivation,
): void {
  const planned = decision.plan.steps.get(step)!
  try {
    startChild(decision, { planned, node_id, attempt: attempt + 1, from: event_id })
  } catch (thrown) {
    if (!(thrown instanceof InputFailure)) throw thrown
    exitStep(decision, {
      planned,
      node_id,
      from: event_id,
      exit: { status: 'failed', error: thrown.message },
    })
  }
}

export function handleChildEnded(decision: DecisionBuilder, input: ChildEndedInput): void {
  const active = decision.state.active[input.node_id]
  if (active?.kind === 'loop') {
    const open = active.open[String(input.index)]
    if (open?.child !== input.execution_id || open.retry_at !== undefined) return
    itemEnded(decision, active, input.index!, childAttempt(input))
  } else if (active?.kind === 'child') {
    if (active.child !== input.execution_id || active.retry_at !== undefined) return
    childAttempted(decision, active, childAttempt(input))
  }
}

function childAttempted(decision: DecisionBuilder, active: ChildActivation, ended: AttemptOutcome): void {
  const { node_id, step, event_id, attempt } = active
  const planned = decision.plan.steps.get(step)!
  const retry_at =
    ended.status === 'failed' ? retryAt(decision, planned.step.retry, attempt, ended.retryable) : undefined
  if (ended.status === 'completed') {
    exitStep(decision, { planned, node_id, from: event_id, exit: ended })
  } else if (retry_at === undefined) {
    const exit = { status: 'failed', error: truncateMessage(ended.error) } as const
    exitStep(decision, { planned, node_id, from: event_id, exit })
  } else {
    emitAttemptFailed(decision, {
      planned,
      node_id,
      attempt,
      error: ended.error,
      retry_at,
      from: event_id,
    })
    if (!decision.paused) retryStep(decision, node_id, retry_at, () => retryChild(decision, active))
  }
}

/** A child that was cancelled is not retried. */
function childAttempt({ execution_id, status, result, error }: ChildEndedInput): AttemptOutcome {
  if (status === 'COMPLETED') return { status: 'completed', result: result ?? { value: null } }
  const what = status === 'CANCELLED' ? 'was cancelled' : 'failed'
  const why = error ? `: ${error}` : ''
  return {
    status: 'failed',
    error: `execution ${execution_id} ${what}${why}`,
    retryable: status === 'FAILED',
  }
}

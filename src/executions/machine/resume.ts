/** What goes on again: after a pause, with the next part of a loop, under a new owner. */
import type { Playbook } from '../playbook/definition.ts'
import { startChildAgain } from './children.ts'
import { issueCommand, retryStep } from './commands.ts'
import type { Input, LocalCommand, Timer } from './decision.ts'
import { exitCollected } from './exit.ts'
import { isRow } from './items.ts'
import { goOnWith, openOf, retryItem, retryRows } from './loops.ts'
import { planOf } from './plan.ts'
import type {
  Activation,
  ChildActivation,
  CommandActivation,
  ExecutionState,
  LoopActivation,
} from './state.ts'
import type { Turn } from './turn.ts'

export function pause(turn: Turn, by: string): void {
  if (turn.paused) return
  turn.emit(
    { event_type: 'execution.paused', node_type: 'playbook', status: 'paused', meta: { by } },
    turn.state.last_event_id,
  )
}

/** The arcs of what ended meanwhile are taken now, in the order in which it ended; timers are set anew. */
export function resume(turn: Turn, by: string): void {
  if (!turn.paused) return
  const before = inOrder(turn.state)
  turn.emit(
    { event_type: 'execution.resumed', node_type: 'playbook', status: 'resumed', meta: { by } },
    turn.state.last_event_id,
  )
  for (const activation of before) {
    if (activation.kind === 'ended' && activation.collecting) turn.goOn = true
    else if (activation.kind === 'ended') turn.tokens.push(activation)
    else if (activation.kind === 'loop') resumeLoop(turn, activation)
    else if (activation.kind !== 'wait' && activation.retry_at !== undefined) retry(turn, activation)
  }
}

function resumeLoop(turn: Turn, loop: LoopActivation): void {
  const planned = turn.plan.steps.get(loop.step)!
  if (!isRow(planned, loop)) {
    for (const index of Object.keys(loop.open)) retryItem(turn, planned, loop, Number(index))
  }
  continueLoop(turn, loop)
}

/** What the decision before left undone, and what its flush has made readable. */
export function goOn(turn: Turn, through?: string): void {
  if (turn.paused) return
  for (const activation of inOrder(turn.state)) {
    if (activation.kind === 'loop') continueLoop(turn, activation)
    else if (
      activation.kind === 'ended' &&
      (through === undefined || byId(activation.event_id, through) <= 0)
    ) {
      exitCollected(turn, activation)
    }
  }
}

function continueLoop(turn: Turn, loop: LoopActivation): void {
  retryRows(turn, loop)
  if (turn.state.active[loop.node_id] === loop) goOnWith(turn, loop, loop.event_id)
}

export function due(turn: Turn, { node_id, index }: Extract<Input, { kind: 'due' }>): void {
  const active = turn.state.active[node_id]
  if (turn.paused || active === undefined) return
  if (active.kind === 'loop') {
    const open = active.open[String(index)]
    if (open?.retry_at !== undefined) retryItem(turn, turn.plan.steps.get(active.step)!, active, index!)
  } else if ((active.kind === 'command' || active.kind === 'child') && active.retry_at !== undefined) {
    retry(turn, active)
  }
}

/** A new owner runs again what was issued and has not ended; rows, waits and children go on by themselves. */
export function resumeAfterLoad(
  playbook: Playbook,
  state: ExecutionState,
): { run: LocalCommand[]; timers: Timer[]; go_on: boolean } {
  const plan = planOf(playbook)
  const run: LocalCommand[] = []
  const timers: Timer[] = []
  let go_on = false
  const paused = state.status === 'PAUSED'
  for (const activation of Object.values(state.active)) {
    const { node_id, step, kind } = activation
    if (kind === 'command' && activation.retry_at === undefined) {
      run.push({ node_id, step, command_id: activation.command_id, attempt: activation.attempt })
    } else if ((kind === 'command' || kind === 'child') && activation.retry_at !== undefined) {
      timers.push({ node_id, at: activation.retry_at })
    } else if (kind === 'ended') {
      go_on = true
    } else if (kind === 'loop') {
      const planned = plan.steps.get(step)!
      go_on ||= activation.issued < activation.total && openOf(activation) < planned.window
      for (const [at, { attempt, retry_at }] of Object.entries(activation.open)) {
        const index = Number(at)
        if (retry_at !== undefined) {
          if (isRow(planned, activation)) go_on = true
          else timers.push({ node_id, index, at: retry_at })
        } else if (activation.mode === 'sequential' && planned.child === undefined) {
          const command_id = `${state.execution_id}:${node_id}:${index}:${attempt}`
          run.push({ node_id, step, command_id, attempt, loop_id: activation.loop_id, index })
        }
      }
    }
  }
  return { run, timers: paused ? [] : timers, go_on: go_on && !paused }
}

/** Of what a new owner would run: that which the last one may have handed over, because it lacked a handler. */
export function commandsWithHandlers(playbook: Playbook, state: ExecutionState): string[] {
  const { steps } = planOf(playbook)
  return Object.values(state.active).flatMap((activation) => {
    const { kind, step, node_id } = activation
    const planned = steps.get(step)
    if (planned === undefined || planned.needs.length === 0) return []
    if (kind === 'command') return activation.retry_at === undefined ? [activation.command_id] : []
    if (kind !== 'loop' || activation.mode !== 'sequential') return []
    return Object.entries(activation.open).flatMap(([index, { attempt, retry_at }]) =>
      retry_at === undefined ? [`${state.execution_id}:${node_id}:${index}:${attempt}`] : [],
    )
  })
}

function retry(turn: Turn, active: CommandActivation | ChildActivation): void {
  retryStep(turn, active.node_id, active.retry_at!, () =>
    active.kind === 'child'
      ? startChildAgain(turn, active)
      : issueCommand(
          turn,
          turn.plan.steps.get(active.step)!,
          active.node_id,
          active.attempt + 1,
          active.event_id,
        ),
  )
}

/** A snapshot does not keep the order of its keys. */
function inOrder({ active }: ExecutionState): Activation[] {
  return Object.values(active).sort((one, other) => byId(one.event_id, other.event_id))
}

function byId(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0)
}

/**
 * The machine: from a playbook, the state of an execution and what it is told, the events that follow and what has to happen
 * with them. No clock, no chance and no I/O of its own: the same answers for the same state, input and ports.
 */
import { withinDecisionBudget } from '../playbook/budget.ts'
import type { Playbook } from '../playbook/definition.ts'
import { childEnded } from './children.ts'
import { commandEnded } from './commands.ts'
import type { Decision, Input, Ports } from './decision.ts'
import { cancel, fail } from './end.ts'
import { PlaybookFailure } from './failures.ts'
import { planOf } from './plan.ts'
import { due, goOn, pause, resume } from './resume.ts'
import { routeAll } from './route.ts'
import { start } from './start.ts'
import type { ExecutionState } from './state.ts'
import { Turn } from './turn.ts'
import { woken } from './waits.ts'

/**
 * Changes the state in place. Throws ValueNeeded and KeepNeeded, and whatever else is thrown, with the state as it was before.
 * What says nothing new (redelivered, late, to one that has ended) gets a decision without events.
 */
export function decide(
  playbook: Playbook,
  state: ExecutionState | undefined,
  input: Input,
  ports: Ports,
): Decision {
  const turn = new Turn(planOf(playbook), state, ports)
  try {
    withinDecisionBudget(() => take(turn, input))
    return turn.decision()
  } catch (thrown) {
    turn.revoke()
    throw thrown
  }
}

function take(turn: Turn, input: Input): void {
  if (!turn.known ? input.kind !== 'start' : input.kind === 'start' || turn.over) return
  try {
    answer(turn, input)
    routeAll(turn)
  } catch (thrown) {
    if (!(thrown instanceof PlaybookFailure)) throw thrown
    fail(turn, thrown)
  }
}

function answer(turn: Turn, input: Input): void {
  if (input.kind === 'start') start(turn, input)
  else if (input.kind === 'command_ended') commandEnded(turn, input)
  else if (input.kind === 'woken') woken(turn, input)
  else if (input.kind === 'child_ended') childEnded(turn, input)
  else if (input.kind === 'due') due(turn, input)
  else if (input.kind === 'go_on') goOn(turn, input.through)
  else if (input.kind === 'pause') pause(turn, input.by)
  else if (input.kind === 'resume') resume(turn, input.by)
  else cancel(turn, input)
}

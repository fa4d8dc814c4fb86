/** Where an execution goes when a step has ended. */
import { holds } from '../playbook/expressions.ts'
import { complete } from './end.ts'
import { enter } from './enter.ts'
import { PlaybookFailure, reasonOf } from './failures.ts'
import type { PlannedStep } from './plan.ts'
import { scopeAfter, scopeFor } from './scope.ts'
import type { Token, Turn } from './turn.ts'

/** Until every step that ended in this turn has been followed; then the execution may be complete. */
export function routeAll(turn: Turn): void {
  let last: Token | undefined
  // Entering a step may end it at once and append to the list.
  for (const token of turn.tokens) {
    route(turn, token)
    last = token
  }
  if (last !== undefined && !turn.paused && isIdle(turn)) complete(turn, last)
}

function route(turn: Turn, token: Token): void {
  const planned = turn.plan.steps.get(token.step)!
  const { next, on_error } = planned.step
  if (token.outcome.status === 'failed' && on_error === 'fail') {
    const error = `step ${token.step} failed: ${token.outcome.error ?? 'it did not say why'}`
    throw new PlaybookFailure(error, token.step, token.event_id)
  }
  const conditional = next.arcs.some((arc) => arc.when !== undefined)
  const scope = conditional ? arcScope(turn, planned, token) : {}
  for (const arc of next.arcs) {
    if (arc.when !== undefined && !takes(arc.when, scope, token)) continue
    enter(turn, arc.step, token.event_id)
    if (next.mode === 'exclusive') return
  }
}

function arcScope(turn: Turn, planned: PlannedStep, { step, outcome, event_id }: Token) {
  try {
    return scopeAfter(scopeFor(turn.plan, turn.state, planned.arcs, turn.ports), outcome, turn.ports)
  } catch (thrown) {
    throw new PlaybookFailure(`the arcs of step ${step}: ${reasonOf(thrown)}`, step, event_id)
  }
}

function takes(when: string, scope: ReturnType<typeof scopeAfter>, { step, event_id }: Token): boolean {
  try {
    return holds(when, scope)
  } catch (thrown) {
    throw new PlaybookFailure(`an arc of step ${step}: ${reasonOf(thrown)}`, step, event_id)
  }
}

function isIdle(turn: Turn): boolean {
  for (const _ in turn.state.active) return false
  return true
}

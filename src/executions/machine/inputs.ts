/** What a step or an item needs to begin, computed; what is wrong with it names the step and the place. */
import type { Json, JsonObject } from '../playbook/definition.ts'
import { render, type Scope } from '../playbook/expressions.ts'
import { InputFailure, reasonOf } from './failures.ts'
import type { PlannedStep } from './plan.ts'
import { scopeFor, toolScope } from './scope.ts'
import type { Turn } from './turn.ts'

export function inputOf(turn: Turn, planned: PlannedStep, place: string, template: Json): Json {
  return attempted(planned, place, () =>
    render(template, scopeFor(turn.plan, turn.state, planned.inputs, turn.ports)),
  )
}

export function toolScopeOf(turn: Turn, planned: PlannedStep): JsonObject {
  return attempted(planned, 'args', () => toolScope(turn.plan, turn.state, planned.name, turn.ports))
}

export function childArgs(planned: PlannedStep, scope: Scope): JsonObject {
  return attempted(planned, 'args', () => render(planned.child!.args, scope) as JsonObject)
}

export function attempted<T>({ name }: PlannedStep, place: string, compute: () => T): T {
  try {
    return compute()
  } catch (thrown) {
    if (thrown instanceof InputFailure) throw thrown
    throw new InputFailure(`${place} of step ${name}: ${reasonOf(thrown)}`)
  }
}

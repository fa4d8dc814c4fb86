/** What expressions see: what they refer to, and nothing else, so that no result is loaded for nothing. */
import type { ResultValue } from '../event.ts'
import type { Json, JsonObject, Playbook } from '../playbook/definition.ts'
import type { References, Scope } from '../playbook/expressions.ts'
import type { LocalCommand, Ports } from './decision.ts'
import { type Plan, planOf } from './plan.ts'
import type { ExecutionState, StepOutcome } from './state.ts'

type Reader = Pick<Ports, 'value'>

export function readValue(result: ResultValue, ports: Reader): Json {
  return 'ref' in result ? ports.value(result) : result.value
}

/** Of a command that the owner runs; undefined when it is not wanted any more. Throws ValueNeeded. */
export function scopeOf(
  playbook: Playbook,
  state: ExecutionState,
  { node_id, step, index }: Pick<LocalCommand, 'node_id' | 'step' | 'index'>,
  ports: Reader,
): { scope: JsonObject; item?: Json } | undefined {
  const active = state.active[node_id]
  if (active?.kind === 'command') return { scope: toolScope(planOf(playbook), state, step, ports) }
  if (active?.kind !== 'loop' || index === undefined || active.open[index] === undefined) return undefined
  const items = readValue(active.collection, ports) as readonly Json[]
  return { scope: readValue(active.scope, ports) as JsonObject, item: items[index] ?? null }
}

/** The first of what a command sees that is kept by reference: its own result is made from that. */
export function madeFrom(
  playbook: Playbook,
  { active, steps }: ExecutionState,
  { node_id, step }: Pick<LocalCommand, 'node_id' | 'step'>,
): string | undefined {
  const loop = active[node_id]
  if (loop?.kind === 'loop') return firstRef([loop.collection, loop.scope])
  const { all, values, results } = planOf(playbook).steps.get(step)!.tools
  return firstRef([
    ...(all ? Object.keys(steps) : values).map((name) => steps[name]?.result),
    ...(all ? Object.keys(steps) : results).map((name) => steps[name]?.results),
  ])
}

function firstRef(kept: readonly (ResultValue | undefined)[]): string | undefined {
  for (const value of kept) if (value !== undefined && 'ref' in value) return value.ref
  return undefined
}

export function toolScope(plan: Plan, state: ExecutionState, step: string, ports: Reader): JsonObject {
  return scopeFor(plan, state, plan.steps.get(step)!.tools, ports)
}

export function scopeFor(
  plan: Plan,
  state: ExecutionState,
  references: References,
  ports: Reader,
): JsonObject {
  return {
    execution: {
      id: state.execution_id,
      playbook: plan.playbook.name,
      version: state.version,
      started_by: state.started_by,
      workspace: state.workspace_id,
    },
    steps: stepsFor(state, references, ports),
    ...((references.args || references.all) && { args: state.args }),
  }
}

/** Of arcs and of the output: also what just ended. A large result is loaded when an expression reads it. */
export function scopeAfter(
  { execution, steps, args }: JsonObject,
  { result = { value: null }, error, fanin }: StepOutcome,
  ports: Reader,
): Scope {
  const known = { execution, steps, args, error: error ?? null, fanin: fanin ? { ...fanin } : null }
  if (!('ref' in result)) return { ...known, result: result.value }
  return {
    ...known,
    get result() {
      return ports.value(result)
    },
  }
}

function stepsFor(state: ExecutionState, references: References, ports: Reader): JsonObject {
  const names = references.all ? Object.keys(state.steps) : references.steps
  const steps: Record<string, Json> = {}
  for (const name of names) {
    const outcome = state.steps[name]
    if (outcome === undefined) continue
    const wanted = (list: string[]) => references.all || list.includes(name)
    steps[name] = {
      status: outcome.status,
      error: outcome.error ?? null,
      fanin: outcome.fanin ? { ...outcome.fanin } : null,
      ...(wanted(references.values) && { result: outcome.result ? readValue(outcome.result, ports) : null }),
      ...(wanted(references.results) && {
        results: outcome.results ? readValue(outcome.results, ports) : null,
      }),
    }
  }
  return steps
}

/** The plan of a playbook: lookups that the machine needs for every decision, computed once; and what expressions see. */

import type { Json, JsonObject } from '../../kernel/json.ts'
import type { ResultValue } from '../event.ts'
import type { Scope } from '../playbook/cel.ts'
import type { Playbook, Step, ToolCall } from '../playbook/definition.ts'
import { findReferences, type References, render } from '../playbook/expressions.ts'
import { type DecisionBuilder, InputFailure, type LocalCommand, type Ports, reasonOf } from './decision.ts'
import type { ExecutionState, StepOutcome } from './state.ts'

export interface Plan {
  readonly playbook: Playbook
  readonly steps: ReadonlyMap<string, PlannedStep>
  readonly output: References
}

export interface PlannedStep {
  readonly name: string
  readonly step: Step
  /** The playbook that it runs instead of tools. */
  readonly child: ToolCall | undefined
  /** Handlers that its tools call. */
  readonly needs: readonly string[]
  /** How many items of its loop may be open at a time. */
  readonly window: number
  /** An expression of the playbook refers to `steps.<name>.results`. */
  readonly collects: boolean
  /** The references of its tools (and of the key of its loop), of its inputs, and of its arcs. */
  readonly tools: References
  readonly inputs: References
  readonly arcs: References
}

const plans = new WeakMap<Playbook, Plan>()

export function planOf(playbook: Playbook): Plan {
  const known = plans.get(playbook)
  if (known !== undefined) return known
  const plan = buildPlan(playbook)
  plans.set(playbook, plan)
  return plan
}

function buildPlan(playbook: Playbook): Plan {
  const drafts = playbook.steps.map((step) => ({ step, ...referencesOf(step) }))
  const output = findReferences([playbook.output ?? null])
  const all = [output, ...drafts.flatMap(({ tools, inputs, arcs }) => [tools, inputs, arcs])]
  const collected = new Set(all.flatMap((references) => references.results))
  const everything = all.some((references) => references.all)
  const steps = drafts.map(
    (draft): PlannedStep => ({
      ...draft,
      name: draft.step.step,
      child: draft.step.tools.find(({ tool }) => tool === 'playbook'),
      needs: handlersOf(draft.step),
      window: draft.step.loop?.mode === 'sequential' ? 1 : Math.max(1, draft.step.loop?.max_in_flight ?? 1),
      collects: draft.step.loop !== undefined && (everything || collected.has(draft.step.step)),
    }),
  )
  return { playbook, output, steps: new Map(steps.map((step) => [step.name, step])) }
}

function handlersOf({ tools }: Step): string[] {
  return [
    ...new Set(tools.flatMap(({ tool, call }) => (tool === 'handler' && call !== undefined ? [call] : []))),
  ]
}

function referencesOf({ tools, loop, wait, next }: Step) {
  return {
    tools: findReferences([...tools.map(({ args }) => args), loop?.key ?? null]),
    inputs: findReferences([loop?.in ?? null, wait === undefined ? null : { ...wait }]),
    arcs: findReferences(next.arcs.flatMap(({ when }) => when ?? [])),
  }
}

// Scopes of expressions: only what they refer to, so that no result is loaded in vain.

type Reader = Pick<Ports, 'value'>

export function readValue(result: ResultValue, ports: Reader): Json {
  return 'ref' in result ? ports.value(result) : result.value
}

/** The scope of a command that the owner runs; undefined if the command is no longer open. Throws ValueNeeded. */
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

/** The first result in the scope of a command that is stored by reference: its own result is recorded as derived from it. */
export function parentRefOf(
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

function firstRef(values: readonly (ResultValue | undefined)[]): string | undefined {
  for (const value of values) if (value !== undefined && 'ref' in value) return value.ref
  return undefined
}

function toolScope(plan: Plan, state: ExecutionState, step: string, ports: Reader): JsonObject {
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

/** The scope of arcs and of the output, including the step that just ended. A large result is loaded when an expression reads it. */
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

// Inputs of steps and items. An error names the step and the place in it.

export function renderInput(
  decision: DecisionBuilder,
  planned: PlannedStep,
  place: string,
  template: Json,
): Json {
  return orInputFailure(planned, place, () =>
    render(template, scopeFor(decision.plan, decision.state, planned.inputs, decision.ports)),
  )
}

export function toolScopeOf(decision: DecisionBuilder, planned: PlannedStep): JsonObject {
  return orInputFailure(planned, 'args', () =>
    toolScope(decision.plan, decision.state, planned.name, decision.ports),
  )
}

export function childArgs(planned: PlannedStep, scope: Scope): JsonObject {
  return orInputFailure(planned, 'args', () => render(planned.child!.args, scope) as JsonObject)
}

export function orInputFailure<T>({ name }: PlannedStep, place: string, compute: () => T): T {
  try {
    return compute()
  } catch (thrown) {
    if (thrown instanceof InputFailure) throw thrown
    throw new InputFailure(`${place} of step ${name}: ${reasonOf(thrown)}`)
  }
}

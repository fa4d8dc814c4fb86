/** What the machine looks up in a playbook again and again, found once. */
import type { Playbook, Step, ToolCall } from '../playbook/definition.ts'
import { type References, stepsReferredTo } from '../playbook/expressions.ts'

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
  /** How many items of its loop are out at a time. */
  readonly window: number
  /** Somebody refers to `steps.<name>.results`. */
  readonly collects: boolean
  /** What is referred to by its tools (and the key of its loop), by what it needs to begin, and by its arcs. */
  readonly tools: References
  readonly inputs: References
  readonly arcs: References
}

const plans = new WeakMap<Playbook, Plan>()

export function planOf(playbook: Playbook): Plan {
  const known = plans.get(playbook)
  if (known !== undefined) return known
  const plan = planned(playbook)
  plans.set(playbook, plan)
  return plan
}

function planned(playbook: Playbook): Plan {
  const drafts = playbook.steps.map((step) => ({ step, ...referencesOf(step) }))
  const output = stepsReferredTo([playbook.output ?? null])
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
    tools: stepsReferredTo([...tools.map(({ args }) => args), loop?.key ?? null]),
    inputs: stepsReferredTo([loop?.in ?? null, wait === undefined ? null : { ...wait }]),
    arcs: stepsReferredTo(next.arcs.flatMap(({ when }) => when ?? [])),
  }
}

/** A playbook as nodes and arcs, from its definition or, where that is not open, from what the log of an execution shows. */
import type { ExecutionGraph, GraphNode } from '../api/types.ts'
import { duration } from '../parts/format.ts'

/** What a page needs of a playbook as it is run; the API answers with more. */
export interface Definition {
  readonly name: string
  readonly description?: string
  readonly args: Readonly<Record<string, unknown>>
  readonly start: string
  readonly steps: readonly DefinedStep[]
}

interface DefinedStep {
  readonly step: string
  readonly description?: string
  readonly tools: readonly { readonly tool: string; readonly call?: string }[]
  readonly loop?: { readonly mode: string }
  readonly wait?: {
    readonly kind: string
    readonly for_ms?: number
    readonly until?: string
    readonly domain?: string
    readonly type?: string
    readonly record?: string
  }
  readonly retry?: { readonly attempts: number }
  readonly next: {
    readonly mode: string
    readonly arcs: readonly { readonly when?: string; readonly step: string }[]
  }
}

export interface StepNode {
  readonly step: string
  /** What it does, in a few words. */
  readonly about: string
  readonly mode: string | undefined
  readonly isStart: boolean
  /** The execution began at a later step, and took over what this one had said. */
  readonly isBefore: boolean
  /** Undefined: it was not entered, or there is no execution. */
  readonly run: GraphNode | undefined
}

export interface StepArc {
  readonly from: string
  readonly to: string
  readonly when: string | undefined
  readonly taken: boolean
}

export interface StepGraph {
  readonly steps: readonly StepNode[]
  readonly arcs: readonly StepArc[]
}

/** `begin`: the step at which an execution that is run again began. */
export function graphOf(
  definition: Definition | null,
  run?: ExecutionGraph,
  begin: string | null = null,
): StepGraph {
  const taken = new Set(run?.arcs.map(({ from, to }) => `${from} ${to}`))
  const nodes = new Map(run?.nodes.map((node) => [node.step, node]))
  if (definition === null) return graphOfRun(run)
  const graph: StepGraph = {
    steps: definition.steps.map((step) => ({
      step: step.step,
      about: aboutOf(step),
      mode: step.loop?.mode,
      isStart: step.step === definition.start,
      isBefore: false,
      run: nodes.get(step.step),
    })),
    arcs: definition.steps.flatMap(({ step, next }) =>
      next.arcs.map((arc, index) => ({
        from: step,
        to: arc.step,
        when: arc.when ?? (next.mode === 'exclusive' && index > 0 ? 'otherwise' : undefined),
        taken: taken.has(`${step} ${arc.step}`),
      })),
    ),
  }
  if (begin === null) return graph
  const again = new Set(stepsFrom(graph, begin))
  return { ...graph, steps: graph.steps.map((node) => ({ ...node, isBefore: !again.has(node.step) })) }
}

function graphOfRun(run: ExecutionGraph | undefined): StepGraph {
  const nodes = run?.nodes ?? []
  return {
    steps: nodes.map((node, index) => ({
      step: node.step,
      about: node.loop ? 'for each item' : '',
      mode: node.loop?.mode,
      isStart: index === 0,
      isBefore: false,
      run: node,
    })),
    arcs: (run?.arcs ?? []).map(({ from, to }) => ({ from, to, when: undefined, taken: true })),
  }
}

function aboutOf({ tools, wait }: DefinedStep): string {
  if (wait === undefined) {
    const words = tools.map(({ tool, call }) => (call === undefined ? tool : `${tool} ${call}`))
    return [...new Set(words)].join(', ')
  }
  if (wait.kind === 'timer')
    return wait.until ? `waits until ${wait.until}` : `waits ${duration(wait.for_ms ?? 0)}`
  if (wait.kind === 'event') return `waits for ${wait.domain}.${wait.type}`
  return 'waits for a decision'
}

/** The step itself and every step that can follow from it. */
export function stepsFrom(graph: StepGraph, step: string): string[] {
  const found = new Set([step])
  for (const from of found) for (const arc of graph.arcs) if (arc.from === from) found.add(arc.to)
  return graph.steps.map((node) => node.step).filter((name) => found.has(name))
}

/** How long the latest entry of a step took. */
export function stepDuration({ entered_at, ended_at }: GraphNode): string | undefined {
  return ended_at === null ? undefined : duration(Date.parse(ended_at) - Date.parse(entered_at))
}

/**
 * Playbooks in the abstract: what the generator makes, what the reference interprets without knowing CEL or the machine, and what
 * `playbookOf` writes as a real playbook. Which way an execution goes depends on nothing but the script, whatever the order of
 * things: conditions look only at the step that just ended, and outcomes depend on the number of the entry.
 */

import type { LoopMode, Playbook, Step, ToolCall } from '../../../src/executions/playbook/definition.ts'
import type { Json } from '../../../src/kernel/json.ts'

export interface Sketch {
  readonly name: string
  /** No arcs side by side: what ended last is the same in every run. */
  readonly linear: boolean
  readonly steps: readonly StepSketch[]
}

export interface StepSketch {
  readonly name: string
  readonly work: Work
  readonly attempts: number
  readonly backoff: number
  readonly goesOn: boolean
  readonly inclusive: boolean
  readonly arcs: readonly { readonly when: Condition; readonly to: string }[]
}

export type Work =
  | { readonly kind: 'command' }
  /** Never fails: its result bounds the way back. */
  | { readonly kind: 'counter' }
  | { readonly kind: 'wait'; readonly for: 'timer' | 'event' }
  | { readonly kind: 'child'; readonly playbook: string; readonly brokenArgs: boolean }
  | LoopSketch

export interface LoopSketch {
  readonly kind: 'loop'
  readonly mode: LoopMode
  readonly items: number | 'not a list'
  readonly window: number
  readonly failFast: boolean
  readonly allowPartial: boolean
  readonly collects: boolean
  readonly playbook?: string
}

/** even: of the result's v; again: the counter is below 3; broken: cannot be computed. */
export type Condition =
  | 'always'
  | 'never'
  | 'failed'
  | 'fine'
  | 'even'
  | 'again'
  | 'partial'
  | 'broken'
  | 'collected'

const CEL: Record<Condition, (step: string) => string | undefined> = {
  always: () => undefined,
  never: () => 'false',
  failed: () => 'error != null',
  fine: () => 'error == null',
  even: () => 'result != null && has(result.v) && result.v % 2 == 0',
  again: () => 'result.n < 3',
  partial: () => 'fanin != null && fanin.status == "partial"',
  broken: () => 'args.salt.nothing.there == 1',
  collected: (step) => `steps.${step}.results != null`,
}

export function playbookOf(sketch: Sketch): Playbook {
  return {
    name: sketch.name,
    args: { salt: '' },
    start: sketch.steps[0]!.name,
    steps: sketch.steps.map(stepOf),
    ...(sketch.linear && {
      output: { first: `\${steps.${sketch.steps[0]!.name}.status}`, salt: '${args.salt}' },
    }),
  }
}

function stepOf({ name, work, attempts, backoff, goesOn, inclusive, arcs }: StepSketch): Step {
  return {
    step: name,
    tools: toolsOf(name, work),
    retry: { attempts, backoff_ms: backoff, max_backoff_ms: 10_000 },
    on_error: goesOn ? 'continue' : 'fail',
    ...(work.kind === 'wait' && {
      wait:
        work.for === 'timer'
          ? { kind: 'timer', for_ms: 50 }
          : { kind: 'event', domain: 'dot', type: 'tested', subject: '${args.salt}', timeout_ms: 500 },
    }),
    ...(work.kind === 'loop' && {
      loop: {
        in:
          work.items === 'not a list'
            ? '${args.salt}'
            : Array.from({ length: work.items }, (_, at) => at * 10),
        as: 'item',
        mode: work.mode,
        max_in_flight: work.window,
        fail_fast: work.failFast,
        allow_partial: work.allowPartial,
        ...(work.mode === 'fanout' && { key: 'k${item}' }),
      },
    }),
    next: {
      mode: inclusive ? 'inclusive' : 'exclusive',
      arcs: arcs.map(({ when, to }) => {
        const cel = CEL[when](name)
        return cel === undefined ? { step: to } : { when: cel, step: to }
      }),
    },
  }
}

/** What a child is salted with: the reference says the same. */
export function saltOf(salt: string, step: string, index?: number): string {
  return `${salt}/${step}${index === undefined ? '' : `.${index}`}`
}

function toolsOf(step: string, work: Work): ToolCall[] {
  const playbook = work.kind === 'child' || work.kind === 'loop' ? work.playbook : undefined
  if (work.kind === 'wait') return []
  if (playbook === undefined) return [{ tool: 'handler', call: 'scripted', args: { salt: '${args.salt}' } }]
  const salt = `\${args.salt}/${step}${work.kind === 'loop' ? '.${index}' : ''}`
  const args: Record<string, Json> = {
    salt: work.kind === 'child' && work.brokenArgs ? '${steps.nobody.result}' : salt,
  }
  return [{ tool: 'playbook', call: playbook, args }]
}

/** Random playbooks, up to three deep, and how much goes wrong while they run. */
import fc from 'fast-check'
import type { Condition, LoopSketch, Sketch, StepSketch, Work } from './sketch.ts'

export interface Scenario {
  /** The first one is started. */
  readonly sketches: readonly Sketch[]
  readonly seed: number
  /** Of attempts, between 0 and 1. */
  readonly failures: number
  readonly chaos: Chaos
}

/** Each between 0 and 1: how likely at every turn. */
export interface Chaos {
  readonly crash: number
  readonly again: number
  readonly pause: number
  readonly cancel: number
}

export interface Wanted {
  /** Waits for events need somebody who publishes them. */
  readonly waits: readonly ('timer' | 'event')[]
  readonly cancels: boolean
}

const EVERYTHING: Wanted = { waits: ['timer', 'event'], cancels: true }

export function scenarios(wanted: Wanted = EVERYTHING): fc.Arbitrary<Scenario> {
  const leaf = sketch('leaf', 3, [], wanted)
  const middle = sketch('middle', 3, ['leaf'], wanted)
  const root = sketch('root', 5, ['leaf', 'middle'], wanted)
  return fc.record({
    sketches: fc.tuple(root, middle, leaf),
    seed: fc.nat(),
    failures: fc.constantFrom(0, 0.1, 0.3, 0.5),
    chaos: fc.record({
      crash: fc.constantFrom(0, 0.02, 0.1, 0.3),
      again: fc.constantFrom(0, 0.05, 0.3),
      pause: fc.constantFrom(0, 0, 0.02, 0.1),
      cancel: wanted.cancels
        ? fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.constant(0.02))
        : fc.constant(0),
    }),
  })
}

function sketch(
  name: string,
  most: number,
  children: readonly string[],
  wanted: Wanted,
): fc.Arbitrary<Sketch> {
  return fc
    .tuple(fc.integer({ min: 1, max: most }), fc.boolean())
    .chain(([count, linear]) =>
      fc.record({
        name: fc.constant(name),
        linear: fc.constant(linear),
        steps: fc.tuple(
          ...Array.from({ length: count }, (_, at) => step(at, count, linear, children, wanted)),
        ),
      }),
    )
    .map(named)
}

/** Counters are called c…: the script knows them by that. */
function named(sketch: Sketch): Sketch {
  const names = new Map(
    sketch.steps.map((step) => [step.name, step.work.kind === 'counter' ? `c${step.name}` : step.name]),
  )
  const steps = sketch.steps.map((step) => ({
    ...step,
    name: names.get(step.name)!,
    arcs: step.arcs.map((arc) => ({ ...arc, to: names.get(arc.to)! })),
  }))
  return { ...sketch, steps }
}

function step(
  at: number,
  count: number,
  linear: boolean,
  children: readonly string[],
  wanted: Wanted,
): fc.Arbitrary<StepSketch> {
  return fc.tuple(work(children, wanted), fc.boolean()).chain(([work, inclusive]) =>
    fc.record({
      name: fc.constant(`s${at}`),
      work: fc.constant(work),
      attempts: fc.integer({ min: 1, max: 3 }),
      backoff: fc.constantFrom(0, 10, 100),
      goesOn: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
      inclusive: fc.constant(inclusive && !linear),
      arcs: arcs(work, at, count),
    }),
  )
}

function work(children: readonly string[], wanted: Wanted): fc.Arbitrary<Work> {
  const plain: fc.Arbitrary<Work>[] = [
    fc.constant<Work>({ kind: 'command' }),
    fc.constant<Work>({ kind: 'counter' }),
    fc.constantFrom(...wanted.waits).map((what): Work => ({ kind: 'wait', for: what })),
    loop(undefined),
    loop(undefined),
  ]
  if (children.length === 0) return fc.oneof(...plain)
  const playbook = fc.constantFrom(...children)
  const child = fc.tuple(playbook, fc.integer({ min: 0, max: 9 }))
  return fc.oneof(
    ...plain,
    child.map(([name, luck]): Work => ({ kind: 'child', playbook: name, brokenArgs: luck === 0 })),
    playbook.chain((name) => loop(name)),
  )
}

function loop(playbook: string | undefined): fc.Arbitrary<Work> {
  const most = playbook === undefined ? 12 : 4
  return fc
    .record({
      kind: fc.constant('loop' as const),
      mode: fc.constantFrom('sequential' as const, 'parallel' as const, 'fanout' as const),
      items: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...Array.from({ length: most + 1 }, (_, at) => at)) },
        fc.constant('not a list' as const),
      ),
      window: fc.integer({ min: 1, max: 5 }),
      failFast: fc.boolean(),
      allowPartial: fc.boolean(),
      collects: fc.boolean(),
    })
    .map((made): LoopSketch => {
      // What a partial end leads to would depend on which item failed first.
      const allowPartial = made.allowPartial && !(made.failFast && made.mode !== 'sequential')
      return { ...made, allowPartial, ...(playbook !== undefined && { playbook }) }
    })
}

function arcs(work: Work, at: number, count: number): fc.Arbitrary<StepSketch['arcs']> {
  const ahead = count - at - 1
  const back = { when: 'again' as const, to: fc.integer({ min: 0, max: at }) }
  const arc = (when: fc.Arbitrary<Condition>, to: fc.Arbitrary<number>) =>
    fc.record({ when, to: to.map((step) => `s${step}`) })
  const forward =
    ahead === 0
      ? fc.constant([])
      : fc.array(arc(condition(work), fc.integer({ min: at + 1, max: count - 1 })), {
          minLength: 1,
          maxLength: 3,
        })
  if (work.kind !== 'counter') return forward
  return fc.tuple(arc(fc.constant(back.when), back.to), forward).map(([first, rest]) => [first, ...rest])
}

function condition(work: Work): fc.Arbitrary<Condition> {
  const all: Condition[] = ['always', 'always', 'fine', 'failed', 'never']
  if (work.kind === 'command' || work.kind === 'counter') all.push('even', 'even')
  if (work.kind === 'loop' && work.collects) all.push('collected', 'collected')
  if (work.kind === 'loop' && !(work.failFast && work.mode !== 'sequential')) all.push('partial')
  return fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...all) }, fc.constant<Condition>('broken'))
}

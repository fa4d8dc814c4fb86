import { expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import type { Seed } from '../../../src/executions/machine/state.ts'
import { SeedFinder } from '../../../src/executions/machine/state.ts'
import { Driven, playbook } from './driven.ts'

function seedFrom(log: readonly ExecutionEvent[], step: string): Seed | undefined {
  const finder = new SeedFinder(step)
  for (const event of log) finder.add(event)
  return finder.seed
}

const made = playbook(
  [
    { step: 'a', next: 'b' },
    {
      step: 'b',
      next: { mode: 'exclusive', arcs: [{ when: 'result == "again"', step: 'a' }, { step: 'c' }] },
    },
    { step: 'c' },
  ],
  { output: ['${steps.a.result}', '${steps.b.result}'] },
)

it('begins where the step was last entered, with what had ended by then', () => {
  const old = new Driven(made)
  old.start()
  old.completed('a#1', 1)
  old.completed('b#1', 'again')
  old.completed('a#2', 2)
  old.failed('b#2')
  const seed = seedFrom(old.log, 'b')!
  expect(Object.keys(seed.steps)).toEqual(['a', 'b'])
  expect(seed.steps.a).toMatchObject({ node_id: 'a#2' })
  expect(seed.steps.b).toMatchObject({ node_id: 'b#1', status: 'completed' })
  expect(seed.entries).toEqual({ a: 2, b: 1 })
  const run = new Driven(made)
  expect(run.start({}, { rerun_of: '5', from_step: 'b', seed }).run).toMatchObject([{ node_id: 'b#2' }])
  expect(run.log[0]).toMatchObject({ meta: { rerun_of: '5', from_step: 'b' } })
  run.completed('b#2', 'fine')
  run.completed('c#1')
  expect(run.log.at(-1)!.result).toEqual({ status: 'ok', value: [2, 'fine'] })
  expect(seedFrom(run.log, 'c')).toMatchObject({ entries: { a: 2, b: 2, c: 0 } })
})

it('fails when the old execution never came there', () => {
  const old = new Driven(made)
  old.start()
  expect(seedFrom(old.log, 'c')).toBeUndefined()
  const run = new Driven(made)
  run.start({}, { rerun_of: '5', from_step: 'c', seed: undefined })
  expect(run.state!.error).toBe('execution 5 never came to step c')
})

it('leaves out the end of a step that failed as it was entered', () => {
  const wait = { kind: 'timer' as const, until: '${args.at}' }
  const old = new Driven(
    playbook(
      [
        { step: 'a', next: 'w' },
        { step: 'w', wait },
      ],
      { args: { at: 'never' } },
    ),
  )
  old.start()
  old.completed('a#1', 1)
  expect(seedFrom(old.log, 'w')).toMatchObject({ steps: { a: {} }, entries: { a: 1, w: 0 } })
  expect(seedFrom(old.log, 'w')!.steps.w).toBeUndefined()
})

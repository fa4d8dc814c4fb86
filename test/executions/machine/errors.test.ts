/** An expression that cannot be computed ends something with a clear error; nothing is ever stuck, nothing is left half done. */
import { expect, it } from 'vitest'
import { decide } from '../../../src/executions/machine/decide.ts'
import { ValueNeeded } from '../../../src/executions/machine/decision.ts'
import { fold } from '../../../src/executions/machine/state.ts'
import { Driven, playbook } from './driven.ts'

it('fails the execution for an arc, naming step and expression', () => {
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'result.rows > 1', step: 'a' }] }
  const run = new Driven(playbook([{ step: 'a', next }]))
  run.start()
  expect(run.completed('a#1', { cols: 1 }).ended).toBe(true)
  expect(run.state!.error).toMatch(/^an arc of step a: `result\.rows > 1`: /)
})

it('fails for a condition that is neither true nor false', () => {
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'result', step: 'a' }] }
  const run = new Driven(playbook([{ step: 'a', next }]))
  run.start()
  run.completed('a#1', 7)
  expect(run.state!.error).toContain('a condition gives true or false')
})

it('begins nothing of what it had decided before the arc that failed', () => {
  const next = {
    mode: 'inclusive' as const,
    arcs: [{ step: 'b' }, { step: 'k' }, { when: 'nobody.knows', step: 'a' }],
  }
  const run = new Driven(
    playbook([
      { step: 'a', next },
      { step: 'b' },
      { step: 'k', tools: [{ tool: 'playbook', call: 'o', args: {} }] },
    ]),
  )
  run.start()
  expect(run.completed('a#1')).toMatchObject({ ended: true, run: [], children: [], messages: [] })
})

it('fails the execution for its output', () => {
  const run = new Driven(playbook([{ step: 'a' }], { output: { n: '${steps.b.result}' } }))
  run.start()
  run.completed('a#1')
  expect(run.state).toMatchObject({ status: 'FAILED' })
  expect(run.state!.error).toContain(
    'the output of the playbook, after step a: `steps.b.result`: the step b has not ended',
  )
})

it('leaves the arguments of a child to on_error', () => {
  const tools = [{ tool: 'playbook' as const, call: 'o', args: { x: '${args.y}' } }]
  const run = new Driven(playbook([{ step: 'k', tools, on_error: 'continue', next: 'z' }, { step: 'z' }]))
  expect(run.start()).toMatchObject({ children: [], run: [{ step: 'z' }] })
  expect(run.state!.steps.k).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('args of step k: `args.y`'),
  })
})

it('fails for a result that cannot be read any more', () => {
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'steps.a.result == 1', step: 'b' }] }
  const run = new Driven(playbook([{ step: 'a', next }, { step: 'b' }]))
  run.start()
  const result = { ref: 'lost', bytes: 9_999 }
  run.tell({
    kind: 'command_ended',
    command_id: '7:a#1:1',
    node_id: 'a#1',
    attempt: 1,
    status: 'completed',
    result,
  })
  expect(run.state!.error).toBe('the arcs of step a: the result lost is gone')
})

it('does not go round for ever through steps in which nothing runs', () => {
  const empty = {
    in: [],
    as: 'i',
    mode: 'parallel' as const,
    max_in_flight: 1,
    fail_fast: false,
    allow_partial: false,
  }
  const run = new Driven(playbook([{ step: 'l', loop: empty, next: 'l' }]))
  const decision = decide(
    run.playbook,
    undefined,
    {
      kind: 'start',
      execution_id: '7',
      catalog_id: '1',
      version: 1,
      args: {},
      workspace_id: null,
      started_by: 'a',
      cause: null,
      correlation_id: null,
      depth: 0,
      parent: null,
    },
    run.ports(),
  )
  expect(decision.state!.error).toBe('steps lead back to l again and again and nothing runs in between')
})

it('leaves the state as it was when a value has to be loaded first', () => {
  const next = { mode: 'inclusive' as const, arcs: [{ step: 'b' }, { when: 'result.n == 1', step: 'c' }] }
  const run = new Driven(playbook([{ step: 'a', next }, { step: 'b' }, { step: 'c' }]))
  run.start()
  const before = structuredClone(run.state)
  const result = { ref: 'r', bytes: 9_000 }
  const input = {
    kind: 'command_ended' as const,
    command_id: '7:a#1:1',
    node_id: 'a#1',
    attempt: 1,
    status: 'completed' as const,
    result,
  }
  expect(() => decide(run.playbook, run.state, input, run.ports())).toThrow(ValueNeeded)
  expect(run.state).toEqual(before)
  run.results.set('r', { n: 1 })
  run.loaded.add('r')
  expect(run.tell(input).run.map(({ step }) => step)).toEqual(['b', 'c'])
})

it('does not fold a log with a gap, and what it knows already changes nothing', () => {
  const run = new Driven(playbook([{ step: 'a' }]))
  run.start()
  const before = JSON.stringify(run.state)
  fold(run.state, run.log[1]!)
  expect(JSON.stringify(run.state)).toBe(before)
  expect(() => fold(run.state, { ...run.log[1]!, seq: 9 })).toThrow('gap between 2 and 9')
  expect(() => fold(undefined, run.log[1]!)).toThrow('begins with command.issued')
})

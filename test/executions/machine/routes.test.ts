import { expect, it } from 'vitest'
import { Driven, playbook } from './driven.ts'

it('goes from step to step: the completion and the next issue are one decision', () => {
  const run = new Driven(playbook([{ step: 'a', next: 'b' }, { step: 'b' }], { output: '${result}' }))
  expect(run.start().run).toEqual([{ node_id: 'a#1', step: 'a', command_id: '7:a#1:1', attempt: 1 }])
  const second = run.completed('a#1', 1)
  expect(second.events.map(({ event_type }) => event_type)).toEqual(['command.completed', 'command.issued'])
  expect(second.run.map(({ command_id }) => command_id)).toEqual(['7:b#1:1'])
  const last = run.completed('b#1', 42)
  expect(last.ended).toBe(true)
  expect(run.log.at(-1)).toMatchObject({
    event_type: 'playbook.completed',
    result: { status: 'ok', value: 42 },
  })
  expect(run.state).toMatchObject({ status: 'COMPLETED', active: {} })
})

it('writes a trace: every event follows from the one that led to it', () => {
  const run = new Driven(playbook([{ step: 'a', next: 'b' }, { step: 'b' }]))
  run.start()
  run.completed('a#1')
  run.completed('b#1')
  expect(run.log.map(({ parent_event_id }) => parent_event_id)).toEqual([
    null,
    ...run.log.slice(0, -1).map(({ event_id }) => event_id),
  ])
  expect(run.log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
})

it('takes the first exclusive arc that holds and every inclusive one', () => {
  const arcs = [
    { when: 'result > 10', step: 'b' },
    { when: 'result > 1', step: 'c' },
    { when: 'result > 2', step: 'd' },
  ]
  const others = ['b', 'c', 'd'].map((step) => ({ step }))
  const one = new Driven(playbook([{ step: 'a', next: { mode: 'exclusive', arcs } }, ...others]))
  one.start()
  expect(one.completed('a#1', 5).run.map(({ step }) => step)).toEqual(['c'])
  const all = new Driven(playbook([{ step: 'a', next: { mode: 'inclusive', arcs } }, ...others]))
  all.start()
  expect(all.completed('a#1', 5).run.map(({ step }) => step)).toEqual(['c', 'd'])
  expect(all.completed('c#1').ended).toBe(false)
  expect(all.completed('d#1').ended).toBe(true)
})

it('ends when no arc holds', () => {
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'false', step: 'a' }] }
  const run = new Driven(playbook([{ step: 'a', next }]))
  run.start()
  expect(run.completed('a#1').ended).toBe(true)
  expect(run.state!.status).toBe('COMPLETED')
})

it('enters a step again as a new node', () => {
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'result < 2', step: 'a' }] }
  const run = new Driven(playbook([{ step: 'a', next }]))
  run.start()
  expect(run.completed('a#1', 1).run[0]).toMatchObject({ node_id: 'a#2', command_id: '7:a#2:1' })
  expect(run.completed('a#2', 2).ended).toBe(true)
  expect(run.state!.entries).toEqual({ a: 2 })
})

it('goes on along the arcs after a failure with continue, where error is set', () => {
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'error == "no"', step: 'b' }] }
  const run = new Driven(
    playbook([{ step: 'a', on_error: 'continue', next }, { step: 'b' }], { output: '${steps.a.error}' }),
  )
  run.start()
  expect(run.failed('a#1').run[0]!.step).toBe('b')
  run.completed('b#1')
  expect(run.log.at(-1)!.result).toEqual({ status: 'ok', value: 'no' })
})

it('fails with the step otherwise, and drops what else is active', () => {
  const next = {
    mode: 'inclusive' as const,
    arcs: [{ step: 'b' }, { step: 'w' }, { step: 'f' }, { step: 'k' }],
  }
  const run = new Driven(
    playbook([
      { step: 'a', next },
      { step: 'b' },
      { step: 'w', wait: { kind: 'timer', for_ms: 1000 } },
      {
        step: 'f',
        loop: { in: [1], as: 'i', mode: 'fanout', max_in_flight: 9, fail_fast: false, allow_partial: false },
      },
      { step: 'k', tools: [{ tool: 'playbook', call: 'other', args: {} }] },
    ]),
  )
  run.start()
  const child = run.completed('a#1').children[0]!.execution_id
  const end = run.failed('b#1', { error: 'broke' })
  expect(end).toMatchObject({
    ended: true,
    waits_ended: [{ node_id: 'w#1' }],
    commands_cancelled: [{ loop_id: null }],
  })
  expect(end.messages).toMatchObject([{ execution_id: child, kind: 'cancel' }])
  expect(run.log.at(-1)).toMatchObject({
    event_type: 'playbook.failed',
    error: 'step b failed: broke',
    meta: { node_name: 'b' },
  })
})

it('answers nothing once it has ended, and nothing to what comes twice', () => {
  const run = new Driven(playbook([{ step: 'a', next: 'b' }, { step: 'b' }]))
  expect(run.completed('a#1').events).toEqual([])
  expect(run.state).toBeUndefined()
  run.start()
  expect(run.start().events).toEqual([])
  run.completed('a#1')
  expect(run.completed('a#1').events).toEqual([])
  run.completed('b#1')
  expect(run.tell({ kind: 'cancel', by: 'ann' })).toMatchObject({ events: [], ended: false })
  expect(run.completed('b#1').events).toEqual([])
})

it('cancels: everything outstanding is cancelled and the parent gets a message', () => {
  const parent = { execution_id: '3', node_id: 'x#1', index: 4, attempt: 2 }
  const run = new Driven(playbook([{ step: 'w', wait: { kind: 'timer', for_ms: 10 } }]))
  run.start({}, { parent })
  const end = run.tell({ kind: 'cancel', by: 'ann', reason: 'enough' })
  expect(end).toMatchObject({ ended: true, waits_ended: [{ node_id: 'w#1' }] })
  const body = {
    execution_id: '7',
    node_id: 'x#1',
    index: 4,
    attempt: 2,
    status: 'CANCELLED',
    error: 'enough',
  }
  expect(end.messages).toEqual([{ execution_id: '3', kind: 'child_ended', body }])
  expect(run.log.at(-1)).toMatchObject({
    event_type: 'execution.cancelled',
    meta: { by: 'ann', reason: 'enough' },
  })
})

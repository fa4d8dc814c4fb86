import { expect, it } from 'vitest'
import type { Loop } from '../../../src/executions/playbook/definition.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { Driven, playbook } from './driven.ts'

const tools = (args: Record<string, Json> = { n: '${args.n}' }) => [
  { tool: 'playbook' as const, call: 'other', args },
]
const retry = { attempts: 2, backoff_ms: 1_000, max_backoff_ms: 9_000 }
const loop = (mode: Loop['mode'], rest: Partial<Loop> = {}): Loop => ({
  in: ['x', 'y', 'z'],
  as: 'row',
  mode,
  max_in_flight: 2,
  fail_fast: false,
  allow_partial: false,
  ...rest,
})

it('starts an execution and takes its result', () => {
  const run = new Driven(
    playbook([{ step: 'k', tools: tools() }], { args: { n: 5 }, output: '${steps.k.result}' }),
  )
  const [child] = run.start({}, { depth: 2 }).children
  expect(child).toMatchObject({ playbook: 'other', args: { n: 5 }, node_id: 'k#1', attempt: 1, depth: 3 })
  expect(run.log.at(-1)).toMatchObject({
    event_type: 'step.enter',
    status: 'running',
    meta: { child_execution_id: child!.execution_id, attempt: 1 },
  })
  const ended = {
    kind: 'child_ended' as const,
    node_id: 'k#1',
    status: 'COMPLETED' as const,
    result: { value: 9 },
  }
  expect(run.tell({ ...ended, execution_id: 'another' }).events).toEqual([])
  expect(run.tell({ ...ended, execution_id: child!.execution_id }).ended).toBe(true)
  expect(run.log.at(-1)!.result).toEqual({ status: 'ok', value: 9 })
})

it('tries again with a new execution, and ignores the old one', () => {
  const run = new Driven(playbook([{ step: 'k', tools: tools(), retry }], { args: { n: 5 } }))
  const first = run.start().children[0]!.execution_id
  const failed = { kind: 'child_ended' as const, node_id: 'k#1', status: 'FAILED' as const, error: 'bad' }
  expect(run.tell({ ...failed, execution_id: first }).timers).toHaveLength(1)
  run.now += 1_000
  const [second] = run.tell({ kind: 'due', node_id: 'k#1' }).children
  expect(second).toMatchObject({ attempt: 2, node_id: 'k#1' })
  expect(second!.execution_id).not.toBe(first)
  expect(run.tell({ ...failed, execution_id: first }).events).toEqual([])
  expect(run.tell({ ...failed, execution_id: second!.execution_id }).ended).toBe(true)
  expect(run.state!.error).toBe(`step k failed: execution ${second!.execution_id} failed: bad`)
  expect(run.state!.entries).toEqual({ k: 1 })
})

it('does not start again what somebody cancelled', () => {
  const run = new Driven(playbook([{ step: 'k', tools: tools(), retry }], { args: { n: 5 } }))
  const { execution_id } = run.start().children[0]!
  expect(run.tell({ kind: 'child_ended', node_id: 'k#1', execution_id, status: 'CANCELLED' }).ended).toBe(
    true,
  )
})

it('runs items as executions, in the window of the loop', () => {
  const run = new Driven(
    playbook([{ step: 'l', tools: tools({ r: '${row}', i: '${index}' }), loop: loop('fanout') }]),
  )
  const { children, commands } = run.start()
  expect(commands).toEqual([])
  expect(children).toMatchObject([
    { args: { r: 'x', i: 0 }, index: 0 },
    { args: { r: 'y', i: 1 }, index: 1 },
  ])
  const end = (index: number, execution_id: string) =>
    run.tell({
      kind: 'child_ended',
      node_id: 'l#1',
      index,
      execution_id,
      status: 'COMPLETED',
      result: { value: index },
    })
  const third = end(0, children[0]!.execution_id).children
  expect(third).toMatchObject([{ args: { r: 'z', i: 2 } }])
  expect(end(0, children[0]!.execution_id).events).toEqual([])
  end(1, children[1]!.execution_id)
  expect(end(2, third[0]!.execution_id).ended).toBe(true)
  expect(run.log.filter(({ event_type }) => event_type === 'loop.shard.done')).toHaveLength(3)
})

it('ignores messages of the old execution of an item', () => {
  const run = new Driven(
    playbook([{ step: 'l', tools: tools({}), loop: loop('parallel', { in: [1] }), retry }]),
  )
  const old = run.start().children[0]!.execution_id
  const ended = { kind: 'child_ended' as const, node_id: 'l#1', index: 0, execution_id: old }
  run.tell({ ...ended, status: 'FAILED' })
  expect(run.tell({ ...ended, status: 'FAILED' }).events).toEqual([])
  run.now += 1_000
  const [second] = run.tell({ kind: 'due', node_id: 'l#1', index: 0 }).children
  expect(run.tell({ ...ended, status: 'COMPLETED' }).events).toEqual([])
  expect(run.tell({ ...ended, execution_id: second!.execution_id, status: 'COMPLETED' }).ended).toBe(true)
})

it('cancels the others when one of them fails fast', () => {
  const run = new Driven(
    playbook([{ step: 'l', tools: tools({}), loop: loop('parallel', { fail_fast: true }) }]),
  )
  const [one, two] = run.start().children
  const end = run.tell({
    kind: 'child_ended',
    node_id: 'l#1',
    index: 0,
    execution_id: one!.execution_id,
    status: 'FAILED',
  })
  expect(end.messages).toMatchObject([{ execution_id: two!.execution_id, kind: 'cancel' }])
})

it.each(['parallel', 'fanout'] as const)(
  'an item that waits for its next attempt when a %s loop ends early has one end for each attempt',
  (mode) => {
    const run = new Driven(
      playbook([{ step: 'l', tools: tools({}), loop: loop(mode, { fail_fast: true }), retry }]),
    )
    const [one, two] = run.start().children
    const fail = (index: number, execution_id: string) =>
      run.tell({ kind: 'child_ended', node_id: 'l#1', index, execution_id, status: 'FAILED' })
    fail(0, one!.execution_id)
    fail(1, two!.execution_id)
    run.now += 1_000
    const [again] = run.tell({ kind: 'due', node_id: 'l#1', index: 1 }).children
    fail(1, again!.execution_id)
    const ends = run.log.filter(({ event_type }) => /^(command|loop\.shard)\.failed$/.test(event_type))
    expect(ends.map(({ meta }) => meta!.command_id)).toEqual(
      ['0:1', '1:1', '1:2', '0:2'].map((attempt) => `7:l#1:${attempt}`),
    )
    expect(ends.at(-1)!.meta).toMatchObject({ cancelled: true })
  },
)

it('fails an item whose arguments cannot be computed, and starts nothing for it', () => {
  const broken = tools({ r: '${row.name}' })
  const run = new Driven(playbook([{ step: 'l', tools: broken, loop: loop('sequential') }]))
  const end = run.start()
  expect(end).toMatchObject({ children: [], ended: true })
  expect(run.state!.error).toContain('3 of 3 items failed; item 0: args of step l: `row.name`')
  const fast = new Driven(
    playbook([
      {
        step: 'l',
        tools: tools({ r: '${row.n}' }),
        loop: loop('parallel', { in: [{ n: 1 }, {}, { n: 2 }], fail_fast: true }),
      },
    ]),
  )
  expect(fast.start()).toMatchObject({ children: [], messages: [], ended: true })
})

it('fails by itself when playbooks call each other too deep, or are given what they do not take', () => {
  const parent = { execution_id: '3', node_id: 'k#1' }
  const deep = new Driven(playbook([{ step: 'a' }]))
  const end = deep.start({}, { depth: 17, parent })
  expect(end).toMatchObject({
    ended: true,
    run: [],
    messages: [{ execution_id: '3', body: { status: 'FAILED' } }],
  })
  const wrong = new Driven(playbook([{ step: 'a' }]))
  wrong.start({ colour: 'red' })
  expect(wrong.state!.error).toBe('the playbook p takes no argument colour')
})

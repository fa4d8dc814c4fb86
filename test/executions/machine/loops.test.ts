import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { parseResultUri } from '../../../src/executions/event.ts'
import type { Decision } from '../../../src/executions/machine/decision.ts'
import { shardIdOf } from '../../../src/executions/machine/loops.ts'
import type { Loop } from '../../../src/executions/playbook/definition.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { Driven, playbook } from './driven.ts'

const loop = (mode: Loop['mode'], items: Json, rest: Partial<Loop> = {}): Loop => ({
  in: items,
  as: 'item',
  mode,
  max_in_flight: mode === 'sequential' ? 1 : 16,
  fail_fast: false,
  allow_partial: false,
  ...rest,
})
const list = (length: number) => Array.from({ length }, (_, at) => at)
const looping = (made: Loop, rest = {}) =>
  new Driven(playbook([{ step: 'l', loop: made, ...rest, next: 'z' }, { step: 'z' }]))

it('runs a sequential loop one item at a time, here', () => {
  const run = looping(loop('sequential', ['x', 'y']))
  const first = run.start()
  expect(first.run).toMatchObject([
    { node_id: 'l#1', index: 0, command_id: '7:l#1:0:1', loop_id: expect.any(String) },
  ])
  expect(first.commands).toEqual([])
  expect(run.completed('l#1', 1, { index: 0 }).run).toMatchObject([{ index: 1 }])
  expect(run.completed('l#1', 2, { index: 1 }).run).toMatchObject([{ step: 'z' }])
  const items = run.log.filter(({ event_type }) => event_type === 'loop.item')
  expect(items.map(({ current_item }) => current_item)).toEqual(['x', 'y'])
  expect(run.types).toEqual([
    'playbook.initialized',
    'loop.started l#1',
    'loop.item l#1',
    'command.completed l#1',
    'loop.item l#1',
    'command.completed l#1',
    'loop.done l#1',
    'command.issued z#1',
  ])
})

it('issues rows of a fan-out, and ends it with fan-in and loop.done in one decision', () => {
  const run = looping(loop('fanout', [5, 6], { key: 'k${item}' }))
  const { commands } = run.start()
  expect(commands).toMatchObject([
    { command_id: '7:l#1:0:1', item: 5, item_index: 0, attempt: 1 },
    { command_id: '7:l#1:1:1', item: 6, item_index: 1, attempt: 1 },
  ])
  const loop_id = commands[0]!.loop_id
  expect(run.log.find(({ event_type }) => event_type === 'loop.shard.enqueued')!.meta).toEqual({
    loop_id,
    iter_index: 0,
    iter_key: 'k5',
    command_id: '7:l#1:0:1',
    shard_id: shardIdOf({ loop_id }, 0),
  })
  run.completed('l#1', 1, { index: 1 })
  const end = run.completed('l#1', 1, { index: 0 })
  expect(end.events.map(({ event_type }) => event_type)).toEqual([
    'loop.shard.done',
    'loop.fanin.completed',
    'loop.done',
    'command.issued',
  ])
  expect(end.events[1]).toMatchObject({
    status: 'completed',
    result: { status: 'complete', context: { done: 2, failed: 0, total: 2 } },
  })
  expect(end.events[2]!.result).toEqual({ status: 'ok', context: { total: 2, completed: 2, failed: 0 } })
})

it('gives shards ids made of the first 16 bytes of sha256', () => {
  const hex = createHash('sha256').update('604876797720658689:12').digest('hex').slice(0, 32)
  expect(shardIdOf({ loop_id: '604876797720658689' }, 12).replaceAll('-', '')).toBe(hex)
})

it('ends an empty loop at once, of every mode', () => {
  for (const mode of ['sequential', 'parallel', 'fanout'] as const) {
    const run = looping(loop(mode, []))
    expect(run.start().run).toMatchObject([{ step: 'z' }])
    expect(run.state!.steps.l).toMatchObject({ status: 'complete', fanin: { total: 0, done: 0, failed: 0 } })
  }
})

it('fails a step whose collection is no list, with the expression named', () => {
  const run = new Driven(playbook([{ step: 'l', loop: loop('parallel', '${args.n}') }], { args: { n: 3 } }))
  run.start()
  expect(run.log.at(-1)).toMatchObject({ event_type: 'playbook.failed' })
  expect(run.state!.error).toContain('loop.in of step l: a list is needed, "${args.n}" gave a number')
  const goesOn = new Driven(
    playbook(
      [{ step: 'l', loop: loop('parallel', '${args.n}'), on_error: 'continue', next: 'z' }, { step: 'z' }],
      { args: { n: 3 } },
    ),
  )
  expect(goesOn.start().run).toMatchObject([{ step: 'z' }])
})

it('is partial when some failed: a failure of the step unless that is allowed', () => {
  const strict = looping(loop('parallel', [1, 2]))
  strict.start()
  strict.completed('l#1', 1, { index: 0 })
  expect(strict.failed('l#1', { index: 1, error: 'bad row' }).ended).toBe(true)
  expect(strict.state!.error).toBe('step l failed: 1 of 2 items failed; item 1: bad row')
  const lenient = looping(loop('fanout', [1, 2], { allow_partial: true }))
  lenient.start()
  lenient.completed('l#1', 1, { index: 0 })
  expect(lenient.failed('l#1', { index: 1 }).run).toMatchObject([{ step: 'z' }])
  expect(lenient.state!.steps.l).toEqual({
    node_id: 'l#1',
    status: 'partial',
    fanin: { status: 'partial', total: 2, done: 1, failed: 1 },
  })
})

it('has failed when nothing was done, allowed or not', () => {
  const run = looping(loop('parallel', [1], { allow_partial: true }))
  run.start()
  run.failed('l#1', { index: 0 })
  expect(run.state!.steps.l).toMatchObject({ status: 'failed', fanin: { status: 'failed' } })
})

it('fail_fast ends the loop with the first failure; later outcomes are ignored', () => {
  const run = looping(loop('fanout', list(40), { fail_fast: true }), { on_error: 'continue' })
  const { commands } = run.start()
  expect(commands).toHaveLength(16)
  run.completed('l#1', 1, { index: 3 })
  const end = run.failed('l#1', { index: 5 })
  expect(end.commands_cancelled).toEqual([{ loop_id: commands[0]!.loop_id }])
  expect(end.run).toMatchObject([{ step: 'z' }])
  expect(run.state!.steps.l).toMatchObject({
    status: 'failed',
    fanin: { status: 'partial', total: 40, done: 1, failed: 39 },
    error: expect.stringMatching(/^1 of 40 items failed, 38 were cancelled; item 5: /),
  })
  const ended = run.log.filter(({ event_type }) => /^loop\.shard\.(done|failed)$/.test(event_type))
  expect(ended).toHaveLength(commands.length)
  expect(new Set(ended.map(({ meta }) => meta!.shard_id)).size).toBe(commands.length)
  expect(ended.filter(({ meta }) => meta!.cancelled === true)).toHaveLength(14)
  const fanin = run.log.find(({ event_type }) => event_type === 'loop.fanin.completed')!
  expect(fanin).toMatchObject({
    status: 'partial',
    result: { status: 'partial', context: { done: 1, failed: 39, cancelled: 38, total: 40 } },
  })
  expect(run.completed('l#1', 1, { index: 7 }).events).toEqual([])
})

it('keeps late items of an earlier entry away from the new loop', () => {
  const run = new Driven(
    playbook([
      { step: 'l', loop: loop('parallel', [1, 2], { fail_fast: true }), on_error: 'continue', next: 'l' },
    ]),
  )
  run.start()
  const first = run.log[1]!.meta!.loop_id
  run.failed('l#1', { index: 0 })
  expect(run.state!.active['l#2']).toMatchObject({ total: 2, done: 0, failed: 0 })
  expect(run.log.at(-3)!.meta!.loop_id).not.toBe(first)
  expect(run.completed('l#1', 1, { index: 1 }).events).toEqual([])
  const crossed = {
    kind: 'command_ended' as const,
    command_id: 'x',
    node_id: 'l#2',
    loop_id: first as string,
    index: 0,
    attempt: 1,
  }
  expect(run.tell({ ...crossed, status: 'completed' }).events).toEqual([])
})

it('issues at most 1,000 items a decision, fewer with the start of the loop, and says that there is more', () => {
  const run = looping(loop('fanout', list(2_500), { max_in_flight: 2_000 }))
  const first = run.start()
  expect(first.commands).toHaveLength(200)
  expect(first.continues).toBe(true)
  const second = run.continue()
  expect(second.commands).toHaveLength(1_000)
  expect(second.continues).toBe(true)
  const third = run.continue()
  expect(third.commands).toHaveLength(800)
  expect(third.continues).toBe(false)
  expect(run.continue().events).toEqual([])
})

it('refills a wide window in parts, and never leaves it empty', () => {
  const run = looping(loop('parallel', list(40), { max_in_flight: 16 }))
  run.start()
  for (const index of [0, 1, 2]) expect(run.completed('l#1', 1, { index }).commands).toEqual([])
  expect(run.completed('l#1', 1, { index: 3 }).commands.map(({ item_index }) => item_index)).toEqual([
    16, 17, 18, 19,
  ])
  const narrow = looping(loop('parallel', list(3), { max_in_flight: 1 }))
  narrow.start()
  expect(narrow.completed('l#1', 1, { index: 0 }).commands).toHaveLength(1)
})

it('keeps the collection and what its tools see in loop.started, large ones by reference', () => {
  const many = list(9_000)
  const tools = [{ tool: 'handler' as const, call: 'w', args: { a: '${args.n}', s: '${steps.a.result}' } }]
  const made = playbook(
    [
      { step: 'a', next: 'l' },
      { step: 'l', tools, loop: loop('parallel', '${steps.a.result}') },
      { step: 'm', loop: loop('parallel', many) },
    ],
    { args: { n: 1, m: 2 } },
  )
  const run = new Driven(made)
  run.start()
  run.results.set('r1', many)
  const big = { ref: 'r1', bytes: 50_000 }
  run.tell({
    kind: 'command_ended',
    command_id: '7:a#1:1',
    node_id: 'a#1',
    attempt: 1,
    status: 'completed',
    result: big,
  })
  const started = run.log.find(({ event_type }) => event_type === 'loop.started')!
  expect(started.context).toMatchObject({
    collection_ref: 'stagedoor://results/r1',
    collection_bytes: 50_000,
    scope_ref: expect.any(String),
  })
  expect(run.kept.has('l#1/collection')).toBe(false)
  expect(run.results.get(parseResultUri(started.context!.scope_ref as string))).toMatchObject({
    args: { n: 1, m: 2 },
    steps: { a: { result: many } },
  })
  expect(JSON.stringify(run.state).length).toBeLessThan(3_000)
  const kept = new Driven({ ...made, start: 'm' })
  kept.start()
  expect(kept.kept.has('m#1/collection')).toBe(true)
})

it('names the shards of a fan-out by URI where its collection is kept outside of the log, and only there', () => {
  const fanoutOf = (items: Json) => {
    const run = new Driven(playbook([{ step: 'l', loop: loop('fanout', items) }]))
    run.start()
    const of = (type: string) => run.log.find(({ event_type }) => event_type === type)!
    return { started: of('loop.started'), fanout: of('loop.fanout.started') }
  }
  const large = fanoutOf(list(9_000))
  expect(large.fanout.context).toEqual({ shards_ref: large.started.context!.collection_ref })
  expect(large.fanout.context!.shards_ref).toMatch(/^stagedoor:\/\/results\/./)
  expect(fanoutOf(list(3)).fanout.context).toBeUndefined()
})

it('puts results together only for a playbook that refers to them, and routes after the flush', () => {
  const when = 'size(steps.l.results) == 2'
  const next = { mode: 'exclusive' as const, arcs: [{ when, step: 'z' }] }
  const run = new Driven(playbook([{ step: 'l', loop: loop('parallel', [1, 2]), next }, { step: 'z' }]))
  run.start()
  run.completed('l#1', 'a', { index: 0 })
  const end = run.completed('l#1', 'b', { index: 1 })
  expect(end).toMatchObject({ continues: true, ended: false, run: [], collect: [{ node_name: 'l' }] })
  run.results.set(end.collect[0]!.ref_id, ['a', 'b'])
  // Of an earlier decision: these results are not readable yet.
  expect(run.tell({ kind: 'continue', through: run.log[1]!.event_id }).events).toEqual([])
  const through = end.events.at(-1)!.event_id
  expect(run.tell({ kind: 'continue', through }).run).toMatchObject([{ step: 'z' }])
  expect(run.tell({ kind: 'continue', through }).events).toEqual([])
  const without = looping(loop('parallel', [1]))
  without.start()
  expect(without.completed('l#1', 1, { index: 0 }).collect).toEqual([])
})

it('shows the results of a loop to everyone only when they are durable, whichever entry of the loop ends before', () => {
  const inclusive = (...arcs: { when?: string; step: string }[]) => ({ mode: 'inclusive' as const, arcs })
  const run = new Driven(
    playbook([
      { step: 'a', next: inclusive({ step: 'l' }, { step: 'l' }, { step: 'b' }) },
      {
        step: 'l',
        loop: loop('parallel', [1]),
        next: inclusive({ when: 'steps.l.results[0] == "x"', step: 'x' }),
      },
      {
        step: 'b',
        next: inclusive({ when: 'has(steps.l) && steps.l.results[0] == "x"', step: 'y' }, { step: 'c' }),
      },
      { step: 'c', next: inclusive({ when: 'has(steps.l) && steps.l.results[0] == "x"', step: 'y' }) },
      { step: 'x' },
      { step: 'y' },
    ]),
  )
  const durable = ({ collect, events }: Decision, value: string) => {
    run.results.set(collect[0]!.ref_id, [value])
    return run.tell({ kind: 'continue', through: events.at(-1)!.event_id })
  }
  run.start()
  run.completed('a#1')
  const first = run.completed('l#1', 'x', { index: 0 })
  // The flush of the first end is under way: for another branch the loop has not ended.
  expect(run.completed('b#1').run).toMatchObject([{ step: 'c' }])
  const second = run.completed('l#2', 'z', { index: 0 })
  // The first end is durable, the second is not.
  expect(durable(first, 'x').run).toMatchObject([{ step: 'x' }])
  expect(run.completed('c#1').run).toMatchObject([{ step: 'y' }])
  expect(durable(second, 'z').run).toEqual([])
  run.completed('x#1')
  expect(run.completed('y#1').ended).toBe(true)
  expect(run.types.at(-1)).toBe('playbook.completed')
})

import { expect, it } from 'vitest'
import { resumeAfterLoad } from '../../../src/executions/machine/decide.ts'
import type { Loop } from '../../../src/executions/playbook/definition.ts'
import { Driven, playbook } from './driven.ts'

const retry = { attempts: 3, backoff_ms: 1_000, max_backoff_ms: 1_500 }
const loop = (mode: Loop['mode']): Loop => ({
  in: [1, 2],
  as: 'item',
  mode,
  max_in_flight: mode === 'sequential' ? 1 : 9,
  fail_fast: false,
  allow_partial: false,
})

it('tries a step again when its time has come, longer each time up to the most', () => {
  const run = new Driven(playbook([{ step: 'a', retry }]))
  run.start()
  const first = run.failed('a#1')
  expect(first).toMatchObject({ run: [], timers: [{ node_id: 'a#1', at: '2026-01-01T00:00:01.000Z' }] })
  expect(first.events).toMatchObject([
    {
      event_type: 'command.failed',
      error: 'no',
      meta: { final: false, attempt: 1, retry_at: '2026-01-01T00:00:01.000Z' },
    },
  ])
  expect(run.tell({ kind: 'due', node_id: 'a#1' })).toMatchObject({
    events: [],
    timers: [{ node_id: 'a#1' }],
  })
  run.now += 1_000
  expect(run.tell({ kind: 'due', node_id: 'a#1' }).run).toMatchObject([{ command_id: '7:a#1:2', attempt: 2 }])
  expect(run.tell({ kind: 'due', node_id: 'a#1' }).events).toEqual([])
  expect(run.failed('a#1', { attempt: 1 }).events).toEqual([])
  expect(run.failed('a#1', { attempt: 2 }).timers).toEqual([
    { node_id: 'a#1', at: '2026-01-01T00:00:02.500Z' },
  ])
  run.now += 2_000
  run.tell({ kind: 'due', node_id: 'a#1' })
  expect(run.failed('a#1', { attempt: 3 }).ended).toBe(true)
  expect(run.log.filter(({ meta }) => meta?.final === true)).toHaveLength(1)
})

it('tries at once without a backoff, and never what is not worth it', () => {
  const run = new Driven(playbook([{ step: 'a', retry: { ...retry, backoff_ms: 0 } }]))
  run.start()
  expect(run.failed('a#1').run).toMatchObject([{ attempt: 2 }])
  expect(run.failed('a#1', { attempt: 2, retryable: false }).ended).toBe(true)
})

it('issues a row again at once, to be begun later', () => {
  const run = new Driven(playbook([{ step: 'l', loop: loop('fanout'), retry }]))
  run.start()
  const again = run.failed('l#1', { index: 1 })
  expect(again.events.map(({ event_type }) => event_type)).toEqual(['command.failed', 'command.issued'])
  expect(again.commands).toMatchObject([
    { command_id: '7:l#1:1:2', attempt: 2, item: 2, process_after: '2026-01-01T00:00:01.000Z' },
  ])
  expect(again.timers).toEqual([])
  run.failed('l#1', { index: 1, attempt: 2 })
  expect(run.failed('l#1', { index: 1, attempt: 3 }).events).toMatchObject([
    { event_type: 'loop.shard.failed' },
  ])
})

it('sets a timer for an item that runs here', () => {
  const run = new Driven(playbook([{ step: 'l', loop: loop('sequential'), retry }]))
  run.start()
  expect(run.failed('l#1', { index: 0 }).timers).toMatchObject([{ node_id: 'l#1', index: 0 }])
  run.now += 1_000
  expect(run.tell({ kind: 'due', node_id: 'l#1', index: 0 }).run).toMatchObject([{ index: 0, attempt: 2 }])
})

it('gives a new owner what to run again and what to wait for', () => {
  const next = { mode: 'inclusive' as const, arcs: [{ step: 'b' }, { step: 's' }, { step: 'f' }] }
  const run = new Driven(
    playbook([
      { step: 'a', next },
      { step: 'b', retry },
      { step: 's', loop: loop('sequential') },
      { step: 'f', loop: loop('fanout') },
    ]),
  )
  run.start()
  expect(resumeAfterLoad(run.playbook, run.state!).run).toMatchObject([{ command_id: '7:a#1:1' }])
  run.completed('a#1')
  run.failed('b#1')
  const { loop_id } = run.log.find(({ event_type }) => event_type === 'loop.item')!.meta!
  expect(resumeAfterLoad(run.playbook, run.state!)).toEqual({
    run: [{ node_id: 's#1', step: 's', command_id: '7:s#1:0:1', attempt: 1, loop_id, index: 0 }],
    timers: [{ node_id: 'b#1', at: '2026-01-01T00:00:01.000Z' }],
    continues: false,
  })
})

it('lets a new owner continue a loop that was issued in part', () => {
  const items = Array.from({ length: 1_500 }, (_, at) => at)
  const run = new Driven(
    playbook([{ step: 'l', loop: { ...loop('fanout'), in: items, max_in_flight: 2_000 } }]),
  )
  run.start()
  expect(resumeAfterLoad(run.playbook, run.state!)).toEqual({ run: [], timers: [], continues: true })
  run.continue()
  expect(resumeAfterLoad(run.playbook, run.state!).continues).toBe(true)
  run.continue()
  expect(resumeAfterLoad(run.playbook, run.state!).continues).toBe(false)
})

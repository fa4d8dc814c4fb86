import { expect, it } from 'vitest'
import { resumeAfterLoad } from '../../../src/executions/machine/decide.ts'
import type { Loop } from '../../../src/executions/playbook/definition.ts'
import { Driven, playbook } from './driven.ts'

const pause = { kind: 'pause' as const, by: 'ann' }
const resume = { kind: 'resume' as const, by: 'ann' }
const retry = { attempts: 2, backoff_ms: 1_000, max_backoff_ms: 1_000 }
const loop: Loop = {
  in: [1, 2, 3, 4],
  as: 'i',
  mode: 'fanout',
  max_in_flight: 2,
  fail_fast: false,
  allow_partial: false,
}

it('records what ends during a pause, and takes its arcs with the resume', () => {
  const run = new Driven(playbook([{ step: 'a', next: 'b' }, { step: 'b' }]))
  run.start()
  run.tell(pause)
  expect(run.tell(pause).events).toEqual([])
  const during = run.completed('a#1', 1)
  expect(during).toMatchObject({ run: [], ended: false })
  expect(during.events).toHaveLength(1)
  expect(run.completed('a#1', 1).events).toEqual([])
  expect(run.state!.steps.a).toMatchObject({ status: 'completed' })
  const after = run.tell(resume)
  expect(after.events.map(({ event_type }) => event_type)).toEqual(['execution.resumed', 'command.issued'])
  expect(after.run).toMatchObject([{ step: 'b' }])
  expect(run.tell(resume).events).toEqual([])
})

it('receives the end of a wait once, however often it is sent during the pause', () => {
  const run = new Driven(
    playbook([{ step: 'w', wait: { kind: 'timer', for_ms: 1 }, next: 'b' }, { step: 'b' }]),
  )
  run.start()
  run.tell(pause)
  const woken = { kind: 'woken' as const, node_id: 'w#1', status: 'elapsed' }
  expect(run.tell(woken).events).toHaveLength(1)
  expect(run.tell(woken).events).toEqual([])
  expect(run.tell(resume).run).toMatchObject([{ step: 'b' }])
})

it('completes with the resume when everything ended meanwhile', () => {
  const run = new Driven(playbook([{ step: 'a' }]))
  run.start()
  run.tell(pause)
  expect(run.completed('a#1').ended).toBe(false)
  expect(run.tell(resume).ended).toBe(true)
})

it('fails with the resume, not before', () => {
  const run = new Driven(playbook([{ step: 'a' }]))
  run.start()
  run.tell(pause)
  run.failed('a#1')
  expect(run.state!.status).toBe('PAUSED')
  expect(run.tell(resume)).toMatchObject({ ended: true, run: [] })
  expect(run.state!.error).toBe('step a failed: no')
})

it('routes each of two entries of a step by its own outcome', () => {
  const back = { mode: 'inclusive' as const, arcs: [{ step: 'b' }, { step: 'b' }] }
  const next = { mode: 'exclusive' as const, arcs: [{ when: 'result == 1', step: 'one' }, { step: 'two' }] }
  const run = new Driven(
    playbook([{ step: 'a', next: back }, { step: 'b', next }, { step: 'one' }, { step: 'two' }]),
  )
  run.start()
  run.completed('a#1')
  run.tell(pause)
  run.completed('b#2', 2)
  run.completed('b#1', 1)
  expect(run.tell(resume).run.map(({ step }) => step)).toEqual(['two', 'one'])
})

it('issues no items, retries none, and does both with the resume', () => {
  const run = new Driven(playbook([{ step: 'l', loop, retry }]))
  run.start()
  run.tell(pause)
  expect(run.failed('l#1', { index: 0 })).toMatchObject({ commands: [], timers: [] })
  expect(run.completed('l#1', 1, { index: 1 }).commands).toEqual([])
  expect(run.continue().events).toEqual([])
  expect(resumeAfterLoad(run.playbook, run.state!)).toEqual({ run: [], timers: [], continues: false })
  const { commands } = run.tell(resume)
  expect(commands).toMatchObject([
    { command_id: '7:l#1:0:2', process_after: '2026-01-01T00:00:01.000Z' },
    { command_id: '7:l#1:2:1' },
  ])
})

it('sets the timers of steps again', () => {
  const run = new Driven(playbook([{ step: 'a', retry }]))
  run.start()
  run.failed('a#1')
  run.tell(pause)
  run.now += 5_000
  expect(run.tell({ kind: 'due', node_id: 'a#1' }).events).toEqual([])
  expect(run.tell(resume).run).toMatchObject([{ attempt: 2 }])
})

it('can be cancelled while it is paused', () => {
  const run = new Driven(playbook([{ step: 'a' }]))
  run.start()
  run.tell(pause)
  run.completed('a#1')
  expect(run.tell({ kind: 'cancel', by: 'ann' }).ended).toBe(true)
  expect(run.state).toMatchObject({ status: 'CANCELLED', active: {} })
})

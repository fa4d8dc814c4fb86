import { expect, it } from 'vitest'
import type { Wait } from '../../../src/executions/playbook/definition.ts'
import { Driven, playbook } from './driven.ts'

const RECORD = '0198c2de-0000-7000-8000-000000000001'
const waiting = (wait: Wait, args = {}) =>
  new Driven(
    playbook(
      [
        {
          step: 'w',
          wait,
          next: { mode: 'exclusive', arcs: [{ when: 'result.status == "received"', step: 'z' }] },
        },
        { step: 'z' },
      ],
      { args, output: '${result}' },
    ),
  )

it('waits for a time without a command', () => {
  const run = waiting({ kind: 'timer', for_ms: 2_000 })
  expect(run.start()).toMatchObject({
    run: [],
    waits: [{ node_id: 'w#1', kind: 'timer', wake_at: '2026-01-01T00:00:02.000Z' }],
  })
  expect(run.log.at(-1)).toMatchObject({
    event_type: 'step.enter',
    status: 'waiting',
    meta: { wait: 'timer', until: expect.any(String) },
  })
  expect(run.tell({ kind: 'woken', node_id: 'w#1', status: 'elapsed' }).ended).toBe(true)
  expect(run.log.at(-1)!.result).toEqual({ status: 'ok', value: { status: 'elapsed' } })
})

it('waits for an event that fits, and sees it', () => {
  const run = waiting(
    { kind: 'event', domain: 'd', type: 't', subject: '${args.s}', match: { a: '${args.n}' }, timeout_ms: 5 },
    { s: 'x', n: 4 },
  )
  expect(run.start().waits).toEqual([
    {
      node_id: 'w#1',
      kind: 'event',
      event_domain: 'd',
      event_type: 't',
      subject: 'x',
      match: { a: 4 },
      wake_at: '2026-01-01T00:00:00.005Z',
    },
  ])
  const woken = {
    kind: 'woken' as const,
    node_id: 'w#1',
    status: 'received',
    event_id: 'e',
    payload: { a: 4 },
  }
  expect(run.tell(woken).run).toMatchObject([{ step: 'z' }])
  expect(run.tell(woken).events).toEqual([])
})

it('does not fail by a timeout', () => {
  const run = waiting({ kind: 'approval', record: '${args.r}', timeout_ms: 1 }, { r: RECORD })
  expect(run.start().waits).toMatchObject([{ staging_record_id: RECORD }])
  run.tell({ kind: 'woken', node_id: 'w#1', status: 'timed_out' })
  expect(run.state!.steps.w).toMatchObject({
    status: 'timed_out',
    result: { value: { status: 'timed_out' } },
  })
  expect(run.state!.status).toBe('COMPLETED')
})

it('keeps a large payload by reference', () => {
  const run = waiting({ kind: 'event', domain: 'd', type: 't' })
  run.start()
  run.tell({ kind: 'woken', node_id: 'w#1', status: 'received', payload: 'x'.repeat(9_000) })
  expect(run.state!.steps.w!.result).toMatchObject({ ref: expect.any(String) })
  expect(run.state!.active['z#1']).toBeDefined()
})

it('fails for a time, a text or a record that is none, with the place named', () => {
  const error = (wait: Wait) => {
    const run = waiting(wait, { n: null })
    run.start()
    return run.state!.error
  }
  expect(error({ kind: 'timer', until: 'tomorrow' })).toBe(
    'step w failed: wait.until of step w: "tomorrow" is no time (ISO 8601)',
  )
  expect(error({ kind: 'approval', record: 'r7' })).toContain('"r7" is no staging record')
  expect(error({ kind: 'event', domain: 'd', type: 't', subject: '${args.n}' })).toContain(
    'wait.subject of step w: null is no text',
  )
  expect(error({ kind: 'event', domain: 'd', type: 't', subject: '${args.m}' })).toContain('args.m')
})

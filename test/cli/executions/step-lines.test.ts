import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { activeLine, endedLine, missingHandlersText } from '../../../src/cli/execution-format.ts'
import type { ActiveStep, EndedStep } from '../../../src/cli/execution-watch.ts'

const began = new Date('2026-11-16T08:00:00Z')
const after = (seconds: number) => new Date(began.getTime() + seconds * 1000)
const plain = stripVTControlCharacters
const step = { node_id: 'a#1', step: 'a', began, attempt: 1 }

it('a loop says how much time is left, once that can be told', () => {
  const loop = (done: number): ActiveStep => ({
    ...step,
    kind: 'loop',
    loop: { total: 100, done, failed: 0 },
  })
  expect(plain(activeLine(loop(25), 1, after(5)))).toMatch(/25 of 100 {2}5\/s {2}15.0 s left$/)
  expect(plain(activeLine(loop(25), 1, after(1)))).not.toContain('left')
  expect(plain(activeLine(loop(0), 1, after(5)))).not.toContain('left')
  expect(plain(activeLine(loop(100), 1, after(5)))).not.toContain('left')
})

it.each([
  ['event', 'staging.ingestion_complete did not come in time'],
  ['approval', 'nobody decided in time'],
] as const)('a wait for %s that is over says what did not come', (kind, said) => {
  const wait = {
    kind,
    wake_at: null,
    event: 'staging.ingestion_complete',
    subject: null,
    staging_record_id: null,
  }
  const ended: EndedStep = { ...step, kind: 'wait', status: 'timed_out', ended: after(1), wait }
  expect(plain(endedLine(ended, 1))).toContain(said)
})

it('what waits for a handler is said by its number, its step and the handlers', () => {
  const lacking = { execution_id: '1', step: 'geocode', needs: ['geocode', 'cache'], items: 1550 }
  expect(missingHandlersText([lacking, { ...lacking, step: 'mail' }])).toBe(
    '1,550 items of geocode wait for the handlers geocode, cache, which no running process has (and mail likewise)',
  )
  expect(missingHandlersText([{ ...lacking, needs: ['geocode'], items: null }])).toMatch(
    /^the step geocode waits for the handler/,
  )
})

import pino from 'pino'
import { expect, it } from 'vitest'
import { throttleOutageLog } from '../../src/app/log.ts'

function logged() {
  const lines: Record<string, unknown>[] = []
  let now = 0
  const log = throttleOutageLog(
    pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
    () => now,
  )
  return { log, lines, pass: (ms: number) => (now += ms) }
}
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

it('an outage is one line a second, with its reason and no stack', () => {
  const { log, lines, pass } = logged()
  for (let n = 0; n < 200; n++) {
    // A warning of the engine, an error of the dispatcher: all of a process together.
    log.warn({ err: refused() }, 'the inbox could not be read; trying again')
    log.error({ err: refused() }, 'dispatch failed; it is tried again')
    pass(10)
  }
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchObject({ reason: 'connect ECONNREFUSED', warnings: 200 })
  expect(JSON.stringify(lines)).not.toContain('stack')
})

it('a statement on a connection that just broke is part of the outage', () => {
  const { log, lines } = logged()
  log.warn({ err: refused() }, 'claiming jobs failed; will be retried')
  const broken = new Error('Client has encountered a connection error and is not queryable')
  log.warn({ err: broken }, 'claiming jobs failed; will be retried')
  expect(lines).toHaveLength(1)
})

it('every other warning and error is written as it is', () => {
  const { log, lines } = logged()
  log.warn({ err: new TypeError('ours') }, 'a bug')
  log.warn('plain')
  log.error({ err: new TypeError('ours') }, 'an error')
  log.child({ step: 'a' }).warn('of a handler')
  expect(lines).toMatchObject([
    { msg: 'a bug', err: { message: 'ours' } },
    { msg: 'plain' },
    { msg: 'an error' },
    { msg: 'of a handler', step: 'a' },
  ])
})

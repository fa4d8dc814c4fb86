import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { createLog } from '../../src/app/log.ts'
import { readConfig } from '../../src/kernel/config.ts'

function written(format: string | undefined, isTerminal: boolean, level = 'info'): string {
  let text = ''
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  const env = { ...(format && { STAGEDOOR_LOG_FORMAT: format }), LOG_LEVEL: level }
  const log = createLog(readConfig(env), isTerminal, destination)
  log.warn({ err: new Error('the disk is full'), job_id: '01a1' }, 'job failed')
  return text
}

it('a terminal gets one line for people, without a stack', () => {
  const line = written(undefined, true)
  expect(line.trimEnd().split('\n')).toHaveLength(1)
  expect(line).toMatch(/^\[?\d\d:\d\d:\d\d/)
  expect(line).toContain('job failed')
  expect(line).toContain('the disk is full')
  expect(line).not.toContain('hostname')
  expect(line).not.toContain('log.test.ts')
  expect(written(undefined, true, 'debug')).toContain('log.test.ts')
})

it('everything else gets JSON, and --log or STAGEDOOR_LOG_FORMAT decides otherwise', () => {
  expect(JSON.parse(written(undefined, false))).toMatchObject({
    level: 40,
    msg: 'job failed',
    job_id: '01a1',
  })
  expect(JSON.parse(written('json', true))).toMatchObject({ msg: 'job failed' })
  expect(written('pretty', false)).toMatch(/job failed/)
  expect(() => JSON.parse(written('pretty', false))).toThrow()
})

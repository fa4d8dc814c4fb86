import { pino } from 'pino'
import { afterEach, beforeAll, expect, it } from 'vitest'
import {
  type Dispatcher,
  type DispatcherOptions,
  type Pass,
  startDispatcher,
} from '../../../src/events/dispatcher.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { active, drain, emit, jobsOf, openSwitch } from './registered.ts'

const db = useDatabase()
const running: Dispatcher[] = []
const lines: Record<string, unknown>[] = []
const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })

function start(options: DispatcherOptions = {}): Dispatcher {
  const dispatcher = startDispatcher(db.pool('stagedoor_worker'), log, { pollMs: 10, ...options })
  running.push(dispatcher)
  return dispatcher
}

beforeAll(() => openSwitch(db))
afterEach(() => Promise.all(running.splice(0).map((dispatcher) => dispatcher.stop())))

it('dispatches events as they come, and reports every pass that did something', async () => {
  await active(db, 'steady')
  const passes: Pass[] = []
  const dispatcher = start({ onPass: (pass) => passes.push(pass) })
  const first = await emit(db)
  await until('its job', async () => (await jobsOf(db, 'steady')).length === 1)
  const second = await emit(db)
  await until('its job', async () => (await jobsOf(db, 'steady')).length === 2)
  expect(await jobsOf(db, 'steady')).toEqual([first, second])
  expect(dispatcher.health()).toMatchObject({ name: 'dispatcher', ok: true })
  expect(passes.reduce((sum, pass) => sum + pass.jobs, 0)).toBe(2)
})

it('goes on at once while there is more, whatever the poll', async () => {
  await active(db, 'eager')
  const events: string[] = []
  for (let n = 0; n < 10; n++) events.push(await emit(db))
  start({ pollMs: 3_600_000, batch: 3 })
  await until('all jobs', async () => (await jobsOf(db, 'eager')).length === 10)
  expect(await jobsOf(db, 'eager')).toEqual(events)
})

it('can be woken before its poll', async () => {
  await active(db, 'sleeper')
  const dispatcher = start({ pollMs: 3_600_000 })
  await emit(db)
  await until('its job', async () => {
    dispatcher.wake()
    return (await jobsOf(db, 'sleeper')).length === 1
  })
})

it('works beside others, each event once', async () => {
  await active(db, 'crowd')
  for (let n = 0; n < 3; n++) start({ batch: 2 })
  const events: string[] = []
  for (let n = 0; n < 15; n++) events.push(await emit(db))
  await until('all jobs', async () => (await jobsOf(db, 'crowd')).length >= 15)
  expect((await jobsOf(db, 'crowd')).sort()).toEqual([...events].sort())
})

it('says what is wrong, tries again, and recovers', async () => {
  await active(db, 'phoenix')
  await db.owner('alter table iu_core.job_key rename to job_key_lost')
  const event = await emit(db)
  const dispatcher = start()
  await until('it is ill', () => !dispatcher.health().ok)
  expect(dispatcher.health().detail).toContain('job_key')
  expect(lines.some((line) => line.msg === 'event dispatch failed; will be retried')).toBe(true)
  await db.owner('alter table iu_core.job_key_lost rename to job_key')
  await until('it is well', () => dispatcher.health().ok)
  await until('its job', async () => (await jobsOf(db, 'phoenix')).includes(event))
})

it('stopped, it has stopped', async () => {
  await active(db, 'ended')
  const dispatcher = start()
  await dispatcher.stop()
  expect(dispatcher.health()).toMatchObject({ ok: false, detail: 'stopped' })
  await emit(db)
  expect(await jobsOf(db, 'ended')).toEqual([])
})

it('has nothing to do for lines that nobody would try again now', async () => {
  await active(db, 'held')
  const event = await emit(db)
  await drain(db)
  const waits = async () =>
    (await db.owner<{ waits: boolean }>('select iu_core.fn_consumer_has_work() as waits'))[0]!.waits
  const defer = (ago: string) =>
    db.owner(
      `update iu_core.event_dispatch_log set outcome = 'deferred', job_id = null, dispatched_at = now() - $2::interval
        where event_id = $1 and consumer_id = 'held'`,
      [event, ago],
    )
  expect(await waits()).toBe(false)
  await defer('5 seconds')
  expect(await waits()).toBe(true)
  // Tried for an hour already, so the next time is in a minute.
  await db.owner(`alter table iu_core.event_outbox disable trigger user`)
  await db.owner(`update iu_core.event_outbox set created_at = now() - interval '1 hour' where id = $1`, [
    event,
  ])
  await db.owner(`alter table iu_core.event_outbox enable trigger user`)
  expect(await waits()).toBe(false)
  await defer('2 minutes')
  expect(await waits()).toBe(true)
  await db.owner(`select iu_core.fn_consumer_disable('held')`)
  await drain(db)
  expect(await waits()).toBe(false)
})

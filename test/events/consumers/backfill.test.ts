import { beforeAll, expect, it } from 'vitest'
import {
  activateConsumer,
  backfillConsumer,
  disableConsumer,
  registerConsumer,
} from '../../../src/events/consumers.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { MIGRATOR } from '../../support/template.ts'
import {
  active,
  consumer,
  dispatch,
  drain,
  emit,
  jobsOf,
  linesOf,
  openSwitch,
  reviewed,
  reviewUnseen,
} from './registered.ts'

const db = useDatabase()
const owner = () => db.pool(MIGRATOR)
const HOUR = 3_600_000
const always = () => ({ from: new Date(Date.now() - HOUR), to: new Date(Date.now() + HOUR) })

beforeAll(() => openSwitch(db))

it('passes on what came before the activation, oldest first, and a second time nothing', async () => {
  const before = [await emit(db), await emit(db), await emit(db)]
  await emit(db, { type: 'run.failed' })
  await active(db, 'catch_up')
  const after = await emit(db)
  await dispatch(db)
  expect(await jobsOf(db, 'catch_up')).toEqual([after])
  // Pages smaller than what there is.
  expect(await backfillConsumer(owner(), 'catch_up', { ...always(), page: 2 })).toMatchObject({
    events: 3,
    jobs: 3,
  })
  expect(await jobsOf(db, 'catch_up')).toEqual([after, ...before])
  expect(await backfillConsumer(owner(), 'catch_up', always())).toMatchObject({ events: 0, jobs: 0 })
  await drain(db)
  expect(await jobsOf(db, 'catch_up')).toHaveLength(4)
})

it('takes only the time that was asked for', async () => {
  const event = await emit(db)
  const [at] = await db.owner<{ at: Date; next: Date }>(
    `select date_trunc('milliseconds', created_at) as at, date_trunc('milliseconds', created_at) + interval '1 ms' as next
       from iu_core.event_outbox where id = $1`,
    [event],
  )
  await active(db, 'window')
  await backfillConsumer(owner(), 'window', { from: at!.next, to: new Date(Date.now() + HOUR) })
  expect(await jobsOf(db, 'window')).toEqual([])
  await backfillConsumer(owner(), 'window', { from: at!.at, to: at!.next })
  expect(await jobsOf(db, 'window')).toEqual([event])
})

it('comes before the dispatcher, which then finds it done', async () => {
  await active(db, 'ahead')
  const event = await emit(db)
  const { jobs } = await backfillConsumer(owner(), 'ahead', always())
  expect(jobs).toBeGreaterThan(0)
  await drain(db)
  expect((await jobsOf(db, 'ahead')).filter((one) => one === event)).toHaveLength(1)
})

it('makes jobs of what the dry run only noted', async () => {
  await reviewed(db, 'noted')
  const event = await emit(db)
  await dispatch(db)
  expect(await linesOf(db, event)).toContainEqual(
    expect.objectContaining({ consumer_id: 'noted', outcome: 'dry_run' }),
  )
  await activateConsumer(owner(), 'noted')
  await backfillConsumer(owner(), 'noted', always())
  expect(await linesOf(db, event)).toContainEqual(
    expect.objectContaining({ consumer_id: 'noted', outcome: 'enqueued', detail: null }),
  )
})

it('replays dead letters once the consumer is corrected', async () => {
  await active(db, 'mended', { idempotency_key_template: '{event_subject_ref}' })
  const bad = await emit(db)
  await dispatch(db)
  expect(await backfillConsumer(owner(), 'mended', { ...always(), page: 3 })).toMatchObject({
    failures: expect.any(Number),
  })
  expect(await jobsOf(db, 'mended')).not.toContain(bad)
  await registerConsumer(owner(), consumer('mended'))
  await db.owner(`select iu_core.fn_consumer_dry_run('mended')`)
  await reviewUnseen(db, 'mended')
  await activateConsumer(owner(), 'mended')
  await backfillConsumer(owner(), 'mended', always())
  expect(await jobsOf(db, 'mended')).toContain(bad)
})

it('is refused while the consumer is not active or the switch is off, and without a time', async () => {
  await active(db, 'refused')
  const call = () => backfillConsumer(owner(), 'refused', always())
  await openSwitch(db, false)
  expect(await sqlstateOf(call())).toBe('SD101')
  await openSwitch(db)
  await disableConsumer(owner(), 'refused')
  expect(await sqlstateOf(call())).toBe('SD322')
  expect(await sqlstateOf(db.owner(`select iu_core.fn_consumer_backfill('refused', null, now())`))).toBe(
    'SD001',
  )
})

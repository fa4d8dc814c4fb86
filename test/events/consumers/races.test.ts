/** Dispatch beside others: late commits, other dispatchers, a death, an activation, a user's open transaction. */
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activateConsumer, disableConsumer } from '../../../src/events/consumers.ts'
import { type TestDatabase, useDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'
import { until } from '../../support/until.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { active, dispatch, drain, EMIT, emit, jobsOf, linesOf, openSwitch, reviewed } from './registered.ts'

const db = useDatabase()
const BATCH = 'select events, jobs, deferred from iu_core.fn_consumer_dispatch_batch($1)'

const emitIn = async (session: pg.Client, subject: string | null = null): Promise<string> =>
  (await session.query<{ id: string }>(EMIT, ['run.applied', null, subject, null, null])).rows[0]!.id

/** As if the second had passed after which it is tried again. */
const later = (time = '2 seconds') =>
  db.owner(
    `update iu_core.event_dispatch_log set dispatched_at = dispatched_at - $1::interval where outcome = 'deferred'`,
    [time],
  )

beforeAll(() => openSwitch(db))
beforeEach(async () => {
  await db.owner('update iu_core.consumer_registry set enabled = false, dry_run = true where enabled')
  await drain(db)
})

it('brings what commits late, once, and waits for nobody', async () => {
  await active(db, 'patient')
  const [slow, slower] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await slow.query('begin')
  await slower.query('begin')
  const late = await emitIn(slow)
  const later = await emitIn(slower)
  const quick = await emit(db)
  await drain(db)
  expect(await jobsOf(db, 'patient')).toEqual([quick])
  await slow.query('commit')
  await drain(db)
  expect(await jobsOf(db, 'patient')).toEqual([quick, late])
  await slower.query('commit')
  await drain(db)
  expect(await jobsOf(db, 'patient')).toEqual([quick, late, later])
})

it('does everything again, once, when a dispatcher is killed between reading and commit', async () => {
  await active(db, 'survivor')
  const events = [await emit(db), await emit(db), await emit(db)]
  const victim = await db.session('stagedoor_worker')
  await victim.query('begin')
  const { rows } = await victim.query(BATCH, [1000])
  expect(rows[0].jobs).toBe(3)
  expect(await jobsOf(db, 'survivor')).toEqual([])
  const { processID } = victim as pg.Client & { processID: number }
  await db.pool('postgres').query('select pg_terminate_backend($1)', [processID])
  await until('its work is undone', async () => (await dispatch(db)).jobs === 3)
  expect(await jobsOf(db, 'survivor')).toEqual(events)
  await drain(db)
  expect(await jobsOf(db, 'survivor')).toHaveLength(3)
})

it('is done by one at a time: a second dispatcher returns at once, with nothing done twice', async () => {
  await active(db, 'shared')
  const event = await emit(db)
  const first = await db.session('stagedoor_worker')
  await first.query('begin')
  await first.query(BATCH, [1000])
  expect(await dispatch(db)).toMatchObject({ events: 0, jobs: 0 })
  await first.query('commit')
  expect(await dispatch(db)).toMatchObject({ jobs: 0 })
  expect(await jobsOf(db, 'shared')).toEqual([event])
})

it('of one event alone waits for a dispatcher that has claimed it', async () => {
  await active(db, 'queue_up')
  const event = await emit(db)
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query(BATCH, [1000])
  const alone = second.query('select iu_core.fn_consumer_dispatch($1) as answer', [event])
  await untilWaiting(db, second)
  await first.query('commit')
  expect((await alone).rows[0].answer.consumers).toMatchObject([{ outcome: 'enqueued' }])
  expect(await jobsOf(db, 'queue_up')).toEqual([event])
})

describe('a consumer activated in the middle of a stream', () => {
  it('begins there: nothing that was committed before, everything that commits after', async () => {
    await reviewed(db, 'newcomer')
    const open = await db.session('stagedoor_worker')
    await open.query('begin')
    const late = await emitIn(open)
    await emit(db)
    await activateConsumer(db.pool(MIGRATOR), 'newcomer')
    const after = await emit(db)
    await drain(db)
    expect(await jobsOf(db, 'newcomer')).toEqual([after])
    await open.query('commit')
    await drain(db)
    expect(await jobsOf(db, 'newcomer')).toEqual([after, late])
  })

  it('waits for the dispatcher at work, so that no event falls between the two', async () => {
    await reviewed(db, 'between')
    const [dispatcher, admin] = [await db.session('stagedoor_worker'), await db.session(MIGRATOR)]
    await dispatcher.query('begin')
    await dispatcher.query(BATCH, [1000])
    const activating = admin.query(`select iu_core.fn_consumer_activate('between')`)
    await untilWaiting(db, admin)
    // The dispatcher's position does not show this one yet, nor will the consumer's beginning.
    await emit(db)
    await dispatcher.query('commit')
    await activating
    const after = await emit(db)
    await drain(db)
    expect(await jobsOf(db, 'between')).toEqual([after])
  })

  it('that is not committed yet is left in peace, and loses nothing when it is', async () => {
    await reviewed(db, 'held')
    const admin = await db.session(MIGRATOR)
    await admin.query('begin')
    await admin.query(`select iu_core.fn_consumer_activate('held')`)
    const meanwhile = await emit(db)
    expect(await dispatch(db)).toMatchObject({ events: 0 })
    await admin.query('commit')
    await drain(db)
    expect(await jobsOf(db, 'held')).toEqual([meanwhile])
  })

  it('in the transaction that also emits gets that event', async () => {
    await reviewed(db, 'together')
    const admin = await db.session('postgres')
    await admin.query('begin')
    const before = await emitIn(admin)
    // A younger transaction ends: by a plain snapshot, the older one that takes it would look ended, too.
    await emit(db, { type: 'run.failed' })
    await admin.query(`select iu_core.fn_consumer_activate('together')`)
    const event = await emitIn(admin)
    await admin.query('commit')
    await drain(db)
    expect(await jobsOf(db, 'together')).toEqual([before, event])
  })

  it('in a page of a larger window begins there, too', async () => {
    await active(db, 'old')
    const before = [await emit(db), await emit(db), await emit(db)]
    await dispatch(db, 1)
    await active(db, 'young')
    const after = await emit(db)
    await drain(db, 1)
    expect(await jobsOf(db, 'old')).toEqual([...before, after])
    expect(await jobsOf(db, 'young')).toEqual([after])
  })
})

it('of a repeatable-read dispatcher fails rather than overlook an activation', async () => {
  await reviewed(db, 'strict')
  const dispatcher = await db.session('stagedoor_worker')
  await dispatcher.query('begin isolation level repeatable read')
  await dispatcher.query('select 1')
  await activateConsumer(db.pool(MIGRATOR), 'strict')
  const event = await emit(db)
  await expect(dispatcher.query(BATCH, [1000])).rejects.toMatchObject({ code: '40001' })
  await dispatcher.query('rollback')
  await drain(db)
  expect(await jobsOf(db, 'strict')).toEqual([event])
})

describe('a user’s open transaction that holds the key of a job', () => {
  const hold = async (session: pg.Client, id: string, subjects: string[]): Promise<string[]> => {
    const { rows } = await session.query<{ id: string }>(
      `select iu_core.fn_job_enqueue($1, $2 || ':' || s) as id from unnest($3::text[]) s`,
      [`${id}_work`, id, subjects],
    )
    return rows.map((row) => row.id)
  }
  it.each(['commit', 'rollback'] as const)('defers that one only, until its %s', async (end) => {
    const id = `held_${end}`
    await active(db, id, { idempotency_key_template: '{event_subject_ref}' })
    const user = await db.session('stagedoor_worker')
    await user.query('begin')
    const [theirs] = await hold(user, id, ['s7'])
    const events: string[] = []
    for (let n = 0; n < 20; n++) events.push(await emit(db, { subject: `s${n}` }))
    expect(await dispatch(db)).toMatchObject({ jobs: 19, deferred: 1 })
    expect(await linesOf(db, events[7]!)).toMatchObject([{ outcome: 'deferred', job_id: null }])

    // Still held: deferred once more, not lost.
    await later()
    expect(await dispatch(db)).toMatchObject({ events: 0, jobs: 0, deferred: 1 })
    await user.query(end)
    // Not before its time.
    expect(await dispatch(db)).toMatchObject({ jobs: 0, deferred: 0 })
    await later()
    await dispatch(db)
    const [line] = await linesOf(db, events[7]!)
    if (end === 'commit') expect(line).toMatchObject({ outcome: 'duplicate', job_id: theirs })
    else expect(line).toMatchObject({ outcome: 'enqueued' })
    await later()
    expect(await dispatch(db)).toMatchObject({ jobs: 0, duplicates: 0, deferred: 0 })
    expect(await jobsOf(db, id)).toHaveLength(end === 'commit' ? 19 : 20)
  })

  it('that holds hundreds of them costs a moment, not a moment for each', async () => {
    await active(db, 'many', { idempotency_key_template: '{event_subject_ref}' })
    const subjects = Array.from({ length: 300 }, (_, n) => `s${n}`)
    const user = await db.session('stagedoor_worker')
    await user.query('begin')
    await hold(user, 'many', subjects)
    await db.owner(
      `select count(iu_core.fn_event_emit('dot', 'run.applied', null, s)) from unnest($1::text[]) s`,
      [subjects],
    )
    const started = performance.now()
    const pass = await dispatch(db)
    // One after the other it would be fifteen seconds on any machine: 50 ms each.
    expect(performance.now() - started).toBeLessThan(14_000)
    expect(pass.deferred).toBe(300)
    await user.query('rollback')
    await later()
    await dispatch(db)
    expect(await jobsOf(db, 'many')).toHaveLength(300)
  })

  it('is asked more seldom when it stays open for long', async () => {
    await active(db, 'seldom', { idempotency_key_template: '{event_subject_ref}' })
    const user = await db.session('stagedoor_worker')
    await user.query('begin')
    await hold(user, 'seldom', ['s'])
    await db.owner(
      `insert into iu_core.event_outbox (event_domain, event_type, event_subject_ref, correlation_id, actor, created_at)
       values ('dot', 'run.applied', 's', gen_random_uuid(), 'ada', now() - interval '1 hour')`,
    )
    expect(await dispatch(db)).toMatchObject({ deferred: 1 })
    await user.query('rollback')
    await later('2 seconds')
    expect(await dispatch(db)).toMatchObject({ jobs: 0, deferred: 0 })
    await later('1 minute')
    expect(await dispatch(db)).toMatchObject({ jobs: 1 })
  })

  it('leaves nothing owed to a consumer that was changed meanwhile', async () => {
    await active(db, 'changed', { idempotency_key_template: '{event_subject_ref}' })
    const user = await db.session('stagedoor_worker')
    await user.query('begin')
    await hold(user, 'changed', ['s'])
    const event = await emit(db, { subject: 's' })
    await dispatch(db)
    await user.query('rollback')
    await active(db, 'changed', { event_type: 'run.failed' })
    await later()
    await dispatch(db)
    expect(await linesOf(db, event)).toMatchObject([
      { outcome: 'failed', detail: { problem: 'the consumer was changed' } },
    ])
    expect(await jobsOf(db, 'changed')).toEqual([])
  })

  it('keeps the deferred event for a consumer that is switched off meanwhile', async () => {
    await active(db, 'off', { idempotency_key_template: '{event_subject_ref}' })
    const user = await db.session('stagedoor_worker')
    await user.query('begin')
    await hold(user, 'off', ['s'])
    const event = await emit(db, { subject: 's' })
    await dispatch(db)
    await user.query('rollback')
    await disableConsumer(db.pool(MIGRATOR), 'off')
    await later()
    await dispatch(db)
    expect(await linesOf(db, event)).toMatchObject([{ outcome: 'deferred' }])
    await activateConsumer(db.pool(MIGRATOR), 'off')
    await dispatch(db)
    expect(await jobsOf(db, 'off')).toEqual([event])
  })
})

it('does not wait for whoever is resolving its issue, and does not lose a failure behind that', async () => {
  await active(db, 'failing', { idempotency_key_template: '{event_subject_ref}' })
  await emit(db)
  await dispatch(db)
  const issue = async () =>
    db.owner<{ issue_id: string }>(
      `select issue_id from iu_core.system_issue where subject_ref = 'consumer:failing' and resolved_at is null`,
    )
  const user = await db.session('stagedoor_worker')
  await user.query('begin')
  await user.query('select iu_core.fn_system_issue_resolve($1)', [(await issue())[0]!.issue_id])
  const bad = await emit(db)
  await dispatch(db)
  expect(await linesOf(db, bad)).toMatchObject([{ outcome: 'deferred' }])
  await user.query('commit')
  expect(await issue()).toEqual([])
  await later()
  await dispatch(db)
  expect(await linesOf(db, bad)).toMatchObject([{ outcome: 'dead_letter' }])
  expect(await issue()).toHaveLength(1)
})

it('under load from several writers and two dispatchers gives every event to every consumer once', async () => {
  await active(db, 'load_a')
  await active(db, 'load_b', { event_stream: 'even' })
  let writing = true
  const emitted = Promise.all(Array.from({ length: 4 }, (_, writer) => writeMany(db, writer)))
  const dispatchers = Array.from({ length: 2 }, async () => {
    while (writing) await dispatch(db, 7)
  })
  const events = (await emitted).flat()
  writing = false
  await Promise.all(dispatchers)
  await drain(db)
  expect((await jobsOf(db, 'load_a')).sort()).toEqual(events.map(({ id }) => id).sort())
  expect((await jobsOf(db, 'load_b')).sort()).toEqual(
    events
      .filter(({ even }) => even)
      .map(({ id }) => id)
      .sort(),
  )
})

async function writeMany(db: TestDatabase, writer: number): Promise<{ id: string; even: boolean }[]> {
  const session = await db.session('stagedoor_worker')
  const kept: { id: string; even: boolean }[] = []
  for (let n = 0; n < 40; n++) {
    await session.query('begin')
    const mine: typeof kept = []
    for (let m = 0; m <= (n + writer) % 3; m++) {
      const even = m % 2 === 0
      const { rows } = await session.query(EMIT, ['run.applied', even ? 'even' : 'odd', null, null, null])
      mine.push({ id: rows[0].id, even })
    }
    const rolledBack = n % 7 === 3
    await session.query(rolledBack ? 'rollback' : 'commit')
    if (!rolledBack) kept.push(...mine)
  }
  return kept
}

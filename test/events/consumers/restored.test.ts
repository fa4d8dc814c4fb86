/** A logical restore: rows as they were, transaction ids of another server. */
import { beforeEach, describe, expect, it } from 'vitest'
import { rebaseAfterRestore } from '../../../src/events/outbox.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { MIGRATOR } from '../../support/template.ts'
import { active, dispatch, drain, EMIT, emit, jobsOf, openSwitch, reviewed } from './registered.ts'

const db = useDatabase()
const restored = () => rebaseAfterRestore(db.pool(MIGRATOR))

/** What a dump of a server that was far ahead looks like here: every id and every snapshot larger by the same. */
async function asIfFromAnotherServer(ahead = 1_000_000_000n): Promise<void> {
  const session = await db.session('postgres')
  await session.query('begin')
  await session.query(`set local session_replication_role = replica`)
  await session.query(
    `create function pg_temp.later(s pg_snapshot) returns pg_snapshot language sql strict as $$
       select format('%s:%s:%s', pg_snapshot_xmin(s)::text::bigint + ${ahead}, pg_snapshot_xmax(s)::text::bigint + ${ahead},
                     (select string_agg((x::text::bigint + ${ahead})::text, ',' order by x) from pg_snapshot_xip(s) x))::pg_snapshot $$`,
  )
  await session.query(`update iu_core.event_outbox set tx = (tx::text::bigint + ${ahead})::text::xid8`)
  await session.query(
    `update iu_core.event_reader set seen = pg_temp.later(seen), target = pg_temp.later(target),
       cursor_tx = (cursor_tx::text::bigint + ${ahead})::text::xid8`,
  )
  await session.query('update iu_core.consumer_registry set active_from = pg_temp.later(active_from)')
  await session.query('commit')
  await session.end()
}

const read = async (reader: string, limit = 1000): Promise<string[]> => {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(`select id from iu_core.fn_event_read($1, $2) where event_type = 'run.applied'`, [
      reader,
      limit,
    ])
  return rows.map((row) => row.id)
}

beforeEach(async () => {
  await openSwitch(db)
  await db.owner('update iu_core.consumer_registry set enabled = false, dry_run = true where enabled')
  await drain(db)
})

it('is noticed: the dispatcher stops instead of passing over what comes', async () => {
  await active(db, 'noticed')
  await drain(db)
  await asIfFromAnotherServer()
  await emit(db)
  expect(await sqlstateOf(dispatch(db))).toBe('SD325')
  await restored()
})

describe('after `restored`', () => {
  it('what was dispatched is not dispatched again, what was not is, and what is new comes', async () => {
    await active(db, 'first')
    const done = [await emit(db), await emit(db)]
    await drain(db)
    const between = await emit(db)
    await active(db, 'second') // Began after it, though it was still to be read.
    const owed = await emit(db)
    await asIfFromAnotherServer()
    expect(await restored()).toMatchObject({ consumers: 2, undispatched: expect.any(Number) })
    const fresh = await emit(db)
    await drain(db)
    expect(await jobsOf(db, 'first')).toEqual([...done, between, owed, fresh])
    expect(await jobsOf(db, 'second')).toEqual([owed, fresh])
  })

  it('every other reader goes on where it was, also in the middle of a window', async () => {
    await db
      .pool('stagedoor_worker')
      .query(`select iu_core.fn_event_reader_register('slow'), iu_core.fn_event_reader_register('paged')`)
    const events = [await emit(db), await emit(db), await emit(db), await emit(db)]
    expect(await read('paged', 2)).toEqual(events.slice(0, 2))
    await asIfFromAnotherServer()
    await restored()
    const fresh = await emit(db)
    expect(await read('paged')).toEqual([...events.slice(2), fresh])
    expect(await read('slow')).toEqual([...events, fresh])
    expect([await read('paged'), await read('slow')]).toEqual([[], []])
  })

  it('what was written here before it was run is not lost', async () => {
    await active(db, 'hasty')
    await drain(db)
    await asIfFromAnotherServer()
    const early = await emit(db)
    await restored()
    await drain(db)
    expect(await jobsOf(db, 'hasty')).toEqual([early])
  })

  it('a transaction that was open meanwhile is not lost', async () => {
    await active(db, 'open')
    await drain(db)
    await asIfFromAnotherServer()
    const session = await db.session('stagedoor_worker')
    await session.query('begin')
    await session.query('select pg_current_xact_id()')
    await db.owner('select pg_current_xact_id()') // A younger one that has ended.
    await restored()
    const { rows } = await session.query(EMIT, ['run.applied', null, null, null, null])
    await session.query('commit')
    await drain(db)
    expect(await jobsOf(db, 'open')).toEqual([rows[0].id])
  })

  it('run once more, or where nothing was restored, nothing changes', async () => {
    await active(db, 'calm')
    const [done, owed] = [await emit(db), await drain(db).then(() => emit(db))]
    await restored()
    await restored()
    await drain(db)
    await restored()
    await drain(db)
    expect(await jobsOf(db, 'calm')).toEqual([done, owed])
  })

  it('a consumer in dry run goes on noting', async () => {
    await reviewed(db, 'noting')
    await asIfFromAnotherServer()
    await restored()
    await emit(db)
    expect(await dispatch(db)).toMatchObject({ dry_runs: 1 })
  })

  it('the outbox only grows again', async () => {
    await restored()
    expect(await sqlstateOf(db.owner(`update iu_core.event_outbox set actor = 'x'`))).toBe('SD002')
  })
})

it('the dispatcher’s lost position is an error, and `restored` finds it again from the log', async () => {
  await active(db, 'lost')
  const done = await emit(db)
  await drain(db)
  await db.owner(`select iu_core.fn_event_reader_delete('consumers')`)
  expect(await sqlstateOf(dispatch(db))).toBe('SD303')
  await restored()
  const fresh = await emit(db)
  await drain(db)
  expect(await jobsOf(db, 'lost')).toEqual([done, fresh])
})

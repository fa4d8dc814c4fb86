/** Two sessions that emit the same transition: it is emitted once, and the lock decides by whom. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { type Workplace, workplace } from './people.ts'
import { eventsOf, stage } from './staged.ts'

const db = useDatabase()
let place: Workplace
beforeAll(async () => {
  place = await workplace(db)
})

const TELL = `select iu_core.fn_iu_staging_emit_event($1, 'record_approved')`

/** Approved by a plain UPDATE, so that nobody has emitted it yet. */
async function untold(): Promise<string> {
  const { staging_record_id: id } = await stage(place.owner.session, { workspace: place.workspace })
  await place.intruder.query(
    `update iu_core.iu_staging_record set lifecycle_status = 'approved', approved_at = now(), approved_by = 'a hand'
      where staging_record_id = $1`,
    [id],
  )
  return id
}

const told = async (id: string) =>
  (await eventsOf(db.pool('postgres'), id)).filter((event) => event.event_type === 'record_approved')

it.each([
  ['commits', 'commit', 'SD001'],
  ['rolls back', 'rollback', 'not refused'],
])('the second waits for the first, which %s', async (_, end, answer) => {
  const id = await untold()
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query(TELL, [id])
  const late = sqlstateOf(second.query(TELL, [id]))
  await untilWaiting(db, second)
  await first.query(end)
  expect(await late).toBe(answer)
  expect(await told(id)).toHaveLength(1)
})

it('a record that is unregistered meanwhile is not there', async () => {
  const { staging_record_id: id } = await stage(place.owner.session, { workspace: place.workspace })
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query('select iu_core.fn_iu_staging_unregister($1)', [id])
  const late = sqlstateOf(
    second.query(`select iu_core.fn_iu_staging_emit_event($1, 'ingestion_complete')`, [id]),
  )
  await untilWaiting(db, second)
  await first.query('commit')
  expect(await late).toBe('SD501')
})

/** A record that a job's handler stages follows from the event that the job came from, one step deeper. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { workplace } from './people.ts'
import { stage } from './staged.ts'

const db = useDatabase()

it('its event carries the correlation and the depth of its cause', async () => {
  const { workspace } = await workplace(db)
  const session = await db.session('stagedoor_worker')
  const { rows } = await session.query(`select iu_core.fn_event_emit('system', 'issue_resolved') as id`)
  await session.query('begin')
  await session.query(`select set_config('stagedoor.cause', $1, true)`, [rows[0].id])
  await session.query('set local role service_role')
  const { staging_record_id: id } = await stage(session, { workspace, owner: 'agent' })
  await session.query('commit')
  expect(
    await db.owner(
      'select correlation_id, causation_event_id, causation_depth from iu_core.event_outbox where event_subject_ref = $1',
      [id],
    ),
  ).toEqual([{ correlation_id: rows[0].id, causation_event_id: rows[0].id, causation_depth: 1 }])
})

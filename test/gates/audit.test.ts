import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()

const GATE = 'iu_core.staging_cleanup_enabled'
const lines = (key: string) =>
  db.owner(
    `select change, old_value, new_value, actor, reason from iu_core.dot_config_audit where key = $1 order by audit_id`,
    [key],
  )

it('has a line for what the owner changes by hand', async () => {
  await db.owner(`update iu_core.dot_config set value = 'true' where key = $1`, [GATE])
  await db.owner(`insert into iu_core.dot_config (key, value, description) values ('mine', 'false', '')`)
  await db.owner(`delete from iu_core.dot_config where key = 'mine'`)
  const by = { actor: MIGRATOR, reason: null }
  expect(await lines(GATE)).toEqual([{ change: 'update', old_value: 'false', new_value: 'true', ...by }])
  expect(await lines('mine')).toEqual([
    { change: 'insert', old_value: null, new_value: 'false', ...by },
    { change: 'delete', old_value: 'false', new_value: null, ...by },
  ])
})

it('has a line for an override, though the override itself is gone', async () => {
  await db.owner(`select iu_core.fn_gate_override('queue.consumer_dispatch.enabled', true, 'one batch')`)
  expect(await lines('queue.consumer_dispatch.enabled')).toEqual([
    { change: 'override', old_value: null, new_value: 'true', actor: MIGRATOR, reason: 'one batch' },
  ])
})

it('does not carry the reason of one change over to the next', async () => {
  const session = await db.session()
  await session.query('begin')
  await session.query(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'because')`)
  await session.query(
    `update iu_core.dot_config set value = 'false' where key = 'iu_core.staging_writes_enabled'`,
  )
  await session.query('commit')
  const reasons = (await lines('iu_core.staging_writes_enabled')).map((line) => line.reason)
  expect(reasons).toEqual(['because', null])
})

it.each([
  `update iu_core.dot_config_audit set actor = 'nobody'`,
  'delete from iu_core.dot_config_audit',
  'truncate iu_core.dot_config_audit',
])('refuses even the owner: %s', async (sql) => {
  await db.owner(`select iu_core.fn_gate_override($1, true)`, [GATE])
  const before = await lines(GATE)
  expect(await sqlstateOf(db.owner(sql))).toBe('SD002')
  expect(await lines(GATE)).toEqual(before)
})

it('cannot be passed by truncating the gates', async () => {
  expect(await sqlstateOf(db.owner('truncate iu_core.dot_config cascade'))).toBe('SD002')
})

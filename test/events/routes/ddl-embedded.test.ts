/** Routes of DDL need event triggers, which only a superuser makes: our own server has them from its first start on, others say so. */
import { expect, it } from 'vitest'
import { registerRoute } from '../../../src/events/routes.ts'
import { readConfig } from '../../../src/kernel/config.ts'
import { withClient } from '../../../src/kernel/postgres/connection.ts'
import { openDatabase } from '../../../src/kernel/postgres/open.ts'
import { useDatabases } from '../../support/empty-database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const databases = useDatabases()
const home = temporaryHome('ddl')
const dryRun = `select iu_core.fn_sql_route_dry_run('database.ddl')`

it('on the embedded server a route of DDL can be tried from the first start on', async () => {
  const config = readConfig({ STAGEDOOR_HOME: home })
  const database = await openDatabase(config, { share: false })
  try {
    await withClient(database.directUrl, async (client) => {
      await client.query('set role workflow_admin')
      await registerRoute(client, { sql_event: 'ddl', fail_closed: false })
      await client.query(dryRun)
      await client.query('reset role')
      await client.query('create table public.seen (id integer)')
      await client.query('set role workflow_admin')
      const evidence = await client.query(
        `select from iu_core.iu_sql_event_route_evidence e
          where e.route_code = 'database.ddl' and to_jsonb(e.*)::text like '%ddl:public.seen%'`,
      )
      expect(evidence.rowCount).toBe(1)
    })
  } finally {
    await database.close()
  }
})

it('elsewhere nothing of the kind is made, and it says what a superuser would run', async () => {
  const database = await databases('migrated')
  expect(await database.superuser(`select from pg_event_trigger where evtname like 'stagedoor%'`)).toEqual([])
  await withClient(database.url, async (client) => {
    await client.query('set role workflow_admin')
    await registerRoute(client, { sql_event: 'ddl', fail_closed: false })
    expect(await sqlstateOf(client.query(dryRun))).toBe('SD317')
  })
})

it('the view of active routes has every column of the registry', async () => {
  const database = await databases('migrated')
  const columns = (relation: string) =>
    database.superuser(
      `select attname from pg_attribute where attrelid = '${relation}'::regclass and attnum > 0 and not attisdropped order by attname`,
    )
  expect(await columns('iu_core.v_sql_event_route_active')).toEqual(
    await columns('iu_core.iu_sql_event_route'),
  )
})

/** Routes of DDL need event triggers, which only a superuser makes: our own server has them from the migration on, others say so. */
import { expect, it } from 'vitest'
import { withClient } from '../../src/db/connection.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { registerRoute } from '../../src/events/routes.ts'
import { useDatabases } from '../support/empty-database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const databases = useDatabases()
const dryRun = `select iu_core.fn_sql_route_dry_run('database.ddl')`

it('on the embedded server a route of DDL can be tried at once', { timeout: 120_000 }, async () => {
  const database = await databases()
  await migrate({ url: database.superuserUrl, embedded: true })
  await withClient(database.url, async (client) => {
    await client.query('set role workflow_admin')
    await registerRoute(client, { sql_event: 'ddl', fail_closed: false })
    await client.query(dryRun)
  })
  await database.superuser('create table public.seen (id integer)')
  const evidence = await database.superuser<{ n: number }>(
    `select count(*)::int as n from iu_core.iu_sql_event_route_evidence where route_code = 'database.ddl'`,
  )
  expect(evidence[0]!.n).toBeGreaterThan(0)
})

it('elsewhere nothing of the kind is made, and it says what a superuser would run', {
  timeout: 120_000,
}, async () => {
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

/** When routing fails: closed, the user's transaction aborts with an error of ours; open, it goes on and is counted. */
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { disableRoute, findRoute, syncRoutes } from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { active, admin, failures, grantTriggers, payloads, user } from './routed.ts'

const db = useDatabase()

let owner: pg.Client
let tables = 0
let table: string

beforeAll(async () => {
  owner = await user(db)
})

beforeEach(async () => {
  table = `orders_${++tables}`
  await owner.query(`create table ${table} (id int primary key, doc jsonb)`)
  await grantTriggers(owner, table)
})

const route = (fail_closed: boolean) =>
  active(
    db,
    { source: table, sql_event: 'insert', fail_closed, payload_contract: { keep_refs: ['id', 'doc'] } },
    () => owner.query(`insert into ${table} values (0, '{}')`),
  )

const insert = (id: number, doc = '{}') => owner.query(`insert into ${table} values ($1, $2)`, [id, doc])
const ids = async () => (await owner.query(`select id from ${table} order by id`)).rows.map((row) => row.id)

describe('closed', () => {
  it('aborts the user’s transaction with the route and the reason', async () => {
    await route(true)
    await owner.query('begin')
    await insert(1)
    const error = await insert(2, '{"secret": 1}').catch((thrown: pg.DatabaseError) => thrown)
    expect(error).toMatchObject({ code: 'SD310' })
    expect(JSON.parse((error as pg.DatabaseError).detail!)).toMatchObject({ route: `${table}.insert` })
    await owner.query('rollback')
    expect(await ids()).toEqual([0])
    expect(await payloads(db, `${table}.insert`)).toEqual([])
    expect(await failures(db, `${table}.insert`)).toEqual([])
  })

  it('says which column is gone', async () => {
    await route(true)
    await owner.query(`alter table ${table} rename doc to document`)
    const error = await insert(1).catch((thrown: pg.DatabaseError) => thrown)
    expect(error).toMatchObject({ code: 'SD311' })
    expect((error as Error).message).toContain('has no column doc')
  })

  it('makes no subtransaction, of which many would slow the whole server down', async () => {
    await route(true)
    await owner.query('begin')
    for (let id = 1; id <= 70; id++) await insert(id)
    const { rowCount } = await owner.query(
      `select from pg_locks where locktype = 'transactionid' and pid = pg_backend_pid()`,
    )
    await owner.query('commit')
    // Each subtransaction that wrote would hold the lock of an id of its own.
    expect(rowCount).toBe(1)
  })
})

describe('open', () => {
  it('lets the user’s transaction go on, counts and says so', async () => {
    const code = await route(false)
    const warned: string[] = []
    owner.on('notice', (notice) => warned.push(notice.message ?? ''))
    await owner.query('begin')
    await insert(1)
    await insert(2, '{"secret": "s3cret"}')
    await insert(3)
    await owner.query('commit')
    expect(await ids()).toEqual([0, 1, 2, 3])
    expect((await payloads(db, code)).map((payload) => payload.id)).toEqual([1, 3])
    expect(await failures(db, code)).toMatchObject([{ sqlstate: 'SD310' }])
    expect(await findRoute(admin(db), code)).toMatchObject({ failures: '1', state: 'active' })
    expect(warned.join()).toContain(`The route ${code} sent no events for this statement`)
    expect(warned.join()).not.toContain('s3cret')
  })

  it('sends nothing of a statement that fails in one row', async () => {
    const code = await route(false)
    await owner.query(`insert into ${table} values (1, '{}'), (2, '{"token": 1}')`)
    expect(await payloads(db, code)).toEqual([])
    expect(await ids()).toEqual([0, 1, 2])
  })

  it('survives a column that is gone, and an outbox that takes nothing', async () => {
    const code = await route(false)
    await owner.query(`alter table ${table} rename doc to document`)
    await insert(1)
    await owner.query(`alter table ${table} rename document to doc`)
    await owner.query(
      `alter table iu_core.event_outbox add constraint full_today check (event_type <> '${code}') not valid`,
    )
    await insert(2)
    await owner.query('alter table iu_core.event_outbox drop constraint full_today')
    await insert(3)
    expect(await ids()).toEqual([0, 1, 2, 3])
    expect(await failures(db, code)).toMatchObject([{ sqlstate: 'SD311' }, { sqlstate: '23514' }])
    expect(await payloads(db, code)).toEqual([{ id: 3, doc: {} }])
  })

  it('lets a writer whose token names nobody write', async () => {
    const code = await route(false)
    await owner.query(`grant insert on ${table} to anon`)
    await db.as({ role: 'anon', claims: { role: 'anon' } }, (client) =>
      client.query(`insert into ${table} values (1, '{}')`),
    )
    expect(await ids()).toEqual([0, 1])
    expect(await failures(db, code)).toMatchObject([{ sqlstate: 'SD204' }])
  })

  it('goes on even if the failure cannot be written down', async () => {
    const code = await route(false)
    await owner.query(
      'alter table iu_core.iu_sql_event_route_failure add constraint closed check (false) not valid',
    )
    await insert(1, '{"secret": 1}')
    await owner.query('alter table iu_core.iu_sql_event_route_failure drop constraint closed')
    expect(await ids()).toEqual([0, 1])
    expect(await failures(db, code)).toEqual([])
  })

  it('lets two transactions fail at once without one waiting for the other', async () => {
    const code = await route(false)
    const other = await user(db)
    await owner.query('begin')
    await insert(1, '{"secret": 1}')
    await other.query(`set lock_timeout = '2s'`)
    await other.query(`insert into ${table} values (2, '{"secret": 1}')`)
    await owner.query('commit')
    expect(await failures(db, code)).toHaveLength(2)
  })

  it('keeps the newest failures and counts them all', async () => {
    const code = await route(false)
    for (let id = 1; id <= 130; id++) await insert(id, '{"secret": 1}')
    await syncRoutes(admin(db))
    expect(await failures(db, code)).toHaveLength(100)
    expect(await findRoute(admin(db), code)).toMatchObject({ failures: '130' })
  })
})

it('is open in dry run, whatever it will be later', async () => {
  await owner.query(`alter table ${table} add gone int`)
  const code = await active(
    db,
    { source: table, sql_event: 'insert', payload_contract: { keep_refs: ['id', 'gone'] } },
    () => insert(0),
  )
  await db.as({ role: 'service_role', claims: { sub: 'second-person' } }, (client) =>
    disableRoute(client, code),
  )
  await owner.query(`alter table ${table} drop gone`)
  await db.owner(`update iu_core.iu_sql_event_route set enabled = true where route_code = $1`, [code])
  await insert(1)
  expect(await ids()).toEqual([0, 1])
  expect(await failures(db, code)).toMatchObject([{ sqlstate: 'SD311' }])
})

it('passes a cancelled statement on: nobody waits for a route', async () => {
  await route(false)
  await owner.query(`begin; set local statement_timeout = 1`)
  const slow = owner.query(`insert into ${table} select n from generate_series(1, 1000000) n`)
  expect(await sqlstateOf(slow)).toBe('57014')
  await owner.query('rollback')
})

/** What can be registered, by whom it says it was, and what is refused with a reason. */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  deleteRoute,
  dryRunRoute,
  findRoute,
  listRoutes,
  type NewRoute,
  type PayloadContract,
  registerRoute,
} from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { MIGRATOR } from '../../support/template.ts'
import { admin, grantTriggers, user } from './routed.ts'

const db = useDatabase()

const onOrders = (more: Partial<NewRoute> = {}): NewRoute => ({
  source: 'orders',
  sql_event: 'insert',
  payload_contract: { keep_refs: ['id', 'status'] },
  ...more,
})

beforeAll(async () => {
  const owner = await user(db)
  await owner.query(`
    create type address as (street text, password text);
    create table orders (id bigint primary key, status text, home address, homes address[],
                         workspace text, tenant uuid, doubled int generated always as (1) stored);
    create table keyless (id bigint);
    create view glance as select * from orders;
    create schema "Sales"; create table "Sales"."Order Lines" (id bigint primary key)`)
  await grantTriggers(owner, 'orders')
})

it('fills in what is left out: code, event type, and everything off', async () => {
  const code = await registerRoute(admin(db), onOrders())
  expect(code).toBe('orders.insert')
  expect(await findRoute(admin(db), code)).toMatchObject({
    state: 'disabled',
    source_object_kind: 'table',
    source_schema: 'public',
    source_table: 'orders',
    target_event_domain: 'iu_sql',
    target_event_type: 'orders.insert',
    fail_closed: true,
    registered_by: MIGRATOR,
    revision: 1,
    attached: 0,
    failures: '0',
  })
  const known = await db.owner(
    `select from iu_core.event_vocabulary where event_domain = 'iu_sql' and event_type = 'orders.insert'`,
  )
  expect(known).toHaveLength(1)
})

it('makes codes and event types of names in any letters', async () => {
  const code = await registerRoute(admin(db), {
    source: '"Sales"."Order Lines"',
    sql_event: 'delete',
    payload_contract: { keep_refs: ['id'] },
  })
  expect(code).toBe('sales.order_lines.delete')
  expect(await findRoute(admin(db), code)).toMatchObject({
    source_schema: 'Sales',
    source_table: 'Order Lines',
    target_event_type: 'sales.order_lines.delete',
  })
})

it('sends into another domain only what its vocabulary has', async () => {
  const known = onOrders({
    route_code: 'born',
    target_event_domain: 'birth_registry',
    target_event_type: 'entity_born',
  })
  expect(await registerRoute(admin(db), known)).toBe('born')
  const unknown = registerRoute(admin(db), { ...known, target_event_type: 'entity_reborn' })
  expect(await sqlstateOf(unknown)).toBe('SD301')
})

it('ships the route of the lifecycle log, disabled', async () => {
  const shipped = (await listRoutes(admin(db))).find(
    (route) => route.route_code === 'iu_lifecycle_log.insert',
  )
  expect(shipped).toMatchObject({
    state: 'disabled',
    source_schema: 'public',
    source_table: 'iu_lifecycle_log',
    target_event_domain: 'piece',
    target_event_type: 'lifecycle_changed',
    target_event_stream: 'update',
    fail_closed: true,
    idempotency_policy: { key: '(unit_id,to_status,changed_at)' },
    payload_contract: { keep_refs: ['unit_id', 'change_set_id'] },
  })
})

it('attaches a route when its table has come', async () => {
  const code = await registerRoute(admin(db), onOrders({ source: 'later' }))
  expect(await sqlstateOf(dryRunRoute(admin(db), code))).toBe('SD315')
  const owner = await user(db)
  await owner.query('create table later (id int primary key, status text)')
  await grantTriggers(owner, 'later')
  expect(await dryRunRoute(admin(db), code)).toBe(1)
})

it('has the same ten forbidden keys as every other payload', async () => {
  const [row] = await db.owner<{ keys: string[] }>(
    `select iu_core.fn_sql_route_forbidden_keys('{"forbid_keys": ["IBAN"]}') as keys`,
  )
  expect(row!.keys).toHaveLength(11)
  expect(row!.keys).toContain('iban')
  for (const key of row!.keys.slice(0, 10)) {
    const [problem] = await db.owner<{ problem: string | null }>(
      'select iu_core.fn_payload_problem($1) as problem',
      [JSON.stringify({ deep: [{ [key]: 1 }] })],
    )
    expect(problem!.problem, key).toContain(key)
  }
})

describe('refuses', () => {
  const refused: Record<string, NewRoute> = {
    'a column that is not there': onOrders({ payload_contract: { keep_refs: ['id', 'nope'] } }),
    'no column at all': onOrders({ payload_contract: {} }),
    'an empty list': onOrders({ payload_contract: { keep_refs: [] } }),
    'a column twice': onOrders({ payload_contract: { keep_refs: ['id', 'id'] } }),
    'a forbidden name': onOrders({ source: 'elsewhere', payload_contract: { keep_refs: ['id', 'Token'] } }),
    'a name that the route itself forbids': onOrders({
      payload_contract: { keep_refs: ['id', 'status'], forbid_keys: ['STATUS'] },
    }),
    'a subject that is not kept': onOrders({ payload_contract: { keep_refs: ['id'], subject: ['status'] } }),
    'a composite, whose fields would hide': onOrders({ payload_contract: { keep_refs: ['id', 'home'] } }),
    'an array of composites': onOrders({ payload_contract: { keep_refs: ['id', 'homes'] } }),
    'a system column': onOrders({ payload_contract: { keep_refs: ['id', 'ctid'] } }),
    'a view': onOrders({ source: 'glance' }),
    'a table of PostgreSQL': onOrders({
      source: 'pg_catalog.pg_class',
      payload_contract: { keep_refs: ['relname'] },
    }),
    'the outbox itself': onOrders({
      source: 'iu_core.event_outbox',
      payload_contract: { keep_refs: ['id'] },
    }),
    'what routes write': onOrders({
      source: 'iu_core.iu_sql_event_route_key',
      payload_contract: { keep_refs: ['event_id'] },
    }),
    'a workspace column that is not a uuid': onOrders({ workspace_column: 'workspace' }),
    'a key that is not a list of columns': onOrders({ idempotency_policy: { key: 'id; drop table orders' } }),
    'a key of columns that are not there': onOrders({ idempotency_policy: { key: '(id,nope)' } }),
    'only_changed without a primary key to pair rows by': {
      source: 'keyless',
      sql_event: 'update',
      payload_contract: { keep_refs: ['id'], only_changed: true },
    },
    'only_changed of inserts': onOrders({ payload_contract: { keep_refs: ['id'], only_changed: true } }),
    'an event that there is not': onOrders({ sql_event: 'select' as 'insert' }),
    'a call of a table': { ...onOrders(), source_object_kind: 'table', sql_event: 'call' } as NewRoute,
    'a contract with fields nobody knows': onOrders({
      payload_contract: { keep_refs: ['id'], eval: '1' } as PayloadContract,
    }),
    'an event type in other letters': onOrders({ target_event_type: 'Order Placed' }),
  }
  it.each(Object.entries(refused))('%s', async (_, route) => {
    expect(await sqlstateOf(registerRoute(admin(db), { ...route, route_code: 'refused' }))).toBe('SD311')
    expect(await findRoute(admin(db), 'refused')).toBeUndefined()
  })

  it('fields that a route does not have, state among them', async () => {
    for (const field of ['enabled', 'reviewed_by', 'registered_by', 'colour']) {
      expect(await sqlstateOf(registerRoute(admin(db), { ...onOrders(), [field]: true } as NewRoute))).toBe(
        'SD001',
      )
    }
  })

  it('to say that somebody else registered it', async () => {
    expect(await sqlstateOf(registerRoute(admin(db), onOrders(), 'ada'))).toBe('SD203')
  })

  it('a workspace that is not there, and two at once', async () => {
    const nowhere = onOrders({ workspace_id: '00000000-0000-4000-8000-000000000000' })
    expect(await sqlstateOf(registerRoute(admin(db), nowhere))).toBe('SD001')
    const both = onOrders({ workspace_id: await createWorkspace(db), workspace_column: 'tenant' })
    expect(await sqlstateOf(registerRoute(admin(db), both))).toBe('SD311')
  })
})

it('removes a route with all that belongs to it, and frees its trigger', async () => {
  const code = await registerRoute(admin(db), onOrders({ route_code: 'goes' }))
  await dryRunRoute(admin(db), code)
  const owner = await user(db)
  await owner.query(`insert into orders (id, status) values (900, 'new')`)
  // The owner's session may drop triggers; our administrator may not, and is told the statement.
  const left = await deleteRoute(admin(db), code)
  expect(left).toEqual(['drop trigger stagedoor_route_insert on public.orders;'])
  expect(await findRoute(admin(db), code)).toBeUndefined()
  for (const table of ['attachment', 'evidence', 'failure', 'key']) {
    expect(
      await db.owner(`select from iu_core.iu_sql_event_route_${table} where route_code = $1`, [code]),
    ).toEqual([])
  }
  await owner.query(`insert into orders (id, status) values (901, 'a trigger without routes does nothing')`)
  await owner.query(left[0]!)
  // A transaction that was under way may still write evidence; it is not that of a later route of this code.
  await db.owner(
    `insert into iu_core.iu_sql_event_route_evidence (route_code, revision, relation, events, refused, sample, actor)
     values ($1, 1, 'orders', 1, 0, '[]', 'ada')`,
    [code],
  )
  await registerRoute(admin(db), onOrders({ route_code: 'goes' }))
  expect(await findRoute(admin(db), code)).toMatchObject({ revision: 1, evidence: 0 })
})

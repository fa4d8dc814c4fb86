/** Who may do what with a route, who sees it, and that whoever writes the table can do nothing through it. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  activateRoute,
  deleteRoute,
  disableRoute,
  dryRunRoute,
  findRoute,
  listRoutes,
  registerRoute,
  reviewRoute,
  routeEvidence,
  syncRoutes,
} from '../../../src/events/routes.ts'
import type { Caller } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import {
  admin,
  approve,
  attachRoute,
  detachRoute,
  dryRun,
  failures,
  grantTriggers,
  payloads,
  sent,
  user,
} from './routed.ts'

const db = useDatabase()

let owner: pg.Client
let ours: string
let reviewer: Member
let viewer: Member
let operator: Member
let agent: Member
let stranger: Member
const SERVICE: Caller = { role: 'service_role', claims: { sub: 'second-person' } }
const WORKER: Caller = { role: 'service_role', claims: { sub: 'worker' } }

beforeAll(async () => {
  owner = await user(db)
  await owner.query(`
    create table orders (id int primary key, status text); create table global_orders (id int primary key);
    grant insert on orders to anon, authenticated; revoke create on schema public from public`)
  await grantTriggers(owner, 'orders', 'global_orders')
  ours = await createWorkspace(db, 'ours')
  reviewer = await createMember(db, ours, 'reviewer')
  viewer = await createMember(db, ours, 'viewer')
  operator = await createMember(db, ours, 'operator')
  agent = await createMember(db, ours, 'agent')
  stranger = await createMember(db, await createWorkspace(db, 'theirs'), 'admin')
  await dryRun(db, {
    source: 'orders',
    sql_event: 'insert',
    payload_contract: { keep_refs: ['id', 'status'] },
    workspace_id: ours,
  })
  await owner.query(`insert into orders values (0, 'evidence')`)
  await dryRun(db, { source: 'global_orders', sql_event: 'insert', payload_contract: { keep_refs: ['id'] } })
  await owner.query('insert into global_orders values (0)')
})

const tried = (caller: Caller, work: (client: pg.ClientBase) => Promise<unknown>) =>
  sqlstateOf(db.as(caller, work))

describe('only workflow_admin', () => {
  it.each(['service_role', 'stagedoor_reviewer', 'authenticated', 'stagedoor_agent', 'anon'])(
    'registers, attaches and removes, not %s',
    async (role) => {
      const caller = { role, claims: { sub: reviewer.userId } }
      for (const work of [
        (client: pg.ClientBase) => registerRoute(client, { source: 'orders', sql_event: 'delete' }),
        (client: pg.ClientBase) => dryRunRoute(client, 'orders.insert'),
        (client: pg.ClientBase) => attachRoute(client, 'orders.insert'),
        (client: pg.ClientBase) => detachRoute(client, 'orders.insert'),
        (client: pg.ClientBase) => deleteRoute(client, 'orders.insert'),
        (client: pg.ClientBase) =>
          client.query(`update iu_core.iu_sql_event_route set reviewed_by = 'x' where false`),
        (client: pg.ClientBase) => client.query('delete from iu_core.iu_sql_event_route'),
      ]) {
        expect(await tried(caller, work)).toBe('42501')
      }
    },
  )

  it('and the workers only bring routes in step', async () => {
    const worker = db.pool('stagedoor_worker')
    expect(await sqlstateOf(registerRoute(worker, { source: 'orders', sql_event: 'delete' }))).toBe('42501')
    expect(await sqlstateOf(activateRoute(worker, 'orders.insert'))).toBe('42501')
    expect(await syncRoutes(worker)).toEqual([])
  })

  it('may attach to a table only what its owner grants, and gets the statements', async () => {
    await owner.query('create schema closed; create table closed.mine (id int primary key)')
    const code = await registerRoute(admin(db), {
      source: 'closed.mine',
      sql_event: 'insert',
      payload_contract: { keep_refs: ['id'] },
    })
    const error = await dryRunRoute(admin(db), code).catch((thrown: pg.DatabaseError) => thrown)
    expect(error).toMatchObject({ code: 'SD315' })
    const { statements } = JSON.parse((error as pg.DatabaseError).detail!) as { statements: string[] }
    expect(statements).toEqual([
      'grant usage on schema closed to workflow_admin;',
      'grant trigger on table closed.mine to workflow_admin;',
    ])
    for (const statement of statements) await owner.query(statement)
    expect(await dryRunRoute(admin(db), code)).toBe(1)
    await deleteRoute(admin(db), code)
  })
})

describe('a route of a workspace', () => {
  const seen = (caller: Caller) =>
    db.as(caller, async (client) => (await listRoutes(client)).map((route) => route.route_code))

  it('is seen by its people and by back-end code, not by agents, strangers or anon', async () => {
    for (const member of [viewer, operator, reviewer]) expect(await seen(member)).toEqual(['orders.insert'])
    expect(await seen(SERVICE)).toEqual(expect.arrayContaining(['orders.insert', 'global_orders.insert']))
    expect(await seen(stranger)).toEqual([])
    expect(await seen({ role: 'authenticated', claims: { sub: agent.userId } })).toEqual([])
    expect(await sqlstateOf(seen(agent))).toBe('42501')
    expect(await sqlstateOf(seen({ role: 'anon', claims: { sub: reviewer.userId } }))).toBe('42501')
  })

  it.each(['evidence', 'attachment', 'failure'])('shows its %s to no stranger', async (table) => {
    await owner.query(
      `insert into iu_core.iu_sql_event_route_failure (route_code, relation, sqlstate, reason, actor)
       values ('orders.insert', 'orders', 'SD310', 'a reason', 'ada')`,
    )
    const count = (caller: Caller) =>
      db.as(caller, async (client) => {
        const { rowCount } = await client.query(
          `select from iu_core.iu_sql_event_route_${table} where route_code = 'orders.insert'`,
        )
        return rowCount!
      })
    expect(await count(viewer)).toBeGreaterThan(0)
    expect(await count(stranger)).toBe(0)
    await owner.query('delete from iu_core.iu_sql_event_route_failure')
  })

  it('is answered to strangers as if it were not there', async () => {
    for (const work of [
      (client: pg.ClientBase) => routeEvidence(client, 'orders.insert'),
      (client: pg.ClientBase) => reviewRoute(client, 'orders.insert', { evidence: 1 }),
      (client: pg.ClientBase) => activateRoute(client, 'orders.insert'),
      (client: pg.ClientBase) => disableRoute(client, 'orders.insert'),
    ]) {
      expect(await tried(stranger, work)).toBe('SD312')
      expect(await tried(stranger, work)).toBe(
        await tried(stranger, (client) => routeEvidence(client, 'nope')),
      )
    }
  })

  it('is decided on by reviewers only', async () => {
    const asReviewer = (member: Member): Caller => ({
      role: 'stagedoor_reviewer',
      claims: { sub: member.userId },
    })
    for (const work of [
      (client: pg.ClientBase) => reviewRoute(client, 'orders.insert', { evidence: 1 }),
      (client: pg.ClientBase) => activateRoute(client, 'orders.insert'),
      (client: pg.ClientBase) => disableRoute(client, 'orders.insert'),
    ]) {
      for (const member of [viewer, operator, agent]) {
        expect(await tried(member, work)).toBe('42501')
        expect(await tried(asReviewer(member), work)).toBe('SD202')
      }
    }
    expect((await findRoute(admin(db), 'orders.insert'))!.state).toBe('dry_run')
  })
})

it('a global route is decided on by back-end code only, under the name of a second person', async () => {
  expect(
    await tried(reviewer, (client) => reviewRoute(client, 'global_orders.insert', { evidence: 1 })),
  ).toBe('SD312')
  await db.as(WORKER, (client) => reviewRoute(client, 'global_orders.insert', { evidence: 1, actor: 'ada' }))
  expect(await findRoute(admin(db), 'global_orders.insert')).toMatchObject({ reviewed_by: 'ada' })
  const [route] = await db.owner(
    'select reviewed_via from iu_core.iu_sql_event_route where route_code = $1',
    ['global_orders.insert'],
  )
  expect(route).toEqual({ reviewed_via: 'worker' })
})

describe('whoever writes the table', () => {
  beforeAll(async () => {
    await approve(db, 'orders.insert')
  })

  it('needs no right of ours, and is the actor', async () => {
    await db.as({ role: 'anon', claims: { sub: 'somebody' } }, (client) =>
      client.query(`insert into orders values (1, 'by anon')`),
    )
    await db.as(viewer, (client) => client.query(`insert into orders values (2, 'by a member')`))
    await owner.query(`insert into orders values (3, 'by its owner')`)
    expect((await sent(db, 'orders.insert')).map(({ actor, workspace_id }) => [actor, workspace_id])).toEqual(
      [
        ['somebody', ours],
        [viewer.userId, ours],
        ['postgres', ours],
      ],
    )
    const peek = db.as({ role: 'anon', claims: { sub: 'somebody' } }, (client) =>
      client.query('select from iu_core.event_outbox'),
    )
    expect(await sqlstateOf(peek)).toBe('42501')
  })

  it('cannot lead the trigger astray by a search_path, temporary objects or settings', async () => {
    const session = await user(db)
    await session.query(`
      create function pg_temp.jsonb_build_object(variadic "any") returns jsonb language internal as 'jsonb_build_object_noargs';
      create function pg_temp.lower(text) returns text language sql as $$ select 'nothing' $$;
      create function pg_temp.concat(variadic "any") returns text language internal as 'text_concat';
      create temporary table event_outbox (id uuid); create temporary table iu_sql_event_route (route_code text);
      create temporary table iu_sql_event_route_attachment (relation regclass);
      create temporary table stagedoor_new (id int, status text);
      insert into stagedoor_new values (666, 'forged');
      set search_path = pg_temp, public, iu_core; set timezone = 'Asia/Saigon'; set plan_cache_mode = force_generic_plan;
      insert into public.orders values (4, 'as always')`)
    expect((await payloads(db, 'orders.insert')).at(-1)).toEqual({ id: 4, status: 'as always' })
  })

  it('cannot have the trigger function work for a table of theirs', async () => {
    await owner.query('create table forged (id int, status text); grant all on forged to authenticated')
    const own = db.as(viewer, (client) =>
      client.query(`create trigger stagedoor_route_insert after insert on forged referencing new table as stagedoor_new
                    for each statement execute function iu_core.fn_sql_event_route()`),
    )
    expect(await sqlstateOf(own)).toBe('42501')
    // Somebody who may do everything puts it there: without an attachment by the registrar it does nothing.
    await owner.query(`create trigger stagedoor_route_insert after insert on forged referencing new table as stagedoor_new
                       for each statement execute function iu_core.fn_sql_event_route()`)
    const before = (await sent(db, 'orders.insert')).length
    await owner.query(`insert into forged values (1, 'forged')`)
    expect(await sent(db, 'orders.insert')).toHaveLength(before)
    expect(await failures(db, 'orders.insert')).toEqual([])
  })

  it('cannot call what is inside', async () => {
    const inside = await db.owner<{ signature: string }>(
      `select oid::regprocedure::text as signature from pg_proc
        where pronamespace = 'iu_core'::regnamespace and (proname like 'fn\\_sql\\_%' or proname = 'routed_call')
          and (has_function_privilege('anon', oid, 'execute') or has_function_privilege('authenticated', oid, 'execute')
               or has_function_privilege('stagedoor_agent', oid, 'execute'))`,
    )
    expect(inside).toEqual([{ signature: 'iu_core.fn_sql_route_evidence(text,integer)' }])
  })
})

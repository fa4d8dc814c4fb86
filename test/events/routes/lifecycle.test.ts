/** Disabled → dry run → reviewed by somebody else → active, which the database enforces. */
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  activateRoute,
  disableRoute,
  dryRunRoute,
  findRoute,
  type NewRoute,
  registerRoute,
  reviewRoute,
  routeEvidence,
} from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { MIGRATOR } from '../../support/template.ts'
import { admin, grantTriggers, sent, user } from './routed.ts'

const db = useDatabase()

let owner: pg.Client
let workspace: string
let reviewer: Member
let route: NewRoute
let code: string
let orders = 0

beforeAll(async () => {
  owner = await user(db)
  await owner.query('create table orders (id bigint primary key, status text, note text)')
  await grantTriggers(owner, 'orders')
  workspace = await createWorkspace(db)
  reviewer = await createMember(db, workspace, 'reviewer')
})

let tests = 0
beforeEach(async () => {
  route = {
    route_code: `orders.${++tests}`,
    source: 'orders',
    sql_event: 'insert',
    target_event_type: `orders.t${tests}`,
    payload_contract: { keep_refs: ['id', 'status'] },
    workspace_id: workspace,
  }
  code = await registerRoute(admin(db), route)
})

const order = () => owner.query(`insert into orders values ($1, 'new', 'rather private')`, [++orders])
const state = async () => (await findRoute(admin(db), code))!.state
const review = (seen: { evidence: number; revision?: number }, by: Member = reviewer) =>
  db.as(by, (client) => reviewRoute(client, code, seen))
const activate = () => db.as(reviewer, (client) => activateRoute(client, code))
const type = () => route.target_event_type!

async function toActive(): Promise<void> {
  await dryRunRoute(admin(db), code)
  await order()
  await review({ evidence: 1 })
  await activate()
}

it('sends nothing while disabled, and nothing in dry run, which keeps what it would have sent', async () => {
  await order()
  await dryRunRoute(admin(db), code)
  expect(await state()).toBe('dry_run')
  await owner.query(`insert into orders select n, 'new', 'private' from generate_series($1::int, $1 + 6) n`, [
    orders + 1,
  ])
  orders += 7
  expect(await sent(db, type())).toEqual([])
  const evidence = await db.as(reviewer, (client) => routeEvidence(client, code))
  expect(evidence).toHaveLength(1)
  expect(evidence[0]).toMatchObject({
    events: '7',
    refused: '0',
    relation: 'public.orders',
    actor: 'postgres',
  })
  expect(evidence[0]!.sample).toHaveLength(5)
  expect(evidence[0]!.sample[0]).toEqual({
    event_subject_ref: String(orders - 6),
    canonical_address: `sql:public.orders/${orders - 6}`,
    workspace_id: workspace,
    payload: { id: orders - 6, status: 'new' },
  })
})

it('keeps no evidence of what was rolled back, nor of a statement without rows', async () => {
  await dryRunRoute(admin(db), code)
  await owner.query('begin')
  await order()
  await owner.query('rollback')
  await owner.query('insert into orders select * from orders where false')
  expect(await db.as(reviewer, (client) => routeEvidence(client, code))).toEqual([])
})

it('keeps the newest evidence only', async () => {
  await dryRunRoute(admin(db), code)
  for (let statement = 0; statement < 150; statement++) await order()
  const kept = await routeEvidence(admin(db), code, 1000)
  expect(kept.length).toBeGreaterThanOrEqual(100)
  expect(kept.length).toBeLessThanOrEqual(120)
  expect(kept[0]!.sample[0]!.event_subject_ref).toBe(String(orders))
})

it('is reviewed by a second person who has seen evidence, then activated, then sends', async () => {
  await dryRunRoute(admin(db), code)
  expect(await sqlstateOf(review({ evidence: 1 }))).toBe('SD313')
  await order()
  expect(await sqlstateOf(activate())).toBe('SD313')
  expect(await sqlstateOf(review({ evidence: 0 }))).toBe('SD313')
  expect(await sqlstateOf(review({ evidence: 1000 }))).toBe('SD313')
  // One statement was noted, so nobody can have seen two.
  expect(await sqlstateOf(review({ evidence: 2 }))).toBe('SD313')
  await review({ evidence: 1, revision: 1 })
  expect(await state()).toBe('reviewed')
  await order()
  expect(await sent(db, type())).toEqual([])
  await activate()
  expect(await findRoute(admin(db), code)).toMatchObject({
    state: 'active',
    registered_by: MIGRATOR,
    reviewed_by: reviewer.userId,
    activated_by: reviewer.userId,
    evidence_seen: 1,
  })
  await order()
  expect(await sent(db, type())).toMatchObject([
    {
      safe_payload: { id: orders, status: 'new' },
      event_subject_ref: String(orders),
      workspace_id: workspace,
    },
  ])
})

it('is among the active ones only while it is, found by table and event', async () => {
  const listed = async () =>
    (await db.owner('select from iu_core.v_sql_event_route_active where route_code = $1', [code])).length
  await dryRunRoute(admin(db), code)
  expect(await listed()).toBe(0)
  await order()
  await review({ evidence: 1 })
  expect(await listed()).toBe(0)
  await activate()
  expect(await listed()).toBe(1)
  const [index] = await db.owner<{ definition: string }>(
    `select pg_get_indexdef('iu_core.ix_iu_sql_event_route_lookup'::regclass) as definition`,
  )
  expect(index!.definition).toContain(
    '(source_schema, source_table, sql_event) WHERE ((enabled = true) AND (dry_run = false))',
  )
})

it('says every step as an event of the workspace', async () => {
  await toActive()
  await db.as(reviewer, (client) => disableRoute(client, code, { reason: 'too loud' }))
  const told = await db.owner<{ event_stream: string; actor: string }>(
    `select event_stream, actor from iu_core.event_outbox
      where event_domain = 'governance' and event_subject_ref = $1 and workspace_id = $2 order by seq`,
    [code, workspace],
  )
  expect(told).toEqual([
    { event_stream: 'registered', actor: MIGRATOR },
    { event_stream: 'dry_run', actor: MIGRATOR },
    { event_stream: 'reviewed', actor: reviewer.userId },
    { event_stream: 'activated', actor: reviewer.userId },
    { event_stream: 'disabled', actor: reviewer.userId },
  ])
})

it('stops at once when disabled, and goes on without another review while it is the same', async () => {
  await toActive()
  await db.as(reviewer, (client) => disableRoute(client, code, { reason: 'too loud' }))
  expect(await findRoute(admin(db), code)).toMatchObject({
    state: 'disabled',
    disabled_reason: `${reviewer.userId} disabled it: too loud`,
  })
  await order()
  expect(await sent(db, type())).toHaveLength(0)
  await activate()
  await order()
  expect(await sent(db, type())).toHaveLength(1)
})

it('can be disabled while a long transaction writes to the table', async () => {
  await toActive()
  await owner.query('begin')
  await order()
  await db.as(reviewer, (client) => disableRoute(client, code))
  await owner.query('commit')
  expect(await sent(db, type())).toHaveLength(1)
  await order()
  expect(await sent(db, type())).toHaveLength(1)
})

describe('a change', () => {
  const changes: Record<string, Partial<NewRoute>> = {
    contract: { payload_contract: { keep_refs: ['id'] } },
    key: { idempotency_policy: { key: '(id)' } },
    'event type': { target_event_type: 'orders.other' },
    stream: { target_event_stream: 'eu' },
    'way to fail': { fail_closed: false },
    'sql event': { sql_event: 'update' },
    table: { source: 'elsewhere' },
  }
  it.each(Object.entries(changes))('of its %s clears the review and disables it', async (_, change) => {
    await toActive()
    await registerRoute(admin(db), { ...route, ...change })
    expect(await findRoute(admin(db), code)).toMatchObject({
      state: 'disabled',
      reviewed_by: null,
      activated_at: null,
      revision: 2,
      evidence: 0,
      disabled_reason: 'its definition was changed',
    })
    await order()
    expect(await sent(db, type())).toEqual([])
    expect(await sqlstateOf(activate())).toBe('SD313')
  })

  it('behind the functions, in one statement with a review and an activation, does as well', async () => {
    await toActive()
    await db.owner(
      `update iu_core.iu_sql_event_route
          set payload_contract = '{"keep_refs": ["id", "note"]}', enabled = true, dry_run = false,
              reviewed_by = 'ada', reviewed_at = now(), evidence_seen = 1, activated_at = now()
        where route_code = $1`,
      [code],
    )
    expect(await findRoute(admin(db), code)).toMatchObject({ state: 'disabled', reviewed_by: null })
    // And what the trigger had prepared for the old contract is not used for the new one.
    await db.owner(`update iu_core.iu_sql_event_route set enabled = true where route_code = $1`, [code])
    await order()
    expect(await routeEvidence(admin(db), code)).toEqual([])
  })

  it('makes evidence that was seen before worth nothing', async () => {
    await dryRunRoute(admin(db), code)
    await order()
    await registerRoute(admin(db), { ...route, payload_contract: { keep_refs: ['id', 'note'] } })
    await dryRunRoute(admin(db), code)
    expect(await sqlstateOf(review({ evidence: 1 }))).toBe('SD313')
    await order()
    expect(await sqlstateOf(review({ evidence: 1, revision: 1 }))).toBe('SD313')
    await review({ evidence: 1, revision: 2 })
  })

  it('that is none leaves the review', async () => {
    await toActive()
    await registerRoute(admin(db), route)
    expect(await state()).toBe('active')
  })
})

describe('the database refuses, also to the owner,', () => {
  const set = (assignments: string) =>
    db.owner(`update iu_core.iu_sql_event_route set ${assignments} where route_code = $1`, [code])

  it('an active route that nobody has reviewed', async () => {
    expect(await sqlstateOf(set('enabled = true, dry_run = false, activated_at = now()'))).toBe('23514')
    await db.owner(
      `insert into iu_core.iu_sql_event_route (route_code, source_object_kind, source_schema, source_table, sql_event,
         target_event_domain, target_event_type, enabled, dry_run, activated_at, registered_by, reviewed_by, reviewed_at, evidence_seen)
       values ('sneaked', 'table', 'public', 'orders', 'insert', 'piece', 'piece_reordered', true, false, now(), 'eve', 'rita', now(), 1)`,
    )
    expect(await findRoute(admin(db), 'sneaked')).toMatchObject({
      state: 'disabled',
      reviewed_by: null,
      registered_by: MIGRATOR,
    })
    await db.owner(`delete from iu_core.iu_sql_event_route where route_code = 'sneaked'`)
  })

  it('a review by the registrant, in their own name or through a service', async () => {
    const stamps = 'reviewed_at = now(), evidence_seen = 1'
    expect(await sqlstateOf(set(`reviewed_by = registered_by, ${stamps}`))).toBe('23514')
    expect(await sqlstateOf(set(`reviewed_by = 'ada', reviewed_via = registered_by, ${stamps}`))).toBe(
      'SD203',
    )
    expect(await sqlstateOf(set(`reviewed_by = null, ${stamps}`))).toBe('23514')
  })

  it('a review in the name of somebody who did not act', async () => {
    const stamps = 'reviewed_at = now(), evidence_seen = 1'
    expect(await sqlstateOf(set(`reviewed_by = 'rita', ${stamps}`))).toBe('SD203')
    const through = `registered_by = 'eve', registered_via = '${MIGRATOR}', target_event_stream = 'eu'`
    expect(await sqlstateOf(set(through))).toBe('SD203')
    await set(`registered_by = 'eve', target_event_stream = 'eu'`)
    expect(await findRoute(admin(db), code)).toMatchObject({ registered_by: MIGRATOR, reviewed_by: null })
  })

  it('to swap the registrant under a review', async () => {
    await toActive()
    await set(`registered_by = '${reviewer.userId}'`)
    expect(await findRoute(admin(db), code)).toMatchObject({ state: 'disabled', reviewed_by: null })
  })

  it('a disabled route that sends', async () => {
    expect(await sqlstateOf(set('enabled = false, dry_run = false'))).toBe('23514')
  })
})

it('says to the registrant that somebody else must review it', async () => {
  await dryRunRoute(admin(db), code)
  await order()
  expect(await sqlstateOf(reviewRoute(admin(db), code, { evidence: 1 }))).toBe('SD314')
})

it('answers for a route that there is not', async () => {
  for (const work of [
    () => dryRunRoute(admin(db), 'nope'),
    () => routeEvidence(admin(db), 'nope'),
    () => reviewRoute(admin(db), 'nope', { evidence: 1 }),
    () => activateRoute(admin(db), 'nope'),
    () => disableRoute(admin(db), 'nope'),
  ]) {
    expect(await sqlstateOf(work())).toBe('SD312')
  }
})

/** What each kind of statement sends: one insert of ours for all rows of a statement. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import type { NewRoute } from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { active, approve, dryRun, failures, grantTriggers, payloads, sent, user } from './routed.ts'

const db = useDatabase()

let owner: pg.Client
let tables = 0

beforeAll(async () => {
  owner = await user(db)
})

/** A table with active routes for these events, and nothing in it. */
async function routed(
  events: readonly NewRoute['sql_event'][],
  more: Partial<NewRoute> = {},
  definition = 'id bigint primary key, status text, note text, tenant uuid',
): Promise<string> {
  const table = `orders_${++tables}`
  await owner.query(`create table ${table} (${definition})`)
  await grantTriggers(owner, table)
  const codes: string[] = []
  for (const sql_event of events) {
    const payload_contract = sql_event === 'truncate' ? {} : { keep_refs: ['id', 'status'] }
    codes.push(await dryRun(db, { source: table, sql_event, payload_contract, ...more }))
  }
  await owner.query(`insert into ${table} (id, status) values (0, 'evidence')`)
  await owner.query(`update ${table} set status = 'seen'`)
  await owner.query(`delete from ${table}`)
  await owner.query(`truncate ${table}`)
  for (const code of codes) await approve(db, code)
  return table
}

/** How many events each insert into the outbox had, of those that had any. */
async function inserts(work: () => Promise<unknown>): Promise<number[]> {
  await owner.query(`
    create table seen (events int); grant insert on seen to public;
    create function count_inserted() returns trigger language plpgsql as
      $$ begin insert into public.seen select count(*) from added having count(*) > 0; return null; end $$;
    create trigger counts after insert on iu_core.event_outbox referencing new table as added
      for each statement execute function count_inserted()`)
  try {
    await work()
    return (await owner.query<{ events: number }>('select events from seen')).rows.map((row) => row.events)
  } finally {
    await owner.query('drop function count_inserted() cascade; drop table seen')
  }
}

it('sends the same for a row alone as for a row among others', async () => {
  const workspace = await createWorkspace(db, 'alone')
  const table = await routed(['insert', 'update', 'delete'], { workspace_column: 'tenant' })
  const status = `say "hi"\\ 50 % of 'ä'`
  const rows = (ids: readonly number[]) =>
    ids.map((id) => `(${id}, $1, 'private', '${workspace}')`).join(', ')
  const story = async (ids: readonly number[]) => {
    await owner.query(`insert into ${table} values ${rows(ids)}`, [status])
    await owner.query(`update ${table} set status = status || '!' where id = any ($1)`, [ids])
    await owner.query(`delete from ${table} where id = any ($1)`, [ids])
    const events = []
    for (const event of ['insert', 'update', 'delete']) {
      const found = (await sent(db, `${table}.${event}`)).filter((one) => one.safe_payload.id === ids[0])
      expect(found).toHaveLength(1)
      // The first event of a chain is its own correlation.
      expect(found[0]!.correlation_id).toBe(found[0]!.id)
      const { id: _, tx: __, correlation_id: ___, ...rest } = found[0]!
      events.push(rest)
    }
    return JSON.parse(JSON.stringify(events).replaceAll(`${ids[0]}`, 'ID').replaceAll(':ID', ':"ID"'))
  }
  expect(await story([700_000_071])).toEqual(await story([800_000_082, 800_000_083]))
  expect(await statementsForSingleRows(`${table}.insert`)).toBe(true)
})

it('has no statement of its own for single rows where keys or earlier values decide what is sent', async () => {
  const table = await routed(['insert'], { idempotency_policy: { key: '(id)' } })
  expect(await statementsForSingleRows(`${table}.insert`)).toBe(false)
  const updated = await routed(['update'], {
    payload_contract: { keep_refs: ['id', 'status'], only_changed: true },
  })
  expect(await statementsForSingleRows(`${updated}.update`)).toBe(false)
})

async function statementsForSingleRows(route: string): Promise<boolean> {
  const rows = await db.owner<{ has: boolean }>(
    'select row_sql is not null as has from iu_core.iu_sql_event_route_attachment where route_code = $1',
    [route],
  )
  return rows[0]!.has
}

it('sends the kept columns of inserted, updated and deleted rows: new, new and old', async () => {
  const table = await routed(['insert', 'update', 'delete'])
  await owner.query(`insert into ${table} values (1, 'new', 'private'), (2, 'new', 'private')`)
  await owner.query(`update ${table} set status = 'paid' where id = 2`)
  await owner.query(`delete from ${table} where id = 1`)
  expect(await payloads(db, `${table}.insert`)).toEqual([
    { id: 1, status: 'new' },
    { id: 2, status: 'new' },
  ])
  expect(await payloads(db, `${table}.update`)).toEqual([{ id: 2, status: 'paid' }])
  expect(await payloads(db, `${table}.delete`)).toEqual([{ id: 1, status: 'new' }])
})

it('turns 10,000 rows of one statement into events with one insert, each a trace of its own', async () => {
  const table = await routed(['insert'])
  const statements = await inserts(() =>
    owner.query(`insert into ${table} select n, 'new' from generate_series(1, 10000) n`),
  )
  expect(statements).toEqual([10_000])
  const events = await sent(db, `${table}.insert`)
  expect(events).toHaveLength(10_000)
  expect(events.map((event) => event.safe_payload.id)).toEqual(
    Array.from({ length: 10_000 }, (_, i) => i + 1),
  )
  expect(events.every((event) => event.correlation_id === event.id && event.causation_depth === 0)).toBe(true)
  expect(new Set(events.map((event) => event.tx)).size).toBe(1)
})

it('writes nothing at all for a statement without rows', async () => {
  const table = await routed(['update'])
  expect(await inserts(() => owner.query(`update ${table} set status = 'x'`))).toEqual([])
})

it('goes away with the transaction that is rolled back', async () => {
  const table = await routed(['insert'])
  await owner.query(`begin; insert into ${table} values (1, 'new'); rollback`)
  expect(await sent(db, `${table}.insert`)).toEqual([])
})

it('sees upserts, MERGE and COPY as what they do to each row', async () => {
  const table = await routed(['insert', 'update', 'delete'])
  await owner.query(`insert into ${table} values (1, 'old'), (2, 'old')`)
  await owner.query(
    `insert into ${table} values (2, 'again'), (3, 'new') on conflict (id) do update set status = excluded.status`,
  )
  await owner.query(
    `merge into ${table} t using (values (1, 'gone'), (3, 'merged'), (4, 'merged')) s (id, status) on t.id = s.id
       when matched and s.status = 'gone' then delete
       when matched then update set status = s.status
       when not matched then insert (id, status) values (s.id, s.status)`,
  )
  await owner.query(`copy ${table} (id, status) from program 'echo 5,copied' with (format csv)`)
  expect(await payloads(db, `${table}.insert`)).toEqual([
    { id: 1, status: 'old' },
    { id: 2, status: 'old' },
    { id: 3, status: 'new' },
    { id: 4, status: 'merged' },
    { id: 5, status: 'copied' },
  ])
  expect(await payloads(db, `${table}.update`)).toEqual([
    { id: 2, status: 'again' },
    { id: 3, status: 'merged' },
  ])
  expect(await payloads(db, `${table}.delete`)).toEqual([{ id: 1, status: 'old' }])
})

it('gives one table-level event for TRUNCATE', async () => {
  const table = await routed(['truncate'])
  await owner.query(`insert into ${table} select n from generate_series(1, 100) n`)
  await owner.query(`truncate ${table}`)
  expect(await sent(db, `${table}.truncate`)).toMatchObject([
    {
      event_subject_ref: null,
      canonical_address: `sql:public.${table}`,
      safe_payload: { table: `public.${table}`, truncated: `public.${table}` },
    },
  ])
})

it('sends several routes of one event through one trigger', async () => {
  const table = await routed(['insert'])
  await active(
    db,
    {
      route_code: `${table}.again`,
      source: table,
      sql_event: 'insert',
      target_event_type: `${table}.again`,
      payload_contract: { keep_refs: ['status'] },
    },
    () => owner.query(`insert into ${table} values (7, 'evidence')`),
  )
  await owner.query(`insert into ${table} values (8, 'both')`)
  expect(await payloads(db, `${table}.insert`)).toContainEqual({ id: 8, status: 'both' })
  expect(await sent(db, `${table}.again`)).toMatchObject([
    { safe_payload: { status: 'both' }, event_subject_ref: null, canonical_address: `sql:public.${table}` },
  ])
  const { rowCount } = await owner.query('select from pg_trigger where tgrelid = $1::regclass', [table])
  expect(rowCount).toBe(1)
})

describe('the workspace of an event', () => {
  it('is the fixed one of the route', async () => {
    const workspace = await createWorkspace(db)
    const table = await routed(['insert'], { workspace_id: workspace })
    await owner.query(`insert into ${table} values (1, 'new')`)
    expect(await sent(db, `${table}.insert`)).toMatchObject([{ workspace_id: workspace }])
  })

  it('or what a column of the row says', async () => {
    const [ours, theirs] = [await createWorkspace(db), await createWorkspace(db)]
    const table = await routed(['insert'], { workspace_column: 'tenant' })
    await owner.query(`insert into ${table} (id, tenant) values (1, '${ours}'), (2, '${theirs}'), (3, null)`)
    expect((await sent(db, `${table}.insert`)).map((event) => event.workspace_id)).toEqual([
      ours,
      theirs,
      null,
    ])
  })
})

it('names a row by its primary key, if that is kept, and by what the contract says', async () => {
  const definition = `region text default 'eu', id int, status text, primary key (region, id)`
  const both = await routed(['insert'], { payload_contract: { keep_refs: ['region', 'id'] } }, definition)
  await owner.query(`insert into ${both} values ('eu', 1, 'new')`)
  expect(await sent(db, `${both}.insert`)).toMatchObject([
    { event_subject_ref: '["eu", 1]', canonical_address: `sql:public.${both}/["eu", 1]` },
  ])
})

describe('an update with only_changed', () => {
  const contract = { keep_refs: ['id', 'status'], only_changed: true }

  it('sends the rows in which something that is kept has changed', async () => {
    const table = await routed(['update'], { payload_contract: contract })
    await owner.query(`insert into ${table} values (1, 'new', 'a'), (2, 'new', 'b'), (3, null, 'c')`)
    await owner.query(`update ${table} set status = 'new', note = 'touched'`)
    expect(await payloads(db, `${table}.update`)).toEqual([{ id: 3, status: 'new' }])
    await owner.query(`update ${table} set id = id + 10 where id = 1`)
    expect((await payloads(db, `${table}.update`)).at(-1)).toEqual({ id: 11, status: 'new' })
  })

  it('pairs the rows of a statement that swaps them', async () => {
    const table = await routed(['update'], { payload_contract: contract })
    await owner.query(
      `insert into ${table} select n, case when n % 2 = 0 then 'even' else 'odd' end from generate_series(1, 1000) n`,
    )
    await owner.query(`update ${table} set status = case when id <= 10 then 'moved' else status end`)
    expect(await payloads(db, `${table}.update`)).toHaveLength(10)
  })

  it('is not the default: every updated row is an event', async () => {
    const table = await routed(['update'])
    await owner.query(`insert into ${table} values (1, 'same')`)
    await owner.query(`update ${table} set status = 'same'`)
    expect(await payloads(db, `${table}.update`)).toHaveLength(1)
  })
})

describe('the idempotency key', () => {
  const keyed = (key: string, more: Partial<NewRoute> = {}) =>
    routed(['insert'], { idempotency_policy: { key }, ...more }, 'id int, status text, at timestamptz')

  it('lets the first row through, in one statement and over many', async () => {
    const table = await keyed('(id,status)')
    await owner.query(`insert into ${table} values (1, 'new'), (1, 'new'), (2, 'new')`)
    await owner.query(`insert into ${table} values (1, 'new'), (1, 'paid')`)
    expect(await payloads(db, `${table}.insert`)).toEqual([
      { id: 1, status: 'new' },
      { id: 2, status: 'new' },
      { id: 1, status: 'paid' },
    ])
  })

  it('takes NULL for a value, and does not mix up columns', async () => {
    const table = await keyed('(status, "id")')
    await owner.query(`insert into ${table} values (1, null), (1, null), (null, '1'), (1, '1')`)
    expect(await payloads(db, `${table}.insert`)).toHaveLength(3)
  })

  it('is the same moment in every time zone', async () => {
    const table = await keyed('(at)')
    await owner.query(
      `set timezone = 'Asia/Saigon'; insert into ${table} values (1, 'a', '2026-11-16 07:00+07')`,
    )
    await owner.query(`set timezone = 'UTC'; insert into ${table} values (2, 'b', '2026-11-16 00:00+00')`)
    expect(await payloads(db, `${table}.insert`)).toEqual([{ id: 1, status: 'a' }])
  })

  it('is free again when the first transaction rolls back', async () => {
    const table = await keyed('(id)')
    await owner.query(`begin; insert into ${table} values (1, 'first'); rollback`)
    await owner.query(`insert into ${table} values (1, 'second')`)
    expect(await payloads(db, `${table}.insert`)).toEqual([{ id: 1, status: 'second' }])
  })
})

it('follows from the event whose job wrote the row, one step deeper in the same trace', async () => {
  const table = await routed(['insert'])
  const [cause] = await db.owner<{ id: string }>(
    `select iu_core.fn_event_emit('system', 'gate_changed') as id`,
  )
  await owner.query(
    `begin; set local stagedoor.cause = '${cause!.id}'; insert into ${table} values (1, 'new'); commit`,
  )
  expect(await sent(db, `${table}.insert`)).toMatchObject([
    { correlation_id: cause!.id, causation_event_id: cause!.id, causation_depth: 1 },
  ])
  await owner.query(
    `begin; set local stagedoor.cause = 'nonsense'; insert into ${table} values (2, 'new'); commit`,
  )
  expect((await sent(db, `${table}.insert`))[1]).toMatchObject({
    causation_event_id: null,
    causation_depth: 0,
  })
})

it('does not fire for rows that replication applies: the origin has emitted them', async () => {
  const table = await routed(['insert'])
  await owner.query(
    `begin; set local session_replication_role = replica; insert into ${table} values (1); commit`,
  )
  expect(await sent(db, `${table}.insert`)).toEqual([])
  expect(await failures(db, `${table}.insert`)).toEqual([])
})

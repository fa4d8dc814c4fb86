/** The results of a loop as one result: named by the flush that ends it, put together by whoever reads them first. */
import { beforeEach, expect, it } from 'vitest'
import { createResultStore } from '../../../src/executions/results.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { type Engine, engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let engine: Engine

beforeEach(async () => {
  engine = await engines.alone()
})

const load = (ref: string) => createResultStore({ pool: db.pool('stagedoor_worker') }).load({ ref, bytes: 0 })
const kept = (ref: string) =>
  engines.rows(
    `select r.store_tier, r.node_name, r.parent_ref_id, r.bytes::int = octet_length(b.body::text) as counted,
            r.content_hash = sha256(convert_to(b.body::text, 'UTF8')) as hashed
       from noetl.result_ref r left join noetl.result_body b using (ref_id) where ref_id = $1`,
    [ref],
  )

/** A loop of four that has ended: one by reference, one failed, one that gave nothing. Answers the reference of its results. */
async function ended(workspace_id: string | null = null): Promise<string> {
  const [id, ref_id] = [await engines.newId(), await engines.newId()]
  const event = logOf(id)
  const done = (iter_index: number, result: unknown) =>
    event('loop.shard.done', {
      meta: { loop_id: '7', shard_id: `s${iter_index}`, command_id: `c${iter_index}`, iter_index },
      result,
    })
  await engines.flush(engine, {
    events: [
      event('playbook.initialized', { meta: { workspace_id } }),
      event('loop.started', {
        meta: { loop_id: '7', collection_size: 4, mode: 'fanout' },
        context: { collection_ref: '17' },
      }),
      done(3, { status: 'ok', ref: '99', bytes: 9000 }),
      done(0, { status: 'ok', value: { n: 0 } }),
      event('loop.shard.failed', { meta: { loop_id: '7', shard_id: 's1', command_id: 'c1', iter_index: 1 } }),
      done(2, { status: 'ok', value: null }),
    ],
    collect: [{ execution_id: id, loop_id: '7', ref_id, node_name: 'fan' }],
  })
  return ref_id
}
const WHOLE = [{ n: 0 }, null, null, { ref: '99', bytes: 9000 }]

/** A loop of so many items, each with this result, as the log has it. */
async function large(items: number, value: string): Promise<string> {
  const [id, ref_id] = [await engines.newId(), await engines.newId()]
  const event = logOf(id)
  await engines.flush(engine, {
    events: [event('loop.started', { meta: { loop_id: '7', collection_size: items, mode: 'fanout' } })],
  })
  await db.owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, meta, result)
     select $1::bigint, $1::bigint + n + 1, n + 1, 'loop.shard.done', 1,
            jsonb_build_object('loop_id', '7', 'shard_id', n, 'command_id', n, 'iter_index', $2::integer - n),
            jsonb_build_object('status', 'ok', 'value', $3::jsonb)
       from generate_series(1, $2::integer) n`,
    [id, items, value],
  )
  await engines.flush(engine, { collect: [{ execution_id: id, loop_id: '7', ref_id, node_name: 'fan' }] })
  return ref_id
}

it('the flush names them and leaves them in the log: it holds up everybody else', async () => {
  const ref = await ended()
  expect(await kept(ref)).toEqual([
    { store_tier: 'eventlog', node_name: 'fan', parent_ref_id: '17', counted: null, hashed: null },
  ])
})

it('are in the order of the items: what each gave, or where it is, or null', async () => {
  const ref = await ended()
  expect(await load(ref)).toEqual(WHOLE)
  expect(await kept(ref)).toMatchObject([{ store_tier: 'db', counted: true, hashed: true }])
  expect(await load(ref)).toEqual(WHOLE)
})

it('are put together once for two who read them at once', async () => {
  const ref = await ended()
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query('select noetl.fn_loop_results($1)', [ref])
  const waiting = second.query('select noetl.fn_loop_results($1)', [ref])
  await untilWaiting(db, second)
  await first.query('commit')
  await waiting
  expect(await load(ref)).toEqual(WHOLE)
})

it('are read by a member who may, also where nobody has read them before', async () => {
  const workspace = await createWorkspace(db)
  const viewer = await createMember(db, workspace, 'viewer')
  const stranger = await createMember(db, await createWorkspace(db, 'Other'), 'viewer')
  const ref = await ended(workspace)
  const READ = 'select store_tier, body from noetl.fn_result_read($1)'
  expect(await sqlstateOf(db.as(stranger, (client) => client.query(READ, [ref])))).toBe('SD811')
  const { rows } = await db.as(viewer, (client) => client.query(READ, [ref]))
  expect(rows).toEqual([{ store_tier: 'db', body: WHOLE }])
})

it('of 50,000 items cost the flush nothing, and are whole', async () => {
  const ref = await large(50_000, '{"text": "0123456789"}')
  expect(await kept(ref)).toMatchObject([{ store_tier: 'eventlog' }])
  expect(await load(ref)).toHaveLength(50_000)
})

it('that are too large together are refused before they are made', async () => {
  const ref = await large(9000, JSON.stringify('x'.repeat(8000)))
  expect(await sqlstateOf(engines.rows('select noetl.fn_loop_results($1)', [ref]))).toBe('SD812')
  expect(await kept(ref)).toMatchObject([{ store_tier: 'eventlog' }])
})

it('whose log is gone are gone', async () => {
  const ref = await engines.newId()
  await db.owner(
    `insert into noetl.result_ref (ref_id, execution_id, store_tier, physical_uri, content_hash, bytes)
     values ($1, $1, 'eventlog', 'eventlog:noetl.event/7', '', 0)`,
    [ref],
  )
  expect(await sqlstateOf(load(ref))).toBe('SD811')
})

/** The seed's queries by loop use the index that is there for them. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let execution: string

const FAN_IN = `
  select (meta ->> 'total_shards')::int as total_shards,
         count(*) filter (where event_type = 'loop.shard.done') as done,
         count(*) filter (where event_type = 'loop.shard.failed') as failed
    from noetl.event
   where execution_id = $1 and node_name = $2 and meta ->> 'loop_id' = $3
     and event_type in ('loop.fanout.started', 'loop.shard.done', 'loop.shard.failed')
   group by 1`
const RECOVERY = `
  select coalesce(max(current_index), -1) as current_index,
         count(*) filter (where event_type = 'command.completed') as done_count,
         count(*) filter (where event_type = 'command.failed') as failed_count,
         max(case when event_type = 'loop.started' then context ->> 'collection_ref' end) as collection_ref,
         max(case when event_type = 'loop.started' then (meta ->> 'collection_size')::int end) as collection_size
    from noetl.event
   where execution_id = $1 and node_name = $2 and meta ->> 'loop_id' = $3`

beforeAll(async () => {
  const engine = await engines.alone()
  execution = await engines.newId()
  const event = logOf(execution)
  const events = Array.from({ length: 20 }, (_, loop) =>
    Array.from({ length: 100 }, (_, index) => {
      const meta = {
        loop_id: String(loop),
        shard_id: `${loop}-${index}`,
        command_id: `${loop}:${index}`,
        iter_index: index,
      }
      return event('loop.shard.done', { node_name: 'fan', meta, current_index: index })
    }),
  )
  await engines.flush(engine, { events: events.flat() })
  await db.owner('analyze noetl.event')
})

it.each([
  ['fan-in', FAN_IN],
  ['recovery', RECOVERY],
])('the %s query reads one loop of one partition by its index', async (_, sql) => {
  // As it runs with any values, which is how a prepared statement is planned in the end.
  const session = await db.session('stagedoor_worker')
  await session.query('set plan_cache_mode = force_generic_plan')
  await session.query(`prepare asked (bigint, text, text) as ${sql}`)
  const { rows } = await session.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, summary off) execute asked (${execution}, 'fan', '7')`,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Index Scan (using|on) event_\w*_expr_event_type_idx/)
  expect(plan).toMatch(/Index Cond: .*execution_id = .*meta ->> 'loop_id'/)
  expect(plan).not.toMatch(/Seq Scan/)
  expect(plan).not.toMatch(/Rows Removed by Filter/)
})

it('the catalogue says where the bytes of a result are, and why engines emit no workflow.*', async () => {
  const [said] = await db.owner(
    `select col_description('noetl.result_ref'::regclass, (select attnum from pg_attribute
              where attrelid = 'noetl.result_ref'::regclass and attname = 'physical_uri')) as uri,
            col_description('noetl.event'::regclass, (select attnum from pg_attribute
              where attrelid = 'noetl.event'::regclass and attname = 'event_type')) as types`,
  )
  expect(said).toEqual({
    uri: expect.stringMatching(/db:.*disk:.*eventlog:.*stagedoor:\/\/results/s),
    types: expect.stringMatching(/workflow\.initialized.*do not emit/s),
  })
})

it('an item that is handed out twice is refused, as a command that is issued twice', async () => {
  const id = await engines.newId()
  let seq = 0
  for (const type of ['loop.item', 'loop.shard.enqueued']) {
    const meta = { loop_id: `twice ${type}`, shard_id: 's', command_id: 'c', iter_index: 3 }
    const insert = () =>
      db.owner(
        `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, node_name, meta, current_index)
         values ($1, $1::bigint + $2, $2, $3, 1, 'each', $4, 3)`,
        [id, ++seq, type, meta],
      )
    await insert()
    await expect(insert()).rejects.toMatchObject({
      code: '23505',
      constraint: expect.stringMatching(/loop_id|expr|current_index/),
    })
  }
})

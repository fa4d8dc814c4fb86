/**
 * What an active route costs whoever writes its table: rows inserted into an orders table as shops have them, compared with the
 * same rows into the same table without the route.
 *
 * Rows come by 1,000 in a statement, each a transaction, as imports and bulk jobs write. Also one row in a
 * statement: there it is the commit that costs, and the route adds one trigger call.
 */
import type pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atMost } from '../criteria.ts'
import { medianOf, perSecond, worstOf } from '../statistics.ts'
import { CUSTOMERS, ordersTable } from './orders.ts'

const BATCH = 1000
/** One of fifty rows is also inserted alone. */
const SINGLES = 50

const PLAIN = 'orders_plain'
const ROUTED = 'orders_routed'
const EVENT = 'orders_routed.insert'

export const route: Benchmark = {
  name: 'route',
  about:
    '100,000 rows inserted into an orders table with an active route, compared with the same insert without it',
  unit: 'rows',
  size: { full: 100_000, quick: 20_000 },
  rounds: { full: 7, quick: 5 },
  freshDatabase: 'round',
  prepare,
  contenders: [
    { name: 'routed', about: 'with an active route', run: (task) => insertRouted(task) },
    { name: 'plain', about: 'the same without it: the floor', run: (task) => insert(task, PLAIN) },
  ],
  summarise(rounds) {
    const rows_per_s = medianOf(rounds, 'routed', 'rows_per_s')
    const plain_rows_per_s = medianOf(rounds, 'plain', 'rows_per_s')
    return {
      rows_per_s,
      plain_rows_per_s,
      overhead_ratio: plain_rows_per_s / rows_per_s,
      single_overhead_ratio: medianOf(rounds, 'routed', 'single_ms') / medianOf(rounds, 'plain', 'single_ms'),
      missed: worstOf(rounds, 'routed', 'missed'),
    }
  },
  criteria: [
    { field: 'overhead_ratio', bar: atMost(1.3), goal: atMost(1.15) },
    { field: 'single_overhead_ratio', bar: atMost(1.6), goal: atMost(1.15) },
    { field: 'missed', bar: atMost(0), correctness: true },
  ],
}

async function prepare({ database }: Task): Promise<Figures> {
  const owner = await database.superuser()
  await owner.query(CUSTOMERS)
  for (const table of [PLAIN, ROUTED]) await owner.query(ordersTable(table))
  await owner.query('select iu_core.fn_sql_route_register($1)', [
    JSON.stringify({
      source: ROUTED,
      sql_event: 'insert',
      payload_contract: { keep_refs: ['id', 'customer_id', 'status'] },
    }),
  ])
  await owner.query('select iu_core.fn_sql_route_dry_run($1)', [EVENT])
  await insertRows(owner, ROUTED, 0, 1)
  const reviewer = await database.worker()
  await reviewer.query('set role service_role')
  await reviewer.query('select iu_core.fn_sql_route_review($1, 1)', [EVENT])
  await reviewer.query('select iu_core.fn_sql_route_activate($1)', [EVENT])
  await owner.query('vacuum (analyze)')
  await owner.query('checkpoint')
  return {}
}

async function insertRouted(task: Task): Promise<Figures> {
  const figures = await insert(task, ROUTED)
  const owner = await task.database.superuser()
  const { rows } = await owner.query<{ events: number }>(
    'select count(*)::int as events from iu_core.event_outbox where event_type = $1',
    [EVENT],
  )
  return { ...figures, missed: Math.abs(task.size + singles(task) - rows[0]!.events) }
}

async function insert(task: Task, table: string): Promise<Figures> {
  const client = await task.database.superuser()
  const started = performance.now()
  for (let from = 1; from <= task.size; from += BATCH) {
    await insertRows(client, table, from, Math.min(BATCH, task.size - from + 1))
  }
  const elapsed = performance.now() - started
  const alone = performance.now()
  for (let row = 1; row <= singles(task); row++) await insertRows(client, table, task.size + row, 1)
  return {
    rows_per_s: perSecond(task.size, elapsed),
    ms: elapsed,
    single_ms: (performance.now() - alone) / singles(task),
  }
}

const singles = ({ size }: Task): number => Math.ceil(size / SINGLES)

/** `count` orders with the numbers from `from` on. One prepared statement, the same for both tables but the name. */
async function insertRows(client: pg.Client, table: string, from: number, count: number): Promise<void> {
  await client.query({
    name: `insert_${table}`,
    text: `insert into ${table} (number, customer_id, status, currency, subtotal, tax, total, shipping_address, notes, placed_at)
      select 'SO-' || lpad(n::text, 9, '0'), 1 + n % 5000, (array['placed', 'paid', 'shipped'])[1 + n % 3], 'EUR',
             n % 900 + 0.5, (n % 900) * 0.2, (n % 900) * 1.2 + 0.5,
             jsonb_build_object('street', 'High Street ' || n % 99, 'city', 'Town ' || n % 500, 'zip', lpad((n % 99999)::text, 5, '0'), 'country', 'DE'),
             case when n % 4 = 0 then 'Please ring twice, the bell of number ' || n || ' is quiet' end,
             timestamptz '2026-01-01' + n * interval '7 seconds'
        from generate_series($1::int, $1 + $2 - 1) n`,
    values: [from, count],
  })
}

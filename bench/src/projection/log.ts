/**
 * A log to fold. The engine writes a few executions of every kind, and they are copied until there are enough events, each copy
 * under an id of its own: the same shapes as in production, without the time to run them all.
 */
import type pg from 'pg'
import type { Figures, Task } from '../benchmark.ts'
import { expression, openExecutions } from '../executions.ts'
import { definePlaybook } from '../product.ts'
import { perSecond } from '../statistics.ts'

/** Most executions are a few steps; most events are those of loops. */
const KINDS = { plain: 10, loop: 2, fanout: 1 }
const ITEMS = { loop: 20, fanout: 100 }
/** As many as the engine writes at most in one flush. */
const BATCH = 2000

const noop = { tool: 'handler', call: 'noop' } as const
const items = (count: number) => Array.from({ length: count }, (_, index) => index)
export const plain = definePlaybook({
  name: 'plain',
  steps: [
    { step: 'a', ...noop, next: 'b' },
    { step: 'b', ...noop, next: 'c' },
    { step: 'c', ...noop, next: 'd' },
    { step: 'd', ...noop },
  ],
})
const loop = definePlaybook({
  name: 'loop',
  steps: [
    {
      step: 'each',
      ...noop,
      args: { item: expression('item') },
      loop: { in: items(ITEMS.loop) },
      next: 'last',
    },
    { step: 'last', ...noop },
  ],
})
const fanout = definePlaybook({
  name: 'fanout',
  steps: [
    {
      step: 'each',
      ...noop,
      args: { item: expression('item') },
      loop: { in: items(ITEMS.fanout), mode: 'fanout' },
      next: 'last',
    },
    { step: 'last', ...noop },
  ],
})

/** The figures are the floor: plain INSERTs of the events, by as many as a flush has, each committed. */
export async function prepareLog({ database, size }: Task): Promise<Figures> {
  const executions = await openExecutions(database.workerUrl, { noop: () => 0 })
  for (const playbook of [plain, loop, fanout]) await executions.register(playbook)
  for (const [kind, count] of Object.entries(KINDS)) {
    for (let run = 0; run < count; run++) await executions.run(kind)
  }
  await executions.stop()

  const owner = await database.superuser()
  await copyOften(owner, size)
  const started = performance.now()
  for (let from = 0; from < size; from += BATCH) {
    await owner.query({
      name: 'floor',
      text: `insert into noetl.event (execution_id, ${COLUMNS})
             select copy_id, ${COLUMNS} from bench_source where n > $1 and n <= $2 order by n`,
      values: [from, Math.min(size, from + BATCH)],
    })
  }
  const elapsed = performance.now() - started
  await owner.query('drop table bench_source')
  await owner.query('vacuum (analyze) noetl.event')
  await owner.query('checkpoint')
  return { events_per_s: perSecond(size, elapsed), ms: elapsed }
}

const COLUMNS = `event_id, seq, event_type, catalog_id, parent_event_id, parent_execution_id, node_id, node_name,
  node_type, status, context, result, meta, error, current_index, current_item, worker_id, created_at`

/** Each copy is a millisecond older than the one before it, and the executions of a copy are interleaved as if run at once. */
async function copyOften(owner: pg.Client, size: number): Promise<void> {
  const { rows } = await owner.query('select count(*)::int as events from noetl.event')
  await owner.query(
    `create unlogged table bench_source as
       select row_number() over (order by copy, e.seq, e.execution_id) as n, e.execution_id - (copy << 22) as copy_id, e.*
         from noetl.event e cross join generate_series(1::bigint, ${Math.ceil(size / rows[0].events)}) as copy`,
  )
  await owner.query('create unique index on bench_source (n)')
  await owner.query('vacuum (analyze) bench_source')
}

/**
 * What people read is folded from the log: how fast from nothing, how fast a rebuild, and how large its lag is while an engine writes.
 * Compared with it the plain INSERT of the same events: a fold that is slower than that would never catch up.
 */
import type pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { openExecutions } from '../executions.ts'
import { medianOf, percentile, perSecond, worstOf } from '../statistics.ts'
import { plain, prepareLog } from './log.ts'

/** As many executions as the engine folds at most in one statement. */
const FOLDED_TOGETHER = 2000
const REBUILT_TOGETHER = 500
const LIVE = { atOnce: 100, msAnEvent: 0.05, maxMs: 4000 }

export const projection: Benchmark = {
  name: 'projection',
  about:
    'fold and full rebuild of 200,000 events and the lag after a running engine, compared with plain INSERTs of the events',
  unit: 'events',
  size: { full: 200_000, quick: 60_000 },
  rounds: { full: 5, quick: 3 },
  freshDatabase: 'round',
  prepare: prepareLog,
  contenders: [
    {
      name: 'fold',
      about: 'fn_execution_project from nothing, then a rebuild of every execution',
      run: foldAll,
    },
    { name: 'live', about: 'behind an engine that runs 100 executions at once', run: followLive },
  ],
  summarise(rounds) {
    const events_per_s = medianOf(rounds, 'fold', 'events_per_s')
    const floor_events_per_s = medianOf(rounds, 'prepare', 'events_per_s')
    return {
      events_per_s,
      rebuild_events_per_s: medianOf(rounds, 'fold', 'rebuild_events_per_s'),
      lag_p95_ms: medianOf(rounds, 'live', 'lag_p95_ms'),
      live_events_per_s: medianOf(rounds, 'live', 'events_per_s'),
      floor_events_per_s,
      ratio_floor: events_per_s / floor_events_per_s,
      missed: worstOf(rounds, 'fold', 'missed') + worstOf(rounds, 'live', 'missed'),
      different: worstOf(rounds, 'fold', 'different'),
    }
  },
  criteria: [
    { field: 'lag_p95_ms', bar: atMost(500) },
    { field: 'ratio_floor', bar: atLeast(0.5), goal: atLeast(2) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'different', bar: atMost(0), correctness: true },
  ],
}

async function foldAll({ database }: Task): Promise<Figures> {
  const owner = await database.superuser()
  const worker = await database.worker()
  await owner.query('delete from noetl.execution')
  await owner.query('vacuum (analyze) noetl.execution')
  const ids = await executionsOf(owner)
  const holder = await holdShards(worker)

  const started = performance.now()
  let events = 0
  for (const together of chunks(ids, FOLDED_TOGETHER)) {
    const { rows } = await worker.query({
      name: 'project',
      text: 'select events::int from noetl.fn_execution_project($1, $2, $3, $4)',
      values: [holder.engine, holder.shards, holder.epochs, together],
    })
    events += rows[0].events
  }
  const elapsed = performance.now() - started
  const folded = await fingerprint(owner)
  const different = await differences(owner)

  const again = performance.now()
  for (const together of chunks(ids, REBUILT_TOGETHER)) {
    await worker.query({
      name: 'rebuild',
      text: 'select noetl.rebuild_execution_projection(id) from unnest($1::bigint[]) as x (id)',
      values: [together],
    })
  }
  const rebuilding = performance.now() - again
  await worker.query('select noetl.fn_engine_leave($1)', [holder.engine])
  const { rows } = await owner.query('select count(*)::int as events from noetl.event')
  return {
    events_per_s: perSecond(events, elapsed),
    ms: elapsed,
    rebuild_events_per_s: perSecond(events, rebuilding),
    rebuild_ms: rebuilding,
    executions: ids.length,
    missed: Math.abs(rows[0].events - events),
    different: different + ((await fingerprint(owner)) === folded ? 0 : 1),
  }
}

/** The projector's own account of each of its turns: how old the oldest event was, how many there were, how long it took. */
async function followLive({ database, size }: Task): Promise<Figures> {
  const lags: number[] = []
  let events = 0
  let spent = 0
  const executions = await openExecutions(
    database.workerUrl,
    { noop: () => 0 },
    {
      concurrency: LIVE.atOnce,
      hooks: {
        onProject(_, folded, lagMs, ms) {
          if (folded === 0) return
          lags.push(lagMs)
          events += folded
          spent += ms
        },
      },
    },
  )
  const ran: string[] = []
  const started = performance.now()
  const until = started + Math.min(LIVE.maxMs, size * LIVE.msAnEvent)
  const runUntilEnd = async (): Promise<void> => {
    while (performance.now() < until) ran.push(await executions.run(plain.name))
  }
  await Promise.all(Array.from({ length: LIVE.atOnce }, runUntilEnd))
  const elapsed = performance.now() - started
  await executions.stop()
  const owner = await database.superuser()
  const { rows } = await owner.query(
    `select count(*)::int as ended from noetl.execution where execution_id = any ($1) and status = 'COMPLETED'`,
    [ran],
  )
  return {
    lag_p95_ms: percentile(lags, 0.95),
    lag_p50_ms: percentile(lags, 0.5),
    events_per_s: perSecond(events, spent),
    written_events_per_s: perSecond(events, elapsed),
    executions: ran.length,
    turns: lags.length,
    missed: ran.length - rows[0].ended,
  }
}

async function holdShards(worker: pg.Client) {
  const { rows } = await worker.query(
    `select engine_id from noetl.fn_engine_register('bench', true, false, '1 hour')`,
  )
  const engine: string = rows[0].engine_id
  const held = await worker.query('select shard_id, epoch from noetl.fn_engine_heartbeat($1)', [engine])
  return {
    engine,
    shards: held.rows.map(({ shard_id }) => shard_id as number),
    epochs: held.rows.map(({ epoch }) => epoch as string),
  }
}

async function executionsOf(owner: pg.Client): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>(
    'select distinct execution_id::text as id from noetl.event order by 1',
  )
  return rows.map(({ id }) => id)
}

/** Every column of every row: rebuilt, it is the same bit by bit. */
async function fingerprint(owner: pg.Client): Promise<string> {
  const { rows } = await owner.query(
    `select md5(string_agg(x::text, e'\\n' order by execution_id)) as hash from noetl.execution x`,
  )
  return rows[0].hash
}

async function differences(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query('select count(*)::int as n from noetl.fn_projection_differences()')
  return rows[0].n
}

function* chunks<T>(items: readonly T[], size: number): Iterable<T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

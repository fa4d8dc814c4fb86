/**
 * Events become jobs: 50,000 events of the outbox, three consumers each, compared with one statement that writes the same
 * rows into the same three tables: the key that makes each job happen once, the queue, and the log that says what became of each
 * event (`ratio_floor`). Also with one plain `INSERT … SELECT` of as many jobs into the queue alone (`ratio_insert_select`).
 *
 * The floors are one transaction and promise nothing. The dispatcher reads in commit order, in batches that each commit for
 * themselves.
 */
import type pg from 'pg'
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { sessionCpuMs } from '../cpu.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, perSecond, worstOf } from '../statistics.ts'
import { CONSUMERS, prepareEvents } from './events.ts'

const BATCH = 5000

const DISPATCH = {
  name: 'dispatch',
  text: 'select events, jobs from iu_core.fn_consumer_dispatch_batch($1)',
}
/** What the three consumers make of an event, row by row the same. */
const THREE_TABLES = `
  with j as materialized (
    select iu_core.fn_time_uuid() as job_id, c.job_kind, c.consumer_id || ':' || e.id as key, c.consumer_id, e.*
      from iu_core.event_outbox e join iu_core.v_consumer_registry_active c using (event_domain, event_type)
     order by c.consumer_id, e.id
  ), keys as (
    insert into iu_core.job_key (job_kind, idempotency_key, job_id) select job_kind, key, job_id from j
  ), logged as (
    insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, job_id) select id, consumer_id, 'enqueued', job_id from j
  )
  insert into iu_core.job_queue (job_id, job_kind, idempotency_key, source_ref, target_ref, payload_ref, safe_payload,
                                 correlation_id, causation_event_id, causation_depth, actor)
  select job_id, job_kind, key, canonical_address, event_subject_ref, event_subject_ref,
         jsonb_build_object('consumer_id', consumer_id, 'event_type', event_type),
         correlation_id, id, causation_depth, 'consumer:' || consumer_id
    from j`
const INSERT_SELECT = `
  insert into iu_core.job_queue (job_kind, idempotency_key, source_ref, target_ref, payload_ref, safe_payload,
                                 correlation_id, causation_event_id, causation_depth, actor)
  select c.job_kind, c.consumer_id || ':' || e.id, e.canonical_address, e.event_subject_ref, e.event_subject_ref,
         jsonb_build_object('consumer_id', c.consumer_id, 'event_type', e.event_type),
         e.correlation_id, e.id, e.causation_depth, 'consumer:' || c.consumer_id
    from iu_core.event_outbox e join iu_core.v_consumer_registry_active c using (event_domain, event_type)
   order by c.consumer_id, e.id`

export const dispatch: Benchmark = {
  name: 'dispatch',
  about:
    '50,000 events × 3 consumers into jobs, compared with one statement that writes the same three tables',
  unit: 'events',
  size: { full: 50_000, quick: 20_000 },
  rounds: { full: 7, quick: 5 },
  freshDatabase: 'contender',
  prepare: prepareEvents,
  contenders: [
    { name: 'dispatch', about: 'fn_consumer_dispatch_batch until nothing is left', run: dispatchAll },
    {
      name: 'three_tables',
      about: 'one statement that writes keys, jobs and log: the floor',
      run: (task) => insertAll(task, THREE_TABLES),
    },
    {
      name: 'insert_select',
      about: 'one plain INSERT … SELECT of as many jobs',
      run: (task) => insertAll(task, INSERT_SELECT),
    },
  ],
  summarise(rounds) {
    const events_per_s = medianOf(rounds, 'dispatch', 'events_per_s')
    const floor_events_per_s = medianOf(rounds, 'three_tables', 'events_per_s')
    const insert_select_events_per_s = medianOf(rounds, 'insert_select', 'events_per_s')
    return {
      events_per_s,
      jobs_per_s: medianOf(rounds, 'dispatch', 'jobs_per_s'),
      floor_events_per_s,
      ratio_floor: events_per_s / floor_events_per_s,
      insert_select_events_per_s,
      ratio_insert_select: events_per_s / insert_select_events_per_s,
      postgres_us_per_job: medianOf(rounds, 'dispatch', 'postgres_us_per_job'),
      floor_postgres_us_per_job: medianOf(rounds, 'three_tables', 'postgres_us_per_job'),
      missed: worstOf(rounds, 'dispatch', 'missed'),
      doubled: worstOf(rounds, 'dispatch', 'doubled'),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(0.85) },
    { field: 'ratio_insert_select', bar: atLeast(0.3), goal: atLeast(0.8) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
}

async function dispatchAll(task: Task): Promise<Figures> {
  const client = await task.database.worker()
  return timed(task, client, async () => {
    for (let left = true; left; ) {
      const { rows } = await client.query({ ...DISPATCH, values: [BATCH] })
      left = rows[0].events > 0
    }
  })
}

async function insertAll(task: Task, statement: string): Promise<Figures> {
  const client = await task.database.superuser()
  return timed(task, client, () => client.query(statement))
}

async function timed(task: Task, session: pg.Client, work: () => Promise<unknown>): Promise<Figures> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  const cpu = sessionCpuMs(rows[0]!.pid)
  const started = performance.now()
  await work()
  const elapsed = performance.now() - started
  return figures(task, elapsed, sessionCpuMs(rows[0]!.pid) - cpu)
}

async function figures({ database, size }: Task, elapsed: number, cpuMs: number): Promise<Figures> {
  const client = await database.superuser()
  const { rows } = await client.query<{ jobs: number; different: number }>(
    'select count(*)::int as jobs, count(distinct idempotency_key)::int as different from iu_core.job_queue',
  )
  const { jobs, different } = rows[0]!
  return {
    events_per_s: perSecond(size, elapsed),
    jobs_per_s: perSecond(jobs, elapsed),
    ms: elapsed,
    postgres_us_per_job: (cpuMs * 1000) / jobs,
    missed: size * CONSUMERS.length - different,
    doubled: jobs - different,
  }
}

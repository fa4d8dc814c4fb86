/**
 * Events become jobs: 50,000 events of the outbox, three consumers each, compared with one plain `INSERT … SELECT` of as many
 * rows into the same queue table.
 *
 * The floor writes one table in one transaction and promises nothing. The dispatcher reads in commit order and, besides
 * the queue, writes the key that makes each job happen once and the log that says what became of each event, in batches
 * that each commit for themselves.
 */
import type { Benchmark, Figures, Task } from '../benchmark.ts'
import { atLeast, atMost } from '../criteria.ts'
import { medianOf, perSecond, worstOf } from '../statistics.ts'
import { CONSUMERS, prepareEvents } from './events.ts'

const BATCH = 5000

const DISPATCH = {
  name: 'dispatch',
  text: 'select events, jobs from iu_core.fn_consumer_dispatch_batch($1)',
}
/** What the three consumers make of an event, row by row the same. */
const FLOOR = `
  insert into iu_core.job_queue (job_kind, idempotency_key, source_ref, target_ref, payload_ref, safe_payload,
                                 correlation_id, causation_event_id, causation_depth, actor)
  select c.job_kind, c.consumer_id || ':' || e.id, e.canonical_address, e.event_subject_ref, e.event_subject_ref,
         jsonb_build_object('consumer_id', c.consumer_id, 'event_type', e.event_type),
         e.correlation_id, e.id, e.causation_depth, 'consumer:' || c.consumer_id
    from iu_core.event_outbox e join iu_core.v_consumer_registry_active c using (event_domain, event_type)
   order by c.consumer_id, e.id`

export const dispatch: Benchmark = {
  name: 'dispatch',
  about: '50,000 events × 3 consumers into jobs, compared with one plain INSERT … SELECT of as many jobs',
  unit: 'events',
  size: { full: 50_000, quick: 20_000 },
  rounds: { full: 7, quick: 5 },
  freshDatabase: 'contender',
  prepare: prepareEvents,
  contenders: [
    { name: 'dispatch', about: 'fn_consumer_dispatch_batch until nothing is left', run: dispatchAll },
    { name: 'insert_select', about: 'one plain INSERT … SELECT of as many jobs: the floor', run: insertAll },
  ],
  summarise(rounds) {
    const events_per_s = medianOf(rounds, 'dispatch', 'events_per_s')
    const floor_events_per_s = medianOf(rounds, 'insert_select', 'events_per_s')
    return {
      events_per_s,
      jobs_per_s: medianOf(rounds, 'dispatch', 'jobs_per_s'),
      floor_events_per_s,
      ratio_floor: events_per_s / floor_events_per_s,
      missed: worstOf(rounds, 'dispatch', 'missed'),
      doubled: worstOf(rounds, 'dispatch', 'doubled'),
    }
  },
  criteria: [
    { field: 'ratio_floor', bar: atLeast(0.3), goal: atLeast(0.8) },
    { field: 'missed', bar: atMost(0), correctness: true },
    { field: 'doubled', bar: atMost(0), correctness: true },
  ],
}

async function dispatchAll(task: Task): Promise<Figures> {
  const client = await task.database.worker()
  const started = performance.now()
  for (let left = true; left; ) {
    const { rows } = await client.query({ ...DISPATCH, values: [BATCH] })
    left = rows[0].events > 0
  }
  return figures(task, performance.now() - started)
}

async function insertAll(task: Task): Promise<Figures> {
  const client = await task.database.superuser()
  const started = performance.now()
  await client.query(FLOOR)
  return figures(task, performance.now() - started)
}

async function figures({ database, size }: Task, elapsed: number): Promise<Figures> {
  const client = await database.superuser()
  const { rows } = await client.query<{ jobs: number; different: number }>(
    'select count(*)::int as jobs, count(distinct idempotency_key)::int as different from iu_core.job_queue',
  )
  const { jobs, different } = rows[0]!
  return {
    events_per_s: perSecond(size, elapsed),
    jobs_per_s: perSecond(jobs, elapsed),
    ms: elapsed,
    missed: size * CONSUMERS.length - different,
    doubled: jobs - different,
  }
}

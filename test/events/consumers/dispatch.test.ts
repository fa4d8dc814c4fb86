import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { consumerEvidence, dryRunConsumer, listUndelivered } from '../../../src/events/consumers.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { MIGRATOR } from '../../support/template.ts'
import { active, dispatch, drain, emit, jobsOf, linesOf, openSwitch, register } from './registered.ts'

const db = useDatabase()
const owner = () => db.pool(MIGRATOR)
const issues = () =>
  db.owner<{ code: string; subject_ref: string; occurrences: string; detail: object }>(
    'select code, subject_ref, occurrences, detail from iu_core.system_issue order by code, subject_ref',
  )

beforeAll(() => openSwitch(db))
/** Each test has its own consumers, and what came before is read. */
beforeEach(async () => {
  await db.owner(`update iu_core.consumer_registry set enabled = false, dry_run = true where enabled`)
  await drain(db)
})

describe('an event', () => {
  it('becomes one job for each active consumer, with everything that the job needs to know', async () => {
    const workspace = await createWorkspace(db)
    await active(db, 'mail', {
      executor: 'Hermes',
      priority: 7,
      payload_ref_template: 'run/{event_subject_ref}',
    })
    await active(db, 'index', { idempotency_key_template: '{event_type}:{event_subject_ref}' })
    const root = await emit(db, { type: 'run.failed' })
    const [event] = await db.owner<{ id: string }>(
      `select iu_core.fn_event_emit('dot', 'run.applied', 'nightly', 'run-1', 'stagedoor://runs/1', $1,
         p_causation_event_id => $2) as id`,
      [workspace, root],
    )
    expect(await dispatch(db)).toMatchObject({
      jobs: 2,
      duplicates: 0,
      failures: 0,
      deferred: 0,
    })
    const jobs = await db.owner(
      `select job_kind, executor, idempotency_key, source_ref, target_ref, payload_ref, safe_payload, priority,
              correlation_id, causation_event_id, causation_depth, actor, workspace_id, attempts,
              process_after <= now() as due
         from iu_core.job_queue order by job_kind`,
    )
    const same = {
      source_ref: 'stagedoor://runs/1',
      target_ref: 'run-1',
      correlation_id: root,
      causation_event_id: event!.id,
      causation_depth: 1,
      workspace_id: workspace,
      attempts: 0,
      due: true,
    }
    expect(jobs).toEqual([
      {
        ...same,
        job_kind: 'index_work',
        executor: 'PG_worker',
        idempotency_key: 'index:run.applied:run-1',
        payload_ref: null,
        safe_payload: { consumer_id: 'index', event_type: 'run.applied' },
        priority: 0,
        actor: 'consumer:index',
      },
      {
        ...same,
        job_kind: 'mail_work',
        executor: 'Hermes',
        idempotency_key: `mail:${event!.id}`,
        payload_ref: 'run/run-1',
        safe_payload: { consumer_id: 'mail', event_type: 'run.applied' },
        priority: 7,
        actor: 'consumer:mail',
      },
    ])
    expect((await linesOf(db, event!.id)).map((line) => [line.consumer_id, line.outcome])).toEqual([
      ['index', 'enqueued'],
      ['mail', 'enqueued'],
    ])
    expect(await dispatch(db)).toMatchObject({ events: 0, jobs: 0 })
  })

  it('of another type, stream or workspace is not the consumer’s', async () => {
    const [ours, theirs] = [await createWorkspace(db, 'ours'), await createWorkspace(db, 'theirs')]
    await active(db, 'narrow', { event_stream: 'nightly', workspace_id: ours })
    await emit(db, { stream: 'nightly', workspace: ours, type: 'run.failed' })
    await emit(db, { stream: 'hourly', workspace: ours })
    await emit(db, { workspace: ours })
    await emit(db, { stream: 'nightly', workspace: theirs })
    await emit(db, { stream: 'nightly' })
    const hers = await emit(db, { stream: 'nightly', workspace: ours })
    await drain(db)
    expect(await jobsOf(db, 'narrow')).toEqual([hers])
  })

  it('with the key of an earlier one is a duplicate and points at that one’s job', async () => {
    await active(db, 'once', { idempotency_key_template: '{event_subject_ref}' })
    const [first, second] = [await emit(db, { subject: 'same' }), await emit(db, { subject: 'same' })]
    expect(await dispatch(db)).toMatchObject({ jobs: 1, duplicates: 1 })
    const [one, two] = [await linesOf(db, first), await linesOf(db, second)]
    expect([one[0]!.outcome, two[0]!.outcome]).toEqual(['enqueued', 'duplicate'])
    expect(two[0]!.job_id).toBe(one[0]!.job_id)
  })

  it('with the same key for two consumers of one kind is a job for each', async () => {
    const shared = { job_kind: 'shared', idempotency_key_template: '{event_subject_ref}' }
    await active(db, 'left', shared)
    await active(db, 'right', shared)
    const event = await emit(db, { subject: 'x' })
    await dispatch(db)
    expect([await jobsOf(db, 'left'), await jobsOf(db, 'right')]).toEqual([[event], [event]])
  })

  it('from before the activation is not the consumer’s', async () => {
    await emit(db)
    await active(db, 'late')
    expect(await dispatch(db)).toMatchObject({ jobs: 0 })
  })
})

describe('a dry run', () => {
  it('leaves evidence with key and reference, and problems, but no job and no issue', async () => {
    await register(db, 'would', { payload_ref_template: '{event_subject_ref}' })
    await dryRunConsumer(owner(), 'would')
    const [good, bad] = [await emit(db, { subject: 's' }), await emit(db)]
    expect(await dispatch(db)).toMatchObject({ jobs: 0, dry_runs: 2, failures: 0 })
    const evidence = await consumerEvidence(owner(), 'would')
    expect(evidence).toHaveLength(2)
    expect(evidence).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          event_id: good,
          idempotency_key: `would:${good}`,
          payload_ref: 's',
          problem: null,
        }),
        expect.objectContaining({
          event_id: bad,
          idempotency_key: null,
          problem: 'a field of the payload_ref_template is NULL',
        }),
      ]),
    )
    expect(await jobsOf(db, 'would')).toEqual([])
    expect((await issues()).map((issue) => issue.subject_ref)).not.toContain('consumer:would')
  })
})

describe('an error', () => {
  it('dead-letters the event and opens one issue where the consumer is fail_closed; the others go on', async () => {
    await active(db, 'a_strict', { idempotency_key_template: '{event_subject_ref}' })
    await active(db, 'b_other')
    const bad = [await emit(db), await emit(db)]
    const good = await emit(db, { subject: 'fine' })
    expect(await dispatch(db)).toMatchObject({ jobs: 4, failures: 2 })
    expect(await jobsOf(db, 'a_strict')).toEqual([good])
    expect(await jobsOf(db, 'b_other')).toEqual([...bad, good])
    expect(await linesOf(db, bad[0]!)).toMatchObject([
      {
        consumer_id: 'a_strict',
        outcome: 'dead_letter',
        detail: { problem: expect.stringContaining('NULL') },
      },
      { consumer_id: 'b_other', outcome: 'enqueued' },
    ])
    expect((await issues()).filter((issue) => issue.subject_ref === 'consumer:a_strict')).toMatchObject([
      { code: 'consumer_failed', occurrences: '2', detail: { consumer_id: 'a_strict', event_id: bad[0] } },
    ])
    expect(
      (await listUndelivered(owner(), { consumer: 'a_strict' })).map((one) => one.event_id).sort(),
    ).toEqual([...bad].sort())
  })

  it('is only logged where the consumer is not', async () => {
    await active(db, 'lenient', { idempotency_key_template: '{event_subject_ref}', fail_closed: false })
    const bad = await emit(db)
    expect(await dispatch(db)).toMatchObject({ failures: 1 })
    expect(await linesOf(db, bad)).toMatchObject([{ outcome: 'failed' }])
    expect((await issues()).map((issue) => issue.subject_ref)).not.toContain('consumer:lenient')
  })

  it('of one event among many stands alone: the others become jobs', async () => {
    await active(db, 'poisoned')
    await db.owner(
      `create function public.poison() returns trigger language plpgsql as
         $$ begin if new.target_ref = 's13' then raise 'no such run'; end if; return new; end $$;
       create trigger poison before insert on iu_core.job_queue for each row execute function public.poison()`,
    )
    const events: string[] = []
    for (let n = 0; n < 20; n++) events.push(await emit(db, { subject: `s${n}` }))
    expect(await dispatch(db)).toMatchObject({ jobs: 19, failures: 1 })
    await db.owner('drop trigger poison on iu_core.job_queue; drop function public.poison')
    expect((await jobsOf(db, 'poisoned')).sort()).toEqual(events.filter((_, n) => n !== 13).sort())
    expect(await linesOf(db, events[13]!)).toMatchObject([
      { outcome: 'dead_letter', detail: { problem: 'no such run', sqlstate: 'P0001' } },
    ])
  })

  it('is a key that is too long for one', async () => {
    await active(db, 'wordy', { idempotency_key_template: '{event_subject_ref}' })
    const [long, short] = [await emit(db, { subject: 'x'.repeat(501) }), await emit(db, { subject: 'x' })]
    expect(await dispatch(db)).toMatchObject({ jobs: 1, failures: 1 })
    expect(await jobsOf(db, 'wordy')).toEqual([short])
    expect(await linesOf(db, long)).toMatchObject([
      { outcome: 'dead_letter', detail: { problem: expect.stringContaining('500') } },
    ])
  })

  it('of the server is nobody’s dead letter: the whole pass is retried', async () => {
    await active(db, 'unlucky')
    const event = await emit(db)
    await db.owner('alter table iu_core.job_key rename to job_key_lost')
    expect(await sqlstateOf(dispatch(db))).toBe('42P01')
    await db.owner('alter table iu_core.job_key_lost rename to job_key')
    expect(await linesOf(db, event)).toEqual([])
    expect(await dispatch(db)).toMatchObject({ jobs: 1 })
  })
})

describe('a consumer that feeds itself', () => {
  /** What its handler does: in the worker's transaction, with the job's event as the cause. */
  async function runJobs(id: string): Promise<number> {
    const jobs = await db.owner<{ cause: string; job_id: string }>(
      `select job_id, causation_event_id as cause from iu_core.job_queue where safe_payload ->> 'consumer_id' = $1`,
      [id],
    )
    const session = await db.session('stagedoor_worker')
    for (const { cause } of jobs) {
      await session.query('begin')
      await session.query(`select set_config('stagedoor.cause', $1, true)`, [cause])
      await session.query(`select iu_core.fn_event_emit('dot', 'run.applied')`)
      await session.query('commit')
    }
    await session.end()
    await db.owner('delete from iu_core.job_queue where job_id = any ($1)', [jobs.map((job) => job.job_id)])
    return jobs.length
  }

  it('is stopped at its depth limit, with a dead letter and an issue', async () => {
    await active(db, 'ouroboros')
    await emit(db)
    let ran = 0
    for (let round = 0; round < 20; round++) {
      await drain(db)
      ran += await runJobs('ouroboros')
    }
    expect(ran).toBe(9) // The event itself, and eight that followed from it.
    const [deepest] = await db.owner<{ id: string; causation_depth: number }>(
      `select id, causation_depth from iu_core.event_outbox where event_type = 'run.applied' order by seq desc limit 1`,
    )
    expect(deepest!.causation_depth).toBe(9)
    expect(await linesOf(db, deepest!.id)).toMatchObject([
      { outcome: 'too_deep', detail: { problem: 'too_deep', max_depth: 8 } },
    ])
    expect((await issues()).filter((issue) => issue.subject_ref === 'consumer:ouroboros')).toMatchObject([
      { code: 'consumer_too_deep', occurrences: '1' },
    ])
  })
})

describe('a rate limit', () => {
  it('puts off what is beyond it, and loses nothing', async () => {
    await active(db, 'slow', { rate: 3, rate_period: '1 hour' })
    const slots = async () =>
      (
        await db.owner<{ hours: number; jobs: number }>(
          `select round(extract(epoch from process_after - first) / 3600)::int as hours, count(*)::int as jobs
             from (select process_after, min(process_after) over () as first from iu_core.job_queue
                    where safe_payload ->> 'consumer_id' = 'slow') as j group by 1 order by 1`,
        )
      ).map(({ hours, jobs }) => [hours, jobs])
    for (let n = 0; n < 5; n++) await emit(db)
    await dispatch(db)
    expect(await slots()).toEqual([
      [0, 3],
      [1, 2],
    ])
    for (let n = 0; n < 3; n++) await emit(db)
    await dispatch(db)
    expect(await slots()).toEqual([
      [0, 3],
      [1, 3],
      [2, 2],
    ])
    // Long after, there is room again at once.
    await db.owner(
      `update iu_core.consumer_rate set period_started_at = period_started_at - interval '1 day'`,
    )
    const event = await emit(db)
    await dispatch(db)
    const [job] = await db.owner(
      'select process_after <= now() as due from iu_core.job_queue where causation_event_id = $1',
      [event],
    )
    expect(job).toEqual({ due: true })
  })
})

describe('a pass with nothing to do', () => {
  it('writes nothing at all, and takes no transaction id', async () => {
    await active(db, 'idle')
    await drain(db)
    const session = await db.session('stagedoor_worker')
    const pass = async () => {
      await session.query('begin')
      const { rows } = await session.query(
        `select events, pg_current_xact_id_if_assigned() as tx from iu_core.fn_consumer_dispatch_batch()`,
      )
      await session.query('commit')
      return rows[0]
    }
    expect(await pass()).toEqual({ events: 0, tx: null })
    await emit(db)
    expect(await pass()).toEqual({ events: 1, tx: expect.any(String) })
    expect(await pass()).toEqual({ events: 0, tx: null })
  })
})

describe('the switch', () => {
  it('off, nothing moves; on again, nothing was lost', async () => {
    await active(db, 'switched')
    await openSwitch(db, false)
    const event = await emit(db)
    expect(await dispatch(db)).toEqual({
      events: 0,
      jobs: 0,
      duplicates: 0,
      dry_runs: 0,
      failures: 0,
      deferred: 0,
    })
    const { rows } = await db
      .pool('stagedoor_worker')
      .query('select iu_core.fn_consumer_dispatch($1) as answer', [event])
    expect(rows[0].answer).toEqual({ enabled: false, event_id: event, consumers: [] })
    await openSwitch(db)
    await dispatch(db)
    expect(await jobsOf(db, 'switched')).toEqual([event])
  })
})

describe('one event alone', () => {
  const dispatchOne = async (event: string) =>
    (await db.pool('stagedoor_worker').query('select iu_core.fn_consumer_dispatch($1) as answer', [event]))
      .rows[0].answer

  it('is passed on at once, says so, and is not passed on again by the dispatcher or a second call', async () => {
    await active(db, 'now')
    await register(db, 'shadow')
    await dryRunConsumer(owner(), 'shadow')
    const event = await emit(db)
    const answer = await dispatchOne(event)
    expect(answer).toEqual({
      enabled: true,
      event_id: event,
      consumers: [
        { consumer_id: 'now', outcome: 'enqueued', job_id: expect.any(String) },
        { consumer_id: 'shadow', outcome: 'dry_run', job_id: null },
      ],
    })
    expect(await dispatchOne(event)).toEqual(answer)
    expect(await dispatch(db)).toMatchObject({ jobs: 0, duplicates: 0, dry_runs: 0 })
    expect(await jobsOf(db, 'now')).toEqual([event])
  })

  it('that is not there is an error', async () => {
    expect(await sqlstateOf(dispatchOne('00000000-0000-7000-8000-000000000000'))).toBe('SD326')
  })
})

describe('the views', () => {
  it('show who is active, and how much each dispatched, over queue, history and dead letters', async () => {
    await active(db, 'viewed')
    await register(db, 'unseen')
    for (let n = 0; n < 3; n++) await emit(db)
    await dispatch(db)
    expect(await db.owner('select consumer_id from iu_core.v_consumer_registry_active')).toEqual([
      { consumer_id: 'viewed' },
    ])
    await db.owner(
      `with done as (delete from iu_core.job_queue where job_id = (
         select max(job_id::text)::uuid from iu_core.job_queue where job_kind = 'viewed_work') returning *)
       insert into iu_core.job_history (job_id, job_kind, executor, outcome, priority, attempts, crashes, replays,
         enqueued_at, safe_payload, causation_event_id, causation_depth, actor)
       select job_id, job_kind, executor, 'completed', priority, 1, 0, 0, enqueued_at, safe_payload, causation_event_id,
              causation_depth, actor from done`,
    )
    expect(
      await db.owner(`select * from iu_core.v_consumer_dispatch_recent where consumer_id = 'viewed'`),
    ).toEqual([{ consumer_id: 'viewed', dispatched_24h: '3' }])
  })
})

it('names the target of a webhook, so that targets take turns', async () => {
  await active(db, 'hook', { job_kind: 'webhook_deliver', payload_ref_template: '{event_subject_ref}' })
  await active(db, 'bare_hook', { job_kind: 'webhook_deliver' })
  await active(db, 'own_hook', {
    job_kind: 'webhook_deliver',
    payload_ref_template: 'webhook:{event_stream}',
  })
  const event = await emit(db, { subject: 'webhook:other', stream: 'ops' })
  await drain(db)
  const jobs = await db.owner(
    `select safe_payload ->> 'consumer_id' as consumer, payload_ref, fair_key from iu_core.job_queue
      where job_kind = 'webhook_deliver' and causation_event_id = $1 order by 1`,
    [event],
  )
  expect(jobs).toEqual(
    [
      ['bare_hook', 'webhook:bare_hook'],
      ['hook', 'webhook:hook'],
      ['own_hook', 'webhook:ops'],
    ].map(([consumer, ref]) => ({ consumer, payload_ref: ref, fair_key: ref })),
  )
})

it('asks the log event by event, however old its statistics are', async () => {
  await active(db, 'steady')
  // As after the first evidence of a quiet database: the planner takes the log for a handful of lines.
  await db.owner('analyze iu_core.event_dispatch_log')
  const [planned] = await db.owner<{ statement: string }>(
    `select iu_core.fn_consumer_job_sql(c, false) as statement
       from iu_core.consumer_registry c where consumer_id = 'steady'`,
  )
  const plan = await db.owner<{ 'QUERY PLAN': string }>(
    `explain (costs off) ${planned!.statement.replaceAll('$1', '(select array_agg(o) from iu_core.event_outbox o)')}`,
  )
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  expect(text).toContain('event_dispatch_log')
  expect(text).not.toContain('Join')
})

it('a dry run shows what the depth limit would stop, not as a job that would be made', async () => {
  await register(db, 'shallow', { max_depth: 1 })
  await db.owner(`select iu_core.fn_consumer_dry_run('shallow')`)
  let cause: string | null = null
  for (let depth = 0; depth < 4; depth++) {
    const [event]: { id: string }[] = await db.owner(
      `select iu_core.fn_event_emit('dot', 'run.applied', p_causation_event_id => $1) as id`,
      [cause],
    )
    cause = event!.id
  }
  await drain(db)
  const evidence = await db.owner<{ problem: string | null; idempotency_key: string | null }>(
    `select problem, idempotency_key from iu_core.fn_consumer_evidence('shallow') order by event_id`,
  )
  const stopped = expect.stringMatching(
    /^too_deep: no job would be created, because the limit is a chain of 1 /,
  )
  expect(evidence.map(({ problem }) => problem)).toEqual([null, null, stopped, stopped])
  expect(evidence.slice(2).map(({ idempotency_key }) => idempotency_key)).toEqual([null, null])
})

/** What a handler gets besides its job. */
import { type Context, type Span, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it } from 'vitest'
import { readTrace } from '../../../src/app/trace.ts'
import type { NewJob } from '../../../src/jobs/queue.ts'
import { useDatabase } from '../../support/database.ts'
import { useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)
afterEach(() => trace.disable())

async function emitted(): Promise<{ id: string; correlation_id: string }> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(`select iu_core.fn_event_emit('system', 'gate_changed') as id`)
  const [event] = await db.owner<{ id: string; correlation_id: string }>(
    'select id, correlation_id from iu_core.event_outbox where id = $1',
    [rows[0]!.id],
  )
  return event!
}

describe('what a handler does', () => {
  it('in a transaction of the context follows from the event that its job came from', async () => {
    const cause = await emitted()
    await jobs.start({
      follows: (_job, context) =>
        context.transaction(async (client) => {
          const { rows } = await client.query<{ id: string }>(
            `select iu_core.fn_event_emit('system', 'gate_changed') as id`,
          )
          return { event: rows[0]!.id }
        }),
    })
    const [id] = await jobs.enqueue({ job_kind: 'follows', causation_event_id: cause.id })
    const [job] = await jobs.reached('completed', [id!])
    const { event } = job!.result as { event: string }
    expect(
      await db.owner(
        'select causation_event_id, correlation_id, causation_depth from iu_core.event_outbox where id = $1',
        [event],
      ),
    ).toEqual([{ causation_event_id: cause.id, correlation_id: cause.correlation_id, causation_depth: 1 }])
  })

  it('is one trace: event, job and follow-up share the correlation as their trace id', async () => {
    const spans: { name: string; traceId: string; parent: string }[] = []
    trace.setGlobalTracerProvider({
      getTracer: () => ({
        startSpan: (name: string, _options: unknown, context: Context) => {
          const parent = trace.getSpanContext(context)!
          spans.push({ name, traceId: parent.traceId, parent: parent.spanId })
          return trace.wrapSpanContext(parent) as Span
        },
        startActiveSpan: () => {
          throw new Error('not used')
        },
      }),
    } as never)
    const cause = await emitted()
    let followUp = ''
    await jobs.start({
      first_step: async (_job, context) => {
        followUp = await context.enqueue({ job_kind: 'second_step' })
      },
      second_step: async () => {},
    })
    const [id] = await jobs.enqueue({ job_kind: 'first_step', causation_event_id: cause.id })
    await jobs.reached('completed', [id!])
    const [second] = await jobs.reached('completed', [followUp])
    expect(second).toMatchObject({ correlation_id: cause.correlation_id, causation_event_id: cause.id })
    const traceId = cause.correlation_id.replaceAll('-', '')
    const parent = cause.id.replaceAll('-', '').slice(16)
    expect(spans).toEqual([
      { name: 'job first_step', traceId, parent },
      { name: 'job second_step', traceId, parent },
    ])
  })

  it('a second time makes no second follow-up, but two that are alike are two', async () => {
    // When it is due is another time in the second run.
    const alike = (): NewJob => ({ job_kind: 'follow_up', source_ref: 'same', process_after: new Date() })
    const made: string[][] = []
    await db.owner(`select iu_core.fn_job_kind_set('repeated', '{"backoff": "10 milliseconds"}')`)
    await jobs.start({
      repeated: async (_job, context) => {
        made.push([await context.enqueue(alike()), await context.enqueue(alike())])
        if (made.length === 1) throw new Error('after its follow-ups')
      },
      follow_up: async () => {},
    })
    const [id] = await jobs.enqueue({ job_kind: 'repeated' })
    await jobs.reached('completed', [id!])
    expect(made).toHaveLength(2)
    expect(made[0]).toEqual(made[1])
    expect(new Set(made.flat()).size).toBe(2)
  })

  it('is one trace, too, where no event is behind its job', async () => {
    await jobs.start({
      first: async (_job, context) => ({ next: await context.enqueue({ job_kind: 'second' }) }),
      second: async (_job, context) => ({ next: await context.enqueue({ job_kind: 'third' }) }),
      third: async () => {},
    })
    const [first] = await jobs.enqueue({ job_kind: 'first' })
    const next = async (id: string) =>
      ((await jobs.reached('completed', [id]))[0]!.result as { next: string }).next
    const second = await next(first!)
    const third = await next(second)
    await jobs.reached('completed', [third])
    for (const id of [first!, second, third]) {
      const found = await readTrace(db.pool('stagedoor_worker'), id)
      expect(found.correlation_id).toBe(first)
      expect(found.jobs.map(({ job_id }) => job_id)).toEqual([first, second, third])
    }
  })

  it('completes the job together with its own rows, and is not completed again', async () => {
    await db.pool('postgres').query(`create table public.ledger (job_id uuid primary key);
      grant all on public.ledger to dot_executor`)
    const written: number[] = []
    await jobs.start(
      {
        bookkeeping: (job, context) =>
          context.transaction(async (client) => {
            await client.query('insert into public.ledger values ($1)', [job.job_id])
            await context.complete(client, { booked: true })
            return { ignored: true }
          }),
      },
      { hooks: { onWrite: (_what, count) => written.push(count) } },
    )
    const [id] = await jobs.enqueue({ job_kind: 'bookkeeping' })
    const [job] = await jobs.reached('completed', [id!])
    expect(job!.result).toEqual({ booked: true })
    expect((await db.pool('postgres').query('select from public.ledger')).rowCount).toBe(1)
    expect(written).toEqual([])
  })
})

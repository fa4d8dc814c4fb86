/** What a worker of jobs promises, for one with a database and for one behind a gateway: the same. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FatalJobError, type JobHandlers } from '../../../src/jobs/handlers.ts'
import { type Job, type NewJob, pauseKind, resumeKind, setKind } from '../../../src/jobs/queue.ts'
import { gate, useJobs } from '../../jobs/worker/support.ts'
import { useDatabase } from '../../support/database.ts'
import { useGateways } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const jobs = useJobs(db)
const remote = await useGateways(db)
const admin = () => db.pool('stagedoor_worker')

type Start = (
  handlers: JobHandlers,
  options?: { readonly concurrency?: number },
) => Promise<{ stop(): Promise<void> }>

const WAYS: Record<string, Start> = {
  direct: (handlers, options = {}) => jobs.start(handlers, options),
  async remote(handlers, options = {}) {
    await remote.gateway()
    return remote.worker(handlers, options)
  },
}

describe.each(Object.entries(WAYS))('a %s worker', (way, start) => {
  const kind = (name: string): string => `${way}_${name}`
  beforeEach(() => db.owner('delete from iu_core.job_queue'))
  afterEach(() => db.owner('truncate iu_core.job_running, iu_core.job_isolation'))

  it('calls the handler once for each job, and keeps what it returns', async () => {
    const seen: Job[] = []
    const greet = kind('greet')
    await start({
      [greet]: async (job) => {
        seen.push(job)
        return { greeted: job.source_ref }
      },
    })
    const ids = await jobs.enqueue(
      { job_kind: greet, source_ref: 'a', payload: { n: 1 } },
      { job_kind: greet, source_ref: 'b' },
    )
    const [first] = await jobs.reached('completed', ids)
    expect(first).toMatchObject({ result: { greeted: 'a' }, attempts: 1, payload: { n: 1 } })
    expect(seen.map(({ job_id }) => job_id).sort()).toEqual([...ids].sort())
    expect(seen[0]!.process_after).toBeInstanceOf(Date)
    expect(seen[0]!.enqueued_at).toBeInstanceOf(Date)
  })

  it('tries again what failed, with its attempts and errors', async () => {
    const flaky = kind('flaky')
    await setKind(admin(), flaky, { backoff: '10 milliseconds' })
    let calls = 0
    await start({
      [flaky]: async () => {
        calls++
        if (calls < 3) throw new Error(`no luck, ${calls}`)
      },
    })
    const [id] = await jobs.enqueue({ job_kind: flaky })
    const [job] = await jobs.reached('completed', [id!])
    expect(calls).toBe(3)
    expect(job).toMatchObject({ attempts: 3, crashes: 0, last_error: 'Error: no luck, 2' })
  })

  it('makes a dead letter after the last attempt, and at once where no retry helps', async () => {
    const [hopeless, weak] = [kind('hopeless'), kind('weak')]
    await setKind(admin(), weak, { max_attempts: 2, backoff: '10 milliseconds' })
    await start({
      [hopeless]: async () => {
        throw new FatalJobError('the address does not exist')
      },
      [weak]: async () => {
        throw new Error('again')
      },
    })
    const ids = await jobs.enqueue({ job_kind: hopeless }, { job_kind: weak })
    const dead = await jobs.reached('dead', ids)
    expect(dead.map(({ attempts, last_error }) => [attempts, last_error])).toEqual([
      [1, 'FatalJobError: the address does not exist'],
      [2, 'Error: again'],
    ])
  })

  it('snoozes without using an attempt', async () => {
    const early = kind('early')
    const attempts: number[] = []
    await start({
      [early]: async (job, context) => {
        attempts.push(job.attempts)
        if (attempts.length < 3) context.snooze(new Date(Date.now() + 20))
      },
    })
    const [id] = await jobs.enqueue({ job_kind: early })
    await jobs.reached('completed', [id!])
    expect(attempts).toEqual([1, 1, 1])
  })

  it('has done its work also where the result cannot be kept', async () => {
    const [odd, count] = [kind('odd'), kind('count')]
    await start({ [odd]: async () => ({ text: 'a\u0000b' }), [count]: async () => 3 })
    const found = await jobs.reached(
      'completed',
      await jobs.enqueue({ job_kind: odd }, { job_kind: count }, { job_kind: odd }),
    )
    expect(found.map(({ result }) => result)).toEqual([null, null, null])
  })

  it('aborts the handler when its time is up', async () => {
    const slow = kind('slow')
    await setKind(admin(), slow, { timeout: '50 milliseconds', max_attempts: 1 })
    await start({
      [slow]: (_job, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    })
    const [id] = await jobs.enqueue({ job_kind: slow })
    const [job] = await jobs.reached('dead', [id!])
    expect(job!.last_error).toBe('JobAborted: The handler took longer than 0.05 s')
  })

  it('aborts the handler when somebody cancels the job', async () => {
    const begun = gate()
    const long = kind('long')
    let why: unknown
    await start({
      [long]: (_job, { signal }) =>
        new Promise((_resolve, reject) => {
          begun.open()
          signal.addEventListener('abort', () => {
            why = signal.reason.why
            reject(signal.reason)
          })
        }),
    })
    const [id] = await jobs.enqueue({ job_kind: long })
    await begun.opened
    await db.owner('select iu_core.fn_job_cancel($1, $2)', [id, 'no longer needed'])
    const [job] = await jobs.reached('cancelled', [id!])
    expect([job!.last_error, why]).toEqual(['no longer needed', 'cancelled'])
  })

  it('runs higher priorities first', async () => {
    const ranked = kind('ranked')
    const order: string[] = []
    const ids = await jobs.enqueue(
      ...[0, 5, -3, 9, 0].map((priority, n) => ({
        job_kind: ranked,
        priority,
        source_ref: `${priority} ${n}`,
      })),
    )
    await start({ [ranked]: async (job) => void order.push(job.source_ref!) }, { concurrency: 1 })
    await jobs.reached('completed', ids)
    // A direct worker may hold one that it claimed ahead.
    const priorities = order.map(Number.parseFloat)
    const inversions = priorities.filter((priority, n) => n > 0 && priority > priorities[n - 1]!)
    expect(inversions.length).toBeLessThanOrEqual(way === 'direct' ? 1 : 0)
    expect([order[0], order.at(-1)]).toEqual(['9 3', '-3 2'])
  })

  it('runs nothing of a paused kind, and goes on when it is resumed', async () => {
    const [paused, other] = [kind('paused'), kind('other')]
    const ran: string[] = []
    await setKind(admin(), paused, {})
    await pauseKind(admin(), paused)
    await start({
      [paused]: async () => void ran.push('paused'),
      [other]: async () => void ran.push('other'),
    })
    const ids = await jobs.enqueue({ job_kind: paused }, { job_kind: other })
    await jobs.reached('completed', [ids[1]!])
    expect(ran).toEqual(['other'])
    await resumeKind(admin(), paused)
    await jobs.reached('completed', ids)
  })

  it('keeps the limits of a kind: at once, one at a time for a key, keys in turns, a rate', async () => {
    const [limited, serial, fair, rated] = [kind('limited'), kind('serial'), kind('fair'), kind('rated')]
    await setKind(admin(), limited, { concurrency: 2 })
    await setKind(admin(), serial, { serial_by: 'source_ref' })
    await setKind(admin(), fair, { fair_by: 'source_ref', concurrency: 2 })
    await setKind(admin(), rated, { rate: 3, rate_period: '1 hour' })
    const running = new Map<string, number>()
    const most = new Map<string, number>()
    const turns: string[] = []
    const counting = async (job: Job, key: string): Promise<void> => {
      running.set(key, (running.get(key) ?? 0) + 1)
      most.set(key, Math.max(most.get(key) ?? 0, running.get(key)!))
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (job.job_kind === fair) turns.push(job.source_ref!)
      running.set(key, running.get(key)! - 1)
    }
    const of = (job_kind: string, source_ref: string, count: number): NewJob[] =>
      Array.from({ length: count }, () => ({ job_kind, source_ref }))
    const ids = await jobs.enqueue(
      ...of(limited, 'x', 12),
      ...of(serial, 'k1', 6),
      ...of(serial, 'k2', 6),
      ...of(fair, 'big', 8),
      ...of(fair, 'small', 1),
    )
    const slow = await jobs.enqueue(...of(rated, 'r', 6))
    await start({
      [limited]: (job) => counting(job, limited),
      [serial]: (job) => counting(job, `${serial} ${job.source_ref}`),
      [fair]: (job) => counting(job, fair),
      [rated]: (job) => counting(job, rated),
    })
    await jobs.reached('completed', ids)
    expect(most.get(limited)).toBe(2)
    expect(most.get(`${serial} k1`)).toBe(1)
    expect(most.get(`${serial} k2`)).toBe(1)
    expect(turns.indexOf('small')).toBeLessThan(4)
    await jobs.reached('completed', slow.slice(0, 3))
    expect((await Promise.all(slow.slice(3).map(jobs.find))).map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => 'waiting'),
    )
  })

  it('runs so many at once and no more', async () => {
    const counted = kind('counted')
    let running = 0
    let most = 0
    const ids = await jobs.enqueue(...Array.from({ length: 40 }, () => ({ job_kind: counted })))
    await start(
      {
        [counted]: async () => {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setTimeout(resolve, 3))
          running--
        },
      },
      { concurrency: 4 },
    )
    await jobs.reached('completed', ids)
    expect(most).toBe(4)
  })

  it('gives many jobs to a batch handler, and each ends in its own way', async () => {
    const bulk = kind('bulk')
    await setKind(admin(), bulk, { max_attempts: 1 })
    const sizes: number[] = []
    const ids = await jobs.enqueue(
      ...Array.from({ length: 25 }, (_, n) => ({ job_kind: bulk, source_ref: String(n) })),
    )
    let snoozed = false
    await start({
      [bulk]: {
        batch: 20,
        run: async (all, context) => {
          sizes.push(all.length)
          for (const job of all) {
            if (job.source_ref === '3') context.fail(job, new FatalJobError('not this one'))
            else if (job.source_ref === '4' && !snoozed) {
              snoozed = true
              context.snooze(job, new Date())
            } else context.result(job, { n: Number(job.source_ref) })
          }
        },
      },
    })
    const completed = await jobs.reached('completed', ids.toSpliced(3, 1))
    expect(completed.map(({ result }) => result)).toContainEqual({ n: 24 })
    expect(completed.map(({ result }) => result)).toContainEqual({ n: 4 })
    const [dead] = await jobs.reached('dead', [ids[3]!])
    expect(dead!.last_error).toBe('FatalJobError: not this one')
    expect(sizes.length).toBeLessThan(7)
  })

  it('enqueues follow-ups in the same trace, once however often the handler runs', async () => {
    const [repeated, follow] = [kind('repeated'), kind('follow')]
    await setKind(admin(), repeated, { backoff: '10 milliseconds' })
    const alike = (): NewJob => ({ job_kind: follow, source_ref: 'same', process_after: new Date() })
    const made: string[][] = []
    await start({
      [repeated]: async (_job, context) => {
        made.push([await context.enqueue(alike()), await context.enqueue(alike())])
        if (made.length === 1) throw new Error('after its follow-ups')
      },
      [follow]: async () => {},
    })
    const [id] = await jobs.enqueue({ job_kind: repeated })
    await jobs.reached('completed', [id!])
    expect(made).toHaveLength(2)
    expect(made[0]).toEqual(made[1])
    const [one, two] = await jobs.reached('completed', made[0]!)
    expect(one!.job_id).not.toBe(two!.job_id)
    expect(one!.correlation_id).toBe(id)
  })

  it('tells a handler in words why its follow-up is refused', async () => {
    const bad = kind('bad')
    await setKind(admin(), bad, { max_attempts: 1 })
    await start({ [bad]: async (_job, context) => context.enqueue({ job_kind: 'No Kind' }) })
    const [id] = await jobs.enqueue({ job_kind: bad })
    const [dead] = await jobs.reached('dead', [id!])
    expect(dead!.last_error).toMatch(/No Kind/)
  })

  it('lets what runs end when it stops, and gives back what does not', async () => {
    const [quick, endless] = [kind('quick'), kind('endless')]
    const begun: string[] = []
    const end = gate()
    const worker = await start({
      [quick]: async (job) => {
        begun.push(job.job_id)
        await end.opened
      },
      [endless]: (job, { signal }) => {
        begun.push(job.job_id)
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
    })
    const ids = await jobs.enqueue({ job_kind: quick }, { job_kind: endless })
    await until('both have begun', () => begun.length === 2)
    const stopping = worker.stop()
    end.open()
    await stopping
    expect((await jobs.find(ids[0]!)).status).toBe('completed')
    expect(await jobs.find(ids[1]!)).toMatchObject({ status: 'waiting', attempts: 0, crashes: 0 })
  })
})

import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { FatalJobError } from '../../../src/jobs/handlers.ts'
import { type Job, setKind } from '../../../src/jobs/queue.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { gate, useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)

describe('a handler', () => {
  it('is called once for each job and what it returns is kept', async () => {
    const seen: Job[] = []
    await jobs.start({
      greet: async (job) => {
        seen.push(job)
        return { greeted: job.source_ref }
      },
    })
    const ids = await jobs.enqueue(
      { job_kind: 'greet', source_ref: 'a', payload: { n: 1 } },
      { job_kind: 'greet', source_ref: 'b' },
    )
    const [first] = await jobs.reached('completed', ids)
    expect(first).toMatchObject({ result: { greeted: 'a' }, attempts: 1, payload: { n: 1 } })
    expect(seen.map((job) => job.job_id).sort()).toEqual([...ids].sort())
    expect(seen[0]).toMatchObject({ job_kind: 'greet', attempts: 1, executor: 'PG_worker' })
    expect(seen[0]!.process_after).toBeInstanceOf(Date)
  })

  it('that throws a value without any text fails its job, and the worker goes on', async () => {
    const thrown: unknown[] = [
      Object.create(null),
      {
        toString: () => {
          throw new Error('no text')
        },
      },
      undefined,
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('no message')
        },
      }),
    ]
    await setKind(db.pool('stagedoor_worker'), 'rude', { max_attempts: 1 })
    await jobs.start({
      rude: async (job) => {
        throw thrown[Number(job.payload_ref)]
      },
    })
    const ids = await jobs.enqueue(...thrown.map((_, n) => ({ job_kind: 'rude', payload_ref: String(n) })))
    const dead = await jobs.reached('dead', ids)
    expect(dead[0]!.last_error).toMatch(/cannot be shown as text/)
  })

  it('that does not end is reported with its id, in the log and in health', async () => {
    const lines: { job_id?: string; msg: string }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) })
    const end = gate()
    const worker = await jobs.start({ endless: () => end.opened }, { log, longRunningMs: 50 })
    const [id] = await jobs.enqueue({ job_kind: 'endless' })
    await until('it is reported', () => worker.health().detail.includes(id!))
    expect(lines.filter(({ job_id }) => job_id === id)).toHaveLength(1)
    end.open()
    await jobs.reached('completed', [id!])
    await until('it is not any more', () => !worker.health().detail.includes(id!))
  })

  it('that throws is called again later, until it succeeds', async () => {
    await setKind(db.pool('stagedoor_worker'), 'flaky', { backoff: '10 milliseconds' })
    let calls = 0
    await jobs.start({
      flaky: async () => {
        calls++
        if (calls < 3) throw new Error(`no luck, ${calls}`)
      },
    })
    const [id] = await jobs.enqueue({ job_kind: 'flaky' })
    const [job] = await jobs.reached('completed', [id!])
    expect(calls).toBe(3)
    expect(job).toMatchObject({ attempts: 3, last_error: 'Error: no luck, 2' })
  })

  it('that says that no retry helps makes a dead letter at once', async () => {
    await jobs.start({
      hopeless: async () => {
        throw new FatalJobError('the address does not exist')
      },
    })
    const [id] = await jobs.enqueue({ job_kind: 'hopeless' })
    const [job] = await jobs.reached('dead', [id!])
    expect(job).toMatchObject({ attempts: 1, last_error: 'FatalJobError: the address does not exist' })
  })

  it('that snoozes runs again then, and no attempt is used', async () => {
    const attempts: number[] = []
    await jobs.start({
      early: async (job, context) => {
        attempts.push(job.attempts)
        if (attempts.length < 3) context.snooze(new Date(Date.now() + 20))
      },
    })
    const [id] = await jobs.enqueue({ job_kind: 'early' })
    await jobs.reached('completed', [id!])
    expect(attempts).toEqual([1, 1, 1])
  })

  it('whose result cannot be kept has done its work all the same', async () => {
    const round: Record<string, unknown> = {}
    round.self = round
    await jobs.start({
      odd: async () => ({ text: 'a\u0000b' }),
      fine: async () => ({ ok: true }),
      circular: async () => round,
      count: async () => 3,
    })
    const kinds = ['odd', 'fine', 'odd', 'circular', 'count']
    const ids = await jobs.enqueue(...kinds.map((job_kind) => ({ job_kind })))
    const found = await jobs.reached('completed', ids)
    expect(found.map((job) => job.result)).toEqual([null, { ok: true }, null, null, null])
  })

  it('is done once, though the history has no partition for it yet', async () => {
    const month = `iu_core.job_history_${new Date().toISOString().replace(/^(\d+)-(\d+).*/, 'y$1m$2')}`
    await db.owner(`drop table ${month}`)
    const refused = gate()
    let runs = 0
    const log = pino({ level: 'warn' }, { write: (line) => line.includes('trying again') && refused.open() })
    await jobs.start({ patient: async () => ({ run: ++runs }) }, { log })
    const [id] = await jobs.enqueue({ job_kind: 'patient' })
    await refused.opened
    await db.owner('select iu_core.fn_job_history_maintain()')
    const [job] = await jobs.reached('completed', [id!])
    expect([runs, job!.result]).toEqual([1, { run: 1 }])
  })

  it('is aborted when its time is up', async () => {
    await setKind(db.pool('stagedoor_worker'), 'slow', { timeout: '50 milliseconds', max_attempts: 1 })
    await jobs.start({
      slow: (_job, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    })
    const [id] = await jobs.enqueue({ job_kind: 'slow' })
    const [job] = await jobs.reached('dead', [id!])
    expect(job!.last_error).toBe('JobAborted: The handler took longer than 0.05 s')
  })

  it('is aborted when somebody cancels the job', async () => {
    const begun = gate()
    await jobs.start(
      {
        cancellable: (_job, { signal }) =>
          new Promise((_resolve, reject) => {
            begun.open()
            signal.addEventListener('abort', () => reject(signal.reason))
          }),
      },
      { leaseMs: 1000 },
    )
    const [id] = await jobs.enqueue({ job_kind: 'cancellable' })
    await begun.opened
    await db.owner('select iu_core.fn_job_cancel($1, $2)', [id, 'no longer needed'])
    const [job] = await jobs.reached('cancelled', [id!])
    expect(job).toMatchObject({ last_error: 'no longer needed' })
  })
})

it('a hook that throws stops no job', async () => {
  const hook = () => {
    throw new Error('the measure is broken')
  }
  await jobs.start(
    { measured: async () => {} },
    { hooks: { onCallBegin: hook, onCallEnd: hook, onClaim: hook } },
  )
  const [id] = await jobs.enqueue({ job_kind: 'measured' })
  await jobs.reached('completed', [id!])
})

describe('many jobs', () => {
  it('of a kind that allows no crash are reported as begun only when they begin', async () => {
    await setKind(db.pool('stagedoor_worker'), 'strict', { max_crashes: 1 })
    const ids = await jobs.enqueue(...Array.from({ length: 60 }, () => ({ job_kind: 'strict' })))
    const begun = new Set<string>()
    const early: string[] = []
    await jobs.start(
      {
        strict: async (job) => {
          begun.add(job.job_id)
          // The first are short, so that the worker would tell of many before their turn.
          if (begun.size < 40) return
          const rows = await db.owner<{ job_id: string }>(
            `select job_id from iu_core.job_queue where job_kind = 'strict' and begun`,
          )
          // A death now would make dead letters of these, and they have not begun.
          early.push(...rows.map(({ job_id }) => job_id).filter((id) => !begun.has(id)))
        },
      },
      { concurrency: 1 },
    )
    await jobs.reached('completed', ids)
    expect(early).toEqual([])
  })

  it('run so many at once, and no more than that and a claim are held', async () => {
    const held: number[] = []
    let running = 0
    let most = 0
    const ids = await jobs.enqueue(...Array.from({ length: 60 }, () => ({ job_kind: 'counted' })))
    await jobs.start(
      {
        counted: async () => {
          running++
          most = Math.max(most, running)
          const [row] = await db.owner<{ n: number }>(
            `select count(*)::integer as n from iu_core.job_queue where job_kind = 'counted' and leased_by is not null`,
          )
          held.push(row!.n)
          running--
        },
      },
      { concurrency: 4, batch: 10 },
    )
    await jobs.reached('completed', ids)
    expect(most).toBe(4)
    // Those whose completion is on its way are still leased.
    expect(Math.max(...held)).toBeLessThanOrEqual(4 + 2 * 10)
  })

  it('of a handler that takes many are claimed as many', async () => {
    const sizes: number[] = []
    const ids = await jobs.enqueue(...Array.from({ length: 300 }, () => ({ job_kind: 'wide' })))
    await jobs.start({ wide: { batch: 300, run: async (all) => void sizes.push(all.length) } })
    await jobs.reached('completed', ids)
    expect(sizes).toEqual([300])
  })

  it('of a batch handler come in one call, and each can end in its own way', async () => {
    const sizes: number[] = []
    const ids = await jobs.enqueue(
      ...Array.from({ length: 25 }, (_, n) => ({ job_kind: 'bulk', source_ref: String(n) })),
    )
    await jobs.start({
      bulk: {
        batch: 20,
        run: async (all, context) => {
          sizes.push(all.length)
          for (const job of all) {
            if (job.source_ref === '3') context.fail(job, new FatalJobError('not this one'))
            else context.result(job, { n: Number(job.source_ref) })
          }
        },
      },
    })
    const completed = await jobs.reached('completed', ids.toSpliced(3, 1))
    expect(completed.map((job) => job.result)).toContainEqual({ n: 24 })
    const [dead] = await jobs.reached('dead', [ids[3]!])
    expect(dead!.last_error).toBe('FatalJobError: not this one')
    expect(sizes.reduce((sum, size) => sum + size)).toBe(25)
    expect(sizes.length).toBeLessThan(6)
  })

  it('of a kind that runs one at a time per key follow each other without a pause', async () => {
    await setKind(db.pool('stagedoor_worker'), 'serial', { serial_by: 'source_ref' })
    const running = new Set<string>()
    let overlapped = false
    const ids = await jobs.enqueue(
      ...Array.from({ length: 60 }, (_, n) => ({ job_kind: 'serial', source_ref: `k${n % 2}` })),
    )
    // By polling alone each of thirty rounds would take an hour.
    await jobs.start(
      {
        serial: async (job) => {
          overlapped ||= running.has(job.source_ref!)
          running.add(job.source_ref!)
          await new Promise(setImmediate)
          running.delete(job.source_ref!)
        },
      },
      { pollMs: 3_600_000 },
    )
    await jobs.reached('completed', ids)
    expect(overlapped).toBe(false)
  })
})

/** Limits of a kind: how many at once, how many in a time, one at a time for a key, keys in turns. */
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { MUCH_LATER, queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

beforeEach(async () => {
  await db.owner(
    'truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_worker, iu_core.job_running, iu_core.job_rate, iu_core.job_isolation',
  )
})

async function kind(name: string, settings: object, targets: (string | null)[]): Promise<void> {
  await queue.one('select iu_core.fn_job_kind_set($1, $2)::text', [name, JSON.stringify(settings)])
  await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
    JSON.stringify(targets.map((target_ref) => ({ job_kind: name, target_ref }))),
  ])
}

async function claimAtOnce(name: string, workers: number, limit: number) {
  const ids = await Promise.all(Array.from({ length: workers }, () => queue.register([name])))
  const claimed = await Promise.all(
    ids.map(async (worker) => ({
      worker,
      jobs: (await queue.claim(worker, limit)) as unknown as {
        job_id: string
        lease_epoch: number
        target_ref: string
      }[],
    })),
  )
  return claimed
}

it('runs no more at once than its concurrency, over all workers', async () => {
  await kind(
    'heavy',
    { concurrency: 3 },
    Array.from({ length: 20 }, () => null),
  )
  const claimed = await claimAtOnce('heavy', 6, 2)
  expect(claimed.flatMap(({ jobs }) => jobs)).toHaveLength(3)
  const { worker, jobs } = claimed.find((one) => one.jobs.length > 0)!
  await queue.complete({ worker, job: jobs[0]!.job_id, epoch: jobs[0]!.lease_epoch })
  expect(await queue.claim(worker, 10)).toHaveLength(1)
})

it('releases the slots of a dead worker', async () => {
  await kind('heavy', { concurrency: 2 }, [null, null, null])
  const { worker, jobs } = (await claimAtOnce('heavy', 1, 5))[0]!
  expect(jobs).toHaveLength(2)
  await queue.expire(worker)
  expect(await queue.reap()).toBe(2)
  const other = await queue.register(['heavy'])
  // The third, which no worker died under; then the others, each alone.
  expect(await queue.claim(other, 10)).toHaveLength(1)
  const [third, fourth] = [await queue.register(['heavy']), await queue.register(['heavy'])]
  expect(await queue.claim(third, 10, MUCH_LATER)).toHaveLength(1)
  expect(await queue.claim(fourth, 10, MUCH_LATER)).toEqual([])
})

it('runs one at a time for each key of a serial kind, in their order', async () => {
  await kind('ledger', { serial_by: 'target_ref' }, ['a', 'a', 'b', 'a', 'b', null, null])
  const claimed = await claimAtOnce('ledger', 4, 10)
  const jobs = claimed.flatMap(({ worker, jobs }) => jobs.map((job) => ({ worker, ...job })))
  // Jobs without a key wait for nobody.
  expect(jobs.map((job) => job.target_ref ?? '-').sort()).toEqual(['-', '-', 'a', 'b'])
  const a = jobs.find((job) => job.target_ref === 'a')!
  await queue.fail({ worker: a.worker, job: a.job_id, epoch: a.lease_epoch })
  // The one that failed waits for its backoff; the next of its key may go.
  expect(await queue.claim(a.worker, 10)).toMatchObject([{ target_ref: 'a' }])
  expect(await queue.claim(a.worker, 10)).toEqual([])
})

it('lets the keys of a fair kind take turns', async () => {
  await kind('sync', { fair_by: 'target_ref' }, [
    ...Array.from({ length: 50 }, () => 'big'),
    'small',
    'tiny',
    'small',
  ])
  const { jobs } = (await claimAtOnce('sync', 1, 5))[0]!
  expect(jobs.map((job) => job.target_ref).sort()).toEqual(['big', 'big', 'small', 'small', 'tiny'])
})

it('starts no more in a time than its rate, and refills evenly', async () => {
  await kind(
    'api',
    { rate: 10, rate_period: '1 minute' },
    Array.from({ length: 40 }, () => null),
  )
  const worker = await queue.register(['api'])
  // Later than the jobs are due; the clock of the limit is the one that the claim names.
  const start = Date.now() + 3_600_000
  const at = (seconds: number) => queue.claim(worker, 100, new Date(start + seconds * 1000))
  expect(await at(0)).toHaveLength(10)
  expect(await at(1)).toHaveLength(0)
  expect(await at(30)).toHaveLength(5)
  expect(await at(600)).toHaveLength(10)
})

it('claims nothing of a paused kind, whatever else it claims', async () => {
  await kind('heavy', { concurrency: 5 }, [null])
  await kind('plain', {}, [null, null])
  const worker = await queue.register(['heavy', 'plain'])
  await queue.one(`select iu_core.fn_job_pause('heavy')`)
  await queue.one(`select iu_core.fn_job_pause('plain')`)
  expect(await queue.claim(worker)).toEqual([])
  await queue.one(`select iu_core.fn_job_resume('plain')`)
  expect(await queue.claim(worker)).toHaveLength(2)
  await queue.one(`select iu_core.fn_job_resume('heavy')`)
  expect(await queue.claim(worker)).toHaveLength(1)
})

describe('a fair kind', () => {
  const LINE = Array.from({ length: 1500 }, () => 'big')
  const targets = async (limit: number) =>
    (await claimAtOnce('sync', 1, limit))[0]!.jobs.map((job) => job.target_ref).sort()

  it('gives a turn to a key behind any number of jobs of another', async () => {
    await kind('sync', { fair_by: 'target_ref', concurrency: 4 }, [...LINE, 'small', 'tiny'])
    expect(await targets(4)).toEqual(['big', 'big', 'small', 'tiny'])
  })

  it('counts what runs without a key as it counts the others', async () => {
    await kind('sync', { fair_by: 'target_ref', concurrency: 100 }, [null, null, null, null])
    expect(await targets(2)).toEqual([null, null])
    await kind('sync', {}, ['late', 'late'])
    expect(await targets(2)).toEqual(['late', 'late'])
  })

  it('is fair to those that waited when it became one', async () => {
    await kind('sync', { fair_by: null, concurrency: 4 }, [...LINE, 'small'])
    await kind('sync', { fair_by: 'target_ref' }, [])
    expect(await targets(4)).toEqual(['big', 'big', 'big', 'small'])
  })

  it('lets a job that was replaced or replayed take turns by what it is now', async () => {
    await kind('sync', { fair_by: 'target_ref', concurrency: 4, key_mode: 'replace', max_attempts: 1 }, LINE)
    const put = (target: string) =>
      queue.one(`select iu_core.fn_job_enqueue('sync', 'doc', p_target_ref => $1)`, [target])
    await put('big')
    await put('small')
    const worker = await queue.register(['sync'])
    const jobs = (await queue.claim(worker, 2)) as unknown as {
      job_id: string
      target_ref: string
      lease_epoch: number
    }[]
    const small = jobs.find((job) => job.target_ref === 'small')!
    await queue.fail({ worker, job: small.job_id, epoch: small.lease_epoch })
    await queue.replay(small.job_id)
    expect(await targets(2)).toEqual(['big', 'small'])
    await queue.one(`select iu_core.fn_job_kind_set('sync', '{"key_mode": "keep"}')::text`)
  })
})

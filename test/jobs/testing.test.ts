/** The helper for users' tests: jobs at once, in the test's own turn, under the test's own clock. */
import { describe, expect, it } from 'vitest'
import { enqueue, findJob, pauseKind, setKind } from '../../src/jobs/queue.ts'
import { deleteSchedule, setSchedule } from '../../src/jobs/schedules.ts'
import { createJobTester } from '../../src/jobs/testing.ts'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()
const pool = () => db.pool('stagedoor_worker')
const HOUR = 3_600_000

describe('run until idle', () => {
  it('runs what is due and what follows from it, and nothing else', async () => {
    const tester = createJobTester({
      pool: pool(),
      handlers: {
        report: async (_job, context) => ({ mail: await context.enqueue({ job_kind: 'mail' }) }),
        mail: async () => ({ message: 'm-1' }),
      },
    })
    await enqueue(pool(), { job_kind: 'report' })
    await enqueue(pool(), { job_kind: 'report', process_after: new Date(Date.now() + HOUR) })
    const ran = await tester.runUntilIdle()
    expect(ran).toMatchObject([
      { job_kind: 'report', outcome: 'completed' },
      { job_kind: 'mail', outcome: 'completed', result: { message: 'm-1' } },
    ])
    expect(await tester.runUntilIdle()).toEqual([])
    tester.advance(HOUR)
    expect(await tester.runUntilIdle()).toHaveLength(2)
  })

  it('says how a job failed, and runs it again when its backoff has passed on the test’s clock', async () => {
    await setKind(pool(), 'brittle', { backoff: '10 minutes' })
    let calls = 0
    const tester = createJobTester({
      pool: pool(),
      handlers: {
        brittle: async () => {
          calls++
          if (calls === 1) throw new Error('the mail server is away')
        },
      },
    })
    const id = await enqueue(pool(), { job_kind: 'brittle' })
    expect(await tester.runUntilIdle()).toMatchObject([
      { job_id: id, outcome: 'failed', error: 'Error: the mail server is away' },
    ])
    tester.advance(5 * 60_000)
    expect(await tester.runUntilIdle()).toEqual([])
    tester.advance(10 * 60_000)
    expect(await tester.runUntilIdle()).toMatchObject([{ job_id: id, outcome: 'completed' }])
  })

  it('counts a backoff from its own clock, wherever that was moved to', async () => {
    await setKind(pool(), 'delayed', { backoff: '10 minutes', max_attempts: 3 })
    const tester = createJobTester({
      pool: pool(),
      handlers: {
        delayed: async () => {
          throw new Error('not yet')
        },
      },
    })
    await enqueue(pool(), { job_kind: 'delayed', process_after: new Date(Date.now() + 24 * HOUR) })
    tester.advance(24 * HOUR)
    expect(await tester.runUntilIdle()).toHaveLength(1)
    expect(await tester.runUntilIdle()).toEqual([])
    tester.advance(15 * 60_000)
    expect(await tester.runUntilIdle()).toHaveLength(1)
  })

  it('fires schedules as its clock passes them, one job for what was missed', async () => {
    const tester = createJobTester({ pool: pool(), handlers: { nightly: async () => {} } })
    await setSchedule(pool(), { schedule: 'nightly', cron: '0 3 * * *', job_kind: 'nightly' })
    expect(await tester.runUntilIdle()).toEqual([])
    tester.advance(24 * HOUR)
    expect(await tester.runUntilIdle()).toHaveLength(1)
    tester.advance(72 * HOUR)
    expect(await tester.runUntilIdle()).toHaveLength(1)
    await deleteSchedule(pool(), 'nightly')
  })

  it('takes many at once where the handler does', async () => {
    const sizes: number[] = []
    const tester = createJobTester({
      pool: pool(),
      handlers: { packed: { batch: 10, run: async (jobs) => void sizes.push(jobs.length) } },
    })
    for (let n = 0; n < 15; n++) await enqueue(pool(), { job_kind: 'packed' })
    expect(await tester.runUntilIdle()).toHaveLength(15)
    // How many are claimed at once depends on how fast they are: the rest may come in two calls.
    expect(sizes[0]).toBe(10)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(15)
    expect(sizes.length).toBeLessThanOrEqual(3)
  })
})

describe('run until empty', () => {
  it('gives every retry its turn, to the dead letter', async () => {
    await setKind(pool(), 'doomed', { max_attempts: 3, backoff: '1 hour', max_backoff: '1 day' })
    const tester = createJobTester({
      pool: pool(),
      handlers: {
        doomed: async () => {
          throw new Error('never')
        },
      },
    })
    const id = await enqueue(pool(), { job_kind: 'doomed' })
    const before = tester.now()
    expect(await tester.runUntilEmpty()).toHaveLength(3)
    expect(await findJob(pool(), id)).toMatchObject({ status: 'dead', attempts: 3 })
    expect(tester.now().getTime() - before.getTime()).toBeGreaterThan(2 * HOUR)
  })

  it('ends although a job of a paused kind waits for ever', async () => {
    const tester = createJobTester({ pool: pool(), handlers: { held: async () => {} } })
    await enqueue(pool(), { job_kind: 'held' })
    await pauseKind(pool(), 'held')
    expect(await tester.runUntilEmpty()).toEqual([])
  })
})

/** The parts of a worker that hold no connection. */
import { describe, expect, it, vi } from 'vitest'
import { ClaimCursor } from '../../../src/jobs/claims.ts'
import { Backlog } from '../../../src/jobs/executor.ts'
import type { ClaimedJob } from '../../../src/jobs/worker-types.ts'

function job(id: string, given: Partial<ClaimedJob> = {}): ClaimedJob {
  return {
    job_id: id,
    job_kind: 'k',
    priority: 0,
    begun: true,
    due: '2026-01-01 00:00:00.000001+00',
    process_after: new Date('2026-01-01T00:00:00Z'),
    ...given,
  } as ClaimedJob
}

describe('claimed jobs', () => {
  it('begin in their order, those with a higher priority before those that were claimed earlier', () => {
    const backlog = new Backlog({ k: async () => {} })
    backlog.add([job('a'), job('b')])
    backlog.add([job('urgent', { priority: 5 }), job('c')])
    const order = Array.from({ length: 4 }, () => backlog.next()!.jobs[0]!.job_id)
    expect(order).toEqual(['urgent', 'a', 'b', 'c'])
    expect(backlog.next()).toBeUndefined()
  })

  it('that were claimed ahead begin only when the database knows of it', () => {
    const backlog = new Backlog({ k: async () => {} })
    const ahead = [job('a', { begun: false }), job('b', { begun: false }), job('c', { begun: false })]
    backlog.add([job('now'), ...ahead])
    expect(backlog.next()!.jobs[0]!.job_id).toBe('now')
    expect(backlog.next()).toBeUndefined()
    const told = backlog.peek(2)
    expect(told.map(({ job_id }) => job_id)).toEqual(['a', 'b'])
    // b is no longer ours: it is neither begun nor given back.
    backlog.confirm(told, new Set(['a']))
    expect(backlog.next()!.jobs[0]!.job_id).toBe('a')
    expect(backlog.next()).toBeUndefined()
    expect(backlog.remove().map(({ job_id }) => job_id)).toEqual(['c'])
  })

  it('of a batch handler begin together, past those of other kinds', () => {
    const backlog = new Backlog({ k: { batch: 2, run: async () => {} }, other: async () => {} })
    backlog.add([job('a'), job('x', { job_kind: 'other' }), job('b'), job('c')])
    const calls = Array.from({ length: 3 }, () => backlog.next()!.jobs.map(({ job_id }) => job_id))
    expect(calls).toEqual([['a', 'b'], ['x'], ['c']])
  })
})

describe('claim cursors', () => {
  it('are the last place of each kind and priority, to the microsecond, in whatever order the rows came', () => {
    const cursors = new ClaimCursor()
    expect(cursors.after).toBeUndefined()
    cursors.advance([
      job('2', { due: '2026-01-01 00:00:00.00002+00' }),
      job('1', { due: '2026-01-01 00:00:00.000019+00' }),
      job('3', { priority: 5 }),
    ])
    expect(cursors.after).toEqual({
      k: {
        0: { process_after: '2026-01-01 00:00:00.00002+00', job_id: '2' },
        5: { process_after: '2026-01-01 00:00:00.000001+00', job_id: '3' },
      },
    })
    cursors.reset()
    expect(cursors.after).toBeUndefined()
  })

  it('begin from the start once a second, and less often where that takes long', () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    const cursors = new ClaimCursor()
    const startsAgain = (ms: number): boolean => {
      cursors.advance([job('1')])
      clock.mockReturnValue(ms)
      return cursors.after === undefined
    }
    expect([startsAgain(1000), startsAgain(1001)]).toEqual([false, true])
    cursors.rescanned(3)
    expect([startsAgain(2001), startsAgain(2002)]).toEqual([false, true])
    // It took 200 ms, a twentieth of 4 seconds.
    cursors.rescanned(200)
    expect([startsAgain(6002), startsAgain(6003)]).toEqual([false, true])
    cursors.rescanned(60_000)
    expect([startsAgain(16_003), startsAgain(16_004)]).toEqual([false, true])
  })
})

import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import {
  instant,
  LEASE_REFUSED,
  LeaseClock,
  LeaseKeeper,
  type LeaseKeeperDeps,
  UnansweredClaims,
} from '../../src/runtime/lease.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })
const REFUSED = new Error('refused')

function keeper(given: Partial<LeaseKeeperDeps<number>> = {}) {
  const seen = { sent: 0, kept: 0, lost: [] as string[] }
  const keeper = new LeaseKeeper<number>({
    leaseMs: 150,
    sentAt: instant(),
    log,
    sendHeartbeat: async () => ++seen.sent,
    onHeartbeat: () => {
      seen.kept++
    },
    isRefused: (error) => error === REFUSED,
    onLost: (reason) => seen.lost.push(reason),
    ...given,
  })
  return { keeper, seen }
}

it('a lease has passed as soon as either clock says so: a machine that slept counts the time on one of them only', () => {
  const now = instant()
  expect(new LeaseClock(1000, now).hasPassed).toBe(false)
  expect(new LeaseClock(1000, { ...now, wall: now.wall - 2000 }).hasPassed).toBe(true)
  expect(new LeaseClock(1000, { ...now, monotonic: now.monotonic - 2000 }).hasPassed).toBe(true)
})

describe('a lease', () => {
  it('is kept by heartbeats for longer than it lasts, and ends without a loss when it is given back', async () => {
    const { keeper: kept, seen } = keeper({ leaseMs: 2000 })
    kept.start()
    // A heartbeat each third of the lease: with the fourth it has lasted longer than one.
    await until('four heartbeats', () => seen.kept >= 4)
    expect(seen.lost).toEqual([])
    expect(kept.mayBegin('a job')).toBe(true)
    kept.end()
    await delay(1000)
    expect(seen.lost).toEqual([])
    expect(kept.mayBegin('a job')).toBe(false)
  })

  it('is lost once, when the database refuses a heartbeat', async () => {
    const { keeper: kept, seen } = keeper({ sendHeartbeat: () => Promise.reject(REFUSED) })
    await expect(kept.heartbeat()).rejects.toBe(REFUSED)
    kept.lose('something else')
    expect(seen.lost).toEqual([LEASE_REFUSED])
    expect(kept.over).toBe(true)
  })

  it('is lost when no heartbeat gets an answer before it passes', async () => {
    const { keeper: kept, seen } = keeper({ sendHeartbeat: () => Promise.reject(new Error('away')) })
    kept.start()
    await delay(250)
    expect(seen.lost).toEqual(['no heartbeat came through for as long as it lasts'])
  })

  it('does not last longer by an answer that comes after it was lost', async () => {
    let answer: (value: number) => void = () => {}
    const { keeper: kept, seen } = keeper({
      sendHeartbeat: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    })
    const heartbeat = kept.heartbeat()
    kept.lose('gone')
    answer(1)
    await heartbeat
    expect(seen.kept).toBe(0)
    expect(kept.over).toBe(true)
  })

  it('that passed by the clock is lost before anything begins under it', () => {
    const { monotonic, wall } = instant()
    const { keeper: kept, seen } = keeper({ sentAt: { monotonic, wall: wall - 10_000 } })
    expect(kept.mayBegin('a job')).toBe(false)
    expect(seen.lost).toEqual(['it had passed when a job was to begin'])
  })

  it('has one heartbeat under way at a time', async () => {
    const { keeper: kept, seen } = keeper()
    await Promise.all([kept.heartbeat(), kept.heartbeat()])
    expect(seen.sent).toBe(1)
    kept.end()
  })
})

describe('a claim whose answer was lost', () => {
  it('is looked for at once, and again when the first look failed', async () => {
    const claims = new UnansweredClaims()
    let looks = 0
    const look = async () => {
      if (++looks === 1) throw new Error('away')
    }
    await claims.check(look)
    expect(looks).toBe(0)
    claims.add()
    await expect(claims.check(look)).rejects.toThrow('away')
    await claims.check(look)
    // The second look is due in some seconds.
    await claims.check(look)
    expect(looks).toBe(2)
  })

  it('of a former lease is nobody’s', async () => {
    const claims = new UnansweredClaims()
    claims.add()
    claims.reset()
    await claims.check(expect.fail)
  })
})

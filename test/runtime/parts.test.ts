/** The small parts of runtime: wake, in-flight, prefetch, hooks, retry, user modules. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { guardHooks } from '../../src/runtime/hooks.ts'
import { InFlight } from '../../src/runtime/in-flight.ts'
import { BeginAhead, ClaimSize, Prefetch } from '../../src/runtime/prefetch.ts'
import { retryWhileUnavailable } from '../../src/runtime/retry.ts'
import { importUserModule } from '../../src/runtime/user-module.ts'
import { Wake } from '../../src/runtime/wake.ts'

const log = pino({ level: 'silent' })

it('a wake-up that comes before the wait counts for it', async () => {
  const wake = new Wake()
  wake.now()
  await wake.wait()
  const began = performance.now()
  await wake.wait(30)
  expect(performance.now() - began).toBeGreaterThan(20)
})

it('what runs is waited for until it has ended, or until the time is up', async () => {
  const calls = new InFlight()
  expect(await calls.idleWithin(0)).toBe(true)
  calls.begin()
  expect(await calls.idleWithin(10)).toBe(false)
  const idle = calls.idleWithin(10_000)
  calls.end()
  expect(await idle).toBe(true)
})

describe('prefetch', () => {
  it('grows while handlers lack work and shrinks while jobs wait', () => {
    const prefetch = new Prefetch(10, 35)
    prefetch.grow()
    expect(prefetch.jobs).toBe(20)
    prefetch.grow()
    expect(prefetch.jobs).toBe(35)
    for (let n = 0; n < 3; n++) prefetch.shrink()
    expect(prefetch.jobs).toBe(0)
    prefetch.grow()
    expect(prefetch.jobs).toBe(1)
    prefetch.growTo(20)
    prefetch.growTo(10)
    expect(prefetch.jobs).toBe(20)
    prefetch.growTo(500)
    expect(prefetch.jobs).toBe(35)
  })

  it('reports short jobs as begun ahead of time, and long ones never', () => {
    const ahead = new BeginAhead(10, 200)
    expect(ahead.jobs).toBe(0)
    ahead.took(1)
    expect(ahead.jobs).toBe(100)
    for (let n = 0; n < 100; n++) ahead.took(500)
    expect(ahead.jobs).toBe(0)
  })

  it('claims short commands by the hundred, and slow ones as many as can begin', () => {
    const quick = new ClaimSize(10)
    expect(quick.next(0, 0)).toBe(10)
    quick.took(1)
    expect(quick.next(10, 0)).toBe(500)
    expect(quick.next(10, 400)).toBe(0)
    const slow = new ClaimSize(10)
    slow.took(60_000)
    expect(slow.next(4, 0)).toBe(6)
    expect(slow.next(10, 0)).toBe(0)
  })

  it('claims for the free slots of remote workers and no more, however short their commands are', () => {
    let slots = 0
    const remote = new ClaimSize(() => slots, { claimsAhead: false })
    remote.took(0.1)
    expect(remote.next(0, 0)).toBe(0)
    slots = 10
    expect([remote.next(0, 0), remote.next(6, 1), remote.next(10, 0)]).toEqual([10, 3, 0])
    slots = 5
    expect(remote.next(10, 0)).toBe(0)
  })

  it('lets ends wait for more of them only while other commands wait, and not for long of what these take', () => {
    const size = new ClaimSize(10)
    expect([size.lingerMs(0), size.lingerMs(10)]).toEqual([0, 4])
    size.took(40)
    // 40 ms, 32 ms and 400 ms of work wait here.
    expect([size.lingerMs(0), size.lingerMs(10), size.lingerMs(8), size.lingerMs(100)]).toEqual([
      0, 10, 8, 12,
    ])
  })
})

it('a hook that throws stops nothing', () => {
  const seen: number[] = []
  const hooks = guardHooks(
    {
      ended: (n: number) => {
        seen.push(n)
        throw new Error('a mistake of the hook')
      },
    },
    log,
  )
  hooks.ended(1)
  expect(seen).toEqual([1])
})

describe('a statement', () => {
  it('is repeated while the database is unavailable', async () => {
    let attempts = 0
    const answer = await retryWhileUnavailable(async () => {
      if (++attempts === 1) throw new Error('Connection terminated unexpectedly')
      if (attempts === 2) throw new StagedoorError('database_unreachable', { target: 'x', reason: 'y' })
      return 'there'
    })
    expect([answer, attempts]).toEqual(['there', 3])
  })

  it('is not repeated for another error, one that decides for itself, or nobody', async () => {
    const attempts: unknown[] = []
    const failing = (error: unknown) => async () => {
      attempts.push(error)
      throw error
    }
    const own = Object.assign(new Error('of a tool'), { retryable: true })
    for (const error of [new TypeError('a bug'), own])
      await expect(retryWhileUnavailable(failing(error))).rejects.toBe(error)
    const away = new Error('Connection terminated')
    await expect(retryWhileUnavailable(failing(away), () => false)).rejects.toBe(away)
    expect(attempts).toHaveLength(3)
  })
})

it('a user’s module is imported, or the error says what is wrong with the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stagedoor-module-'))
  const path = join(folder, 'handlers.mjs')
  await writeFile(path, 'export const answer = 42')
  expect({ ...(await importUserModule(path)) }).toEqual({ answer: 42 })
  await expect(importUserModule(folder)).rejects.toMatchObject({
    message: expect.stringContaining('not a file'),
  })
  await expect(importUserModule(join(folder, 'none.mjs'))).rejects.toMatchObject({
    code: 'argument_invalid',
    message: expect.stringContaining('There is no file'),
  })
  await writeFile(join(folder, 'broken.mjs'), 'throw new Error("it broke")')
  await expect(importUserModule(join(folder, 'broken.mjs'))).rejects.toMatchObject({
    message: expect.stringContaining('cannot be loaded: it broke'),
  })
})

it('a store of results that is away is waited for; one that refuses the credentials is not', async () => {
  let calls = 0
  const away = new StagedoorError('store_unreachable', { store: 'minio', reason: 'ECONNREFUSED' })
  const stored = await retryWhileUnavailable(async () => {
    if (++calls < 2) throw away
    return 'stored'
  })
  expect([stored, calls]).toEqual(['stored', 2])
  const refused = new StagedoorError('store_credentials_refused', {
    store: 'minio',
    bucket: 'b',
    reason: 'no',
  })
  await expect(retryWhileUnavailable(() => Promise.reject(refused))).rejects.toBe(refused)
})

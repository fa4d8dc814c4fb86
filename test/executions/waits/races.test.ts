import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { begun, emit, told, wait, wake } from './waiting-steps.ts'

const db = useDatabase()

let waiter: pg.Client
let emitter: pg.Client
let id: string
beforeAll(async () => {
  ;[waiter, emitter] = [await db.session(), await db.session()]
})
beforeEach(async () => {
  await db.owner('delete from noetl.wait; delete from noetl.inbox')
  // Somebody else waits, so that the reader is there and moves on.
  await wait(db.pool('stagedoor_migrator'), await begun(db), { subject: 'never' })
  await wake(db)
  id = await begun(db)
})

const begins = async (session: pg.Client, work: () => Promise<unknown>) => {
  await session.query('begin')
  await work()
}
const wakesOnce = async () => {
  expect(await wake(db)).toBe(1)
  expect(await wake(db)).toBe(0)
  expect(await told(db, id)).toHaveLength(1)
}

describe('a wait is woken once by an event', () => {
  it('that commits between its beginning and its commit, and is read in between', async () => {
    await begins(waiter, () => wait(waiter, id))
    await emit(emitter)
    expect(await wake(db)).toBe(0)
    await waiter.query('commit')
    await wakesOnce()
  })
  it('whose transaction was open when it began, and which is read before it commits', async () => {
    await begins(emitter, () => emit(emitter))
    await begins(waiter, () => wait(waiter, id))
    await emitter.query('commit')
    expect(await wake(db)).toBe(0)
    await waiter.query('commit')
    await wakesOnce()
  })
  it('whose transaction was open when it began, and commits after it has looked through the past', async () => {
    await begins(emitter, () => emit(emitter))
    await wait(waiter, id)
    expect(await wake(db)).toBe(0)
    await emitter.query('commit')
    await wakesOnce()
  })
  it('that commits after its commit and before anybody has looked', async () => {
    await wait(waiter, id)
    await emit(emitter)
    await wakesOnce()
  })
  it('of a transaction that began after a fresh wait was seen, by an older one that commits late', async () => {
    const younger = await begun(db)
    await begins(waiter, () => wait(waiter, id))
    await emit(emitter)
    await wait(db.pool('stagedoor_migrator'), younger, { subject: 'never' })
    await waiter.query('commit')
    await wakesOnce()
  })
})

it('a wait is not woken by what was committed before it began, though it is read later', async () => {
  await emit(emitter)
  await wait(waiter, id)
  expect(await wake(db)).toBe(0)
  expect(await told(db, id)).toEqual([])
})

it('a wait that begins while events wait to be read is not woken by them, once it has caught up', async () => {
  await emit(emitter)
  await begins(waiter, () => wait(waiter, id))
  await waiter.query('update noetl.wait set caught_up = true where execution_id = $1', [id])
  await waiter.query('commit')
  expect(await wake(db)).toBe(0)
})

it('of two that wake at once one does the work and the other goes on', async () => {
  await wait(waiter, id)
  await emit(emitter)
  const first = await db.session('stagedoor_worker')
  await first.query('begin')
  expect((await first.query('select noetl.fn_waits_wake() as woken')).rows).toEqual([{ woken: 1 }])
  expect(await wake(db)).toBe(0)
  await first.query('rollback')
  await wakesOnce()
})

it('many that wake at once wake each wait once', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => begun(db)))
  for (const one of ids) await wait(waiter, one)
  await emit(emitter)
  const woken = await Promise.all(Array.from({ length: 8 }, () => wake(db)))
  expect(woken.reduce((sum, n) => sum + n)).toBe(20)
  for (const one of ids) expect(await told(db, one)).toHaveLength(1)
})

it('waits for a flush that is dropping the wait, and wakes it if it stays after all', async () => {
  for (const end of ['rollback', 'commit']) {
    await wait(waiter, id)
    await emit(emitter)
    await begins(waiter, () => waiter.query('delete from noetl.wait where execution_id = $1', [id]))
    const waker = await db.session('stagedoor_worker')
    const gaveWay = waker.query('select noetl.fn_waits_wake() as woken')
    await untilWaiting(db, waker)
    expect((await gaveWay).rows).toEqual([{ woken: 0 }])
    await waiter.query(end)
    expect(await wake(db)).toBe(end === 'rollback' ? 1 : 0)
  }
  expect(await told(db, id)).toHaveLength(1)
})

/** Sessions that wait or emit, begun and committed in any order, with wakes in between. */
type Op = { readonly op: 'wait' | 'emit' | 'commit' | 'wake'; readonly who: number }

it(`loses no wake and doubles none, whatever the order of commits (seed ${SEED})`, {
  tags: 'property',
}, async () => {
  const sessions = await Promise.all(Array.from({ length: 4 }, () => db.session()))
  const op = fc.record({ op: fc.constantFrom('wait', 'emit', 'commit', 'wake', 'wake'), who: fc.nat(3) })
  await fc.assert(
    fc.asyncProperty(fc.array(op as fc.Arbitrary<Op>, { maxLength: 25 }), async (ops) => {
      const subject = await begun(db)
      // A wait began at a place in the order, an event was committed at one: later ones count.
      const waits: { id: string; began: number }[] = []
      const commits: number[] = []
      const open = new Map<number, number>()
      const commit = async (who: number, at: number) => {
        const emitted = open.get(who)
        if (emitted === undefined) return
        await sessions[who]!.query('commit')
        if (emitted > 0) commits.push(at)
        open.delete(who)
      }
      for (const [at, { op: what, who }] of ops.entries()) {
        if (what === 'wake') await wake(db)
        if (what === 'commit') await commit(who, at)
        if (what !== 'wait' && what !== 'emit') continue
        if (!open.has(who)) {
          await sessions[who]!.query('begin')
          open.set(who, 0)
        }
        if (what === 'emit') {
          await emit(sessions[who]!, { subject })
          open.set(who, open.get(who)! + 1)
        } else {
          const waiting = await begun(db)
          await wait(sessions[who]!, waiting, { subject })
          waits.push({ id: waiting, began: at })
        }
      }
      for (const who of [...open.keys()]) await commit(who, ops.length)
      await wake(db)
      await wake(db)
      for (const { id: waiting, began } of waits) {
        const expected = commits.some((at) => at > began) ? 1 : 0
        expect(await told(db, waiting)).toHaveLength(expected)
      }
    }),
    { numRuns: cases(25, 150), seed: SEED },
  )
})

/** What is away, and what is poison: the first costs nothing but time, the second only itself. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { liveCollections } from '../../src/search/collections.ts'
import { createHashedEmbedder, createWordCounter } from '../../src/search/embedders/embedder.ts'
import { useDatabase } from '../support/database.ts'
import { type CreatedUnit, call, create, edit, useLife } from '../units/life.ts'
import {
  activeName,
  DIMENSION,
  heldOf,
  rowOf,
  stateOf,
  useProjecting,
  vectorOf,
} from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let unit: CreatedUnit
beforeEach(async () => {
  await place.settle()
  unit = await create(life, { body: 'Cranes are inspected every spring.' })
})
afterEach(async () => {
  Object.assign(place.faults, {
    embedderAway: false,
    storeAway: false,
    poison: undefined,
    crash: undefined,
    answer: undefined,
  })
  place.embedders.set('fake-1', place.embedder)
  await db.owner(`update iu_core.vector_outbox set status = 'done' where status = 'dead_letter'`)
  await db.owner(
    `update iu_core.system_issue set resolved_at = now(), resolved_by = 'test' where resolved_at is null`,
  )
})

const words = async (query: string) => {
  const { rows } = await life.viewer.session.query<{ unit_id: string }>(
    `select unit_id from iu_core.fn_search_lexical($1, $2, 10, '{}')`,
    [life.workspace, query],
  )
  return rows.map((row) => row.unit_id)
}
const row = () => rowOf(db, unit.unit_id)

describe.each([
  ['embedder', 'embedderAway'],
  ['store', 'storeAway'],
] as const)('while the %s is unavailable for an hour', (_, fault) => {
  it('uses up no tries, is found by its words, asks now and then, and catches up', async () => {
    let clock = 0
    const hand = place.worker({ breaker: { now: () => clock } })
    place.faults[fault] = true
    const before = place.embedder.calls
    for (let minute = 0; minute < 60; minute++) {
      clock += 60_000
      if (minute === 30)
        await edit(life.operator, unit.unit_id, 1, { p_body: 'Cranes are inspected in autumn.' })
      await place.due()
      await hand.once()
      expect(await row()).toMatchObject({
        status: 'pending',
        retry_count: 0,
        last_error: expect.stringContaining('away'),
      })
    }
    expect(await words('autumn inspections')).toContain(unit.unit_id)
    expect(place.embedder.calls - before).toBeLessThanOrEqual(62)
    expect(await stateOf(db, unit.unit_id)).toBe('pending')
    place.faults[fault] = false
    clock += 60_000
    await place.settle(hand)
    expect(await stateOf(db, unit.unit_id)).toBe('current')
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toHaveLength(1)
    expect(await db.owner(`select from iu_core.vector_outbox where status = 'dead_letter'`)).toEqual([])
    expect(await db.owner(`select from iu_core.system_issue where code = 'vector_dead_letter'`)).toEqual([])
  })
})

it('reads nothing again of what only waits for its vector', async () => {
  let clock = 0
  let reads = 0
  const hand = place.worker({
    breaker: { now: () => clock },
    hooks: {
      boundary(name) {
        if (name === 'embedded' || name === 'upserted') reads++
      },
    },
  })
  place.faults.embedderAway = true
  await place.due()
  await hand.once()
  const calls = place.embedder.calls
  clock += 1000
  await place.due()
  expect(await hand.once()).toEqual({ done: 0, failed: 0, waiting: 1 })
  expect(place.embedder.calls).toBe(calls)
  expect(reads).toBe(0)
})

it('tries one text when it may be back, not all that wait', async () => {
  let clock = 0
  const hand = place.worker({ breaker: { now: () => clock } })
  for (let n = 0; n < 20; n++) await create(life, { body: `Crane number ${n} is red.` })
  place.faults.embedderAway = true
  await place.due()
  await hand.once()
  clock += 10_000
  const seen: number[] = []
  place.faults.answer = (vectors) => {
    seen.push(vectors.length)
    return vectors
  }
  place.faults.embedderAway = false
  await place.due()
  expect(await hand.once()).toMatchObject({ done: 21 })
  expect(seen).toEqual([1, 20])
})

it('uses no attempt when the database becomes unavailable while an embedder asks it for words', async () => {
  const dropped = () => Promise.reject(new Error('Connection terminated unexpectedly'))
  const words = createWordCounter({ query: dropped } as never)
  place.embedders.set('fake-1', createHashedEmbedder({ words, dimension: DIMENSION }) as never)
  for (let moment = 0; moment < 3; moment++) {
    await place.due()
    await place.worker().once()
    expect(await row()).toMatchObject({ status: 'pending', retry_count: 0 })
  }
})

describe('a text at which the server of the embedder falls over', () => {
  it('is to blame itself where others are answered: they are done, it is a dead letter after three retries', async () => {
    // The first in the queue, and the first to be tried.
    await db.owner('update iu_core.vector_outbox set outbox_id = $1 where unit_id = $2', [
      '00000000-0000-0000-0000-000000000001',
      unit.unit_id,
    ])
    const good: CreatedUnit[] = []
    for (let n = 0; n < 5; n++) good.push(await create(life, { body: `Winch ${n} is oiled.` }))
    place.faults.crash = 'inspected'
    const hand = place.worker()
    for (const retries of [1, 2, 3, 3]) {
      expect(await row()).toMatchObject({ status: 'pending' })
      await place.due()
      await hand.once()
      for (const { unit_id } of good) expect(await stateOf(db, unit_id)).toBe('current')
      expect(await row()).toMatchObject({ retry_count: retries, last_error: 'the endpoint answered 500' })
    }
    expect(await row()).toMatchObject({ status: 'dead_letter' })
    expect(hand.projection.outage(await liveCollections(place.pool))).toBeUndefined()
  })

  it('uses up no try while nothing else is answered either', async () => {
    place.faults.crash = ''
    for (let round = 0; round < 4; round++) {
      await place.due()
      await place.worker().once()
    }
    expect(await row()).toMatchObject({ status: 'pending', retry_count: 0 })
  })
})

it('finds one poison text among many by halves', async () => {
  for (let n = 0; n < 63; n++) await create(life, { body: `Rope ${n} is coiled.` })
  place.faults.poison = 'Rope 40'
  await place.due()
  const before = place.embedder.calls
  expect(await place.worker().once(100)).toEqual({ done: 63, failed: 1, waiting: 0 })
  expect(place.embedder.calls - before).toBeLessThanOrEqual(13)
})

it('goes on with the others when the one that was tried after an outage is refused', async () => {
  let clock = 0
  const hand = place.worker({ breaker: { now: () => clock } })
  const other = await create(life, { body: 'Cranes are inspected twice.' })
  place.faults.embedderAway = true
  await place.due()
  await hand.once()
  Object.assign(place.faults, { embedderAway: false, poison: 'Cranes' })
  clock += 10_000
  await place.due()
  expect(await hand.once()).toEqual({ done: 0, failed: 2, waiting: 0 })
  expect(hand.projection.outage(await liveCollections(place.pool))).toBeUndefined()
  place.faults.poison = undefined
  await place.settle(hand)
  expect(await stateOf(db, other.unit_id)).toBe('current')
})

describe('a poison text', () => {
  const again = async () => {
    await place.due()
    await place.worker().once()
  }

  it('is a dead letter after three retries, with an issue and an event; others of its batch are done; replayed, it recovers', async () => {
    const poison = await create(life, { body: 'This one is POISON.' })
    place.faults.poison = 'POISON'
    await again()
    expect(await stateOf(db, unit.unit_id)).toBe('current')
    expect(await rowOf(db, poison.unit_id)).toMatchObject({ status: 'pending', retry_count: 1 })
    const waits: number[] = []
    const wait = async () => {
      const [found] = await db.owner<{ seconds: number }>(
        `select extract(epoch from earliest_run_at - changed_at)::float as seconds from iu_core.vector_outbox where unit_id = $1`,
        [poison.unit_id],
      )
      waits.push(found!.seconds)
    }
    await wait()
    await again()
    await wait()
    expect(waits[0]).toBeGreaterThanOrEqual(7.5)
    expect(waits[1]).toBeGreaterThanOrEqual(15)
    expect(await rowOf(db, poison.unit_id)).toMatchObject({ status: 'pending', retry_count: 2 })
    await again()
    expect(await rowOf(db, poison.unit_id)).toMatchObject({ status: 'pending', retry_count: 3 })
    await again()
    expect(await rowOf(db, poison.unit_id)).toMatchObject({ status: 'dead_letter', retry_count: 3 })
    expect(await stateOf(db, poison.unit_id)).toBe('error')
    // Its words are in search all the same.
    expect(await words('poison')).toEqual([poison.unit_id])
    const issues = await db.owner<{ issue_id: string; detail: { unit_id: string }; workspace_id: string }>(
      `select issue_id, detail, workspace_id from iu_core.system_issue
        where code = 'vector_dead_letter' and resolved_at is null`,
    )
    expect(issues).toMatchObject([
      { detail: { unit_id: poison.unit_id, tries: 4 }, workspace_id: life.workspace },
    ])
    const events = await db.owner(
      `select from iu_core.event_outbox where event_type = 'issue_opened' and event_subject_ref = $1`,
      [issues[0]!.issue_id],
    )
    expect(events).toHaveLength(1)

    place.faults.poison = undefined
    await again()
    expect(await rowOf(db, poison.unit_id)).toMatchObject({ status: 'dead_letter' })
    const replayed = await call<{ fn_vector_replay: number }>(life.service, 'fn_vector_replay', {
      p_workspace_id: life.workspace,
    })
    expect(replayed.fn_vector_replay).toBe(1)
    await place.settle()
    expect(await stateOf(db, poison.unit_id)).toBe('current')
    expect(
      await db.owner(
        `select from iu_core.system_issue where code = 'vector_dead_letter' and resolved_at is null`,
      ),
    ).toEqual([])
  })

  it('begins again when it was edited while it failed', async () => {
    place.faults.poison = 'inspected'
    await place.due()
    let edited = false
    const hand = place.worker({
      hooks: {
        async boundary(name) {
          if (name !== 'text' || edited) return
          edited = true
          await edit(life.operator, unit.unit_id, 1, { p_body: 'Cranes are looked at.' })
        },
      },
    })
    await hand.once()
    expect(await row()).toMatchObject({ status: 'pending', retry_count: 0, generation: '2' })
  })
})

describe.each([
  ['the wrong dimension', () => (vectors: Float32Array[]) => vectors.map(() => new Float32Array(3))],
  ['NaN', () => (vectors: Float32Array[]) => vectors.map((one) => one.map(() => Number.NaN))],
  ['a vector too few', () => (vectors: Float32Array[]) => vectors.slice(1)],
  ['a vector too many', () => (vectors: Float32Array[]) => [...vectors, vectorOf('more')]],
])('an embedder that answers with %s', (_, answer) => {
  it('puts nothing into the store, and the row is tried again', async () => {
    place.faults.answer = answer()
    await place.due()
    await place.worker().once()
    expect(await row()).toMatchObject({ status: 'pending', retry_count: 1 })
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toEqual([])
  })
})

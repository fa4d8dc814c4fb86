/** Another model takes the place of the one in use, and search does not notice. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StagedoorError } from '../../src/kernel/errors.ts'
import {
  activateCollection,
  allCollections,
  backfillCollection,
  cancelCollection,
  createCollection,
  deleteRetired,
  liveCollections,
} from '../../src/search/collections.ts'
import { searchStatus } from '../../src/search/status.ts'
import { StoreUnavailable } from '../../src/search/stores/store.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type CreatedUnit, call, create, edit, useLife } from '../units/life.ts'
import {
  activeName,
  DIMENSION,
  FakeEmbedder,
  heldOf,
  stateOf,
  useProjecting,
} from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let units: CreatedUnit[]
let model = 1
beforeEach(async () => {
  units = []
  for (let n = 0; n < 5; n++) units.push(await create(life, { body: `Boat ${n} of fleet ${model} sails.` }))
  await place.settle()
})
afterEach(async () => {
  for (const { collection, state } of await liveCollections(place.pool))
    if (state === 'building') await cancelCollection(place.pool, collection)
})

const begin = async () => {
  const name = `fake-${++model}`
  place.embedders.set(name, new FakeEmbedder(place.faults, name))
  const { collection } = await createCollection(place.pool, {
    embedder: 'openai',
    model: name,
    dimension: DIMENSION,
    store: 'qdrant',
    fingerprint: name,
  })
  return collection
}
const step = async (hand = place.worker()) => {
  const building = (await liveCollections(place.pool)).find(({ state }) => state === 'building')!
  return backfillCollection(
    { pool: place.pool, providers: place.providers, projection: hand.projection, hooks: {} },
    building,
    AbortSignal.timeout(10_000),
  )
}
const fill = async () => {
  let filled = await step()
  while (filled === 'more') filled = await step()
  return filled
}
/** What search would find in the active collection: every living unit, always. */
const gap = async () => {
  const active = await activeName(place.pool)
  const living = await db.owner<{ unit_id: string }>(
    `select unit_id from iu_core.v_unit where vector_state = 'current' and deleted_at is null`,
  )
  return living.filter(({ unit_id }) => heldOf(place.store, active, unit_id).length === 0)
}

it('fills beside the one in use, swaps when nothing is missing, and there is no gap at any step', async () => {
  const old = await activeName(place.pool)
  const next = await begin()
  expect(await gap()).toEqual([])
  const edited = units[0]!
  let filled = await step()
  await edit(life.operator, edited.unit_id, 1, { p_body: 'Boat 0 was renamed.' })
  await place.settle()
  expect(await gap()).toEqual([])
  while (filled === 'more') {
    filled = await step()
    expect(await gap()).toEqual([])
  }
  expect(filled).toBe('switched')
  expect(await activeName(place.pool)).toBe(next)
  expect(await gap()).toEqual([])
  for (const { unit_id } of units) expect(await stateOf(db, unit_id)).toBe('current')
  expect(await db.owner('select distinct collection from iu_core.unit_vector')).toEqual([
    { collection: next },
  ])
  expect(place.store.of(old).size).toBeGreaterThan(0)

  await deleteRetired(place.pool, place.providers)
  expect(place.store.held.has(old)).toBe(true)
  await db.owner(
    `update iu_core.search_collection set retired_at = retired_at - interval '11 minutes' where state = 'retired'`,
  )
  await deleteRetired(place.pool, place.providers)
  expect(place.store.held.has(old)).toBe(false)
  expect(await db.owner('select from iu_core.search_point where collection = $1', [old])).toEqual([])
})

it('does not swap while something is missing', async () => {
  const next = await begin()
  expect(await activateCollection(place.pool, next)).toBe(false)
  await fill()
  expect(await activeName(place.pool)).toBe(next)
})

it('writes what is projected meanwhile into both', async () => {
  const next = await begin()
  const unit = await create(life, { body: 'A new boat.' })
  await place.settle()
  expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toHaveLength(1)
  expect(heldOf(place.store, next, unit.unit_id)).toHaveLength(1)
})

it('takes what is deleted meanwhile out of both', async () => {
  const next = await begin()
  await step()
  await call(life.operator, 'fn_unit_delete', { p_unit_id: units[1]!.unit_id })
  await place.settle()
  await fill()
  expect(await activeName(place.pool)).toBe(next)
  expect(heldOf(place.store, next, units[1]!.unit_id)).toEqual([])
})

it('continues while the new model is unavailable: units are projected into the old one, and it is filled later', async () => {
  const next = await begin()
  const { faults } = place
  const away = new FakeEmbedder({ ...faults, embedderAway: true }, `fake-${model}`)
  place.embedders.set(`fake-${model}`, away)
  const unit = await create(life, { body: 'A boat in between.' })
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  expect(await step()).toBe('waiting')
  expect(await activateCollection(place.pool, next)).toBe(false)
  place.embedders.set(`fake-${model}`, new FakeEmbedder(faults, `fake-${model}`))
  await db.owner(
    `update iu_core.search_point set changed_at = changed_at - interval '2 minutes' where collection = $1`,
    [next],
  )
  expect(await fill()).toBe('switched')
  expect(await gap()).toEqual([])
})

describe('texts that only the new embedder refuses', () => {
  const issues = (open = true) =>
    db.owner(
      `select subject_ref, detail from iu_core.system_issue where code = 'search_refused' and (resolved_at is null) = $1`,
      [open],
    )
  const refusing = async (poison: string) => {
    const next = await begin()
    const embedder = new FakeEmbedder({ ...place.faults, poison }, `fake-${model}`)
    place.embedders.set(embedder.model, embedder)
    return { next, embedder }
  }

  it('are reported, not paid for again, and not waited for; then their units are dead letters that can be replayed', async () => {
    const { next, embedder } = await refusing('Boat 3')
    await step()
    expect(await issues()).toMatchObject([{ subject_ref: next, detail: { error: expect.any(String) } }])
    const { collections } = await searchStatus(db.pool('stagedoor_worker'))
    const refused = collections.find(({ collection }) => collection === next)!.refused
    expect(refused).toBeGreaterThan(0)
    await db.owner(
      `update iu_core.search_point set changed_at = changed_at - interval '2 minutes' where collection = $1`,
      [next],
    )
    const paid = embedder.calls
    expect(await step()).toBe('switched')
    expect(embedder.calls).toBe(paid)
    expect(await issues()).toEqual([])
    const poor = units[3]!.unit_id
    expect(await stateOf(db, poor)).toBe('pending')
    expect(await stateOf(db, units[2]!.unit_id)).toBe('current')
    await place.settle()
    expect(await stateOf(db, poor)).toBe('error')
    place.embedders.set(embedder.model, new FakeEmbedder(place.faults, embedder.model))
    await call(life.service, 'fn_vector_replay', { p_workspace_id: life.workspace })
    await place.settle()
    expect(await stateOf(db, poor)).toBe('current')
    expect(await gap()).toEqual([])
  })

  it('are too many when they are most of it: search keeps what it has until the switch is given up', async () => {
    const old = await activeName(place.pool)
    const { next } = await refusing('')
    expect(await fill()).toBe('incomplete')
    expect(await activeName(place.pool)).toBe(old)
    expect(await issues()).toHaveLength(1)
    await cancelCollection(place.pool, next)
    expect(await issues()).toEqual([])
  })
})

it('writes nothing of a step that took longer than its lease', async () => {
  const LEASE_MS = 1000
  const next = await begin()
  const building = (await liveCollections(place.pool)).find(({ state }) => state === 'building')!
  const filled = await backfillCollection(
    {
      pool: place.pool,
      providers: place.providers,
      projection: place.worker().projection,
      hooks: {
        async boundary(name) {
          // Its lease began before this.
          if (name === 'embedded') await delay(LEASE_MS + 100)
        },
      },
      leaseMs: LEASE_MS,
    },
    building,
    new AbortController().signal,
  )
  expect(filled).toBe('waiting')
  expect(place.store.of(next).size).toBe(0)
})

describe('old collections', () => {
  const retire = async () => {
    const old = await activeName(place.pool)
    await begin()
    await fill()
    await db.owner(
      `update iu_core.search_collection set retired_at = retired_at - interval '11 minutes' where collection = $1`,
      [old],
    )
    return old
  }
  const kept = async (names: string[]) =>
    (await allCollections(place.pool))
      .map(({ collection }) => collection)
      .filter((name) => names.includes(name))

  it('are deleted although the store of another one is unavailable, and that one later', async () => {
    const [first, second] = [await retire(), await retire()]
    await db.owner(`update iu_core.search_collection set store = 'pgvector' where collection = $1`, [first])
    const told: string[] = []
    const drop = () => Promise.reject(new StoreUnavailable('the store is away'))
    const store = (kind: string) => (kind === 'pgvector' ? { drop } : place.store)
    await deleteRetired(place.pool, { ...place.providers, store } as never, (name) => told.push(name))
    expect(told).toEqual([first])
    expect(await kept([first, second])).toEqual([first])
    await deleteRetired(place.pool, place.providers)
    expect(await kept([first, second])).toEqual([])
  })

  it('are forgotten when their store is not set up any more', async () => {
    const old = await retire()
    const store = () => {
      throw new StagedoorError('store_not_configured', { store: 'qdrant', reason: 'QDRANT_URL is not set' })
    }
    await deleteRetired(place.pool, { ...place.providers, store })
    expect(await kept([old])).toEqual([])
  })
})

describe('one at a time', () => {
  it('is built, and can be given up', async () => {
    const next = await begin()
    expect(await sqlstateOf(begin())).toBe('SD918')
    await cancelCollection(place.pool, next)
    expect(await sqlstateOf(cancelCollection(place.pool, next))).toBe('SD915')
    expect(await sqlstateOf(activateCollection(place.pool, 'units_999'))).toBe('SD915')
    expect(await begin()).not.toBe(next)
  })

  it('is nothing that people decide', async () => {
    for (const sql of [
      `select iu_core.fn_search_collection_create('openai', 'm', 8, 'qdrant', 'f')`,
      `select iu_core.fn_search_collection_activate('units_1')`,
      `select iu_core.fn_search_collection_cancel('units_1')`,
    ])
      expect(await sqlstateOf(life.reviewer.session.query(sql)), sql).toBe('42501')
  })
})

it('finishes nothing for a collection that was retired while it worked', async () => {
  await begin()
  await fill()
  const unit = await create(life, { body: 'A late boat.' })
  await place.due()
  let swapped = false
  const hand = place.worker({
    hooks: {
      async boundary(name) {
        if (name !== 'text' || swapped) return
        swapped = true
        await begin()
        await fill()
      },
    },
  })
  await hand.once()
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  expect(await gap()).toEqual([])
})

it('whoever cannot reach the new embedder takes nothing that others could fill', async () => {
  const name = await begin()
  const hand = place.worker()
  const building = (await liveCollections(place.pool)).find(({ state }) => state === 'building')!
  const without = {
    ...place.providers,
    async embedder(): Promise<never> {
      throw new StagedoorError('embedder_not_configured', {
        embedder: 'openai',
        reason: 'EMBEDDINGS_URL is not set',
      })
    },
  }
  const filled = await backfillCollection(
    { pool: place.pool, providers: without, projection: hand.projection, hooks: {} },
    building,
    AbortSignal.timeout(10_000),
  )
  expect(filled).toBe('waiting')
  expect(hand.projection.breakerOf(name).reason).toContain('EMBEDDINGS_URL is not set')
  expect(await db.owner('select from iu_core.search_point where collection = $1', [name])).toEqual([])
  while ((await step()) === 'more') {}
  expect(await activeName(place.pool)).toBe(name)
})

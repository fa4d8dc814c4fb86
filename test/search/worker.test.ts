/** A worker that runs by itself: it wakes up when something is due, looks after collections, and stops cleanly. */
import { afterEach, describe, expect, it } from 'vitest'
import { setGate } from '../../src/gates/gates.ts'
import {
  backfillCollection,
  createCollection,
  isFitDue,
  liveCollections,
} from '../../src/search/collections.ts'
import type { ProjectionHooks } from '../../src/search/projection.ts'
import { openProviders } from '../../src/search/providers.ts'
import { searchStatus } from '../../src/search/status.ts'
import { type SearchWorker, startSearchWorker } from '../../src/search/worker.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'
import { until } from '../support/until.ts'
import { type CreatedUnit, call, create, edit, useLife } from '../units/life.ts'
import { activeName, DIMENSION, FakeEmbedder, rowOf, stateOf, useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
const workers: SearchWorker[] = []
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
})

const start = async (hooks: ProjectionHooks = {}) => {
  const worker = await startSearchWorker({
    pool: place.pool,
    listenUrl: db.url('stagedoor_worker'),
    providers: place.providers,
    hooks,
    fitModels: false,
  })
  workers.push(worker)
  return worker
}
const current = (unit: string) =>
  until('the unit is current', async () => (await stateOf(db, unit)) === 'current')

it('does at once what --now asks for, though it polls every 30 seconds', async () => {
  await start()
  const { unit_id } = await create(life, { body: 'Buoys are counted.' })
  const due = await call<{ fn_vector_flush: number }>(life.operator, 'fn_vector_flush', {
    p_unit_ids: [unit_id],
  })
  expect(due.fn_vector_flush).toBe(1)
  await current(unit_id)
})

it('sleeps until the earliest is due, and no longer', async () => {
  const { unit_id } = await create(life, { body: 'Buoys are painted.' })
  await db.owner(
    `update iu_core.vector_outbox set earliest_run_at = clock_timestamp() + interval '1 second' where unit_id = $1`,
    [unit_id],
  )
  await start()
  await current(unit_id)
})

it('shares the work with others: each row is embedded once', async () => {
  const before = place.embedder.embeddedTexts.length
  let claimed = 0
  const count = {
    onClaim(rows: number) {
      claimed += rows
    },
  }
  const units: CreatedUnit[] = []
  for (let n = 0; n < 8; n++) units.push(await create(life, { body: `Lamp ${n} burns.` }))
  await start(count)
  await start(count)
  await call(life.operator, 'fn_vector_flush', { p_workspace_id: life.workspace })
  for (const { unit_id } of units) await current(unit_id)
  expect(place.embedder.embeddedTexts.slice(before).sort()).toEqual(
    units.map((_, n) => `Lamp ${n} burns.`).sort(),
  )
  expect(claimed).toBe(8)
})

describe('batches under way at once', () => {
  const startBatches = async (hooks: ProjectionHooks, rows = 1) => {
    const worker = await startSearchWorker({
      pool: place.pool,
      listenUrl: db.url('stagedoor_worker'),
      providers: place.providers,
      batch: rows,
      fitModels: false,
      hooks,
    })
    workers.push(worker)
  }
  /** In this order. */
  const dueNow = async (...units: string[]) => {
    await db.owner(
      `update iu_core.vector_outbox o set earliest_run_at = clock_timestamp() - interval '1 hour' + g.n * interval '1 second'
         from unnest($1::uuid[]) with ordinality as g (unit_id, n) where o.unit_id = g.unit_id`,
      [units],
    )
    await db.owner(`select pg_notify('stagedoor', 'search ')`)
  }
  const errorOf = async (unit: string) => (await rowOf(db, unit)).last_error

  it('do not end with one whose texts fail: the next is projected, and nothing is lost', async () => {
    const first = (await create(life, { body: 'Sluices are opened.' })).unit_id
    const second = (await create(life, { body: 'Sluices are closed.' })).unit_id
    let reads = 0
    let allRead = () => {}
    const bothRead = new Promise<void>((resolve) => {
      allRead = resolve
    })
    await startBatches({
      async boundary(name) {
        if (name !== 'read') return
        if (++reads === 2) allRead()
        if (reads > 1) return
        await bothRead
        throw new Error('the texts of the first batch fail')
      },
    })
    await dueNow(first, second)
    await current(second)
    expect(await errorOf(second)).toBeNull()
    await until('the first batch is given back', async () => (await errorOf(first)) !== null)
    expect(await rowOf(db, first)).toMatchObject({ status: 'pending', retry_count: 0 })
    await dueNow(first)
    await current(first)
  })

  it('are not more than one where its texts are very long', async () => {
    const blank = '\n'.repeat(1_000_000)
    const units: string[] = []
    for (const body of [
      `Dykes${blank}hold.`,
      `Dykes${blank}leak.`,
      `Dykes${blank}end.`,
      'Dykes are watched.',
    ])
      units.push((await create(life, { body })).unit_id)
    const seen: string[] = []
    await startBatches({ onClaim: () => void seen.push('claimed'), onDone: () => void seen.push('done') }, 3)
    await dueNow(...units)
    await current(units.at(-1)!)
    await until('both are done', () => seen.length === 4)
    expect(seen).toEqual(['claimed', 'done', 'claimed', 'done'])
  })
})

it('fills another collection and activates it without help', async () => {
  const { unit_id } = await create(life, { body: 'Keels are scraped.' })
  await start()
  await call(life.operator, 'fn_vector_flush', { p_unit_ids: [unit_id] })
  await current(unit_id)
  place.embedders.set('fake-2', new FakeEmbedder(place.faults, 'fake-2'))
  const { collection } = await createCollection(place.pool, {
    embedder: 'openai',
    model: 'fake-2',
    dimension: DIMENSION,
    store: 'qdrant',
    fingerprint: 'fake-2',
  })
  await until('the switch', async () => (await activeName(place.pool)) === collection)
  expect(await stateOf(db, unit_id)).toBe('current')
})

it('is idle after a switch, whatever tombstones the retired collection has', async () => {
  const { unit_id } = await create(life, { body: 'Hulls are tarred.' })
  await place.settle()
  await edit(life.operator, unit_id, 1, { p_body: 'Hulls are painted.' })
  await place.settle()
  const retired = await activeName(place.pool)
  await db.owner(
    `update iu_core.search_point set changed_at = changed_at - interval '11 minutes' where state = 'removed'`,
  )
  place.embedders.set('fake-3', new FakeEmbedder(place.faults, 'fake-3'))
  const { collection } = await createCollection(place.pool, {
    embedder: 'openai',
    model: 'fake-3',
    dimension: DIMENSION,
    store: 'qdrant',
    fingerprint: 'fake-3',
  })
  const { projection } = place.worker()
  for (let filled = 'more'; filled === 'more'; ) {
    const building = (await liveCollections(place.pool)).find((one) => one.collection === collection)!
    const surroundings = { pool: place.pool, providers: place.providers, projection, hooks: {} }
    filled = await backfillCollection(surroundings, building, AbortSignal.timeout(10_000))
  }
  expect(
    await db.owner(`select from iu_core.search_point where collection = $1 and state = 'removed'`, [retired]),
  ).not.toEqual([])
  let claimed = 0
  let looks = 0
  const counting = new Proxy(place.pool, {
    get(pool, name) {
      if (name !== 'query') return Reflect.get(pool, name)
      return (sql: string, values: unknown[]) => {
        if (sql.includes('leased_until, o.earliest_run_at')) looks++
        return pool.query(sql, values)
      }
    },
  })
  const worker = await startSearchWorker({
    pool: counting,
    providers: place.providers,
    fitModels: false,
    hooks: {
      onClaim(rows) {
        claimed += rows
      },
    },
  })
  workers.push(worker)
  await until('it rests', () => looks > 0)
  expect(claimed).toBe(0)
  expect(await stateOf(db, unit_id)).toBe('current')
})

describe('health', () => {
  it('says what it projects into, and fails while the gate that keeps staging out is closed', async () => {
    const worker = await start()
    expect(worker.health()).toMatchObject({ name: 'search', ok: true })
    await setGate(db.pool(MIGRATOR), 'iu_core.no_vector_staging_excluded', false)
    await call(life.operator, 'fn_vector_flush', { p_workspace_id: life.workspace })
    const { unit_id } = await create(life, { body: 'Nothing is embedded.' })
    await call(life.operator, 'fn_vector_flush', { p_unit_ids: [unit_id] })
    await until('the worker has looked', () => !worker.health().ok)
    expect(worker.health().detail).toContain('no_vector_staging_excluded')
    await setGate(db.pool(MIGRATOR), 'iu_core.no_vector_staging_excluded', true)
    await db.owner(`select pg_notify('stagedoor', 'search ')`)
    await current(unit_id)
    expect(worker.health().ok).toBe(true)
    await worker.stop()
    expect(worker.health()).toMatchObject({ ok: false, detail: 'stopping' })
  })

  it('stays well during an outage, and says so', async () => {
    const worker = await start()
    place.faults.embedderAway = true
    const { unit_id } = await create(life, { body: 'Vectors wait.' })
    await call(life.operator, 'fn_vector_flush', { p_unit_ids: [unit_id] })
    await until('it says so', () => worker.health().detail.includes('vectors will catch up'))
    expect(worker.health().ok).toBe(true)
    const status = await searchStatus(db.pool('stagedoor_worker'))
    expect(status).toMatchObject({
      outage: { rows: 1, reason: 'the endpoint is away' },
      outbox: { dead_letter: 0 },
    })
    place.faults.embedderAway = false
    await worker.stop()
    await place.settle()
  })
})

it('has a status that counts what there is', async () => {
  const status = await searchStatus(db.pool('stagedoor_worker'))
  expect(status.collections.map(({ state }) => state).sort()).toEqual(
    expect.arrayContaining(['active', 'legacy']),
  )
  const { points } = status.collections.find(({ state }) => state === 'active')!
  expect(points).toBe(status.chunks.units)
  expect(status.outbox).toMatchObject({ pending: 0, processing: 0, dead_letter: 0 })
  expect(status.gates).toEqual({ excluded: true, phase_1: true, phase_2: true, phase_3: true })
})

describe('without any network', () => {
  it('puts units into search with what every database has, and fits a model when there is enough to learn from', async () => {
    await db.owner(
      `update iu_core.search_collection set state = 'retired', retired_at = now() where state = 'active'`,
    )
    await db.owner('delete from iu_core.unit_vector')
    const bodies = Array.from({ length: 220 }, (_, n) => ({
      canonical_address: `fit/u${n}`,
      body: `Harbour ${n % 7} keeps ${['ropes', 'anchors', 'sails', 'lamps', 'barrels'][n % 5]} and ${['tar', 'paint', 'oil'][n % 3]} in shed ${n % 11}, number ${n}.`,
    }))
    await call(life.operator, 'fn_unit_create_batch', {
      p_workspace_id: life.workspace,
      p_units: JSON.stringify(bodies),
    })
    const providers = openProviders(place.pool, {
      embeddingsUrl: undefined,
      embeddingsApiKey: undefined,
      qdrantUrl: undefined,
      qdrantApiKey: undefined,
    } as never)
    const worker = await startSearchWorker({
      pool: place.pool,
      listenUrl: db.url('stagedoor_worker'),
      providers,
    })
    workers.push(worker)
    expect(await liveCollections(place.pool)).toMatchObject([{ embedder: 'hashed', store: 'postgres' }])
    await call(life.operator, 'fn_vector_flush', { p_workspace_id: life.workspace })
    await until('a fitted collection is active', async () =>
      (await liveCollections(place.pool)).some(
        ({ embedder, state }) => embedder === 'lsa' && state === 'active',
      ),
    )
    expect(await isFitDue(place.pool)).toBe(false)
    const status = await searchStatus(db.pool('stagedoor_worker'))
    const active = status.collections.find(({ state }) => state === 'active')!
    expect(active.points).toBeGreaterThanOrEqual(220)
    await worker.stop()
    await providers.close()
  })
})

/** What holds between a look and a write: the fences of the projection that no lucky order of events may hide. */
import { beforeEach, expect, it } from 'vitest'
import { createCollection, isFitDue, liveCollections } from '../../src/search/collections.ts'
import { useDatabase } from '../support/database.ts'
import { call, create, enact, useLife } from '../units/life.ts'
import { activeName, heldOf, rowOf, stateOf, useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let unit: { unit_id: string }
beforeEach(async () => {
  await place.settle()
  unit = await create(life, { body: 'Nets are mended on Mondays.' })
  await place.due()
})

it('a row that was enqueued again while a worker had it is not done, though its text is the same', async () => {
  const hand = place.worker()
  const rows = await hand.claim()
  await enact(life.reviewer, unit.unit_id)
  expect(await hand.work(rows)).toMatchObject({ done: 0 })
  expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'pending' })
  await place.settle()
  expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'done' })
})

it('a worker whose lease has passed puts no text into search', async () => {
  const hand = place.worker()
  const rows = await hand.claim()
  await db.owner(
    `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where source_id = $1`,
    [unit.unit_id],
  )
  await hand.work(rows)
  expect(await db.owner('select from iu_core.search_chunk where unit_id = $1', [unit.unit_id])).toEqual([])
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
})

it('nothing is filled while the gate that keeps staging out is closed', async () => {
  await place.settle()
  const name = await activeName(place.pool)
  await db.owner(`delete from iu_core.search_point where unit_id = $1`, [unit.unit_id])
  const fill = () => place.pool.query('select * from iu_core.fn_search_collection_backfill($1, 100)', [name])
  const gate = (open: boolean) =>
    db.owner('select iu_core.fn_gate_set($1, $2)', ['iu_core.no_vector_staging_excluded', open])
  await gate(false)
  expect((await fill()).rows).toEqual([])
  await gate(true)
  expect((await fill()).rows).toMatchObject([{ unit_id: unit.unit_id }])
  // What was only recorded is written by the next who projects it.
  await call(life.operator, 'fn_vector_flush', { p_unit_ids: [unit.unit_id] })
})

it('a collection that comes to be between look and plan gets what was planned for it', async () => {
  const hand = place.worker({
    hooks: {
      async boundary(at) {
        if (at !== 'read' || (await liveCollections(place.pool)).length > 1) return
        await createCollection(place.pool, {
          embedder: 'openai',
          model: 'fake-1',
          dimension: 8,
          store: 'qdrant',
          fingerprint: 'fake-1',
        })
      },
    },
  })
  await hand.once()
  const building = (await liveCollections(place.pool)).find(({ state }) => state === 'building')!
  expect(heldOf(place.store, building.collection, unit.unit_id)).toHaveLength(1)
  await db.owner('select iu_core.fn_search_collection_cancel($1)', [building.collection])
})

it('no model is fitted while there is more to come', async () => {
  const bodies = Array.from({ length: 210 }, (_, n) => ({
    canonical_address: `fences/u${n}`,
    body: `Note ${n} about nets and boats.`,
  }))
  await call(life.operator, 'fn_unit_create_batch', {
    p_workspace_id: life.workspace,
    p_units: JSON.stringify(bodies),
  })
  await place.settle()
  await db.owner(
    `update iu_core.search_collection set embedder = 'hashed' where state = 'active' and source_kind = 'information_unit'`,
  )
  expect(await isFitDue(place.pool)).toBe(true)
  await create(life, { body: 'One more.' })
  await place.due()
  expect(await isFitDue(place.pool)).toBe(false)
  await db.owner(
    `update iu_core.search_collection set created_at = created_at - interval '1 hour', activated_at = activated_at - interval '1 hour'
      where state = 'active'`,
  )
  expect(await isFitDue(place.pool)).toBe(true)
})

/** From a change in Postgres to a point in the store: once, the newest, and never what is not wanted any more. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { liveCollections } from '../../src/search/collections.ts'
import type { TextStages } from '../../src/search/projection.ts'
import { useDatabase } from '../support/database.ts'
import { call, create, edit, enact, sha256, useLife } from '../units/life.ts'
import { Steerable } from './projection-model.ts'
import { activeName, heldOf, rowOf, stateOf, useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let unit: { unit_id: string; unit_version_id: string }
beforeEach(async () => {
  unit = await create(life, { body: 'Ships are loaded at night.' })
})

const remove = () => call(life.operator, 'fn_unit_delete', { p_unit_id: unit.unit_id })
const chunks = (id: string) =>
  db.owner<{ text_hash: string; content_hash_at_embedding: string }>(
    `select encode(text_hash, 'hex') as text_hash, content_hash_at_embedding from iu_core.search_chunk where unit_id = $1
      order by position`,
    [id],
  )

it('puts a unit into search with what says where it is from, and calls it current', async () => {
  expect(await stateOf(db, unit.unit_id)).toBe('pending')
  await place.settle()
  const [row] = await db.owner<{ canonical_address: string; workspace_id: string; content_hash: string }>(
    'select canonical_address, workspace_id, content_hash from iu_core.information_unit where unit_id = $1',
    [unit.unit_id],
  )
  expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toEqual([
    {
      unit_id: unit.unit_id,
      unit_version_id: unit.unit_version_id,
      canonical_address: row!.canonical_address,
      content_hash_at_embedding: row!.content_hash,
      workspace_id: row!.workspace_id,
      chunk: 1,
    },
  ])
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'done' })
})

it('takes nothing before there is quiet', async () => {
  expect(await place.worker().claim()).toEqual([])
})

it('embeds three edits in the window once, and only the newest', async () => {
  for (const [version, body] of ['One', 'Two', 'Three'].entries())
    await edit(life.operator, unit.unit_id, version + 1, { p_body: `${body} ${unit.unit_id}` })
  const before = place.embedder.embeddedTexts.length
  await place.settle()
  const own = place.embedder.embeddedTexts.slice(before).filter((text) => text.includes(unit.unit_id))
  expect(own).toEqual([`Three ${unit.unit_id}`])
})

it('embeds nothing for a patch, and nothing for an edit that was undone', async () => {
  await place.settle()
  const before = place.embedder.calls
  await enact(life.reviewer, unit.unit_id)
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  expect(place.embedder.calls).toBe(before)
})

it('embeds only the chunks that changed', async () => {
  const paragraph = (word: string) => `${word} `.repeat(300).trim()
  const body = ['alpha', 'beta', 'gamma'].map(paragraph).join('\n\n')
  const long = await create(life, { body })
  await place.settle()
  const before = place.embedder.embeddedTexts.length
  const first = await chunks(long.unit_id)
  expect(first.length).toBeGreaterThan(1)
  await edit(life.operator, long.unit_id, 1, { p_body: body.replace(/gamma$/, 'delta') })
  await place.settle()
  const second = await chunks(long.unit_id)
  const fresh = second.filter(({ text_hash }) => !first.some((one) => one.text_hash === text_hash))
  expect(place.embedder.embeddedTexts.slice(before).map(sha256)).toEqual(
    fresh.map(({ text_hash }) => text_hash),
  )
  expect(fresh.length).toBe(1)
  expect(heldOf(place.store, await activeName(place.pool), long.unit_id).length).toBe(second.length)
})

describe('what is deleted or retired', () => {
  it('leaves text and store, and comes back when it is restored', async () => {
    await place.settle()
    await remove()
    await place.settle()
    expect(await chunks(unit.unit_id)).toEqual([])
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toEqual([])
    expect(await stateOf(db, unit.unit_id)).toBe('retired')
    await call(life.operator, 'fn_unit_restore', { p_unit_id: unit.unit_id })
    expect(await stateOf(db, unit.unit_id)).toBe('pending')
    await place.settle()
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toHaveLength(1)
    expect(await stateOf(db, unit.unit_id)).toBe('current')
  })

  it('leaves by a patch, too, when it was retired', async () => {
    await place.settle()
    await call(life.reviewer, 'fn_unit_retire', { p_unit_id: unit.unit_id })
    await place.settle()
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toEqual([])
  })

  it('is not brought back by a worker that was late: what it wrote goes with the tombstone', async () => {
    const active = await activeName(place.pool)
    await place.due()
    let late: Promise<unknown> | undefined
    const slow = place.worker({
      hooks: {
        // The slow one has its vectors; meanwhile its lease passes, the unit is deleted, and another one works that off.
        async boundary(name) {
          if (name !== 'embedded' || late) return
          late = (async () => {
            await remove()
            await db.owner(
              `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second'
                where unit_id = $1`,
              [unit.unit_id],
            )
            await db.owner(
              `update iu_core.vector_outbox set earliest_run_at = clock_timestamp() - interval '1 second' where unit_id = $1`,
              [unit.unit_id],
            )
            await place.worker().once()
          })()
          await late
        },
      },
    })
    await slow.work(await slow.claim())
    expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'done' })
    // It is there, and Postgres knows that it should not be.
    expect(heldOf(place.store, active, unit.unit_id)).toHaveLength(1)
    expect(await chunks(unit.unit_id)).toEqual([])
    await db.owner(
      `update iu_core.search_point set changed_at = changed_at - interval '11 minutes' where unit_id = $1`,
      [unit.unit_id],
    )
    await place.worker().projection.purge(await liveCollections(place.pool), 50)
    expect(heldOf(place.store, active, unit.unit_id)).toEqual([])
    expect(await db.owner('select from iu_core.search_point where unit_id = $1', [unit.unit_id])).toEqual([])
  })
})

it('reports only the code of what the database refuses, and does the others', async () => {
  const other = await create(life, { body: 'Ships are painted.' })
  await db.owner(
    `alter table iu_core.search_chunk add constraint planted check (unit_id <> '${unit.unit_id}') not valid`,
  )
  await place.due()
  await place.worker().once()
  await db.owner('alter table iu_core.search_chunk drop constraint planted')
  expect(await rowOf(db, unit.unit_id)).toMatchObject({
    status: 'pending',
    retry_count: 1,
    last_error: 'The database rejected it (SQLSTATE 23514)',
  })
  expect(await stateOf(db, other.unit_id)).toBe('current')
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
})

describe('old tombstones', () => {
  const purge = async () => place.worker().projection.purge(await liveCollections(place.pool), 50)
  const age = () =>
    db.owner(
      `update iu_core.search_point set changed_at = changed_at - interval '11 minutes' where state = 'removed'`,
    )
  const tombstones = async () =>
    (await db.owner(`select from iu_core.search_point where state = 'removed'`)).length

  it('change nothing about a unit that is current, although the store is unavailable', async () => {
    await place.settle()
    await edit(life.operator, unit.unit_id, 1, { p_body: 'Ships are loaded at noon.' })
    await place.settle()
    await age()
    place.faults.storeAway = true
    expect(await purge()).toBe(0)
    place.faults.storeAway = false
    expect(await stateOf(db, unit.unit_id)).toBe('current')
    expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'done', last_error: null })
    expect(await purge()).toBeGreaterThan(0)
    expect(await tombstones()).toBe(0)
    expect(await stateOf(db, unit.unit_id)).toBe('current')
  })

  it('of a dead letter do not keep those of others, however many they are', async () => {
    await place.settle()
    await db.owner(`update iu_core.vector_outbox set status = 'dead_letter' where unit_id = $1`, [
      unit.unit_id,
    ])
    await db.owner(
      `insert into iu_core.search_point (collection, chunk_id, unit_id, text_hash, generation, state)
       select $1, gen_random_uuid(), $2, '', 1, 'removed' from generate_series(1, 120)`,
      [await activeName(place.pool), unit.unit_id],
    )
    const other = await create(life, { body: 'A ship that sank.' })
    await place.settle()
    await call(life.operator, 'fn_unit_delete', { p_unit_id: other.unit_id })
    await place.settle()
    await age()
    while ((await purge()) > 0);
    expect(await tombstones()).toBe(0)
    await db.owner(`update iu_core.vector_outbox set status = 'done' where unit_id = $1`, [unit.unit_id])
  })
})

it('does not finish what was edited while it worked: the edit is projected afterwards', async () => {
  await place.due()
  let edited = false
  const hand = place.worker({
    hooks: {
      async boundary(name) {
        if (name !== 'embedded' || edited) return
        edited = true
        await edit(life.operator, unit.unit_id, 1, { p_body: 'Ships are loaded by day.' })
      },
    },
  })
  await hand.once()
  expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'pending', generation: '2' })
  expect(await stateOf(db, unit.unit_id)).toBe('pending')
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  expect(await chunks(unit.unit_id)).toEqual([
    expect.objectContaining({ content_hash_at_embedding: sha256('Ships are loaded by day.') }),
  ])
  expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toHaveLength(1)
})

describe('two batches of one worker that have two versions of a unit', () => {
  let id: string
  beforeEach(async () => {
    id = randomUUID()
    await place.due()
  })
  /** Its texts are read. */
  const begin = async (stages: TextStages = {}) => {
    const batch = new Steerable()
    const worker = place.worker({ id, hooks: { boundary: batch.boundary } })
    const rows = await worker.claim()
    expect(rows.map(({ unit_id }) => unit_id)).toContain(unit.unit_id)
    await batch.begin(() => worker.work(rows, stages))
    return batch
  }
  /** And the lease of the older one has passed. */
  const editNow = async () => {
    await edit(life.operator, unit.unit_id, 1, { p_body: 'Ships are loaded by day.' })
    await place.due()
    await db.owner(
      `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where status = 'processing'`,
    )
  }
  const expectNewer = async () => {
    await place.settle()
    expect(await stateOf(db, unit.unit_id)).toBe('current')
    expect(await chunks(unit.unit_id)).toEqual([
      expect.objectContaining({ content_hash_at_embedding: sha256('Ships are loaded by day.') }),
    ])
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toMatchObject([
      { content_hash_at_embedding: sha256('Ships are loaded by day.') },
    ])
  }

  it('write the newer one, after the older had its place', async () => {
    let written = () => {}
    const olderTexts = new Promise<void>((resolve) => {
      written = resolve
    })
    const older = await begin({ onText: () => written() })
    await editNow()
    const newer = await begin({ afterTexts: olderTexts })
    await Promise.all([older.toEnd(), newer.toEnd()])
    await expectNewer()
  })

  it('leave the newer one, though the older comes last and its rows are leased to this worker again', async () => {
    const older = await begin()
    await editNow()
    const newer = await begin()
    // Its text is written.
    await newer.advance()
    await older.toEnd()
    expect(await chunks(unit.unit_id)).toEqual([
      expect.objectContaining({ content_hash_at_embedding: sha256('Ships are loaded by day.') }),
    ])
    expect(heldOf(place.store, await activeName(place.pool), unit.unit_id)).toEqual([])
    await newer.toEnd()
    await expectNewer()
  })
})

it('is not put off for ever by constant edits: after the longest wait it is due', async () => {
  await db.owner(
    `update iu_core.vector_outbox set first_enqueued_at = clock_timestamp() - interval '11 minutes' where unit_id = $1`,
    [unit.unit_id],
  )
  await edit(life.operator, unit.unit_id, 1, { p_body: 'Still being written' })
  expect((await place.worker().claim()).map((row) => row.unit_id)).toContain(unit.unit_id)
})

it('takes over the rows of a worker whose lease has passed', async () => {
  await place.due()
  const silent = place.worker()
  const [row] = (await silent.claim()).filter((one) => one.unit_id === unit.unit_id)
  expect(await place.worker().claim()).toEqual([])
  await db.owner(
    `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where status = 'processing'`,
  )
  await place.settle()
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  // Its word does not count any more.
  expect(await silent.work([row!])).toMatchObject({ done: 0 })
  expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'done' })
})

describe('two workers, of whom one is late,', () => {
  const lapse = () =>
    db.owner(
      `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where status = 'processing'`,
    )
  const restore = () => call(life.operator, 'fn_unit_restore', { p_unit_id: unit.unit_id })
  /** Takes the unit and stops before it does what comes after `places` boundaries. */
  const begin = async (places: number) => {
    const steering = new Steerable()
    const hand = place.worker({ hooks: { boundary: steering.boundary } })
    await place.due()
    const rows = await hand.claim()
    await steering.begin(() => hand.work(rows))
    for (let n = 1; n < places; n++) await steering.advance()
    return steering
  }
  const held = async () => heldOf(place.store, await activeName(place.pool), unit.unit_id)

  it('lose nothing when the late one removes what was restored and written meanwhile', async () => {
    await place.settle()
    await remove()
    // Its text is out; the store is next.
    const late = await begin(2)
    await lapse()
    await restore()
    await place.settle()
    expect(await held()).toHaveLength(1)
    await late.toEnd()
    expect(await held()).toEqual([])
    expect(await stateOf(db, unit.unit_id)).toBe('pending')
    await place.settle()
    expect(await held()).toHaveLength(1)
    expect(await stateOf(db, unit.unit_id)).toBe('current')
  })

  it('believe no word of the late one about what was deleted and restored meanwhile', async () => {
    // The store has it; Postgres was not told yet.
    const late = await begin(4)
    expect(await held()).toHaveLength(1)
    await lapse()
    await remove()
    await place.settle()
    expect(await held()).toEqual([])
    await restore()
    // Recorded, not yet written; then this one dies.
    await begin(2)
    await late.toEnd()
    await lapse()
    await place.settle()
    expect(await held()).toHaveLength(1)
    expect(await stateOf(db, unit.unit_id)).toBe('current')
  })
})

/** The mirror of the store postgres: what one process commits, every other one finds, in whatever order things end. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/search/embedders/embedder.ts'
import { Mirror } from '../../src/search/stores/mirror/mirror.ts'
import { openScanner, type Scanner } from '../../src/search/stores/mirror/scanner.ts'
import { StoreUnavailable } from '../../src/search/stores/store.ts'
import { useDatabase } from '../support/database.ts'
import { DIMENSION, vectorOf } from './stores/conformance.ts'
import {
  idOf,
  openPostgres,
  RECORD,
  recordPoints,
  registerCollection,
  useStoreWorkspaces,
  workerPool,
} from './stores/recorded.ts'

const db = useDatabase()
const places = useStoreWorkspaces(db)
const [writer, reader] = [openPostgres(db), openPostgres(db)]
const pool = workerPool(db)

const workspace = () => places.workspaces[0]
const STORE = 'select iu_core.fn_vector_points_store($1, $2, $3)'

const pointOf = (number: number) => ({
  id: idOf(number),
  vector: vectorOf(number),
  payload: { workspace_id: workspace(), content_hash_at_embedding: 'hash', chunk: 0 },
})

/** A collection with the points recorded, so that only storing is left. */
async function recorded(count: number): Promise<string> {
  const collection = `m_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  await registerCollection(db, collection, DIMENSION)
  await recordPoints(
    db,
    places,
    collection,
    Array.from({ length: count }, (_, number) => pointOf(number)),
  )
  return collection
}

const held = async (of: Pick<Mirror, 'nearest'> | typeof reader, collection: string): Promise<string[]> => {
  const options = { limit: 100_000, workspace: workspace() }
  const found =
    of instanceof Mirror
      ? await of.nearest(vectorOf(1), options)
      : await (of as typeof reader).nearest(collection, vectorOf(1), options)
  return found.map(({ id }) => id).sort()
}
const ids = (count: number) => Array.from({ length: count }, (_, number) => idOf(number)).sort()

describe('two processes', () => {
  it('find at once what the other one wrote, and no longer what it removed', async () => {
    const collection = await recorded(3)
    expect(await held(reader, collection)).toEqual([])
    await writer.upsert(collection, [pointOf(0), pointOf(1)])
    expect(await held(reader, collection)).toEqual(ids(2))
    await reader.remove(collection, [idOf(0)])
    expect(await held(writer, collection)).toEqual([idOf(1)])
    await writer.upsert(collection, [pointOf(2)])
    expect(await held(reader, collection)).toEqual([idOf(1), idOf(2)].sort())
    await writer.drop(collection)
    expect(await held(reader, collection)).toEqual([])
  })
})

describe('commits in another order than they began', () => {
  it('are all found, the late one when it ends', async () => {
    const collection = await recorded(2)
    const mirror = new Mirror({ db: pool, collection })
    const late = await db.session()
    await late.query('begin')
    await late.query(STORE, [collection, [idOf(0)], [bytesOf(vectorOf(0))]])
    await writer.upsert(collection, [pointOf(1)])
    expect(await held(mirror, collection)).toEqual([idOf(1)])
    await late.query('commit')
    expect(await held(mirror, collection)).toEqual(ids(2))
  })

  it('are not missed by a reader that never stops reading', async () => {
    const collection = await recorded(400)
    const mirror = new Mirror({ db: pool, collection })
    await mirror.nearest(vectorOf(1), { limit: 1, workspace: workspace() })
    let writing = true
    const reading = (async () => {
      while (writing) await held(mirror, collection)
    })()
    const lanes = Array.from({ length: 4 }, async (_, lane) => {
      const session = await db.session()
      for (let number = lane; number < 400; number += 4) {
        await session.query('begin')
        await session.query(STORE, [collection, [idOf(number)], [bytesOf(vectorOf(number))]])
        // Every third is taken back, every fifth removed again: neither may be left in the mirror.
        if (number % 3 === 0) await session.query('rollback')
        else {
          if (number % 5 === 0) {
            await session.query('select iu_core.fn_vector_points_delete($1, $2)', [
              collection,
              [idOf(number)],
            ])
          }
          await session.query('commit')
        }
      }
    })
    await Promise.all(lanes)
    writing = false
    await reading
    const kept = Array.from({ length: 400 }, (_, number) => number).filter((n) => n % 3 !== 0 && n % 5 !== 0)
    expect(await held(mirror, collection)).toEqual(kept.map(idOf).sort())
  })

  it('are found by whoever asks after the commit, also while a read from before it is under way', async () => {
    const collection = await recorded(1)
    let held = Promise.resolve()
    let arrived = () => {}
    const slow = async (sql: string, values: unknown[]) => {
      const result = await pool.query(sql, values)
      arrived()
      await held
      return result
    }
    const mirror = new Mirror({ collection, db: { query: slow as typeof pool.query } })
    const ask = () => mirror.nearest(vectorOf(1), { limit: 1, workspace: workspace() })
    await ask()
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    const read = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const before = ask()
    await read
    await writer.upsert(collection, [pointOf(0)])
    const after = ask()
    release()
    expect(await before).toEqual([])
    expect(await after).toHaveLength(1)
  })
})

/** The compiled thread: Node 20 loads no TypeScript into one. */
const THREAD = new URL('../../dist/search/stores/mirror/thread.js', import.meta.url)

describe('the thread of the scan', () => {
  it('is replaced when it ends, also in the middle of questions, and every one of them is answered', async () => {
    const collection = await recorded(3)
    const scanners: Scanner[] = []
    const mirror = new Mirror({
      db: pool,
      collection,
      openScanner: () => {
        scanners.push(openScanner(THREAD))
        return scanners.at(-1)!
      },
    })
    await writer.upsert(collection, [pointOf(0), pointOf(1)])
    expect(await held(mirror, collection)).toEqual(ids(2))
    await scanners[0]!.close()
    expect(await held(mirror, collection)).toEqual(ids(2))
    await writer.upsert(collection, [pointOf(2)])
    const asked = Array.from({ length: 20 }, () => held(mirror, collection))
    await Promise.all([scanners[1]!.close(), ...asked])
    for (const answer of await Promise.all(asked)) expect(answer).toEqual(ids(3))
    expect(await held(mirror, collection)).toEqual(ids(3))
    expect(scanners).toHaveLength(3)
    await mirror.close()
    await expect(held(mirror, collection)).rejects.toThrow(StoreUnavailable)
  })

  it('is not opened again for questions that waited when the mirror was closed', async () => {
    const collection = await recorded(1)
    const scanners: Scanner[] = []
    let ticks = 0
    const mirror = new Mirror({
      db: pool,
      collection,
      now: () => ++ticks,
      openScanner: () => {
        scanners.push(openScanner())
        return scanners.at(-1)!
      },
    })
    await writer.upsert(collection, [pointOf(0)])
    expect(await held(mirror, collection)).toEqual(ids(1))
    // The second one waits for the read of the first.
    const asked = Promise.allSettled([held(mirror, collection), held(mirror, collection)])
    await mirror.close()
    for (const answer of await asked) expect(answer).toMatchObject({ reason: expect.any(StoreUnavailable) })
    expect(scanners).toHaveLength(1)
  })

  it('is an outage of the store when it ends every time', async () => {
    const collection = await recorded(1)
    await writer.upsert(collection, [pointOf(0)])
    const mirror = new Mirror({
      db: pool,
      collection,
      openScanner: () => {
        const scanner = openScanner(THREAD)
        void scanner.close()
        return scanner
      },
    })
    await expect(held(mirror, collection)).rejects.toThrow(StoreUnavailable)
  })

  it('gives what it cannot do back as an outage, and holds everything again at the next question', async () => {
    const collection = await recorded(1)
    await writer.upsert(collection, [pointOf(0)])
    let isFull = true
    const mirror = new Mirror({
      db: pool,
      collection,
      openScanner: () => {
        const scanner = openScanner(THREAD)
        return {
          run: (kind, asked) =>
            isFull && kind === 'put' ? Promise.reject(new RangeError('no memory')) : scanner.run(kind, asked),
          close: () => scanner.close(),
        }
      },
    })
    await expect(held(mirror, collection)).rejects.toThrow(StoreUnavailable)
    isFull = false
    expect(await held(mirror, collection)).toEqual(ids(1))
    await mirror.close()
  })
})

describe('questions that follow from one another', () => {
  it('read the changes once: the later ones see what the first one saw', async () => {
    const collection = await recorded(1)
    let statements = 0
    const mirror = new Mirror({
      collection,
      db: {
        query: ((sql: string, values: unknown[]) => {
          statements++
          return pool.query(sql, values)
        }) as typeof pool.query,
      },
    })
    await writer.upsert(collection, [pointOf(0)])
    const asOf = performance.now()
    await mirror.nearest(vectorOf(1), { limit: 1, workspace: workspace(), asOf })
    const loaded = statements
    expect(await mirror.vectors([idOf(0)], { asOf })).toHaveProperty('size', 1)
    expect(statements).toBe(loaded)
    await writer.remove(collection, [idOf(0)])
    expect(await mirror.vectors([idOf(0)], { asOf })).toHaveProperty('size', 1)
    expect(await mirror.vectors([idOf(0)])).toHaveProperty('size', 0)
    expect(statements).toBe(loaded + 1)
  })
})

describe('the mirror', () => {
  it('is read again from the start after five minutes, because tombstones may be gone by then', async () => {
    const collection = await recorded(2)
    let now = 0
    const mirror = new Mirror({ db: pool, collection, now: () => now })
    await writer.upsert(collection, [pointOf(0), pointOf(1)])
    expect(await held(mirror, collection)).toEqual(ids(2))
    // As the sweep does it: without a trace for whoever did not look.
    await db.owner('delete from iu_core.search_point where collection = $1 and chunk_id = $2', [
      collection,
      idOf(0),
    ])
    now = 4 * 60_000
    expect(await held(mirror, collection)).toEqual(ids(2))
    now += 5 * 60_000 + 1
    expect(await held(mirror, collection)).toEqual([idOf(1)])
  })

  it('refuses more than fits into a process, and names what holds more', async () => {
    const collection = await recorded(5)
    const mirror = new Mirror({ db: pool, collection, maxNumbers: 4 * DIMENSION })
    const refusal = {
      code: 'store_not_configured',
      message: expect.stringMatching(/more than 4 vectors of 8 numbers.*pgvector or qdrant/),
    }
    await writer.upsert(collection, [0, 1, 2, 3].map(pointOf))
    expect(await held(mirror, collection)).toEqual(ids(4))
    await writer.upsert(collection, [pointOf(4)])
    await expect(held(mirror, collection)).rejects.toMatchObject(refusal)
    await expect(
      held(new Mirror({ db: pool, collection, maxNumbers: 4 * DIMENSION }), collection),
    ).rejects.toMatchObject(refusal)
  })

  it('goes on after a read that failed', async () => {
    const collection = await recorded(1)
    let away = true
    const mirror = new Mirror({
      collection,
      db: {
        query: ((sql: string, values: unknown[]) =>
          away ? Promise.reject(new Error('away')) : pool.query(sql, values)) as typeof pool.query,
      },
    })
    await writer.upsert(collection, [pointOf(0)])
    await expect(held(mirror, collection)).rejects.toThrow('away')
    away = false
    expect(await held(mirror, collection)).toEqual(ids(1))
  })

  it('keeps its places when points in the middle go, over thousands of them', async () => {
    const collection = await recorded(2_500)
    const mirror = new Mirror({ db: pool, collection })
    await writer.upsert(
      collection,
      Array.from({ length: 2_500 }, (_, number) => pointOf(number)),
    )
    expect(await held(mirror, collection)).toEqual(ids(2_500))
    const gone = Array.from({ length: 1_900 }, (_, number) => (number * 13) % 2_500)
    await writer.remove(collection, gone.map(idOf))
    const kept = Array.from({ length: 2_500 }, (_, number) => number).filter(
      (number) => !gone.includes(number),
    )
    expect(await held(mirror, collection)).toEqual(kept.map(idOf).sort())
    const found = await mirror.vectors(kept.map(idOf))
    for (const number of kept)
      found.get(idOf(number))!.forEach((value, at) => {
        expect(value).toBeCloseTo(vectorOf(number)[at]!, 4)
      })
  })

  it('leaves out points that are recorded and not stored, also when they are recorded again', async () => {
    const collection = await recorded(2)
    const mirror = new Mirror({ db: pool, collection })
    await writer.upsert(collection, [pointOf(0), pointOf(1)])
    expect(await held(mirror, collection)).toEqual(ids(2))
    await db.owner(RECORD, [collection, [idOf(0)], [places.units.get(workspace())]])
    expect(await held(mirror, collection)).toEqual([idOf(1)])
  })
})

/** What every vector store does. Each implementation runs all of it; what only one of them does is in its own file. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Point, VectorStore } from '../../../src/search/stores/store.ts'

export interface StoreUnderTest {
  readonly store: VectorStore
  /** Two workspaces with something in them to point to. */
  readonly workspaces: readonly [string, string]
  /** Registers a collection as ours, in this state; the store itself does not have it yet. */
  register(collection: string, dimension: number, state?: 'active' | 'legacy'): Promise<void>
  /** What Postgres records before the store is written. */
  record(collection: string, points: readonly Point[]): Promise<void>
}

export const DIMENSION = 8

/** Fixed, normalised and different for every seed. */
export function vectorOf(seed: number, dimension = DIMENSION): Float32Array {
  const vector = Float32Array.from({ length: dimension }, (_, at) =>
    Math.sin(seed * 12.9898 + at * 78.233 + 1),
  )
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

export function pointOf(workspace: string, seed: number, id = randomUUID()): Point {
  return {
    id,
    vector: vectorOf(seed),
    payload: { workspace_id: workspace, content_hash_at_embedding: `hash-${seed}`, chunk: 0 },
  }
}

const byId = (a: string, b: string) => (a < b ? -1 : 1)

export function storeConformance(name: string, under: () => StoreUnderTest): void {
  let store: VectorStore
  let collection: string
  let ours: string
  let theirs: string

  const put = async (points: readonly Point[]): Promise<void> => {
    await under().record(collection, points)
    await store.upsert(collection, points)
  }
  const everything = async (): Promise<string[]> => {
    const ids: string[] = []
    for (let after: string | undefined; ; ) {
      const { points, next } = await store.scroll(collection, after)
      ids.push(...points.map(({ id }) => id))
      if (next === undefined) return ids
      after = next
    }
  }
  const nearestIds = async (seed: number, options: { limit?: number; only?: string[] } = {}) =>
    (await store.nearest(collection, vectorOf(seed), { limit: 10, workspace: ours, ...options })).map(
      ({ id }) => id,
    )

  describe(`${name}:`, () => {
    beforeEach(async () => {
      store = under().store
      ;[ours, theirs] = under().workspaces
      collection = `t_${randomUUID().replaceAll('-', '').slice(0, 12)}`
      await under().register(collection, DIMENSION)
      await store.ensure(collection, DIMENSION)
    })

    it('finds the nearest by cosine, the best first, as many as are asked for', async () => {
      const points = [1, 2, 3, 4, 5].map((seed) => pointOf(ours, seed))
      await put(points)
      const found = await store.nearest(collection, vectorOf(3), { limit: 3, workspace: ours })
      const expected = points
        .map(({ id, vector }) => ({
          id,
          score: vector.reduce((sum, v, at) => sum + v * vectorOf(3)[at]!, 0),
        }))
        .sort((a, b) => b.score - a.score)
        .slice(0, 3)
      expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
      found.forEach(({ score }, at) => {
        expect(score).toBeCloseTo(expected[at]!.score, 4)
      })
      expect(found[0]!.score).toBeCloseTo(1, 4)
      expect(await nearestIds(3, { limit: 0 })).toEqual([])
    })

    it('finds nothing of another workspace, however near', async () => {
      const far = pointOf(ours, 9)
      await put([pointOf(theirs, 1), far])
      expect(await nearestIds(1)).toEqual([far.id])
    })

    it('answers only what it is allowed to, and of the others nothing', async () => {
      const points = [1, 2, 3].map((seed) => pointOf(ours, seed))
      const foreign = pointOf(theirs, 1)
      await put([...points, foreign])
      const only = [points[1]!.id, foreign.id, randomUUID()]
      expect(await nearestIds(1, { only })).toEqual([points[1]!.id])
      expect(await nearestIds(1, { only: [] })).toEqual([])
    })

    it('scores the points that are asked for, as nearest does, and nothing of another workspace', async () => {
      const points = Array.from({ length: 1_200 }, (_, seed) => pointOf(ours, seed))
      const foreign = pointOf(theirs, 1)
      await put([...points, foreign])
      const asked = [...points.slice(100).map(({ id }) => id), foreign.id, randomUUID(), points[100]!.id]
      const scores = await store.score!(collection, vectorOf(3), asked, { workspace: ours })
      expect([...scores.keys()].sort(byId)).toEqual(
        points
          .slice(100)
          .map(({ id }) => id)
          .sort(byId),
      )
      for (const { id, score } of await store.nearest(collection, vectorOf(3), {
        limit: 1_200,
        workspace: ours,
      }))
        if (scores.has(id)) expect(scores.get(id)).toBeCloseTo(score, 5)
      const opposite = vectorOf(500).map((value) => -value)
      const away = await store.score!(collection, opposite, [points[500]!.id], { workspace: ours })
      expect(away.get(points[500]!.id)).toBeCloseTo(-1, 4)
      expect(await store.score!(collection, vectorOf(1), [], { workspace: ours })).toEqual(new Map())
    })

    it('replaces what it has by id', async () => {
      const point = pointOf(ours, 1)
      await put([point, pointOf(ours, 2)])
      await put([{ ...point, vector: vectorOf(7) }])
      const [best] = await store.nearest(collection, vectorOf(7), { limit: 1, workspace: ours })
      expect(best).toEqual({ id: point.id, score: expect.closeTo(1, 4) })
      expect(await everything()).toHaveLength(2)
    })

    it('removes by id, once or twice, and leaves the others alone', async () => {
      const [gone, kept] = [pointOf(ours, 1), pointOf(ours, 2)]
      await put([gone, kept])
      await store.remove(collection, [gone.id, randomUUID()])
      await store.remove(collection, [gone.id])
      await store.remove(collection, [])
      expect(await nearestIds(1)).toEqual([kept.id])
      expect(await everything()).toEqual([kept.id])
    })

    it('hands out the vectors of points, as far as it has them', async () => {
      const point = pointOf(ours, 1)
      await put([point])
      const vectors = await store.vectors(collection, [point.id, randomUUID()])
      expect([...vectors.keys()]).toEqual([point.id])
      vectors.get(point.id)!.forEach((value, at) => {
        expect(value).toBeCloseTo(point.vector[at]!, 4)
      })
      expect(await store.vectors(collection, [])).toEqual(new Map())
    })

    it('shows everything that is there, of every workspace, in pages', async () => {
      const points = Array.from({ length: 2_300 }, (_, seed) => pointOf(seed % 2 ? ours : theirs, seed))
      await put(points)
      expect(await everything()).toEqual(points.map(({ id }) => id).sort(byId))
    })

    it('may be made ready twice, but not for another dimension', async () => {
      const point = pointOf(ours, 1)
      await put([point])
      await store.ensure(collection, DIMENSION)
      expect(await nearestIds(1)).toEqual([point.id])
      await expect(store.ensure(collection, DIMENSION + 1)).rejects.toMatchObject({
        code: 'argument_invalid',
      })
    })

    it('refuses vectors that are none, and keeps nothing of them', async () => {
      const good = pointOf(ours, 1)
      const broken = [Number.NaN, Number.POSITIVE_INFINITY].map((value) => vectorOf(2).fill(value, 3, 4))
      for (const vector of [...broken, new Float32Array(DIMENSION), vectorOf(2, DIMENSION - 1)]) {
        const bad = { ...pointOf(ours, 2), vector }
        await under().record(collection, [good, bad])
        await expect(store.upsert(collection, [good, bad])).rejects.toMatchObject({
          code: 'argument_invalid',
        })
        await expect(store.upsert(collection, [bad])).rejects.toMatchObject({ code: 'argument_invalid' })
      }
      expect(await everything()).toEqual([])
    })

    it('drops a collection, and makes it again empty', async () => {
      await put([pointOf(ours, 1)])
      await store.drop(collection)
      await store.drop(collection)
      await store.ensure(collection, DIMENSION)
      expect(await everything()).toEqual([])
      expect(await nearestIds(1)).toEqual([])
    })

    it('stops for an aborted question', async () => {
      const signal = AbortSignal.abort(new Error('nobody waits'))
      await expect(
        store.nearest(collection, vectorOf(1), { limit: 1, workspace: ours, signal }),
      ).rejects.toThrow('nobody waits')
      await expect(
        store.score!(collection, vectorOf(1), [randomUUID()], { workspace: ours, signal }),
      ).rejects.toThrow('nobody waits')
    })

    const WRITES: Record<string, (name: string) => Promise<void>> = {
      ensure: (to) => store.ensure(to, DIMENSION),
      upsert: (to) => store.upsert(to, [pointOf(ours, 1)]),
      remove: (to) => store.remove(to, [randomUUID()]),
      drop: (to) => store.drop(to),
    }
    for (const [method, write] of Object.entries(WRITES)) {
      it(`does not ${method} a collection of the old knowledge base`, async () => {
        await expect(write('production_documents')).rejects.toMatchObject({ code: 'collection_legacy' })
        const other = `old_${collection}`
        await under().register(other, DIMENSION, 'legacy')
        await expect(write(other)).rejects.toMatchObject({ code: 'collection_legacy' })
      })

      it(`does not ${method} a collection that is not registered as ours`, async () => {
        await expect(write(`nobody_${collection}`)).rejects.toMatchObject({ code: 'collection_unknown' })
      })
    }
  })
}

/**
 * What is between every store and who calls it. Collections that others made are only read (VG-1, VA-5): the old
 * knowledge base by its name, whatever our tables say, and everything else that is not a collection of ours.
 */
import { StagedoorError } from '../../errors.ts'
import { LEGACY_COLLECTION, LegacyCollection, type Point, type VectorStore } from './store.ts'

/** The state of search_collection, or nothing where it has no such row. */
export type StateOf = (collection: string) => Promise<string | undefined>

export function guarded(store: VectorStore, stateOf: StateOf): VectorStore {
  const refuseOthers = async (collection: string): Promise<void> => {
    if (collection === LEGACY_COLLECTION) throw new LegacyCollection(collection)
    const state = await stateOf(collection)
    if (state === 'legacy') throw new LegacyCollection(collection)
    if (state === undefined) throw new StagedoorError('collection_unknown', { collection })
  }
  return {
    kind: store.kind,
    async ensure(collection, dimension) {
      await refuseOthers(collection)
      await store.ensure(collection, dimension)
    },
    async upsert(collection, points) {
      await refuseOthers(collection)
      refuseBroken(points)
      if (points.length > 0) await store.upsert(collection, points)
    },
    async remove(collection, ids) {
      await refuseOthers(collection)
      if (ids.length > 0) await store.remove(collection, ids)
    },
    async drop(collection) {
      await refuseOthers(collection)
      await store.drop(collection)
    },
    nearest: (collection, vector, options) => store.nearest(collection, vector, options),
    vectors: (collection, ids) => store.vectors(collection, ids),
    scroll: (collection, after) => store.scroll(collection, after),
    close: () => store.close(),
  }
}

/** One vector that is none would be found by every question, or spoil the order of the others. */
function refuseBroken(points: readonly Point[]): void {
  const dimension = points[0]?.vector.length
  for (const { id, vector } of points) {
    if (
      vector.length !== dimension ||
      !vector.every(Number.isFinite) ||
      vector.every((value) => value === 0)
    ) {
      throw new StagedoorError('argument_invalid', {
        reason: `The vector of ${id} is not one of its collection`,
      })
    }
  }
}

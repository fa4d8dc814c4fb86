/**
 * Two rankings become one by reciprocal rank: a place counts, scores of different kinds are never added.
 *
 * Measured on Cranfield (nDCG@10; words alone 0.516; 1,400 units, the two legs as they are, fused apart in a grid of four constants and
 * eight weights). LSA, whose best hits are asked for once more (feedback.ts), alone 0.564; fused with a constant of 10 and a weight of
 * 1: 0.554, 1.5: 0.560, 2: 0.564; with 60: 0.553, 0.555, 0.556. Hashed words, alone 0.356: 0.518 at a weight of 0.1, and lower the more
 * they weigh. The constants were chosen on these same questions, so elsewhere the gain may be smaller.
 */
export const RANK_CONSTANT = 10

export const LEXICAL_WEIGHT = 1
/**
 * What the meaning weighs beside the words, by embedder. Of the fitted one less than is best on Cranfield: elsewhere words may be
 * the better ones. Hashed words mean nothing that the words themselves do not, so they are not asked.
 */
const DENSE_WEIGHTS: Readonly<Record<string, number>> = { lsa: 1.5, openai: 1, hashed: 0 }
/** Fitted on less than this, a short text is near to every question that has a word of it: the words then have the last word. */
const FEW_DOCUMENTS = 1000

export function denseWeight(collection: {
  readonly embedder: string
  readonly documents?: number | null
}): number {
  const weight = DENSE_WEIGHTS[collection.embedder] ?? 1
  return (collection.documents ?? FEW_DOCUMENTS) < FEW_DOCUMENTS ? Math.min(1, weight) : weight
}

export interface Ranks {
  readonly lexical?: number
  readonly dense?: number
}

export interface Fused<Key> {
  readonly key: Key
  readonly score: number
  readonly ranks: Ranks
}

/** Keys in the order of each leg, best first; a key that comes again in a leg keeps its better place. */
export function fuse<Key>(lexical: readonly Key[], dense: readonly Key[], denseWeight: number): Fused<Key>[] {
  const lexicalRanks = ranksOf(lexical)
  const denseRanks = denseWeight > 0 ? ranksOf(dense) : new Map<Key, number>()
  const keys = new Set([...lexicalRanks.keys(), ...denseRanks.keys()])
  const fused = [...keys].map((key) => {
    const lexicalRank = lexicalRanks.get(key)
    const denseRank = denseRanks.get(key)
    return {
      key,
      score: share(lexicalRank, LEXICAL_WEIGHT) + share(denseRank, denseWeight),
      ranks: {
        ...(lexicalRank !== undefined && { lexical: lexicalRank }),
        ...(denseRank !== undefined && { dense: denseRank }),
      },
    }
  })
  // Stable: equal scores stay in the order of the words' leg, so that the same question has the same answer.
  return fused.sort((a, b) => b.score - a.score)
}

function ranksOf<Key>(keys: readonly Key[]): Map<Key, number> {
  const ranks = new Map<Key, number>()
  for (const key of keys) if (!ranks.has(key)) ranks.set(key, ranks.size + 1)
  return ranks
}

function share(rank: number | undefined, weight: number): number {
  return rank === undefined ? 0 : weight / (RANK_CONSTANT + rank)
}

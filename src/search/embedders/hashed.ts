/**
 * Words thrown into a fixed number of places by their hash: no model, no fitting, no network. For a corpus that is too
 * small to fit anything on.
 */
import type { Embedder } from './embedder.ts'
import { normalise, wordless } from './vectors.ts'
import type { Words } from './words.ts'

export const HASHED_DIMENSION = 256

export interface HashedOptions {
  readonly words: Words
  readonly dimension?: number | undefined
}

export function createHashedEmbedder({ words, dimension = HASHED_DIMENSION }: HashedOptions): Embedder {
  return {
    name: 'hashed',
    model: 'hashed-1',
    dimension,
    fingerprint: `hashed-1/${dimension} text`,
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      if (texts.length === 0) return []
      return (await words(texts)).map((counts) => vectorOf(counts, dimension, use))
    },
  }
}

function vectorOf(counts: Map<string, number>, dimension: number, use: 'passage' | 'query'): Float32Array {
  const vector = new Float32Array(dimension)
  for (const [word, count] of counts) {
    const hash = fnv1a(word)
    // A bit that the place does not depend on: words that share a place cancel as often as they add.
    vector[(hash >>> 1) % (dimension - 1)]! += (hash & 1 ? 1 : -1) * (1 + Math.log(count))
  }
  return normalise(vector) ? vector : wordless(dimension, use)
}

function fnv1a(word: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(word)) hash = Math.imul(hash ^ byte, 0x01000193)
  // The low bits of FNV are weak.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

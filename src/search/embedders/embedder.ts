/** The interface of embedders, which turn texts into vectors; every one passes the same test suite. And the hashed embedder. */
import type { Queryable } from '../../kernel/postgres/connection.ts'
import { storableText } from '../../kernel/text.ts'
import { withStoreErrors } from '../stores/store.ts'

type EmbeddingUse = 'passage' | 'query'

export interface Embedder {
  /** As search_collection.embedder names it. */
  readonly name: 'hashed' | 'lsa' | 'openai' | 'onnx'
  readonly model: string
  readonly dimension: number
  /** Of model and template: vectors of different fingerprints are not comparable. */
  readonly fingerprint: string
  /** One normalised vector per text, in the order of the texts. */
  embed(texts: readonly string[], use: EmbeddingUse, signal?: AbortSignal): Promise<Float32Array[]>
}

/** Not fitted on the texts that are searched: its cosines say by themselves how near a text is, and it may refuse a text. */
export function isPretrained(embedder: string): boolean {
  return embedder === 'openai' || embedder === 'onnx'
}

/** An outage or a rate limit: the texts are fine, a retry may help. */
export class EmbedderUnavailable extends Error {
  readonly retryAfterMs: number | undefined
  /** It answered, and not with a rate limit: the text may be at fault (Ollama answers 500 to a text that is too long). */
  readonly answered: boolean

  constructor(
    message: string,
    options: { retryAfterMs?: number | undefined; answered?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'EmbedderUnavailable'
    this.retryAfterMs = options.retryAfterMs
    this.answered = options.answered ?? false
  }
}

/** The input was refused, or the vectors cannot be right: another dimension, another count, NaN. */
export class EmbedderRefused extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'EmbedderRefused'
  }
}

// Lexemes of texts, for the embedders that count words, from PostgreSQL in one round trip. One text search configuration for all
// languages: a question does not say its language, and only lexemes made the same way match. The server's Russian one stems English words
// as the English one does, and Russian ones too. Diacritics are removed first, as in the
// keyword leg, so that Vietnamese typed without them matches; stemming hardly changes its syllables.

/** For each text, how often each lexeme occurs. */
export type CountWords = (texts: readonly string[]) => Promise<Map<string, number>[]>

/**
 * For statements that read the texts themselves: what countLexemes reads. As the server writes a tsvector: to take it apart there, into
 * lexemes and counts, took a sixth of the analysis.
 */
export const lexemesSql = (text: string): string =>
  `to_tsvector('pg_catalog.russian', iu_core.fn_search_normalize(${text}))::text`

/** `'lexeme':1,17`. A normalised text has neither quotes nor backslashes. */
const LEXEME = /'([^']*)':([\d,]+)/g

/** In the order in which the server keeps words. */
export function countLexemes(words: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, lexeme, places] of words.matchAll(LEXEME)) {
    let count = 1
    for (let at = places!.indexOf(','); at >= 0; at = places!.indexOf(',', at + 1)) count++
    counts.set(lexeme!, count)
  }
  return counts
}

export function createWordCounter(db: Queryable): CountWords {
  // An unreachable database is not the fault of a text.
  const database = withStoreErrors(db)
  return async (texts) => {
    const { rows } = await database.query<{ words: string }>(
      `select ${lexemesSql('t.text')} as words from unnest($1::text[]) with ordinality as t (text, place) order by t.place`,
      // NUL separates words.
      [texts.map((text) => storableText(text, ' '))],
    )
    return rows.map(({ words }) => countLexemes(words))
  }
}

// Arithmetic that several embedders and stores share.

/** In place. Returns false for a vector without direction: all zero, or not a number. */
export function normalise(vector: Float32Array): boolean {
  let sum = 0
  for (const value of vector) sum += value * value
  if (!(sum > 0) || sum === Number.POSITIVE_INFINITY) return false
  const scale = 1 / Math.sqrt(sum)
  for (let at = 0; at < vector.length; at++) vector[at]! *= scale
  return true
}

/** Little-endian, like every machine that this runs on. */
export function bytesOf(floats: Float32Array): Buffer {
  return Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength)
}

/** A copy: the driver's buffer may start at any byte, floats must be aligned to four. */
export function floatsOf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  return new Float32Array(new Uint8Array(bytes).buffer)
}

/**
 * The vector of a text without a single word that the model knows. The last axis is reserved for such texts: they are near to no text
 * with words, and a question without known words points away from them, so that it finds nothing.
 */
export function wordlessVector(dimension: number, use: 'passage' | 'query'): Float32Array {
  const vector = new Float32Array(dimension)
  vector[dimension - 1] = use === 'passage' ? 1 : -1
  return vector
}

/** Whether the embedder knows no word of the question: its nearest texts mean nothing. */
export function isWordless(vector: Float32Array): boolean {
  return vector.every((value, axis) => value === (axis === vector.length - 1 ? -1 : 0))
}

// The hashed embedder: words are hashed into a fixed number of axes. No model and no network; for a corpus too small to fit a model.

const HASHED_DIMENSION = 256

interface HashedOptions {
  readonly words: CountWords
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
    // The sign comes from a bit that the axis does not depend on: words that share an axis cancel as often as they add.
    vector[(hash >>> 1) % (dimension - 1)]! += (hash & 1 ? 1 : -1) * (1 + Math.log(count))
  }
  return normalise(vector) ? vector : wordlessVector(dimension, use)
}

function fnv1a(word: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(word)) hash = Math.imul(hash ^ byte, 0x01000193)
  // The low bits of FNV are weak.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

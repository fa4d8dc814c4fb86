/** Chunks become vectors in a store. Says what went wrong with whom: with one text, or with whatever is away. */
import { isTransient } from '../db/transient.ts'
import { type ErrorCode, StagedoorError } from '../errors.ts'
import type { Breaker } from './breaker.ts'
import type { Collection } from './collections.ts'
import { EmbedderRefused, EmbedderUnavailable } from './embedders/embedder.ts'
import type { Equipment } from './equipment.ts'
import { reasonOf } from './reason.ts'
import { type Point, type PointPayload, StoreUnavailable, type VectorStore } from './stores/store.ts'

export interface ToWrite<Owner> {
  /** Who suffers if it cannot be written. */
  readonly owner: Owner
  readonly id: string
  readonly text: string
  readonly payload: PointPayload
}

export interface Written<Owner> {
  /** Something of theirs cannot be embedded, and trying again soon will not help. */
  readonly refused: ReadonlyMap<Owner, string>
  /** Theirs waits for what is away. */
  readonly waiting: ReadonlySet<Owner>
}

/** One request; endpoints take more, but a batch that is refused is tried again in halves. */
const AT_ONCE = 64
/** Whoever does not take this does not take anything. */
const HARMLESS = 'Is anybody there?'

export interface Writing {
  readonly equipment: Equipment
  readonly breaker: Breaker
  readonly collection: Collection
  /** After it nobody may write any more: the rows are somebody else's. */
  readonly signal: AbortSignal
  /** Recorded in Postgres, after the store has them. */
  recorded(ids: readonly string[]): Promise<void>
  /** For tests: where a process may die. */
  boundary?(name: 'embedded' | 'upserted'): Promise<void> | void
}

export async function writePoints<Owner>(
  writing: Writing,
  items: readonly ToWrite<Owner>[],
): Promise<Written<Owner>> {
  const refused = new Map<Owner, string>()
  const waiting = new Set<Owner>()
  for (const batch of batches(items)) {
    let left = batch.filter(({ owner }) => !refused.has(owner))
    while (left.length > 0) {
      const passage = writing.breaker.ask()
      if (passage === 'closed') {
        for (const { owner } of left) waiting.add(owner)
        break
      }
      // Half open, one of them shows whether it is back; not always the same: it may be the one at which the other side falls over.
      const now = passage === 'trial' ? [left[Math.floor(Math.random() * left.length)]!] : left
      const outcome = await writeOrSplit(writing, now)
      for (const [owner, reason] of outcome.refused) refused.set(owner, reason)
      for (const owner of outcome.waiting) waiting.add(owner)
      left = left.filter((item) => !now.includes(item) && !refused.has(item.owner))
    }
  }
  return { refused, waiting }
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE)
}

/** One poison text must not take the others of its batch with it. Halves: each request is paid for. */
async function writeOrSplit<Owner>(
  writing: Writing,
  items: readonly ToWrite<Owner>[],
): Promise<Written<Owner>> {
  const failure = await attempt(writing, items)
  if (failure === undefined) return { refused: new Map(), waiting: new Set() }
  if (isAway(failure)) return { refused: new Map(), waiting: ownersOf(items) }
  if (items.length === 1) {
    return { refused: new Map([[items[0]!.owner, reasonOf(failure)]]), waiting: new Set() }
  }
  const middle = Math.ceil(items.length / 2)
  const one = await writeOrSplit(writing, items.slice(0, middle))
  const rest = items.slice(middle).filter(({ owner }) => !one.refused.has(owner))
  if (rest.length === 0) return one
  const other =
    one.waiting.size > 0 ? { refused: new Map(), waiting: ownersOf(rest) } : await writeOrSplit(writing, rest)
  return {
    refused: new Map([...one.refused, ...other.refused]),
    waiting: new Set([...one.waiting, ...other.waiting]),
  }
}

function ownersOf<Owner>(items: readonly ToWrite<Owner>[]): Set<Owner> {
  return new Set(items.map(({ owner }) => owner))
}

async function attempt<Owner>(
  writing: Writing,
  items: readonly ToWrite<Owner>[],
): Promise<Error | undefined> {
  const { breaker, collection, signal } = writing
  let store: VectorStore
  let points: Point[]
  try {
    signal.throwIfAborted()
    store = writing.equipment.store(collection.store)
    points = await embedded(writing, items)
  } catch (error) {
    return told(breaker, await blamed(writing, error))
  }
  await writing.boundary?.('embedded')
  try {
    signal.throwIfAborted()
    await store.upsert(collection.collection, points)
  } catch (error) {
    return told(breaker, error)
  }
  breaker.succeeded()
  await writing.boundary?.('upserted')
  await writing.recorded(points.map(({ id }) => id))
  return undefined
}

async function embedded<Owner>(writing: Writing, items: readonly ToWrite<Owner>[]): Promise<Point[]> {
  const { equipment, collection, signal } = writing
  const embedder = await equipment.embedder(collection)
  const vectors = await embedder.embed(
    items.map(({ text }) => text),
    'passage',
    signal,
  )
  if (vectors.length !== items.length) {
    throw new EmbedderRefused(`${vectors.length} vectors for ${items.length} texts`)
  }
  return items.map(({ id, payload }, at) => ({ id, payload, vector: sound(vectors[at]!, collection) }))
}

/** Whatever an embedder promises, nothing else than what the collection is of gets into a store. */
function sound(vector: Float32Array, { dimension }: Collection): Float32Array {
  if (dimension !== null && vector.length !== dimension) {
    throw new EmbedderRefused(`a vector of ${vector.length} numbers instead of ${dimension}`)
  }
  if (!vector.every(Number.isFinite)) throw new EmbedderRefused('a vector with something that is no number')
  return vector
}

/** Of an answer that looks like an outage nobody knows whether it is the text's fault before a harmless one was tried. */
async function blamed({ equipment, collection, signal }: Writing, error: unknown): Promise<unknown> {
  if (!(error instanceof EmbedderUnavailable && error.answered)) return error
  try {
    const embedder = await equipment.embedder(collection)
    await embedder.embed([HARMLESS], 'passage', signal)
  } catch {
    return error
  }
  return new EmbedderRefused(error.message, { cause: error })
}

function told(breaker: Breaker, error: unknown): Error {
  if (isAway(error)) {
    const after = error instanceof EmbedderUnavailable ? error.retryAfterMs : undefined
    breaker.failed(reasonOf(error), after)
  } else if (error instanceof EmbedderRefused) {
    // Who refuses a text is there.
    breaker.succeeded()
  } else {
    breaker.undecided()
  }
  return error as Error
}

const AWAY = new Set<ErrorCode>([
  'embedder_not_configured',
  'store_not_configured',
  'database_unreachable',
  'conflict_retry',
])

/** No fault of the text: an outage, a setting that is missing here, the database, or our time is up. */
export function isAway(error: unknown): boolean {
  if (error instanceof EmbedderUnavailable || error instanceof StoreUnavailable) return true
  if (error instanceof EmbedderRefused) return false
  if (error instanceof StagedoorError) {
    return AWAY.has(error.code)
  }
  const { name, code } = error as { name?: string; code?: string }
  if (name === 'AbortError' || name === 'TimeoutError') return true
  return code !== undefined && isTransient(error)
}

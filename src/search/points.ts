/** Embeds chunks and writes them to a store, and tells a text that is refused from a provider that is unavailable. */

import { writeInHalves } from '../runtime/batch-writer.ts'
import type { Breaker } from '../runtime/breaker.ts'
import type { Collection } from './collections.ts'
import { EmbedderRefused, EmbedderUnavailable, isPretrained } from './embedders/embedder.ts'
import { failureReason, isProviderUnavailable, type SearchProviders } from './providers.ts'
import type { Point, PointPayload, VectorStore } from './stores/store.ts'

export interface PointToWrite<Owner> {
  /** The outbox row or chunk that fails or waits if this point cannot be written. */
  readonly owner: Owner
  readonly id: string
  readonly text: string
  readonly payload: PointPayload
}

interface WriteResult<Owner> {
  /** Owners with a text that cannot be embedded; an early retry does not help. */
  readonly refused: ReadonlyMap<Owner, string>
  /** Owners that wait for an unavailable provider. */
  readonly waiting: ReadonlySet<Owner>
}

/** Endpoints accept more, but a refused batch is split in halves and sent again. */
const POINTS_PER_REQUEST = 64
/** Of embedders that refuse nothing and cost nothing. */
const POINTS_IN_PROCESS = 256
/** A harmless text: an embedder that fails on it is down. */
export const PROBE_TEXT = 'Is anybody there?'

interface WriteDeps {
  readonly providers: SearchProviders
  readonly breaker: Breaker
  readonly collection: Collection
  /** When it aborts, nothing may be written any more: another worker may have claimed the rows. */
  readonly signal: AbortSignal
  /** Called after the store has the points: records them in PostgreSQL. */
  recordWritten(ids: readonly string[]): Promise<void>
  /** For tests: points at which a process may crash. */
  boundary?(name: 'embedded' | 'upserted'): Promise<void> | void
}

export async function writePoints<Owner>(
  deps: WriteDeps,
  items: readonly PointToWrite<Owner>[],
): Promise<WriteResult<Owner>> {
  const refused = new Map<Owner, string>()
  const waiting = new Set<Owner>()
  const size = isPretrained(deps.collection.embedder) ? POINTS_PER_REQUEST : POINTS_IN_PROCESS
  for (const batch of batches(items, size)) {
    let left = batch.filter(({ owner }) => !refused.has(owner))
    while (left.length > 0) {
      const permission = deps.breaker.check()
      if (permission === 'blocked') {
        for (const { owner } of left) waiting.add(owner)
        break
      }
      // A trial sends one random point: always the same one might be the text that makes the other side fail.
      const now = permission === 'trial' ? [left[Math.floor(Math.random() * left.length)]!] : left
      const outcome = await writeOrSplit(deps, now)
      for (const [owner, reason] of outcome.refused) refused.set(owner, reason)
      for (const owner of outcome.waiting) waiting.add(owner)
      left = left.filter((item) => !now.includes(item) && !refused.has(item.owner))
    }
  }
  return { refused, waiting }
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** One bad text must not fail the others of its batch. Halves instead of singles, because each request is paid for. */
async function writeOrSplit<Owner>(
  deps: WriteDeps,
  items: readonly PointToWrite<Owner>[],
): Promise<WriteResult<Owner>> {
  const refused = new Map<Owner, string>()
  const waiting = new Set<Owner>()
  await writeInHalves([items], {
    async attempt(part) {
      const left = part.filter(({ owner }) => !refused.has(owner))
      if (left.length === 0) return undefined
      const failure = waiting.size > 0 ? undefined : await attempt(deps, left)
      if (failure !== undefined && !isProviderUnavailable(failure)) return { items: left, error: failure }
      if (failure !== undefined || waiting.size > 0) for (const { owner } of left) waiting.add(owner)
      return undefined
    },
    onRefused: ({ owner }, error) => refused.set(owner, failureReason(error)),
  })
  return { refused, waiting }
}

async function attempt<Owner>(
  deps: WriteDeps,
  items: readonly PointToWrite<Owner>[],
): Promise<Error | undefined> {
  const { breaker, collection, signal } = deps
  let store: VectorStore
  let points: Point[]
  try {
    signal.throwIfAborted()
    store = deps.providers.store(collection.store)
    points = await embedItems(deps, items)
  } catch (error) {
    return recordOutcome(breaker, await textOrOutage(deps, error))
  }
  await deps.boundary?.('embedded')
  try {
    signal.throwIfAborted()
    await store.upsert(collection.collection, points)
  } catch (error) {
    return recordOutcome(breaker, error)
  }
  breaker.recordSuccess()
  await deps.boundary?.('upserted')
  await deps.recordWritten(points.map(({ id }) => id))
  return undefined
}

async function embedItems<Owner>(deps: WriteDeps, items: readonly PointToWrite<Owner>[]): Promise<Point[]> {
  const { providers, collection, signal } = deps
  const embedder = await providers.embedder(collection)
  const vectors = await embedder.embed(
    items.map(({ text }) => text),
    'passage',
    signal,
  )
  if (vectors.length !== items.length) {
    throw new EmbedderRefused(`${vectors.length} vectors for ${items.length} texts`)
  }
  return items.map(({ id, payload }, at) => ({ id, payload, vector: checkVector(vectors[at]!, collection) }))
}

/** Only vectors of the collection's dimension get into a store, whatever the embedder returns. */
function checkVector(vector: Float32Array, { dimension }: Collection): Float32Array {
  if (dimension !== null && vector.length !== dimension) {
    throw new EmbedderRefused(`a vector of ${vector.length} numbers instead of ${dimension}`)
  }
  if (!vector.every(Number.isFinite)) throw new EmbedderRefused('a vector with a value that is not a number')
  return vector
}

/** An error response may be an outage or the fault of the text: a harmless text tells which. */
async function textOrOutage({ providers, collection, signal }: WriteDeps, error: unknown): Promise<unknown> {
  if (!(error instanceof EmbedderUnavailable && error.answered)) return error
  try {
    const embedder = await providers.embedder(collection)
    await embedder.embed([PROBE_TEXT], 'passage', signal)
  } catch {
    return error
  }
  return new EmbedderRefused(error.message, { cause: error })
}

function recordOutcome(breaker: Breaker, error: unknown): Error {
  if (isProviderUnavailable(error)) {
    const after = error instanceof EmbedderUnavailable ? error.retryAfterMs : undefined
    breaker.recordFailure(failureReason(error), after)
  } else if (error instanceof EmbedderRefused) {
    // An embedder that refuses a text is up.
    breaker.recordSuccess()
  } else {
    breaker.endTrial()
  }
  return error as Error
}

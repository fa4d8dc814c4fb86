/** A collection that is being built gets what the active one has, and takes its place when nothing is missing. */
import type { Logger } from 'pino'
import type { Pool } from '../db/connection.ts'
import { activateCollection, type Collection } from './collections.ts'
import type { Equipment } from './equipment.ts'
import type { ProjectionHooks } from './hooks.ts'
import { pointsRefused, pointsWritten } from './outbox.ts'
import type { Projection } from './projection.ts'
import { isAway, writePoints } from './writing.ts'

interface Unfilled {
  readonly chunk_id: string
  readonly unit_id: string
  readonly unit_version_id: string
  readonly canonical_address: string
  readonly content_hash: string
  readonly workspace_id: string
  readonly position: number
  readonly text: string
}

export interface FillingOptions {
  readonly pool: Pool
  readonly equipment: Equipment
  readonly projection: Projection
  readonly hooks: ProjectionHooks
  readonly log?: Logger
  /** After it nothing of a step is written any more; default 96 s. */
  readonly leaseMs?: number
}

export type Filled = 'more' | 'waiting' | 'switched' | 'incomplete'

const AT_ONCE = 256
/** Tombstones are purged after ten minutes: whoever sleeps that long between embedding and writing must not write. */
const LEASE_MS = 96_000
/** Of the points that it records: they belong to no row of the outbox. */
const FILLER = '0'

/** One step of it. `waiting`: what it needs is away; `incomplete`: somebody else has the rest in hand. */
export async function fillCollection(
  { pool, equipment, projection, hooks, log, leaseMs = LEASE_MS }: FillingOptions,
  collection: Collection,
  stopping: AbortSignal,
): Promise<Filled> {
  const { collection: name } = collection
  const breaker = projection.breakerOf(name)
  if (breaker.remainingMs > 0 || !(await projection.ensure(collection))) return 'waiting'
  try {
    // Before anything is taken: a process that cannot embed must not keep from others what they can.
    await equipment.embedder(collection)
  } catch (error) {
    if (!isAway(error)) throw error
    breaker.failed((error as Error).message)
    return 'waiting'
  }
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(leaseMs)])
  const { rows } = await pool.query<Unfilled>('select * from iu_core.fn_search_collection_fill($1, $2)', [
    name,
    AT_ONCE,
  ])
  if (rows.length === 0) return swap(pool, name, hooks)
  const { refused, waiting } = await writePoints(
    {
      equipment,
      breaker,
      collection,
      signal,
      recorded: (ids) =>
        pointsWritten(
          pool,
          name,
          ids,
          ids.map(() => FILLER),
        ),
      ...(hooks.boundary && { boundary: hooks.boundary }),
    },
    rows.map((row) => ({
      owner: row.chunk_id,
      id: row.chunk_id,
      text: row.text,
      payload: {
        unit_id: row.unit_id,
        unit_version_id: row.unit_version_id,
        canonical_address: row.canonical_address,
        content_hash_at_embedding: row.content_hash,
        workspace_id: row.workspace_id,
        chunk: row.position,
      },
    })),
  )
  hooks.embedded?.(name, rows.length)
  const [reason] = refused.values()
  if (reason !== undefined) {
    await pointsRefused(pool, name, [...refused.keys()], reason)
    log?.warn({ collection: name, chunks: refused.size, reason }, 'the new collection does without these')
  }
  return waiting.size > 0 ? 'waiting' : 'more'
}

async function swap(pool: Pool, name: string, hooks: ProjectionHooks): Promise<Filled> {
  if (!(await activateCollection(pool, name))) return 'incomplete'
  hooks.switched?.(name)
  return 'switched'
}

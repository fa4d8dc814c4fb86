/**
 * The projection of claimed outbox rows. First the texts, in one transaction; then the vectors. If the embedder or the store is
 * unavailable, a row waits without using up an attempt, and keyword search finds its text already.
 */
import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { isTransient } from '../kernel/postgres/errors.ts'
import { Breaker, type BreakerOptions } from '../runtime/breaker.ts'
import { readSources, type Source, toPut } from './chunks.ts'
import { type Collection, liveCollections } from './collections.ts'
import {
  failRows,
  finishRows,
  type OutboxRow,
  oldTombstones,
  type PlannedPoint,
  putSources,
  recordPointsRemoved,
  recordPointsWritten,
  releaseRows,
  type SearchGates,
} from './outbox.ts'
import { type PointToWrite, writePoints } from './points.ts'
import { failureReason, isProviderUnavailable, type SearchProviders } from './providers.ts'

interface ProjectionDeps {
  /** As vector_worker. */
  readonly pool: Pool
  readonly worker: string
  readonly providers: SearchProviders
  readonly log: Logger
  readonly hooks: ProjectionHooks
  readonly breaker?: BreakerOptions
}

interface VectorWrite {
  readonly kept: readonly Source[]
  readonly planned: ReadonlyMap<string, PlannedPoint[]>
  readonly collections: readonly Collection[]
  /** Rows whose text is refused are added. */
  readonly failed: Map<OutboxRow, string>
  readonly signal: AbortSignal
}

/** Where the texts of a batch are. */
export interface TextStages {
  /** They are written after it, whether it fails or not: the texts of the batch before. */
  readonly afterTexts?: Promise<unknown>
  /** They are read, and have so many characters. */
  onRead?(characters: number): void
  /** They are written; the vectors follow. */
  onText?(): void
}

export interface ProjectionResult {
  readonly done: number
  readonly failed: number
  readonly waiting: number
}

/** Rows whose text is written already: during an outage it is not written again at every retry. */
const MAX_REMEMBERED_ROWS = 100_000
const MIN_WAIT_MS = 1000

export class Projection {
  private readonly deps: ProjectionDeps
  private readonly breakers = new Map<string, Breaker>()
  private readonly textDone = new Map<string, string>()
  private readonly ensured = new Set<string>()

  constructor(deps: ProjectionDeps) {
    this.deps = deps
  }

  breakerOf(collection: string): Breaker {
    const breaker = this.breakers.get(collection) ?? new Breaker(this.deps.breaker)
    this.breakers.set(collection, breaker)
    return breaker
  }

  /** The database has another history: texts that were written may be lost. */
  forget(): void {
    this.textDone.clear()
    this.ensured.clear()
  }

  /** Why vectors of the active collection cannot be written now; undefined if they can. */
  outage(collections: readonly Collection[]): string | undefined {
    const active = activeOf(collections)
    return active && this.breakers.get(active.collection)?.reason
  }

  async project(
    rows: readonly OutboxRow[],
    gates: Pick<SearchGates, 'phase_3'>,
    signal: AbortSignal,
    { afterTexts, onRead, onText }: TextStages = {},
  ): Promise<ProjectionResult> {
    const { pool, hooks } = this.deps
    const before = activeOf(await liveCollections(pool))
    const [again, fresh] = this.knownDuringOutage(rows, before)
    if (again.length > 0) await this.wait(again, before)
    const failed = new Map<OutboxRow, string>()
    const reading = await readSources(pool, fresh, gates)
    for (const [row, reason] of reading.failed) failed.set(row, reason)
    onRead?.(charactersOf(reading.sources))
    await hooks.boundary?.('read')
    await afterTexts?.catch(() => {})
    const planned = await this.putText(reading.sources, failed)
    await hooks.boundary?.('text')
    onText?.()
    // Read again after the plan: a collection may have been created or activated meanwhile.
    const collections = await liveCollections(pool)
    const active = activeOf(collections)
    const kept = reading.sources.filter(({ row }) => planned.has(row.outbox_id))
    const waiting = await this.writeVectors({ kept, planned, collections, failed, signal })
    await hooks.boundary?.('written')
    const ended = fresh.filter((row) => !failed.has(row) && !waiting.has(row))
    const done = ended.length > 0 ? await finishRows(pool, this.deps.worker, ended) : new Set<string>()
    if (failed.size > 0) await this.fail(failed)
    if (waiting.size > 0) await this.wait([...waiting], active)
    for (const { outbox_id } of [...ended, ...failed.keys()]) this.textDone.delete(outbox_id)
    return { done: done.size, failed: failed.size, waiting: waiting.size + again.length }
  }

  private knownDuringOutage(
    rows: readonly OutboxRow[],
    active: Collection | undefined,
  ): [OutboxRow[], OutboxRow[]] {
    const isOut = active !== undefined && (this.breakers.get(active.collection)?.remainingMs ?? 0) > 0
    const known = rows.filter((row) => isOut && this.textDone.get(row.outbox_id) === row.generation)
    return [known, rows.filter((row) => !known.includes(row))]
  }

  /** What is left to do in the stores, by row. Rows that were enqueued again or claimed by another worker are missing. */
  private async putText(
    sources: readonly Source[],
    failed: Map<OutboxRow, string>,
  ): Promise<Map<string, PlannedPoint[]>> {
    const { pool, worker } = this.deps
    if (sources.length === 0) return new Map()
    try {
      const planned = groupByRow(await putSources(pool, worker, sources.map(toPut)))
      for (const { row } of sources)
        if (planned.has(row.outbox_id)) this.textDone.set(row.outbox_id, row.generation)
      if (this.textDone.size > MAX_REMEMBERED_ROWS) this.textDone.clear()
      return planned
    } catch (error) {
      if (isTransient(error) || isUnreachable(error)) throw error
      if (sources.length === 1) {
        failed.set(sources[0]!.row, failureReason(error))
        return new Map()
      }
      // One of them is at fault: write each by itself.
      const planned = new Map<string, PlannedPoint[]>()
      for (const source of sources)
        for (const [id, work] of await this.putText([source], failed)) planned.set(id, work)
      return planned
    }
  }

  /** Returns the rows whose vectors must wait for the active collection. The one that is being built is filled by the backfill. */
  private async writeVectors({
    kept,
    planned,
    collections,
    failed,
    signal,
  }: VectorWrite): Promise<Set<OutboxRow>> {
    const { pool, providers, hooks } = this.deps
    const waiting = new Set<OutboxRow>()
    for (const collection of collections) {
      const { collection: name } = collection
      const isActive = collection.state === 'active'
      const breaker = this.breakerOf(name)
      const removed = await this.remove(collection, kept, planned, signal)
      if (isActive) for (const row of removed) waiting.add(row)
      const items = kept.flatMap((source) => itemsOf(source, planned.get(source.row.outbox_id)!, name))
      if (items.length === 0) continue
      const generations = new Map(items.map(({ id, owner }) => [id, owner.generation]))
      if (!(await this.ensure(collection))) {
        if (isActive) for (const { owner } of items) waiting.add(owner)
        continue
      }
      const { refused, waiting: late } = await writePoints(
        {
          providers,
          breaker,
          collection,
          signal,
          recordWritten: (ids) =>
            recordPointsWritten(
              pool,
              name,
              ids,
              ids.map((id) => generations.get(id)!),
            ),
          ...(hooks.boundary && { boundary: hooks.boundary }),
        },
        items,
      )
      hooks.onEmbedded?.(name, items.length)
      if (!isActive) continue
      for (const [row, reason] of refused) failed.set(row, reason)
      for (const row of late) if (!failed.has(row)) waiting.add(row)
    }
    return waiting
  }

  /** Creates the collection in the store before the first write. Returns false if the store is unavailable. */
  async ensure(collection: Collection): Promise<boolean> {
    const { collection: name, dimension, store } = collection
    if (this.ensured.has(name)) return true
    const breaker = this.breakerOf(name)
    if (breaker.remainingMs > 0) return false
    try {
      await this.deps.providers.store(store).ensure(name, dimension ?? 0)
      this.ensured.add(name)
      return true
    } catch (error) {
      if (!isProviderUnavailable(error)) throw error
      breaker.recordFailure(failureReason(error))
      return false
    }
  }

  private async remove(
    collection: Collection,
    kept: readonly Source[],
    planned: ReadonlyMap<string, PlannedPoint[]>,
    signal: AbortSignal,
  ): Promise<OutboxRow[]> {
    const { pool, providers, hooks } = this.deps
    const { collection: name } = collection
    const late: OutboxRow[] = []
    const ids: string[] = []
    for (const { row } of kept) {
      const own = planned
        .get(row.outbox_id)!
        .filter((one) => one.action === 'remove' && one.collection === name)
      if (own.length > 0) late.push(row)
      ids.push(...own.map(({ chunk_id }) => chunk_id!))
    }
    if (ids.length === 0) return []
    if (!(await this.ensure(collection))) return late
    try {
      signal.throwIfAborted()
      await providers.store(collection.store).remove(name, ids)
    } catch (error) {
      if (!isProviderUnavailable(error)) throw error
      this.breakerOf(name).recordFailure(failureReason(error))
      return late
    }
    await hooks.boundary?.('removed')
    await recordPointsRemoved(pool, name, ids)
    return []
  }

  /**
   * Deletes points for good whose tombstone is old, also those that a late worker wrote after the removal. A point that is wanted again
   * by now is written again. No row of the outbox changes. Returns how many tombstones were deleted.
   */
  async purge(collections: readonly Collection[], limit: number): Promise<number> {
    const { pool, providers, log } = this.deps
    let removed = 0
    for (const collection of collections) {
      const { collection: name, store } = collection
      const ids = await oldTombstones(pool, name, limit)
      if (ids.length === 0 || !(await this.ensure(collection))) continue
      try {
        await providers.store(store).remove(name, ids)
      } catch (error) {
        if (!isProviderUnavailable(error)) throw error
        log.warn(
          { collection: name, reason: failureReason(error) },
          'deleted points could not be purged from the store; will be retried',
        )
        continue
      }
      removed += await recordPointsRemoved(pool, name, ids)
    }
    return removed
  }

  private async fail(failed: ReadonlyMap<OutboxRow, string>): Promise<void> {
    const { pool, worker, log, hooks } = this.deps
    const dead = await failRows(pool, worker, failed)
    for (const [row, reason] of failed) {
      const { outbox_id, unit_id, document_id, row_id } = row
      log.warn({ outbox_id, unit_id, document_id, row_id, reason }, 'search projection of a row failed')
    }
    hooks.onFailed?.(failed.size, dead)
  }

  private async wait(rows: readonly OutboxRow[], active: Collection | undefined): Promise<void> {
    const { pool, worker } = this.deps
    const breaker = active && this.breakerOf(active.collection)
    const afterMs = Math.max(MIN_WAIT_MS, breaker?.remainingMs ?? 0)
    await releaseRows(pool, worker, rows, {
      afterMs: Math.min(afterMs, 3_600_000),
      reason: breaker?.reason,
    })
  }
}

function charactersOf(sources: readonly Source[]): number {
  return sources.reduce((sum, { chunks }) => sum + (chunks?.at(-1)?.to ?? 0), 0)
}

function activeOf(collections: readonly Collection[]): Collection | undefined {
  return collections.find(({ state }) => state === 'active')
}

function itemsOf(
  source: Source,
  planned: readonly PlannedPoint[],
  collection: string,
): PointToWrite<OutboxRow>[] {
  const { row, chunks = [] } = source
  return planned
    .filter((one) => one.action === 'embed' && one.collection === collection)
    .map(({ chunk_id, position }) => ({
      owner: row,
      id: chunk_id!,
      text: chunks[position! - 1]!.text,
      payload: {
        ...(row.row_id !== null
          ? { row_id: row.row_id }
          : {
              unit_id: row.unit_id!,
              unit_version_id: source.unit_version_id!,
              canonical_address: source.canonical_address!,
            }),
        content_hash_at_embedding: source.content_hash,
        workspace_id: source.workspace_id,
        chunk: position!,
      },
    }))
}

function groupByRow(planned: readonly PlannedPoint[]): Map<string, PlannedPoint[]> {
  const byRow = new Map<string, PlannedPoint[]>()
  for (const one of planned) {
    const own = byRow.get(one.outbox_id)
    if (own) own.push(one)
    else byRow.set(one.outbox_id, [one])
  }
  return byRow
}

function isUnreachable(error: unknown): boolean {
  return error instanceof StagedoorError && error.code === 'database_unreachable'
}

/** Points at which a process may crash; for tests. */
type CrashPoint = 'claimed' | 'read' | 'text' | 'removed' | 'embedded' | 'upserted' | 'written'

/** For metrics. */
export interface ProjectionHooks {
  onClaim?(rows: number): void
  /** Rows that are in search as they are now. */
  onDone?(rows: number, ms: number): void
  onFailed?(rows: number, deadLetters: number): void
  /** Rows that wait for an embedder or a store. */
  onWaiting?(rows: number): void
  /** Chunks that were sent to the embedder of a collection. */
  onEmbedded?(collection: string, chunks: number): void
  onActivated?(collection: string): void
  boundary?(name: CrashPoint): Promise<void> | void
}

/**
 * What a worker does with the rows it took. Text first, always, in one transaction; then vectors, whose embedder or store may
 * be away: then a row waits without using up a try, and what it says is found by its words already.
 */
import type { Logger } from 'pino'
import type { Pool } from '../db/connection.ts'
import { isTransient } from '../db/transient.ts'
import { StagedoorError } from '../errors.ts'
import { Breaker, type BreakerOptions } from './breaker.ts'
import { type Collection, liveCollections } from './collections.ts'
import type { Equipment } from './equipment.ts'
import type { ProjectionHooks } from './hooks.ts'
import {
  failRows,
  finishRows,
  type OutboxRow,
  oldTombstones,
  type Planned,
  pointsGone,
  pointsWritten,
  putSources,
  releaseRows,
} from './outbox.ts'
import { reasonOf } from './reason.ts'
import { putOf, readSources, type Source } from './sources.ts'
import { isAway, type ToWrite, writePoints } from './writing.ts'

export interface ProjectionOptions {
  /** As vector_worker. */
  readonly pool: Pool
  readonly worker: string
  readonly equipment: Equipment
  readonly log: Logger
  readonly hooks: ProjectionHooks
  readonly breaker?: BreakerOptions
}

/** What became of a batch. */
export interface Projected {
  readonly done: number
  readonly failed: number
  readonly waiting: number
}

/** Rows whose text is in search already, so that an outage does not read them again and again. */
const MOST_REMEMBERED = 100_000
const LEAST_WAIT_MS = 1000

export class Projection {
  private readonly options: ProjectionOptions
  private readonly breakers = new Map<string, Breaker>()
  private readonly textDone = new Map<string, string>()
  private readonly ensured = new Set<string>()

  constructor(options: ProjectionOptions) {
    this.options = options
  }

  breakerOf(collection: string): Breaker {
    const breaker = this.breakers.get(collection) ?? new Breaker(this.options.breaker)
    this.breakers.set(collection, breaker)
    return breaker
  }

  /** Why vectors of the active collection are not made just now. */
  outage(collections: readonly Collection[]): string | undefined {
    const active = activeOf(collections)
    return active && this.breakers.get(active.collection)?.reason
  }

  async project(
    rows: readonly OutboxRow[],
    gates: { aware: boolean },
    signal: AbortSignal,
  ): Promise<Projected> {
    const { pool, hooks } = this.options
    const before = activeOf(await liveCollections(pool))
    const [again, fresh] = this.knownDuringOutage(rows, before)
    if (again.length > 0) await this.wait(again, before)
    const failed = new Map<OutboxRow, string>()
    const reading = await readSources(pool, fresh, gates)
    for (const [row, reason] of reading.failed) failed.set(row, reason)
    await hooks.boundary?.('read')
    const planned = await this.putText(reading.sources, failed)
    await hooks.boundary?.('text')
    // Read after the plan was made: it may be for one that was not there before, or is the active one only now.
    const collections = await liveCollections(pool)
    const active = activeOf(collections)
    const kept = reading.sources.filter(({ row }) => planned.has(row.outbox_id))
    const waiting = await this.writeVectors(kept, planned, collections, failed, signal)
    await hooks.boundary?.('written')
    const ended = fresh.filter((row) => !failed.has(row) && !waiting.has(row))
    const done = ended.length > 0 ? await finishRows(pool, this.options.worker, ended) : new Set<string>()
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

  /** By row: what is left to do in the stores. A row that is no longer ours, or was enqueued again, is not in it. */
  private async putText(
    sources: readonly Source[],
    failed: Map<OutboxRow, string>,
  ): Promise<Map<string, Planned[]>> {
    const { pool, worker } = this.options
    if (sources.length === 0) return new Map()
    try {
      const planned = grouped(await putSources(pool, worker, sources.map(putOf)))
      for (const { row } of sources)
        if (planned.has(row.outbox_id)) this.textDone.set(row.outbox_id, row.generation)
      if (this.textDone.size > MOST_REMEMBERED) this.textDone.clear()
      return planned
    } catch (error) {
      if (isTransient(error) || isUnreachable(error)) throw error
      if (sources.length === 1) {
        failed.set(sources[0]!.row, reasonOf(error))
        return new Map()
      }
      // One of them is to blame: each by itself.
      const planned = new Map<string, Planned[]>()
      for (const source of sources)
        for (const [id, work] of await this.putText([source], failed)) planned.set(id, work)
      return planned
    }
  }

  /** Answers the rows whose vectors have to wait. What is only being built beside the active collection is filled later. */
  private async writeVectors(
    kept: readonly Source[],
    planned: ReadonlyMap<string, Planned[]>,
    collections: readonly Collection[],
    failed: Map<OutboxRow, string>,
    signal: AbortSignal,
  ): Promise<Set<OutboxRow>> {
    const { pool, equipment, hooks } = this.options
    const waiting = new Set<OutboxRow>()
    for (const collection of collections) {
      const { collection: name } = collection
      const counts = collection.state === 'active'
      const breaker = this.breakerOf(name)
      const removed = await this.remove(collection, kept, planned, signal)
      if (counts) for (const row of removed) waiting.add(row)
      const items = kept.flatMap((source) => itemsOf(source, planned.get(source.row.outbox_id)!, name))
      if (items.length === 0) continue
      const generations = new Map(items.map(({ id, owner }) => [id, owner.generation]))
      if (!(await this.ensure(collection))) {
        if (counts) for (const { owner } of items) waiting.add(owner)
        continue
      }
      const { refused, waiting: late } = await writePoints(
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
              ids.map((id) => generations.get(id)!),
            ),
          ...(hooks.boundary && { boundary: hooks.boundary }),
        },
        items,
      )
      hooks.embedded?.(name, items.length)
      if (!counts) continue
      for (const [row, reason] of refused) failed.set(row, reason)
      for (const row of late) if (!failed.has(row)) waiting.add(row)
    }
    return waiting
  }

  /** The store's own collection is made when it is first written. */
  async ensure(collection: Collection): Promise<boolean> {
    const { collection: name, dimension, store } = collection
    if (this.ensured.has(name)) return true
    const breaker = this.breakerOf(name)
    if (breaker.remainingMs > 0) return false
    try {
      await this.options.equipment.store(store).ensure(name, dimension ?? 0)
      this.ensured.add(name)
      return true
    } catch (error) {
      if (!isAway(error)) throw error
      breaker.failed(reasonOf(error))
      return false
    }
  }

  private async remove(
    collection: Collection,
    kept: readonly Source[],
    planned: ReadonlyMap<string, Planned[]>,
    signal: AbortSignal,
  ): Promise<OutboxRow[]> {
    const { pool, equipment, hooks } = this.options
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
      await equipment.store(collection.store).remove(name, ids)
    } catch (error) {
      if (!isAway(error)) throw error
      this.breakerOf(name).failed(reasonOf(error))
      return late
    }
    await hooks.boundary?.('removed')
    await pointsGone(pool, name, ids)
    return []
  }

  /**
   * What a worker wrote too late goes with its tombstone, for good; what somebody wants again by now is written again. No row of the
   * outbox is touched: of units that are current nothing changes. Answers how many tombstones went.
   */
  async purge(collections: readonly Collection[], limit: number): Promise<number> {
    const { pool, equipment, log } = this.options
    let gone = 0
    for (const collection of collections) {
      const { collection: name, store } = collection
      const ids = await oldTombstones(pool, name, limit)
      if (ids.length === 0 || !(await this.ensure(collection))) continue
      try {
        await equipment.store(store).remove(name, ids)
      } catch (error) {
        if (!isAway(error)) throw error
        log.warn({ collection: name, reason: reasonOf(error) }, 'deleted points stay in the store for now')
        continue
      }
      gone += await pointsGone(pool, name, ids)
    }
    return gone
  }

  private async fail(failed: ReadonlyMap<OutboxRow, string>): Promise<void> {
    const { pool, worker, log, hooks } = this.options
    const dead = await failRows(pool, worker, failed)
    for (const [row, reason] of failed) {
      const { outbox_id, unit_id, document_id } = row
      log.warn({ outbox_id, unit_id, document_id, reason }, 'this could not be put into search')
    }
    hooks.failed?.(failed.size, dead)
  }

  private async wait(rows: readonly OutboxRow[], active: Collection | undefined): Promise<void> {
    const { pool, worker } = this.options
    const breaker = active && this.breakerOf(active.collection)
    const afterMs = Math.max(LEAST_WAIT_MS, breaker?.remainingMs ?? 0)
    await releaseRows(pool, worker, rows, Math.min(afterMs, 3_600_000), breaker?.reason)
  }
}

function activeOf(collections: readonly Collection[]): Collection | undefined {
  return collections.find(({ state }) => state === 'active')
}

function itemsOf(source: Source, planned: readonly Planned[], collection: string): ToWrite<OutboxRow>[] {
  const { row, chunks = [] } = source
  return planned
    .filter((one) => one.action === 'embed' && one.collection === collection)
    .map(({ chunk_id, position }) => ({
      owner: row,
      id: chunk_id!,
      text: chunks[position! - 1]!.text,
      payload: {
        unit_id: row.unit_id!,
        unit_version_id: source.unit_version_id!,
        canonical_address: source.canonical_address!,
        content_hash_at_embedding: source.content_hash,
        workspace_id: source.workspace_id,
        chunk: position!,
      },
    }))
}

function grouped(planned: readonly Planned[]): Map<string, Planned[]> {
  const byRow = new Map<string, Planned[]>()
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

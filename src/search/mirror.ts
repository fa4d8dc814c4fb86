/**
 * The vectors of a collection, mirrored into the process: SQL takes 868 ms for what takes 12 ms here (20,000 × 256).
 *
 * Changes are read by snapshot difference (docs/decisions/0002): transactions end in another order than they begin, so
 * "newer than my last" would miss those that end late. What was removed is told by a tombstone; they are swept after ten
 * minutes, so a mirror that has not looked for five is read again from the start.
 */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { floatsOf } from './embedders/lsa/model.ts'
import { MirrorBlock } from './mirror-block.ts'
import type { Near, NearestOptions } from './stores/store.ts'

/** A million chunks of 256 numbers: a gigabyte. */
const MOST_NUMBERS = 256_000_000
const FORGETFUL_MS = 5 * 60_000
const PAGE = 5_000
/** Changes that are read at once; more are read as pages, from the start. */
const MOST_CHANGES = 50_000

export interface MirrorOptions {
  readonly db: Queryable
  readonly collection: string
  readonly mostNumbers?: number
  /** Milliseconds that only go forward. */
  readonly now?: () => number
}

/** Blocks by workspace, and in which of them a chunk is. */
interface Held {
  readonly blocks: Map<string, MirrorBlock>
  readonly blockOf: Map<string, MirrorBlock>
}

interface Row {
  chunk_id: string
  workspace_id: string | null
  vector: Buffer | null
}

export class Mirror {
  private readonly options: MirrorOptions
  private readonly now: () => number
  private held: Held = { blocks: new Map(), blockOf: new Map() }
  private seen: string | undefined
  private lookedAt = 0
  private reading: Promise<void> | undefined
  private waiting: Promise<void> | undefined

  constructor(options: MirrorOptions) {
    this.options = options
    this.now = options.now ?? (() => performance.now())
  }

  /** When it last looked: one that nobody asks costs only memory. */
  get idleMs(): number {
    return this.now() - this.lookedAt
  }

  get size(): number {
    return this.held.blockOf.size
  }

  /** What was committed before the call is found. */
  async nearest(vector: Float32Array, { workspace, limit, only, signal }: NearestOptions): Promise<Near[]> {
    await this.refresh()
    signal?.throwIfAborted()
    return this.held.blocks.get(workspace)?.nearest(vector, limit, only) ?? []
  }

  async vectors(ids: readonly string[]): Promise<Map<string, Float32Array>> {
    await this.refresh()
    return new Map(
      ids.flatMap((id) => {
        const vector = this.held.blockOf.get(id)?.vector(id)
        return vector ? [[id, vector] as const] : []
      }),
    )
  }

  /** A read under way may have begun before the caller's commit: who comes during one waits for the next, all for the same. */
  private refresh(): Promise<void> {
    if (this.reading === undefined) return this.begin()
    this.waiting ??= this.reading.catch(() => {}).then(() => this.begin())
    return this.waiting
  }

  private begin(): Promise<void> {
    this.waiting = undefined
    this.reading = this.read().finally(() => {
      this.reading = undefined
    })
    return this.reading
  }

  private async read(): Promise<void> {
    const startedAt = this.now()
    const told =
      this.seen === undefined || this.idleMs > FORGETFUL_MS ? undefined : await this.changes(this.seen)
    if (told === undefined) await this.reload()
    else {
      for (const row of told.rows) this.apply(row, this.held)
      this.seen = told.seen
    }
    this.lookedAt = startedAt
  }

  /** One statement, so one snapshot: what it does not see, the next window brings. Nothing where there is too much. */
  private async changes(seen: string): Promise<{ seen: string; rows: Row[] } | undefined> {
    const { rows } = await this.options.db.query<Row & { seen: string; chunk_id: string | null }>(
      `select s.now::text as seen, p.chunk_id, p.workspace_id, p.vector
         from (select pg_current_snapshot() as now) as s
         left join lateral (
           select p.chunk_id, p.vector, u.workspace_id
             from iu_core.search_point p
             left join iu_core.information_unit u using (unit_id)
            where p.collection = $1
              and (p.tx >= pg_snapshot_xmax($2::pg_snapshot) or p.tx = any (array(select pg_snapshot_xip($2::pg_snapshot))))
            limit $3) as p on true`,
      [this.options.collection, seen, MOST_CHANGES + 1],
    )
    if (rows.length > MOST_CHANGES) return undefined
    return { seen: rows[0]!.seen, rows: rows.filter(({ chunk_id }) => chunk_id !== null) }
  }

  /** The snapshot first, then the pages: what changes while they are read comes again with the next window. */
  private async reload(): Promise<void> {
    const { db, collection } = this.options
    const held: Held = { blocks: new Map(), blockOf: new Map() }
    this.seen = undefined
    const { rows: begun } = await db.query<{ seen: string; points: number; bytes: number }>(
      `select pg_current_snapshot()::text as seen, count(*)::integer as points, coalesce(max(length(vector)), 0) as bytes
         from iu_core.search_point where collection = $1 and vector is not null`,
      [collection],
    )
    // Before a gigabyte is read in vain.
    this.refuseTooMany(begun[0]!.points, begun[0]!.bytes / 4)
    for (let after: string | null = null; ; ) {
      const { rows }: { rows: Row[] } = await db.query<Row>(
        `select p.chunk_id, p.vector, u.workspace_id
           from iu_core.search_point p
           join iu_core.information_unit u using (unit_id)
          where p.collection = $1 and p.vector is not null and ($2::uuid is null or p.chunk_id > $2)
          order by p.chunk_id limit $3`,
        [collection, after, PAGE],
      )
      for (const row of rows) this.apply(row, held)
      if (rows.length < PAGE) break
      after = rows.at(-1)!.chunk_id
    }
    this.held = held
    this.seen = begun[0]!.seen
  }

  private apply({ chunk_id, workspace_id, vector }: Row, { blocks, blockOf }: Held): void {
    if (vector === null || workspace_id === null) {
      blockOf.get(chunk_id)?.remove(chunk_id)
      blockOf.delete(chunk_id)
      return
    }
    const numbers = floatsOf(vector)
    if (!blockOf.has(chunk_id)) this.refuseTooMany(blockOf.size + 1, numbers.length)
    const block = blocks.get(workspace_id) ?? new MirrorBlock(numbers.length)
    blocks.set(workspace_id, block)
    blockOf.set(chunk_id, block)
    block.put(chunk_id, numbers)
  }

  private refuseTooMany(points: number, dimension: number): void {
    const { collection, mostNumbers = MOST_NUMBERS } = this.options
    if (points * dimension <= mostNumbers) return
    const most = Math.floor(mostNumbers / dimension)
    throw new StagedoorError('store_not_configured', {
      store: 'postgres',
      reason: `${collection} has more than ${most} vectors of ${dimension} numbers, too many to mirror into a process; use pgvector or qdrant`,
    })
  }
}

/**
 * The mirror: all vectors of a collection in memory, because SQL takes 868 ms for a search that takes 1 ms here (20,000 × 256).
 *
 * Changes are read by snapshot difference (docs/decisions/0002): transactions end in another order than they begin, so "newer than
 * my last" would miss those that end late. After a failover that lost the last commits transaction ids are used again, so a
 * snapshot counts only on sessions of the history that it was taken on. Removed points leave a tombstone, which is purged after ten
 * minutes; a mirror that is older than five minutes is therefore reloaded from the start.
 */
import { StagedoorError } from '../../../kernel/errors.ts'
import type { Pool, Queryable } from '../../../kernel/postgres/connection.ts'
import { historyOf } from '../../../kernel/postgres/history.ts'
import { ThreadLost } from '../../../runtime/worker-thread.ts'
import { floatsOf } from '../../embedders/embedder.ts'
import {
  type NearestOptions,
  type NearestPoint,
  openForStore,
  type ReadOptions,
  StoreUnavailable,
  withStoreErrors,
} from '../store.ts'
import { openScanner, type PackedVectors, type ScanCommands, type Scanner } from './scanner.ts'

/** A million chunks of 256 numbers: half a gigabyte. */
const MAX_MIRRORED_NUMBERS = 256_000_000
const MAX_UNUSED_MS = 5 * 60_000
/** Rows and numbers of a page: the process decodes it at once, in a few milliseconds. */
const PAGE_ROWS = 2_500
const PAGE_NUMBERS = 500_000
/** Changes that are read at once; more are read as pages, from the start. */
const MAX_CHANGES = 50_000
/** A thread that ends is replaced; one that ends every time is an outage. */
const MAX_ATTEMPTS = 3

interface MirrorOptions {
  readonly db: Queryable & Partial<Pick<Pool, 'connect'>>
  readonly collection: string
  readonly maxNumbers?: number | undefined
  /** A monotonic clock in milliseconds; `asOf` is on the same. */
  readonly now?: (() => number) | undefined
  readonly openScanner?: (() => Scanner) | undefined
}

/** One without a chunk says that nothing has changed. */
interface ChangedRow {
  readonly seen: string
  readonly chunk_id: string | null
  readonly workspace_id: string | null
  readonly vector: Buffer | null
}

interface PageRow {
  readonly points: number
  readonly last: string | null
  readonly ids: string
  readonly workspaces: string
  readonly vectors: Buffer
}

export class Mirror {
  private readonly options: MirrorOptions
  private readonly now: () => number
  private scanner: Scanner | undefined
  private dimension: number | undefined
  private seen: string | undefined
  /** The history of the database that `seen` is of. */
  private history: string | undefined
  private refreshedAt = Number.NEGATIVE_INFINITY
  private usedAt: number
  private closed = false
  private reading: Promise<void> | undefined
  private readingSince = Number.NEGATIVE_INFINITY
  private waiting: Promise<void> | undefined

  constructor(options: MirrorOptions) {
    this.options = options
    this.now = options.now ?? (() => performance.now())
    this.usedAt = this.now()
  }

  /** Since the last question. */
  get unusedMs(): number {
    return this.now() - this.usedAt
  }

  /** Finds everything that was committed before the call, or before `asOf`. */
  async nearest(vector: Float32Array, options: NearestOptions): Promise<NearestPoint[]> {
    const { workspace, limit, only } = options
    return this.ask(
      'nearest',
      { workspace, vector, limit, ...(only !== undefined && { only }) },
      options,
      vector.length,
    )
  }

  async vectors(ids: readonly string[], options: ReadOptions = {}): Promise<Map<string, Float32Array>> {
    return this.ask('vectors', { ids }, options)
  }

  /** A running read may have begun before the caller's commit: callers during a read share the next one. */
  refresh(asOf = this.now()): Promise<void> {
    if (this.reading === undefined)
      return this.seen !== undefined && this.refreshedAt >= asOf ? Promise.resolve() : this.begin()
    if (this.readingSince >= asOf) return this.reading
    this.waiting ??= this.reading.catch(() => {}).then(() => this.begin())
    return this.waiting
  }

  /** For good: gives the memory and the thread back. */
  async close(): Promise<void> {
    this.closed = true
    const { scanner } = this
    this.forget()
    await scanner?.close()
  }

  private async ask<Kind extends keyof ScanCommands>(
    kind: Kind,
    asked: ScanCommands[Kind]['asked'],
    { asOf = this.now(), signal }: ReadOptions,
    dimension?: number,
  ): Promise<ScanCommands[Kind]['answer']> {
    this.usedAt = this.now()
    for (let attempt = 1; ; attempt++) {
      if (this.closed) throw new StoreUnavailable('The mirror of the vectors is closed')
      try {
        await this.refresh(asOf)
        signal?.throwIfAborted()
        this.requireDimension(dimension)
        return await this.run(this.scanner, kind, asked)
      } catch (error) {
        if (!(error instanceof ThreadLost)) throw error
        if (attempt < MAX_ATTEMPTS) continue
        throw new StoreUnavailable('The thread that searches vectors ends again and again', { cause: error })
      }
    }
  }

  /** A scanner that is lost takes what it held with it: the next refresh loads another one. */
  private async run<Kind extends keyof ScanCommands>(
    scanner: Scanner | undefined,
    kind: Kind,
    asked: ScanCommands[Kind]['asked'],
  ): Promise<ScanCommands[Kind]['answer']> {
    if (scanner === undefined) throw new ThreadLost('The scanner was given up meanwhile')
    try {
      return await scanner.run(kind, asked)
    } catch (error) {
      if (this.scanner === scanner) this.forget()
      if (error instanceof ThreadLost) throw error
      // Such as no memory for a page: what was held is incomplete.
      await scanner.close()
      throw new StoreUnavailable('The vectors could not be searched in memory', { cause: error })
    }
  }

  private forget(): void {
    this.scanner = undefined
    this.seen = undefined
    this.dimension = undefined
  }

  private begin(): Promise<void> {
    this.waiting = undefined
    this.readingSince = this.now()
    this.reading = this.read(this.readingSince).finally(() => {
      this.reading = undefined
    })
    return this.reading
  }

  private async read(startedAt: number): Promise<void> {
    // Asked for before: a thread that is opened now would never be closed.
    if (this.closed) throw new StoreUnavailable('The mirror of the vectors is closed')
    this.scanner ??= (this.options.openScanner ?? openScanner)()
    const { scanner } = this
    await inOneSession(this.options.db, async (db, history) => {
      const isCurrent =
        this.seen !== undefined && this.history === history && this.now() - this.refreshedAt <= MAX_UNUSED_MS
      const seen =
        (isCurrent ? await this.readChanges(db, scanner, this.seen!) : undefined) ??
        (await this.reload(db, scanner))
      // Lost meanwhile: what was read is in no scanner.
      if (this.scanner !== scanner) throw new ThreadLost('The scanner was given up meanwhile')
      this.seen = seen
      this.history = history
    })
    this.refreshedAt = startedAt
  }

  /** One statement, so one snapshot: the next call reads what this one does not see. Undefined if there are too many changes. */
  private async readChanges(db: Queryable, scanner: Scanner, seen: string): Promise<string | undefined> {
    const { rows } = await db.query<ChangedRow>(
      `select s.now::text as seen, p.chunk_id, p.workspace_id, p.vector
         from (select pg_current_snapshot() as now) as s
         left join lateral (
           select p.chunk_id, p.vector, coalesce(u.workspace_id, r.workspace_id) as workspace_id
             from iu_core.search_point p
             left join iu_core.information_unit u using (unit_id)
             left join iu_core.search_row r using (row_id)
            where p.collection = $1
              and (p.tx >= pg_snapshot_xmax($2::pg_snapshot) or p.tx = any (array(select pg_snapshot_xip($2::pg_snapshot))))
            limit $3) as p on true`,
      [this.options.collection, seen, MAX_CHANGES + 1],
    )
    if (rows.length > MAX_CHANGES) return undefined
    const written = rows.filter(isWritten)
    const removed = rows.flatMap((row) => (row.chunk_id === null || isWritten(row) ? [] : [row.chunk_id]))
    if (removed.length > 0) await this.run(scanner, 'remove', { ids: removed })
    if (written.length > 0) await this.put(scanner, packRows(written), written.length)
    return rows[0]!.seen
  }

  /** The snapshot is taken before the pages are read: changes in between are read again by the next `readChanges`. */
  private async reload(db: Queryable, scanner: Scanner): Promise<string> {
    const { collection } = this.options
    this.seen = undefined
    this.dimension = undefined
    const { rows: begun } = await db.query<{ seen: string; points: number; bytes: number }>(
      `select pg_current_snapshot()::text as seen, count(*)::integer as points, coalesce(max(length(vector)), 0) as bytes
         from iu_core.search_point where collection = $1 and vector is not null`,
      [collection],
    )
    const { seen, points, bytes } = begun[0]!
    const dimension = bytes / 4
    this.refuseTooMany(points, dimension)
    await this.run(scanner, 'clear', {})
    const limit = Math.max(1, Math.min(PAGE_ROWS, Math.floor(PAGE_NUMBERS / Math.max(dimension, 1))))
    // The server reads the next page while the thread takes this one.
    let taken: Promise<void> = Promise.resolve()
    for (let after: string | null = null; points > 0; ) {
      const page: { rows: PageRow[] } = await db.query<PageRow>(PAGE_SQL, [collection, after, limit])
      await taken
      const { points: read, last, ids, workspaces, vectors }: PageRow = page.rows[0]!
      if (read === 0) break
      taken = this.put(scanner, { ids, workspaces, numbers: floatsOf(vectors) }, read)
      taken.catch(() => {})
      if (read < limit) break
      after = last
    }
    await taken
    return seen
  }

  private async put(scanner: Scanner, vectors: PackedVectors, count: number): Promise<void> {
    this.dimension = vectors.numbers.length / count
    this.refuseTooMany(await this.run(scanner, 'put', { vectors }), this.dimension)
  }

  private refuseTooMany(points: number, dimension: number): void {
    const { collection, maxNumbers = MAX_MIRRORED_NUMBERS } = this.options
    if (points * dimension <= maxNumbers) return
    const maxPoints = Math.floor(maxNumbers / dimension)
    throw new StagedoorError('store_not_configured', {
      store: 'postgres',
      reason: `${collection} has more than ${maxPoints} vectors of ${dimension} numbers, too many to mirror into a process; use pgvector or qdrant`,
    })
  }

  private requireDimension(dimension: number | undefined): void {
    if (dimension === undefined || this.dimension === undefined || dimension === this.dimension) return
    throw new StagedoorError('argument_invalid', {
      reason: `A vector of ${dimension} numbers does not fit a collection of ${this.dimension}`,
    })
  }
}

/** One row for a page: a row for each point takes the driver five times as long. The aggregates read the same rows in the same order. */
const PAGE_SQL = `
  select count(*)::integer as points, max(x.id) as last, string_agg(x.id, '') as ids,
         string_agg(x.workspace_id::text, '') as workspaces, string_agg(x.vector, ''::bytea) as vectors
    from (select p.chunk_id::text collate "C" as id, coalesce(u.workspace_id, r.workspace_id) as workspace_id, p.vector
            from iu_core.search_point p
            left join iu_core.information_unit u using (unit_id)
            left join iu_core.search_row r using (row_id)
           where p.collection = $1 and p.vector is not null and coalesce(u.workspace_id, r.workspace_id) is not null and ($2::uuid is null or p.chunk_id > $2)
           order by p.chunk_id limit $3) as x`

type WrittenRow = ChangedRow & {
  readonly chunk_id: string
  readonly workspace_id: string
  readonly vector: Buffer
}

const isWritten = (row: ChangedRow): row is WrittenRow => row.vector !== null && row.workspace_id !== null

function packRows(rows: readonly WrittenRow[]): PackedVectors {
  return {
    ids: rows.map(({ chunk_id }) => chunk_id).join(''),
    workspaces: rows.map(({ workspace_id }) => workspace_id).join(''),
    numbers: floatsOf(Buffer.concat(rows.map(({ vector }) => vector))),
  }
}

/** A session sees one history of the database as long as it lives. */
async function inOneSession(
  db: MirrorOptions['db'],
  work: (db: Queryable, history: string | undefined) => Promise<void>,
): Promise<void> {
  if (db.connect === undefined) return work(db, undefined)
  const client = await openForStore(db as Pool)
  try {
    await work(withStoreErrors(client), historyOf(client))
  } finally {
    client.release()
  }
}

/**
 * The search worker: claims due rows of the outbox, projects them, and maintains collections meanwhile. Idle, it waits for a
 * wake-up or the next poll. `drainOutbox` runs one until nothing of a workspace is due.
 */
import { randomUUID } from 'node:crypto'
import pino, { type Logger } from 'pino'
import { type Pool, watchHistory } from '../kernel/postgres/connection.ts'
import { isConnectionError, mapConnectionError } from '../kernel/postgres/errors.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import type { BreakerOptions } from '../runtime/breaker.ts'
import { guardHooks } from '../runtime/hooks.ts'
import { PeriodicTasks } from '../runtime/periodic-tasks.ts'
import { Wake } from '../runtime/wake.ts'
import { openWakeups, type Wakeups } from '../runtime/wakeups.ts'
import {
  backfillCollection,
  type Collection,
  deleteRetired,
  ensureFirstCollection,
  liveCollections,
  refit,
} from './collections.ts'
import {
  claimRows,
  msUntilDue,
  type OutboxRow,
  readGates,
  reanalyse,
  releaseRows,
  SEARCH_GATES_SQL,
  type SearchGates,
} from './outbox.ts'
import { Projection, type ProjectionHooks, type TextStages } from './projection.ts'
import { failureReason, type SearchProviders } from './providers.ts'
import { collectChanges, type ScanProgress, verifyTables } from './table-rows.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export interface SearchWorkerOptions {
  /** Sessions as vector_worker, three at least. */
  readonly pool: Pool
  /** A direct connection for wake-ups, shared with whatever of this process names the same. Without it the worker finds due rows by polling alone. */
  readonly listenUrl?: string
  /** The caller closes them. */
  readonly providers: SearchProviders
  /** Rows per claim; default 100, and more of short texts while there is a backlog. */
  readonly batch?: number
  /** A claimed row that is not finished by then can be claimed by another worker; default 2 minutes, at most 10. */
  readonly leaseMs?: number
  /** How often to look for due rows without a notification; default 30 s. */
  readonly pollMs?: number
  /** How often collections are maintained; default 30 s. */
  readonly collectionsPollMs?: number
  /** False: this worker fits no LSA models. */
  readonly fitModels?: boolean
  readonly breaker?: BreakerOptions
  readonly log?: Logger
  readonly hooks?: ProjectionHooks
}

export interface SearchWorker {
  readonly id: string
  health(): HealthCheck
  /** Claims nothing new and finishes what runs. Every call returns the same promise. */
  stop(): Promise<void>
}

const POLL_MS = 30_000
const COLLECTIONS_POLL_MS = 30_000
const LEASE_MS = 120_000
const TABLES_VERIFY_MS = 10_000
const BATCH = 100
/** A word that many texts of a batch have is counted once: 400 rows take half the time for each of 100, 800 a twentieth less. */
const MAX_BATCH = 800
/**
 * Up to three batches are under way, whose texts are in memory: the vectors of one are written, the texts of the next, and the one after that
 * is read. Batches grow to a third of this many characters; after a longer one (of 100 long texts) no other is claimed before it is finished.
 */
const MAX_CHARACTERS_UNDER_WAY = 6_000_000
const MAX_BATCH_CHARACTERS = MAX_CHARACTERS_UNDER_WAY / 3
const RETRY_MS = 200
const MAX_RETRY_MS = 10_000
/** Share of the lease after which the worker writes nothing any more. */
const LEASE_SAFE_SHARE = 0.8
/** Due rows that could not be claimed are locked by another worker: poll again soon. */
const MIN_IDLE_MS = 1000

/** Throws if the database is unreachable or refuses. After that the worker retries by itself. */
export async function startSearchWorker(options: SearchWorkerOptions): Promise<SearchWorker> {
  const worker = new RunningSearchWorker(options)
  await worker.start()
  return worker
}

interface Batch {
  readonly rows: number
  /** More rows may be due. */
  readonly isFull: boolean
  /** Resolves when its texts are read, with their characters. */
  readonly characters: Promise<number>
  /** Resolves when its texts are written. */
  readonly texts: Promise<void>
  readonly projected: Promise<void>
}

const NO_BATCH: Batch = {
  rows: 0,
  isFull: false,
  characters: Promise.resolve(0),
  texts: Promise.resolve(),
  projected: Promise.resolve(),
}

class RunningSearchWorker implements SearchWorker {
  readonly id = randomUUID()
  private readonly options: SearchWorkerOptions
  private readonly log: Logger
  private readonly hooks: ProjectionHooks
  private readonly projection: Projection
  private readonly wake = new Wake()
  private readonly collectionsWake = new Wake()
  private readonly tasks: PeriodicTasks
  private readonly stopping = new AbortController()
  private wakeups: Wakeups | undefined
  private unwatchHistory = (): void => {}
  private loops: Promise<unknown> = Promise.resolve()
  private collections: readonly Collection[] = []
  /** The batch whose texts are being written, while the next one is claimed and read. */
  private current: Batch = NO_BATCH
  /** The vectors of the batch before, which are written while the texts of the current one are. */
  private behind: Promise<void> = Promise.resolve()
  private batch: number
  private gates: SearchGates | undefined
  private lastError: string | undefined
  private nextVerification = 0
  /** Collections whose unreachable store was logged already. */
  private readonly reportedStores = new Set<string>()
  private stopped: Promise<void> | undefined
  /** Chunks up to this number have been looked at for an older analysis of their words; undefined: all. */
  private reanalysedTo: number | undefined = 0

  constructor(options: SearchWorkerOptions) {
    this.options = options
    this.batch = options.batch ?? BATCH
    this.log = options.log ?? pino({ level: 'silent' })
    const { boundary, ...metrics } = options.hooks ?? {}
    this.hooks = { ...guardHooks(metrics, this.log), ...(boundary && { boundary }) }
    this.tasks = new PeriodicTasks(this.log)
    this.projection = new Projection({
      pool: options.pool,
      worker: this.id,
      providers: options.providers,
      log: this.log,
      hooks: this.hooks,
      ...(options.breaker && { breaker: options.breaker }),
    })
  }

  async start(): Promise<void> {
    this.unwatchHistory = watchHistory(this.options.pool, () => {
      this.projection.forget()
      this.wake.now()
    })
    try {
      await ensureFirstCollection(this.options.pool)
      await this.refresh()
    } catch (error) {
      this.unwatchHistory()
      throw mapConnectionError(error)
    }
    this.wakeups = this.openWakeups()
    this.tasks.every(this.options.collectionsPollMs ?? COLLECTIONS_POLL_MS, async () =>
      this.collectionsWake.now(),
    )
    this.loops = Promise.all([this.projectUntilStopped(), this.maintainUntilStopped()])
  }

  health(): HealthCheck {
    const name = 'search'
    if (this.stopping.signal.aborted) return { name, ok: false, detail: 'stopping' }
    if (this.lastError !== undefined) return { name, ok: false, detail: this.lastError }
    if (this.gates?.excluded === false) {
      return {
        name,
        ok: false,
        detail: 'indexing is off: the gate iu_core.no_vector_staging_excluded is closed or missing',
      }
    }
    const outage = this.projection.outage(this.collections)
    // Keyword search works meanwhile, and vectors catch up by themselves.
    if (outage !== undefined)
      return { name, ok: true, detail: `keyword search only, vectors will catch up: ${outage}` }
    const phase = this.gates?.phase_1 === false ? '; units are not indexed before phase 1' : ''
    return { name, ok: true, detail: `indexing into ${names(this.collections)}${phase}` }
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  private async shutDown(): Promise<void> {
    this.stopping.abort()
    this.wake.now()
    this.collectionsWake.now()
    this.tasks.stop()
    await this.loops
    this.unwatchHistory()
    await this.wakeups?.close()
  }

  private async projectUntilStopped(): Promise<void> {
    for (let retryMs = RETRY_MS; !this.stopping.signal.aborted; ) {
      try {
        await this.projectOnce()
        retryMs = RETRY_MS
        this.lastError = undefined
      } catch (error) {
        this.lastError = (error as Error).message
        const level = isConnectionError(error) ? 'warn' : 'error'
        this.log[level]({ err: error }, 'search projection failed; will be retried')
        await this.wake.wait(retryMs * (0.5 + Math.random()))
        retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)
      }
    }
    for (const last of [this.behind, this.current.projected])
      await last.catch((error) => this.log.warn({ err: error }, 'the last batch was not projected'))
  }

  private async projectOnce(): Promise<void> {
    const { pool, leaseMs = LEASE_MS, pollMs = POLL_MS } = this.options
    await this.refresh()
    const { gates } = this
    if (!gates?.excluded) return this.wake.wait(pollMs)
    await this.fitBatch()
    const scans = await collectChanges(pool, this.log)
    // Started before the claim, so it ends before the lease of the database does.
    const signal = AbortSignal.timeout(leaseMs * LEASE_SAFE_SHARE)
    const rows = await claimRows(pool, this.id, { limit: this.batch, leaseMs })
    if (rows.length === 0) {
      await this.finishAll()
      return scans === 'busy' ? undefined : this.idle(gates, scans)
    }
    this.hooks.onClaim?.(rows.length)
    await this.hooks.boundary?.('claimed')
    await this.finishCurrent(this.startBatch(rows, gates, signal))
  }

  /** Its texts are read at once, and written after those of the current batch. */
  private startBatch(rows: readonly OutboxRow[], gates: SearchGates, signal: AbortSignal): Batch {
    const { texts: afterTexts } = this.current
    let projected = Promise.resolve()
    let read: Promise<number> | undefined
    const written = new Promise<void>((onText) => {
      read = new Promise((onRead) => {
        projected = this.projectRows(rows, gates, signal, { afterTexts, onRead, onText })
      })
    })
    // finishCurrent throws its error, when the texts of the next batch are written.
    projected.catch(() => {})
    const texts = Promise.race([written, projected])
    texts.catch(() => {})
    const characters = Promise.race([read!, projected.then(() => 0)]).catch(() => 0)
    return { rows: rows.length, isFull: rows.length === this.batch, characters, texts, projected }
  }

  /** Waits until the texts of the current batch and the vectors of the one before are written. */
  private async finishCurrent(next: Batch): Promise<void> {
    const { current, behind } = this
    const [, before] = await Promise.allSettled([current.texts, behind])
    this.current = next
    this.behind = current.projected
    if (before.status === 'rejected') throw before.reason
  }

  private async finishAll(): Promise<void> {
    await this.finishCurrent(NO_BATCH)
    await this.finishCurrent(NO_BATCH)
  }

  /** The next batch is larger while there is a backlog of short texts; it waits for a batch of very long ones. */
  private async fitBatch(): Promise<void> {
    const { rows, isFull } = this.current
    const characters = await this.current.characters
    const grows = isFull && 2 * characters <= MAX_BATCH_CHARACTERS
    // Before what may fail: a large batch claimed after an error may be one of long texts.
    if (this.options.batch === undefined) this.batch = grows ? Math.min(2 * rows, MAX_BATCH) : BATCH
    if (characters > MAX_BATCH_CHARACTERS) await this.finishAll()
  }

  private async projectRows(
    rows: readonly OutboxRow[],
    gates: SearchGates,
    signal: AbortSignal,
    stages: TextStages,
  ): Promise<void> {
    const { pool } = this.options
    const began = performance.now()
    try {
      const { done, waiting } = await this.projection.project(rows, gates, signal, stages)
      if (done > 0) this.hooks.onDone?.(done, performance.now() - began)
      if (waiting > 0) this.hooks.onWaiting?.(waiting)
      if (done > 0) this.collectionsWake.now()
    } catch (error) {
      // A bug, or the database is unreachable: release the rows, so that nobody has to wait for the lease.
      await releaseRows(pool, this.id, rows, { afterMs: 10_000, reason: failureReason(error) }).catch(
        () => {},
      )
      throw error
    }
  }

  /** Nothing is due: purges old tombstones, then waits. */
  private async idle(gates: SearchGates, scans: ScanProgress): Promise<void> {
    const { pool, batch = BATCH, pollMs = POLL_MS } = this.options
    const isOut = this.projection.outage(this.collections) !== undefined
    if (!isOut && (await this.projection.purge(this.collections, batch)) > 0) return
    const dueMs = scans === 'waiting' ? MIN_IDLE_MS : ((await msUntilDue(pool, gates)) ?? pollMs)
    await this.wake.wait(Math.min(pollMs, dueMs > 0 ? dueMs : MIN_IDLE_MS))
  }

  private async refresh(): Promise<void> {
    const { pool } = this.options
    this.gates = await readGates(pool)
    this.collections = await liveCollections(pool)
  }

  /** Runs concurrently with the projection, in steps: a backfill takes long, and units are projected meanwhile. */
  private async maintainUntilStopped(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const more = await this.maintainCollections().catch((error) => {
        this.log.warn({ err: error }, 'maintenance of search collections failed; will be retried')
        return false
      })
      if (!more) await this.collectionsWake.wait()
    }
  }

  /** Answers whether there is more to do at once. */
  private async maintainCollections(): Promise<boolean> {
    const { pool, providers } = this.options
    const { signal } = this.stopping
    if (!(await readGates(pool)).excluded) return false
    await this.verifyTables()
    if (this.reanalysedTo !== undefined) {
      this.reanalysedTo = await reanalyse(pool, this.reanalysedTo)
      if (this.reanalysedTo !== undefined) return true
    }
    const building = (await liveCollections(pool)).find(({ state }) => state === 'building')
    if (building) {
      const result = await backfillCollection(
        { pool, providers, projection: this.projection, hooks: this.hooks, log: this.log },
        building,
        signal,
      )
      if (result === 'switched')
        this.log.info({ collection: building.collection }, 'search switched to the new collection')
      return result === 'more'
    }
    const cleared = await deleteRetired(pool, providers, (collection, error) => {
      if (this.reportedStores.has(collection)) return
      this.reportedStores.add(collection)
      this.log.warn(
        { collection, reason: failureReason(error) },
        'a retired collection could not be deleted from its store',
      )
    })
    if (cleared > 0) this.log.info({ collections: cleared }, 'retired collections deleted')
    if (this.options.fitModels === false) return false
    const fitted = await refit(pool, signal)
    if (fitted !== undefined) this.log.info({ collection: fitted }, 'fitted a new LSA model')
    return fitted !== undefined
  }

  /** Tables of the user may have changed: at most once in a while, because a backfill comes here for every step. */
  private async verifyTables(): Promise<void> {
    if (performance.now() < this.nextVerification) return
    this.nextVerification = performance.now() + TABLES_VERIFY_MS
    for (const { code, finding } of await verifyTables(this.options.pool)) {
      this.log.warn({ table: code, finding }, 'a table in search has changed')
      this.wake.now()
    }
  }

  private openWakeups(): Wakeups | undefined {
    const { listenUrl } = this.options
    if (listenUrl === undefined) return undefined
    const wakeBoth = (): void => {
      this.wake.now()
      this.collectionsWake.now()
    }
    const wakeups = openWakeups(listenUrl, this.log)
    wakeups.on('search', wakeBoth)
    wakeups.onChange(() => {
      if (wakeups.works) wakeBoth()
    })
    return wakeups
  }
}

function names(collections: readonly Collection[]): string {
  return collections.map(({ collection }) => collection).join(' and ') || 'nothing yet'
}

export interface RemainingWork {
  /** Due rows. */
  readonly due: number
  /** Rows that are not due: inside the quiet window, before a retry, during an outage, or behind a closed gate or phase. */
  readonly waiting: number
  /** The error of the embedder or the store. */
  readonly outage: string | null
  /** Which gate or phase holds rows back, and how it is opened. */
  readonly closed: string | null
}

interface DrainDeps {
  readonly pool: Pool
  readonly workspace: string
  readonly startWorker: () => Promise<SearchWorker>
  readonly onProgress?: (done: number, of: number) => void
}

const DRAIN_POLL_MS = 100

/**
 * Projects in this process until nothing of the workspace is due any more, also where no server runs. Rows that wait for an outage
 * to end or for a gate to open are not due.
 */
export async function drainOutbox({
  pool,
  workspace,
  startWorker,
  onProgress,
}: DrainDeps): Promise<RemainingWork> {
  let left = await countRemaining(pool, workspace)
  const total = left.due
  if (total === 0) return left
  const worker = await startWorker()
  try {
    while (left.due > 0) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
      left = await countRemaining(pool, workspace)
      onProgress?.(Math.max(0, total - left.due), total)
    }
    return left
  } finally {
    await worker.stop()
  }
}

interface RemainingRow extends Omit<RemainingWork, 'closed'> {
  readonly behind_gate: number
  readonly behind_phase: number
}

/** Tables of a workspace whose rows are being read, unless they wait for whoever writes them. */
const SCANS_SQL = `
  select count(*)::integer from iu_core.search_table t
   where (t.workspace_id = $1 or t.workspace_column is not null) and t.state in ('active', 'removed')
     and (t.scan_state in ('scanning', 'sweeping') or t.scan_state = 'waiting' and coalesce(t.scan_blockers, '{}') = '{}')`

/** Due means claimable by fn_vector_claim. Rows under a lease count too: their worker finishes them even if a gate closes. */
async function countRemaining(pool: Pool, workspace: string): Promise<RemainingWork> {
  const { rows } = await pool.query<RemainingRow>(
    `select count(*) filter (where d.due)::integer + (${SCANS_SQL}) as due, count(*) filter (where not d.due)::integer as waiting,
            max(o.last_error) filter (where o.retry_count = 0) as outage,
            count(*) filter (where not d.due and not g.excluded)::integer as behind_gate,
            count(*) filter (where not d.due and not p.open)::integer as behind_phase
       from (${SEARCH_GATES_SQL}) as g
      cross join iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document k on k.document_id = o.document_id
       left join iu_core.search_row r on r.row_id = o.row_id
      cross join lateral (select g.phase_1 or o.unit_id is null or o.operation = 'delete' as open) as p
      cross join lateral (select o.status = 'processing' and o.leased_until > clock_timestamp()
                                 or g.excluded and p.open and (o.status = 'processing' or o.earliest_run_at <= clock_timestamp()) as due) as d
      where o.status in ('pending', 'processing') and coalesce(u.workspace_id, k.workspace_id, r.workspace_id) = $1`,
    [workspace],
  )
  const { behind_gate, behind_phase, ...left } = rows[0]!
  const { excluded, phaseOne } = ANSWER_WARNINGS
  return { ...left, closed: behind_gate > 0 ? excluded : behind_phase > 0 ? phaseOne : null }
}

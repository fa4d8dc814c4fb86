/** Projects units and documents into search: takes what is due, works it off, and rests until something is. */
import { randomUUID } from 'node:crypto'
import pino, { type Logger } from 'pino'
import type { Pool } from '../db/connection.ts'
import { mapConnectionError } from '../db/database-error.ts'
import type { HealthCheck } from '../db/health.ts'
import { harmless } from '../db/hooks.ts'
import { type Listener, listen } from '../db/listen.ts'
import { Repeating } from '../db/repeating.ts'
import { isConnectionError } from '../db/transient.ts'
import { Wake } from '../db/wake.ts'
import type { BreakerOptions } from './breaker.ts'
import { type Collection, liveCollections } from './collections.ts'
import type { Equipment } from './equipment.ts'
import { fillCollection } from './filling.ts'
import type { ProjectionHooks } from './hooks.ts'
import { clearRetired, ensureFirstCollection, refit } from './maintenance.ts'
import { claimRows, type Gates, msUntilDue, readGates, releaseRows } from './outbox.ts'
import { Projection } from './projection.ts'
import { reasonOf } from './reason.ts'

export interface SearchWorkerOptions {
  /** Sessions as vector_worker, three at least. */
  readonly pool: Pool
  /** A direct connection, for notices of what is due at once. Without it polling alone finds it. */
  readonly listenUrl?: string
  /** Not closed by the worker. */
  readonly equipment: Equipment
  /** Rows a claim; default 100. */
  readonly batch?: number
  /** After this long a silent worker's rows go to others; default 2 minutes, at most 10. */
  readonly leaseMs?: number
  /** How often to look without a notice; default 30 s. */
  readonly pollMs?: number
  /** How often collections are looked after; default 30 s. */
  readonly careMs?: number
  /** False: it fits no models, whatever there is to learn from. */
  readonly fits?: boolean
  readonly breaker?: BreakerOptions
  readonly log?: Logger
  readonly hooks?: ProjectionHooks
}

export interface SearchWorker {
  readonly id: string
  health(): HealthCheck
  /** Begins nothing new, lets what runs end, and leaves. The same promise however often it is called. */
  stop(): Promise<void>
}

const POLL_MS = 30_000
const CARE_MS = 30_000
const LEASE_MS = 120_000
const BATCH = 100
const RETRY_MS = 200
const LONGEST_RETRY_MS = 10_000
/** Of a lease: whoever is not done by then writes nothing any more. */
const SAFE_PART = 0.8
/** What is due and could not be claimed is in somebody else's hands just now. */
const LEAST_REST_MS = 1000

/** Throws when the database cannot be reached or refuses; later the worker goes on by itself. */
export async function startSearchWorker(options: SearchWorkerOptions): Promise<SearchWorker> {
  const worker = new RunningSearchWorker(options)
  await worker.start()
  return worker
}

class RunningSearchWorker implements SearchWorker {
  readonly id = randomUUID()
  private readonly options: SearchWorkerOptions
  private readonly log: Logger
  private readonly hooks: ProjectionHooks
  private readonly projection: Projection
  private readonly wake = new Wake()
  private readonly careWake = new Wake()
  private readonly errands: Repeating
  private readonly stopping = new AbortController()
  private listener: Listener | undefined
  private loops: Promise<unknown> = Promise.resolve()
  private collections: readonly Collection[] = []
  private gates: Gates | undefined
  private trouble: string | undefined
  /** Collections whose store is away, so that it is said once. */
  private readonly left = new Set<string>()
  private stopped: Promise<void> | undefined

  constructor(options: SearchWorkerOptions) {
    this.options = options
    this.log = options.log ?? pino({ level: 'silent' })
    const { boundary, ...measures } = options.hooks ?? {}
    this.hooks = { ...harmless(measures, this.log), ...(boundary && { boundary }) }
    this.errands = new Repeating(this.log)
    this.projection = new Projection({
      pool: options.pool,
      worker: this.id,
      equipment: options.equipment,
      log: this.log,
      hooks: this.hooks,
      ...(options.breaker && { breaker: options.breaker }),
    })
  }

  async start(): Promise<void> {
    try {
      await ensureFirstCollection(this.options.pool)
      await this.look()
    } catch (error) {
      throw mapConnectionError(error)
    }
    this.listener = this.startListening()
    this.errands.every(this.options.careMs ?? CARE_MS, async () => this.careWake.now())
    this.loops = Promise.all([this.workUntilStopped(), this.careUntilStopped()])
  }

  health(): HealthCheck {
    const name = 'search'
    if (this.stopping.signal.aborted) return { name, ok: false, detail: 'stopping' }
    if (this.trouble !== undefined) return { name, ok: false, detail: this.trouble }
    if (this.gates?.excluded === false) {
      const detail = 'nothing is put into search: iu_core.no_vector_staging_excluded is closed or missing'
      return { name, ok: false, detail }
    }
    const outage = this.projection.outage(this.collections)
    // Search answers by its words meanwhile, and catches up by itself.
    if (outage !== undefined) return { name, ok: true, detail: `by words only, vectors wait: ${outage}` }
    const phase = this.gates?.units === false ? '; units wait for phase 1' : ''
    return { name, ok: true, detail: `projected into ${names(this.collections)}${phase}` }
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  private async shutDown(): Promise<void> {
    this.stopping.abort()
    this.wake.now()
    this.careWake.now()
    this.errands.stop()
    await this.loops
    await this.listener?.stop()
  }

  private async workUntilStopped(): Promise<void> {
    for (let retryMs = RETRY_MS; !this.stopping.signal.aborted; ) {
      try {
        await this.workOnce()
        retryMs = RETRY_MS
        this.trouble = undefined
      } catch (error) {
        this.trouble = (error as Error).message
        const level = isConnectionError(error) ? 'warn' : 'error'
        this.log[level]({ err: error }, 'nothing could be put into search; trying again')
        await this.wake.wait(retryMs * (0.5 + Math.random()))
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
      }
    }
  }

  private async workOnce(): Promise<void> {
    const { pool, batch = BATCH, leaseMs = LEASE_MS, pollMs = POLL_MS } = this.options
    await this.look()
    const { gates } = this
    if (!gates?.excluded) return this.wake.wait(pollMs)
    // From before the claim: the database's lease began later than this.
    const signal = AbortSignal.timeout(leaseMs * SAFE_PART)
    const rows = await claimRows(pool, this.id, { limit: batch, leaseMs })
    if (rows.length === 0) return this.rest(gates)
    this.hooks.claimed?.(rows.length)
    await this.hooks.boundary?.('claimed')
    const began = performance.now()
    try {
      const { done, waiting } = await this.projection.project(rows, gates, signal)
      if (done > 0) this.hooks.done?.(done, performance.now() - began)
      if (waiting > 0) this.hooks.waiting?.(waiting)
      if (done > 0) this.careWake.now()
    } catch (error) {
      // A bug, or the database went away: others need not wait for the lease.
      await releaseRows(pool, this.id, rows, 10_000, reasonOf(error)).catch(() => {})
      throw error
    }
  }

  /** Nothing is due: old tombstones go, then it waits. */
  private async rest(gates: Gates): Promise<void> {
    const { pool, batch = BATCH, pollMs = POLL_MS } = this.options
    const isOut = this.projection.outage(this.collections) !== undefined
    if (!isOut && (await this.projection.purge(this.collections, batch)) > 0) return
    const dueMs = (await msUntilDue(pool, gates)) ?? pollMs
    await this.wake.wait(Math.min(pollMs, dueMs > 0 ? dueMs : LEAST_REST_MS))
  }

  private async look(): Promise<void> {
    const { pool } = this.options
    this.gates = await readGates(pool)
    this.collections = await liveCollections(pool)
  }

  /** Beside the work, in steps: filling takes as long as it takes, and units go on being projected. */
  private async careUntilStopped(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const more = await this.careOnce().catch((error) => {
        this.log.warn({ err: error }, 'collections could not be looked after; tried again in a moment')
        return false
      })
      if (!more) await this.careWake.wait()
    }
  }

  private async careOnce(): Promise<boolean> {
    const { pool, equipment } = this.options
    const { signal } = this.stopping
    if (!(await readGates(pool)).excluded) return false
    const building = (await liveCollections(pool)).find(({ state }) => state === 'building')
    if (building) {
      const filled = await fillCollection(
        { pool, equipment, projection: this.projection, hooks: this.hooks, log: this.log },
        building,
        signal,
      )
      if (filled === 'switched') this.log.info({ collection: building.collection }, 'search has switched')
      return filled === 'more'
    }
    const cleared = await clearRetired(pool, equipment, (collection, error) => {
      if (this.left.has(collection)) return
      this.left.add(collection)
      this.log.warn(
        { collection, reason: reasonOf(error) },
        'an old collection could not be taken out of its store',
      )
    })
    if (cleared > 0) this.log.info({ collections: cleared }, 'old collections are gone')
    if (this.options.fits === false) return false
    const fitted = await refit(pool, signal)
    if (fitted !== undefined)
      this.log.info({ collection: fitted }, 'a model was fitted to what units say now')
    return fitted !== undefined
  }

  private startListening(): Listener | undefined {
    const { listenUrl } = this.options
    if (listenUrl === undefined) return undefined
    const both = (): void => {
      this.wake.now()
      this.careWake.now()
    }
    return listen({
      url: listenUrl,
      channels: ['stagedoor_vectors'],
      log: this.log,
      heard: both,
      connected: both,
    })
  }
}

function names(collections: readonly Collection[]): string {
  return collections.map(({ collection }) => collection).join(' and ') || 'nothing yet'
}

/** What a worker claims: from where its last claim ended, and what was lost with an answer. */
import type { Logger } from 'pino'
import type { Pool } from '../kernel/postgres/connection.ts'
import { isConnectionError } from '../kernel/postgres/errors.ts'
import { LEASE_REFUSED, UnansweredClaims } from '../runtime/lease.ts'
import {
  type ClaimCursors,
  type ClaimOptions,
  claimJobs,
  claimJobsById,
  claimSuspect,
  isLeaseLost,
  type WorkerLease,
} from './lease.ts'
import type { ClaimedJob, WorkerHooks } from './worker-types.ts'

/** Claims jobs from where the last claim ended, and makes up for claims whose answer was lost. */
export class Claims {
  private readonly pool: Pool
  private readonly log: Logger
  private readonly hooks: WorkerHooks
  private readonly cursors = new ClaimCursor()
  private readonly unanswered = new UnansweredClaims()

  constructor(pool: Pool, log: Logger, hooks: WorkerHooks) {
    this.pool = pool
    this.log = log
    this.hooks = hooks
  }

  /** A new lease began: claims start from the beginning. */
  reset(): void {
    this.cursors.reset()
    this.unanswered.reset()
  }

  /** Jobs of a claim without an answer are looked for: until then only one claim is under way, or its jobs would be taken for them. */
  get someUnanswered(): boolean {
    return this.unanswered.hasChecks
  }

  /**
   * Fewer than `limit`: there are no more just now. `isPart`: there may be, and the next call finds them. With `held` 0 it may be one suspect.
   */
  async next(
    lease: WorkerLease,
    limit: number,
    begin: number,
    held: number,
  ): Promise<{ jobs: readonly ClaimedJob[]; isPart: boolean }> {
    const began = performance.now()
    await this.unanswered.check(() => this.releaseUntracked(lease))
    if (lease.over) return { jobs: [], isPart: false }
    const after = this.cursors.after
    const jobs = await this.ask(lease, limit, { after, begin, held })
    this.hooks.onClaim?.(jobs.length, performance.now() - began)
    const isAlone = (jobs[0]?.crashes ?? 0) > 0
    const isPart = jobs.length < limit && after !== undefined && !isAlone && !lease.over
    if (!isPart) return { jobs, isPart }
    // Nothing is held up for what the rest brings.
    this.cursors.reset()
    return jobs.length > 0 ? { jobs, isPart } : this.next(lease, limit, begin, held)
  }

  /** Those of these jobs that are free. */
  async byId(lease: WorkerLease, ids: readonly string[]): Promise<readonly ClaimedJob[]> {
    const began = performance.now()
    await this.unanswered.check(() => this.releaseUntracked(lease))
    if (lease.over) return []
    // They may be newer than what waits: the cursors stay.
    const jobs = await this.track(lease, () => claimJobsById(this.pool, lease.worker, ids))
    this.hooks.onClaim?.(jobs.length, performance.now() - began)
    return jobs
  }

  /** One suspect or nothing. */
  async suspect(lease: WorkerLease): Promise<ClaimedJob[]> {
    await this.unanswered.check(() => this.releaseUntracked(lease))
    if (lease.over) return []
    return this.track(lease, () => claimSuspect(this.pool, lease.worker))
  }

  private async ask(lease: WorkerLease, limit: number, options: ClaimOptions): Promise<ClaimedJob[]> {
    const began = performance.now()
    const claim = () => claimJobs(this.pool, lease.worker, limit, { ...options, prepared: true })
    const jobs = await this.track(lease, claim)
    if (options.after === undefined) this.cursors.rescanned(performance.now() - began)
    // A suspect is not from where the others are.
    this.cursors.advance(jobs.filter((job) => job.crashes === 0))
    return jobs
  }

  private async track(lease: WorkerLease, claim: () => Promise<ClaimedJob[]>): Promise<ClaimedJob[]> {
    try {
      const jobs = await claim()
      lease.track(jobs)
      return jobs
    } catch (error) {
      if (isLeaseLost(error)) {
        lease.lose(LEASE_REFUSED)
        return []
      }
      if (isConnectionError(error)) this.unanswered.add()
      throw error
    }
  }

  private async releaseUntracked(lease: WorkerLease): Promise<void> {
    const released = await lease.releaseUntrackedJobs().catch((error) => {
      if (!isLeaseLost(error)) throw error
      lease.lose(LEASE_REFUSED)
      return 0
    })
    if (released > 0) this.log.info({ jobs: released }, 'jobs of a claim whose answer was lost were released')
  }
}

/** Jobs enqueued behind a cursor, or given back, are found by a claim from the start. */
const RESCAN_MS = 1000
/**
 * Of a worker's time, what claims from the start may take, and how rare they become at most. They walk over dead rows: where many workers
 * have made the server slow, claims come less than once a second, and if each began at the start it would stay as slow.
 */
const MAX_RESCAN_SHARE = 0.05
const MAX_RESCAN_MS = 10_000

/**
 * Where claims of each kind and priority ended. The next claim begins there, behind the dead rows of the jobs just claimed: with
 * a snapshot held anywhere they stay in the index, and every claim would walk over all of them.
 */
export class ClaimCursor {
  private places: Record<string, Record<string, ClaimedJob>> = {}
  private rescannedAt = performance.now()
  private rescanMs = RESCAN_MS

  /** Undefined: from the start. */
  get after(): ClaimCursors | undefined {
    if (performance.now() - this.rescannedAt > this.rescanMs) this.reset()
    if (Object.keys(this.places).length === 0) return undefined
    return Object.fromEntries(
      Object.entries(this.places).map(([kind, priorities]) => [
        kind,
        Object.fromEntries(
          Object.entries(priorities).map(([priority, { due, job_id }]) => [
            priority,
            { process_after: due, job_id },
          ]),
        ),
      ]),
    )
  }

  advance(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) {
      this.places[job.job_kind] ??= {}
      const place = this.places[job.job_kind]!
      const last = place[job.priority]
      if (last === undefined || isLater(job, last)) place[job.priority] = job
    }
  }

  reset(): void {
    this.places = {}
    this.rescannedAt = performance.now()
  }

  /** A claim from the start took so long. */
  rescanned(ms: number): void {
    this.rescannedAt = performance.now()
    this.rescanMs = Math.min(MAX_RESCAN_MS, Math.max(RESCAN_MS, ms / MAX_RESCAN_SHARE))
  }
}

/** Within a millisecond the texts differ in their digits only, so they can be compared. */
function isLater(one: ClaimedJob, other: ClaimedJob): boolean {
  const ms = one.process_after.getTime() - other.process_after.getTime()
  if (ms !== 0) return ms > 0
  return one.due === other.due ? one.job_id > other.job_id : one.due > other.due
}

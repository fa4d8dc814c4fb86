/** Asks for jobs, from where the last claim ended, and makes up for claims whose answer was lost. */
import type { Logger } from 'pino'
import type { Pool } from '../db/connection.ts'
import { isConnectionError } from '../db/transient.ts'
import { Cursors } from './cursors.ts'
import { type ClaimedJob, type ClaimOptions, claimJobs } from './lease.ts'
import { isLeaseLost } from './lease-lost.ts'
import type { WorkerHooks } from './metrics.ts'
import type { WorkerLease } from './worker-lease.ts'

/** By then a server that lost sight of us has noticed, and no claim of ours is still under way. */
const SECOND_LOOK_MS = 5000

export class Claims {
  private readonly pool: Pool
  private readonly log: Logger
  private readonly hooks: WorkerHooks
  private readonly cursors = new Cursors()
  /** When to look for jobs that we hold and do not know of. */
  private looks: number[] = []

  constructor(pool: Pool, log: Logger, hooks: WorkerHooks) {
    this.pool = pool
    this.log = log
    this.hooks = hooks
  }

  /** A new lease: everything is looked at again. */
  reset(): void {
    this.cursors.reset()
    this.looks = []
  }

  /** Fewer than `limit`: there are no more just now. With `held` 0 it may be one job with a crash behind it. */
  async next(lease: WorkerLease, limit: number, begin: number, held: number): Promise<ClaimedJob[]> {
    const began = performance.now()
    await this.giveBackUnknown(lease)
    if (lease.over) return []
    const after = this.cursors.after
    const found = await this.ask(lease, limit, { after, begin, held })
    const isAlone = (found[0]?.crashes ?? 0) > 0
    if (found.length < limit && after !== undefined && !isAlone && !lease.over) {
      this.cursors.reset()
      // Those found already must begin; the next claim meets the same trouble.
      const left = { begin: Math.max(0, begin - found.length), held: held + found.length }
      const rest = await this.ask(lease, limit - found.length, left).catch((error) => {
        if (found.length === 0) throw error
        return []
      })
      found.push(...rest)
    }
    this.hooks.claimed?.(found.length, performance.now() - began)
    return found
  }

  private async ask(lease: WorkerLease, limit: number, options: ClaimOptions): Promise<ClaimedJob[]> {
    try {
      const jobs = await claimJobs(this.pool, lease.worker, limit, { ...options, prepared: true })
      lease.hold(jobs)
      // One with a crash behind it is not from where the others are.
      this.cursors.advance(jobs.filter((job) => job.crashes === 0))
      return jobs
    } catch (error) {
      if (isLeaseLost(error)) {
        lease.lose('the database says so')
        return []
      }
      if (isConnectionError(error)) this.looks = [0, performance.now() + SECOND_LOOK_MS]
      throw error
    }
  }

  private async giveBackUnknown(lease: WorkerLease): Promise<void> {
    if (this.looks.length === 0 || this.looks[0]! > performance.now()) return
    const given = await lease.giveBackUnknown().catch((error) => {
      if (!isLeaseLost(error)) throw error
      lease.lose('the database says so')
      return 0
    })
    this.looks.shift()
    if (given > 0) this.log.info({ jobs: given }, 'jobs of a claim without an answer were given back')
  }
}

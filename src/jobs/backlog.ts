/** Jobs that were claimed and have not begun, in the order in which they will. */
import { type BatchHandler, isBatchHandler, type JobHandler, type JobHandlers } from './handlers.ts'
import type { ClaimedJob } from './lease.ts'

export interface NextCall {
  readonly handler: JobHandler | BatchHandler
  readonly jobs: readonly ClaimedJob[]
}

export class Backlog {
  private readonly handlers: JobHandlers
  private jobs: ClaimedJob[] = []
  private head = 0
  private since = 0

  constructor(handlers: JobHandlers) {
    this.handlers = handlers
  }

  get size(): number {
    return this.jobs.length - this.head
  }

  /** How long the first has been waiting here. */
  get waitedMs(): number {
    return this.size === 0 ? 0 : performance.now() - this.since
  }

  add(claimed: readonly ClaimedJob[]): void {
    if (claimed.length === 0) return
    if (this.size === 0) this.since = performance.now()
    const last = this.jobs.at(-1)
    const isUrgent = this.size > 0 && claimed.some((job) => job.priority > last!.priority)
    this.jobs = this.jobs.slice(this.head).concat(claimed)
    this.head = 0
    // Stable, so that within a priority the older claim stays first.
    if (isUrgent) this.jobs.sort((one, other) => other.priority - one.priority)
  }

  /** The first job; where its handler takes many, with what else of its kind is here. */
  next(): NextCall | undefined {
    const first = this.jobs[this.head]
    if (first === undefined) return undefined
    this.since = performance.now()
    const handler = this.handlers[first.job_kind]!
    if (!isBatchHandler(handler)) {
      this.head++
      return { handler, jobs: [first] }
    }
    const taken: ClaimedJob[] = []
    const left: ClaimedJob[] = []
    for (const job of this.jobs.slice(this.head)) {
      const fits = job.job_kind === first.job_kind && taken.length < handler.batch
      ;(fits ? taken : left).push(job)
    }
    this.jobs = left
    this.head = 0
    return { handler, jobs: taken }
  }

  /** Takes those out, or all. */
  remove(ids?: ReadonlySet<string>): ClaimedJob[] {
    const here = this.jobs.slice(this.head)
    this.jobs = ids === undefined ? [] : here.filter((job) => !ids.has(job.job_id))
    this.head = 0
    return ids === undefined ? here : here.filter((job) => ids.has(job.job_id))
  }
}

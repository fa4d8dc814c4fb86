/** Jobs that were claimed and have not begun, in the order in which they will. */
import { type BatchHandler, isBatchHandler, type JobHandler, type JobHandlers } from './handlers.ts'
import type { ClaimedJob } from './lease.ts'

export interface NextCall {
  readonly handler: JobHandler | BatchHandler
  readonly jobs: readonly ClaimedJob[]
}

export class Backlog {
  private readonly handlers: JobHandlers
  /** The database knows that they begin: a crash is charged to them. */
  private begun: ClaimedJob[] = []
  private head = 0
  /** Claimed ahead: they begin after the database was told. */
  private ahead: ClaimedJob[] = []
  private since = 0

  constructor(handlers: JobHandlers) {
    this.handlers = handlers
  }

  get size(): number {
    return this.ready + this.ahead.length
  }

  /** How many may begin without another word. */
  get ready(): number {
    return this.begun.length - this.head
  }

  get waiting(): number {
    return this.ahead.length
  }

  /** How long the first has been waiting here. */
  get waitedMs(): number {
    return this.size === 0 ? 0 : performance.now() - this.since
  }

  add(claimed: readonly ClaimedJob[]): void {
    if (claimed.length === 0) return
    if (this.size === 0) this.since = performance.now()
    this.makeReady(claimed.filter((job) => job.begun))
    this.ahead = inTurn(
      this.ahead,
      claimed.filter((job) => !job.begun),
    )
  }

  /** The first of those that the database must be told about. */
  peek(count: number): ClaimedJob[] {
    return this.ahead.slice(0, count)
  }

  /** The database was told. Those that it no longer counts as ours are dropped. */
  confirm(told: readonly ClaimedJob[], confirmed: ReadonlySet<string>): void {
    const asked = new Set(told.map((job) => job.job_id))
    const mine = this.ahead.filter((job) => asked.has(job.job_id) && confirmed.has(job.job_id))
    this.ahead = this.ahead.filter((job) => !asked.has(job.job_id))
    this.makeReady(mine)
  }

  /** The first job; where its handler takes many, with what else of its kind is here. */
  next(): NextCall | undefined {
    const first = this.begun[this.head]
    if (first === undefined) return undefined
    this.since = performance.now()
    const handler = this.handlers[first.job_kind]!
    if (!isBatchHandler(handler)) {
      this.head++
      return { handler, jobs: [first] }
    }
    const taken: ClaimedJob[] = []
    const left: ClaimedJob[] = []
    for (const job of this.begun.slice(this.head)) {
      const fits = job.job_kind === first.job_kind && taken.length < handler.batch
      ;(fits ? taken : left).push(job)
    }
    this.begun = left
    this.head = 0
    return { handler, jobs: taken }
  }

  /** Takes those out, or all. */
  remove(ids?: ReadonlySet<string>): ClaimedJob[] {
    const here = this.begun.slice(this.head).concat(this.ahead)
    this.begun = ids === undefined ? [] : this.begun.slice(this.head).filter((job) => !ids.has(job.job_id))
    this.ahead = ids === undefined ? [] : this.ahead.filter((job) => !ids.has(job.job_id))
    this.head = 0
    return ids === undefined ? here : here.filter((job) => ids.has(job.job_id))
  }

  private makeReady(jobs: readonly ClaimedJob[]): void {
    this.begun = inTurn(this.begun.slice(this.head), jobs)
    this.head = 0
  }
}

/** Higher priority first. Stable, so that within a priority the older claim stays first. */
function inTurn(here: ClaimedJob[], more: readonly ClaimedJob[]): ClaimedJob[] {
  const last = here.at(-1)
  const all = here.concat(more)
  if (last === undefined || !more.some((job) => job.priority > last.priority)) return all
  return all.sort((one, other) => other.priority - one.priority)
}

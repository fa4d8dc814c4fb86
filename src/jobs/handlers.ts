/** What a user writes: a function per job kind, or one that takes many jobs at once. */
import type { Logger } from 'pino'
import type { Client } from '../db/connection.ts'
import type { Job, NewJob } from './job.ts'

/**
 * May run more than once for the same job, under the same `job_id`: begun again only if it failed, or if its lease passed while it
 * ran. Never begun after it completed.
 * A throw is a retry. An object that it returns is kept with the history: references, not data.
 */
export type JobHandler = (job: Job, context: JobContext) => Promise<unknown> | unknown

/** Takes up to `batch` jobs in one call. A throw fails all that the context was not told otherwise about. */
export interface BatchHandler {
  readonly batch: number
  run(jobs: readonly Job[], context: BatchContext): Promise<unknown> | unknown
}

/** By job kind. */
export type JobHandlers = Readonly<Record<string, JobHandler | BatchHandler>>

interface CommonContext {
  /** Aborted when the lease was lost, the job was cancelled, its time is up or the worker stops; `reason` says which. */
  readonly signal: AbortSignal
  readonly log: Logger
  /**
   * A transaction as the worker's role. What it emits follows from the event that the job came from; `work` is rolled back
   * when it throws.
   */
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>
}

export interface JobContext extends CommonContext {
  readonly job: Job
  /** Not now: the job comes again then, and no attempt is used. What the handler returns is not kept. */
  snooze(until: Date): void
  /**
   * A follow-up in the same trace. Without a key it gets one made of this job and of what it says, so that a second run of
   * the handler makes no second follow-up. `client`: in that transaction.
   */
  enqueue(job: NewJob, options?: { client?: Client }): Promise<string>
  /**
   * Completes the job inside a transaction of the handler's, so that what it wrote and the completion are committed together
   * or not at all: exactly once. Throws when the lease has passed.
   */
  complete(client: Client, result?: unknown): Promise<void>
}

export interface BatchContext extends CommonContext {
  readonly jobs: readonly Job[]
  snooze(job: Job, until: Date): void
  /** This one failed, the others did not. */
  fail(job: Job, error: unknown): void
  /** What is kept with its history. */
  result(job: Job, value: unknown): void
  enqueue(from: Job, job: NewJob, options?: { client?: Client }): Promise<string>
}

/** For a job that no retry can help: it becomes a dead letter at once. */
export class FatalJobError extends Error {
  override readonly name = 'FatalJobError'
}

/** Why a signal was aborted. */
export class JobAborted extends Error {
  override readonly name = 'JobAborted'
  readonly why: 'lease_lost' | 'cancelled' | 'timed_out' | 'stopping'

  constructor(why: JobAborted['why'], message: string) {
    super(message)
    this.why = why
  }
}

/** Gives the handlers their types; they are returned as they are. */
export function defineJobs<Handlers extends JobHandlers>(handlers: Handlers): Handlers {
  return handlers
}

export function isBatchHandler(handler: JobHandler | BatchHandler): handler is BatchHandler {
  return typeof handler !== 'function'
}

/** The most jobs that one call takes. */
export function largestCall(handlers: JobHandlers): number {
  return Math.max(...Object.values(handlers).map((handler) => (isBatchHandler(handler) ? handler.batch : 1)))
}

/** Handlers that a user writes: a function per job kind, or one that takes many jobs at once; and the file that they come from. */
import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { importUserModule } from '../runtime/user-module.ts'
import type { Job, NewJob } from './queue.ts'
import type { Outcome } from './worker-types.ts'

/**
 * May run more than once for the same job, under the same `job_id`: begun again only if it failed, or if its lease passed while it
 * ran. Never begun after it completed.
 * A throw is a retry. An object that it returns is kept with the history: references, not data.
 */
export type JobHandler = (job: Job, context: JobContext) => Promise<unknown> | unknown

/** A handler that says what it needs. `database`: it uses `transaction` or `complete`, so no remote worker runs it. */
export interface HandlerWithNeeds {
  readonly batch?: undefined
  readonly needs: readonly HandlerNeed[]
  run(job: Job, context: JobContext): Promise<unknown> | unknown
}

export type HandlerNeed = 'database'

/** Takes up to `batch` jobs in one call. A throw fails all jobs whose outcome the handler did not set. */
export interface BatchHandler {
  readonly batch: number
  readonly needs?: readonly HandlerNeed[]
  run(jobs: readonly Job[], context: BatchContext): Promise<unknown> | unknown
}

/** Runs elsewhere: it says how the call ended for each job. Takes up to `batch` jobs. */
export interface OutcomeHandler {
  readonly batch: number
  outcomes(jobs: readonly Job[], call: OutcomeCall): Promise<Outcome[]>
}

export interface OutcomeCall {
  readonly signal: AbortSignal
  /** The registration under whose lease it runs. */
  readonly worker: string
  readonly timeoutMs: number | undefined
}

export type AnyHandler = JobHandler | HandlerWithNeeds | BatchHandler | OutcomeHandler

/** By job kind. */
export type JobHandlers = Readonly<Record<string, JobHandler | HandlerWithNeeds | BatchHandler>>

/** By job kind, also those that run elsewhere. */
export type WorkerHandlers = Readonly<Record<string, AnyHandler>>

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
  /** Runs the job again at `until`; uses no attempt. What the handler returns is not kept. */
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

export function isBatchHandler(handler: AnyHandler): handler is BatchHandler {
  return batchOf(handler) !== undefined && !isOutcomeHandler(handler)
}

export function isOutcomeHandler(handler: AnyHandler): handler is OutcomeHandler {
  return typeof handler !== 'function' && 'outcomes' in handler
}

/** The most jobs that a call of this handler takes; undefined: it takes one job, not a list. */
export function batchOf(handler: AnyHandler): number | undefined {
  return typeof handler === 'function' ? undefined : handler.batch
}

export function needsDatabase(handler: AnyHandler): boolean {
  return typeof handler !== 'function' && 'needs' in handler && handler.needs?.includes('database') === true
}

/** The most jobs that one call takes. */
export function maxJobsPerCall(handlers: WorkerHandlers): number {
  return Math.max(...Object.values(handlers).map((handler) => batchOf(handler) ?? 1))
}

const KIND = /^[a-z][a-z0-9_.:-]{0,62}$/

/** Handlers from a user's file: its default export, or else every exported function (or batch handler) under its own name. */
export async function loadHandlers(path: string): Promise<JobHandlers> {
  const module = await importUserModule(path)
  // The same file may export handlers of playbooks.
  const { playbookHandlers, ...others } = { ...module }
  if (playbookHandlers !== undefined && Object.keys(others).length === 0) return {}
  return checkHandlers(module.default ?? others, path)
}

function checkHandlers(given: unknown, path: string): JobHandlers {
  if (typeof given !== 'object' || given === null || Object.keys(given).length === 0) {
    throw invalid(
      `${path} exports no handlers; export defineJobs({ your_kind: async (job) => … }) as the default`,
    )
  }
  for (const [kind, handler] of Object.entries(given)) {
    if (!KIND.test(kind)) {
      throw invalid(`${path} has a handler for ${kind}, which is not a job kind: lowercase, digits, _ . : -`)
    }
    if (typeof handler !== 'function' && !isObjectHandler(handler)) {
      throw invalid(
        `The handler of ${kind} in ${path} is neither a function nor { batch, run } nor { needs: ['database'], run }`,
      )
    }
  }
  return given as JobHandlers
}

function isObjectHandler(handler: unknown): boolean {
  const { batch, needs, run } = (handler ?? {}) as { batch?: unknown; needs?: unknown; run?: unknown }
  if (typeof run !== 'function') return false
  if (needs !== undefined && !(Array.isArray(needs) && needs.every((need) => need === 'database')))
    return false
  return batch === undefined ? needs !== undefined : Number.isInteger(batch) && (batch as number) > 0
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

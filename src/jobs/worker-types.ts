/** The types that a worker, its lease and its executor share. */
import type { JobAborted } from './handlers.ts'
import type { Job } from './queue.ts'

export interface JobRef {
  readonly job_id: string
  readonly lease_epoch: number
}

/**
 * `due` is process_after with all its digits, for the claim cursor; a Date has only milliseconds. `begun`: it may begin at
 * once; the others only after beginJobs.
 */
export type ClaimedJob = Job & { readonly due: string; readonly begun: boolean }

/** How a handler call ended for one job: what is to be reported about it. */
export type Outcome = {
  readonly job: Job
  /** Called once: the report is in the database (`counted`), or it does not count and never will. */
  readonly settle?: (counted: boolean) => void
} & (
  | { readonly as: 'completed'; readonly result?: unknown }
  | { readonly as: 'failed'; readonly error: string; readonly fatal: boolean }
  | { readonly as: 'snoozed'; readonly until: Date }
  /** The handler was asked to stop and did: the job is given back, and no attempt is used. */
  | { readonly as: 'released' }
  /** The handler completed it in a transaction of its own. */
  | { readonly as: 'already_completed' }
  /** The process that ran the handler died: a crash is charged, and no attempt is used. */
  | { readonly as: 'crashed'; readonly error: string }
  /** Another worker has adopted it, with its lease. */
  | { readonly as: 'moved' }
)

/** A call of a handler while it runs, for one job or for a batch. */
export interface RunningCall {
  readonly jobs: readonly Job[]
  readonly beganAt: number
  /** The log says already that it takes long. */
  reportedAsLong: boolean
  /** The first reason stays. */
  abort(reason: JobAborted): void
}

/** Hooks for metrics. They run for every job, so keep them short. */
export interface WorkerHooks {
  onClaim?(jobs: number, ms: number): void
  /** A call of a handler begins. */
  onCallBegin?(kind: string, jobs: number): void
  /** A handler's call ended for this job. `ms` is the time of the call. */
  onCallEnd?(
    job: Job,
    outcome: 'completed' | 'failed' | 'snoozed' | 'released' | 'crashed' | 'moved' | 'dropped',
    ms: number,
  ): void
  /** A batch of completions or failures was written. */
  onWrite?(what: 'completed' | 'failed', jobs: number, ms: number): void
  onLeaseLost?(reason: string): void
  /** Jobs of workers that died are back in the queue. */
  onReap?(jobs: number): void
  /** A schedule enqueued its job. */
  onSchedule?(schedule: string): void
}

/** What a worker tells whoever measures it. Called on the way of every job, so keep them short. */
import type { Job } from './job.ts'

export interface WorkerHooks {
  claimed?(jobs: number, ms: number): void
  /** A call of a handler begins. */
  began?(kind: string, jobs: number): void
  /** A handler's call ended for this job. `ms` is the time of the call. */
  ended?(job: Job, outcome: 'completed' | 'failed' | 'snoozed' | 'released' | 'dropped', ms: number): void
  /** A batch of completions or failures was written. */
  written?(what: 'completed' | 'failed', jobs: number, ms: number): void
  leaseLost?(reason: string): void
  /** Jobs of workers that died are back in the queue. */
  reaped?(jobs: number): void
  fired?(schedule: string): void
}

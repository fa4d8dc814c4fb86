/** One call of a handler, from its begin to what is to be written about its jobs. */
import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Client, Pool } from '../db/connection.ts'
import { inTransaction } from '../db/transaction.ts'
import { textOfThrown } from '../errors.ts'
import { ContextOfBatch, ContextOfJob } from './contexts.ts'
import { type BatchHandler, isBatchHandler, JobAborted, type JobHandler } from './handlers.ts'
import type { Job, NewJob } from './job.ts'
import { completeJobs } from './lease.ts'
import { enqueue } from './queue.ts'
import { inSpan } from './tracing.ts'

export type Outcome = { readonly job: Job } & (
  | { readonly as: 'completed'; readonly result?: unknown }
  | { readonly as: 'failed'; readonly error: string; readonly fatal: boolean }
  | { readonly as: 'snoozed'; readonly until: Date }
  /** It was told to stop and did: given back, without an attempt used. */
  | { readonly as: 'released' }
  /** The handler completed it in a transaction of its own. */
  | { readonly as: 'settled' }
)

export interface Surroundings {
  readonly pool: Pool
  readonly worker: string
  readonly log: Logger
}

/** A handler that ignores its signal is not waited for longer than this after its time is up. */
const GRACE_MS = 5000
const LONGEST_ERROR = 2000

export class Call {
  readonly jobs: readonly Job[]
  readonly beganAt = performance.now()
  /** That it takes long was said. */
  reported = false
  private readonly handler: JobHandler | BatchHandler
  private readonly surroundings: Surroundings
  /** Said by the handler, and stronger than how it ended. */
  private readonly said = new Map<string, Outcome>()
  private readonly results = new Map<string, unknown>()
  private readonly followUps = new Map<string, number>()
  private controller: AbortController | undefined
  private aborted: JobAborted | undefined

  constructor(handler: JobHandler | BatchHandler, jobs: readonly Job[], surroundings: Surroundings) {
    this.handler = handler
    this.jobs = jobs
    this.surroundings = surroundings
  }

  /** The first reason stays. */
  abort(reason: JobAborted): void {
    this.aborted ??= reason
    this.controller?.abort(this.aborted)
  }

  /** Never throws: a handler's error is an outcome. */
  async run(timeoutMs?: number): Promise<Outcome[]> {
    const ended = this.attempt()
    if (timeoutMs === undefined) return ended
    return within(timeoutMs, ended, (error) => {
      this.abort(error)
      return this.jobs.map((job) => ({ job, as: 'failed', error: error.message, fatal: false }))
    })
  }

  private async attempt(): Promise<Outcome[]> {
    try {
      const result = await inSpan(this.jobs, () => this.invoke())
      return this.jobs.map((job) => this.said.get(job.job_id) ?? this.completed(job, result))
    } catch (error) {
      this.surroundings.log.debug(
        { error: describe(error), jobs: this.jobs.map(({ job_id }) => job_id) },
        'a job failed',
      )
      return this.jobs.map((job) => this.said.get(job.job_id) ?? this.failed(job, error))
    }
  }

  private invoke(): unknown {
    if (isBatchHandler(this.handler))
      return this.handler.run(this.jobs, new ContextOfBatch(this, this.surroundings.log))
    return this.handler(this.jobs[0]!, new ContextOfJob(this, this.jobs[0]!, this.surroundings.log))
  }

  private completed(job: Job, result: unknown): Outcome {
    const kept = isBatchHandler(this.handler) ? this.results.get(job.job_id) : result
    return this.isKeepable(kept, job) ? { job, as: 'completed', result: kept } : { job, as: 'completed' }
  }

  /** An object of references. What else a function happens to return (true, a count) was hardly meant to be kept. */
  private isKeepable(result: unknown, job: Job): boolean {
    if (typeof result !== 'object' || result === null || Array.isArray(result)) return false
    try {
      return JSON.stringify(result) !== undefined
    } catch (error) {
      this.surroundings.log.warn({ err: error, job_id: job.job_id }, 'the result of a job cannot be kept')
      return false
    }
  }

  private failed(job: Job, error: unknown): Outcome {
    if (this.aborted?.why === 'stopping') return { job, as: 'released' }
    return { job, as: 'failed', error: describe(this.aborted ?? error), fatal: isFatal(error) }
  }

  signal(): AbortSignal {
    if (!this.controller) {
      // Made when it is asked for: most handlers do not, and it costs more than the rest of a call.
      this.controller = new AbortController()
      if (this.aborted) this.controller.abort(this.aborted)
    }
    return this.controller.signal
  }

  say(outcome: Outcome): void {
    this.said.set(outcome.job.job_id, outcome)
  }

  sayFailed(job: Job, error: unknown): void {
    this.say({ job, as: 'failed', error: describe(error), fatal: isFatal(error) })
  }

  keep(job: Job, result: unknown): void {
    this.results.set(job.job_id, result)
  }

  async transaction<T>(job: Job, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(this.surroundings.pool, async (client) => {
        if (job.causation_event_id !== null) {
          await client.query(`select set_config('stagedoor.cause', $1, true)`, [job.causation_event_id])
        }
        return work(client)
      })
    } catch (error) {
      // Rolled back, and the completion with it.
      if (this.said.get(job.job_id)?.as === 'settled') this.said.delete(job.job_id)
      throw error
    }
  }

  async complete(client: Client, job: Job, result: unknown): Promise<void> {
    const counted = await completeJobs(client, this.surroundings.worker, [{ job, result }])
    if (counted.length === 0) throw new JobAborted('lease_lost', 'The lease of this job has passed')
    this.said.set(job.job_id, { job, as: 'settled' })
  }

  enqueue(from: Job, job: NewJob, client?: Client): Promise<string> {
    const inherited: NewJob = {
      // Where no event is behind it all, the first job is.
      correlation_id: from.correlation_id ?? from.job_id,
      ...(from.causation_event_id !== null && { causation_event_id: from.causation_event_id }),
      ...(from.workspace_id !== null && { workspace_id: from.workspace_id }),
      ...job,
    }
    return enqueue(client ?? this.surroundings.pool, {
      ...inherited,
      idempotency_key: job.idempotency_key ?? this.keyOf(from, job),
    })
  }

  /**
   * The same follow-up in a second run of the handler has the same key; the same twice in one run has two. When it is due and
   * how urgent it is are no part of it: "in an hour" is another time in the second run.
   */
  private keyOf(from: Job, job: NewJob): string {
    const { process_after: _due, priority: _urgency, ...what } = job
    const content = createHash('sha256').update(JSON.stringify(what)).digest('base64url').slice(0, 22)
    const key = `after:${from.job_id}:${content}`
    const nth = (this.followUps.get(key) ?? 0) + 1
    this.followUps.set(key, nth)
    return `${key}:${nth}`
  }
}

/** At `ms` the call is told; some time later it is given up, whether it listened or not. */
async function within(
  ms: number,
  ended: Promise<Outcome[]>,
  expire: (error: JobAborted) => Outcome[],
): Promise<Outcome[]> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<Outcome[]>((resolve) => {
    timer = setTimeout(() => {
      const outcomes = expire(new JobAborted('timed_out', `It took longer than ${ms / 1000} s`))
      timer = setTimeout(resolve, GRACE_MS, outcomes)
    }, ms)
  })
  try {
    return await Promise.race([ended, expired])
  } finally {
    clearTimeout(timer)
  }
}

/** For last_error: what a person needs, without the characters that text in PostgreSQL cannot hold. Never throws. */
export function describe(error: unknown): string {
  const text = textOfThrown(error, ({ name, message, cause }) =>
    cause instanceof Error ? `${name}: ${message} (${cause.message})` : `${name}: ${message}`,
  )
  return text.replaceAll('\0', '').slice(0, LONGEST_ERROR)
}

/** By name: a handler's file may bring its own copy of the package. */
function isFatal(error: unknown): boolean {
  try {
    return error instanceof Error && error.name === 'FatalJobError'
  } catch {
    return false
  }
}

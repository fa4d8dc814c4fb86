/**
 * Jobs whose handlers run in a worker without a database: what a gateway makes of a claimed job (a call, and outcomes of what came back),
 * and what the worker does with such a call. The carrier between them is `src/runtime/remote`.
 */
import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { Json, JsonObject } from '../kernel/json.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { storableText } from '../kernel/text.ts'
import {
  adoptableCall,
  CallMoved,
  type CallRef,
  MAX_CALL_BYTES,
  type RemoteCall,
  type RemoteCalls,
  type RemoteOutcome,
  type ResumeCall,
  WorkerGone,
} from '../runtime/remote/calls.ts'
import { errorText, followUpOf, HandlerCall } from './executor.ts'
import { JobAborted, type JobHandlers, type OutcomeCall, type OutcomeHandler } from './handlers.ts'
import { requireShallowResult } from './lease.ts'
import { enqueue, type Job, type NewJob } from './queue.ts'
import type { JobRef, Outcome } from './worker-types.ts'

// In the gateway.

/** Hands jobs of a kind to the workers of a pool. `alone`: to one that runs nothing else, because these have killed a worker before. */
export function remoteJobHandler(
  calls: Pick<RemoteCalls, 'run' | 'settle'>,
  { batch, alone = false }: { readonly batch: number; readonly alone?: boolean },
): OutcomeHandler {
  return {
    batch,
    async outcomes(jobs, call) {
      const fitting = jobsThatFit(jobs)
      if (fitting.length === 0) return [tooLarge(jobs[0]!), ...released(jobs.slice(1))]
      const remote = jobCall(fitting, call, alone)
      const ended = await outcomesOf(calls, remote.call, fitting, () => calls.run(remote, call.signal))
      return [...ended, ...released(jobs.slice(fitting.length))]
    },
  }
}

/** Waits for the end of a call that this gateway adopted: it runs already. */
export function adoptedJobHandler(
  calls: Pick<RemoteCalls, 'settle'>,
  held: { readonly call: string; readonly alone: boolean },
  resume: ResumeCall,
): OutcomeHandler {
  return {
    batch: 1,
    outcomes(jobs, call) {
      const remote = { ...jobCall(jobs, call, held.alone), call: held.call }
      return outcomesOf(calls, held.call, jobs, () => resume(remote, call.signal))
    },
  }
}

/** What a worker says about a call that it holds. */
export function jobRefsOf(refs: readonly CallRef[]): JobRef[] {
  return refs.map(({ id, epoch }) => ({ job_id: id, lease_epoch: epoch }))
}

/** What a handler may say of a job that it enqueues. Its workspace, its trace and its cause are those of the job that it runs for. */
const GIVEN = [
  'job_kind',
  'idempotency_key',
  'executor',
  'source_ref',
  'target_ref',
  'payload_ref',
  'payload',
  'priority',
  'process_after',
] as const
const INHERITED = ['workspace_id', 'correlation_id', 'causation_event_id'] as const

/**
 * Enqueues for the handler of a call, in the trace of the job `from`, which must be one of the call. A remote worker has no rights in the
 * database, so it enqueues only what it might run: no kind of `builtIn`, which direct workers run, and in no other workspace.
 */
export async function enqueueForCall(
  db: Queryable,
  call: RemoteCall,
  from: string,
  job: JsonObject,
  builtIn: ReadonlySet<string>,
): Promise<string> {
  const kind = typeof job.job_kind === 'string' ? job.job_kind : null
  if (call.what !== 'job') throw refusal(kind, 'a step of a playbook enqueues no jobs')
  const { jobs } = call.body as unknown as { jobs: readonly Job[] }
  const origin = jobs.find(({ job_id }) => job_id === from)
  if (origin === undefined) throw refusal(kind, `the job ${from} is not of this call`)
  if (kind === null) throw refusal(kind, 'it has no kind')
  if (builtIn.has(kind))
    throw refusal(kind, `${kind} is a kind of Stagedoor itself, which a remote worker does not enqueue`)
  const given = Object.fromEntries(GIVEN.filter((name) => name in job).map((name) => [name, job[name]]))
  const followUp = followUpOf(origin, given as unknown as NewJob)
  for (const name of INHERITED)
    if ((job[name] ?? followUp[name]) !== followUp[name])
      throw refusal(kind, `its ${name} is that of the job that enqueues it`)
  return enqueue(db, followUp)
}

function refusal(kind: string | null, reason: string): StagedoorError {
  return new StagedoorError('job_invalid', { kind, reason })
}

function jobCall(jobs: readonly Job[], { worker, timeoutMs }: OutcomeCall, alone: boolean): RemoteCall {
  const [first] = jobs
  const refs = jobs.map(({ job_id, lease_epoch }) => ({ id: job_id, epoch: lease_epoch }))
  return {
    call: adoptableCall('job', refs[0]!),
    what: 'job',
    name: first!.job_kind,
    body: { jobs: jobs as unknown as Json },
    ...(timeoutMs !== undefined && { timeoutMs }),
    lease: worker,
    refs,
    ...(alone && { alone }),
  }
}

function jobsThatFit(jobs: readonly Job[]): readonly Job[] {
  let bytes = 0
  const end = jobs.findIndex((job) => {
    bytes += Buffer.byteLength(JSON.stringify(job))
    return bytes > MAX_CALL_BYTES
  })
  return end < 0 ? jobs : jobs.slice(0, end)
}

const released = (jobs: readonly Job[]): Outcome[] => jobs.map((job) => ({ job, as: 'released' }))

function tooLarge(job: Job): Outcome {
  const error = `The job has more than ${MAX_CALL_BYTES / 1024} KiB, which a remote worker does not take`
  return { job, as: 'failed', error, fatal: true }
}

/** Throws what aborted it. */
async function outcomesOf(
  calls: Pick<RemoteCalls, 'settle'>,
  call: string,
  jobs: readonly Job[],
  run: () => Promise<RemoteOutcome>,
): Promise<Outcome[]> {
  let ended: RemoteOutcome
  try {
    ended = await run()
  } catch (error) {
    if (error instanceof CallMoved) return jobs.map((job) => ({ job, as: 'moved' }))
    if (!(error instanceof WorkerGone)) throw error
    if (!error.began) return released(jobs)
    return jobs.map((job) => ({ job, as: 'crashed', error: error.message }))
  }
  let unsettled = jobs.length
  let someCounted = false
  const settle = (counted: boolean): void => {
    someCounted ||= counted
    if (--unsettled === 0) calls.settle(call, someCounted)
  }
  const endOf = new Map(jobEndsOf(ended).map((end) => [end.job_id, end]))
  return jobs.map((job) => ({ ...outcomeOf(job, ended, endOf.get(job.job_id)), settle }))
}

/** How a call ended for one job, as it travels. */
type JobEnd = { readonly job_id: string } & (
  | { readonly as: 'completed'; readonly result?: unknown }
  | { readonly as: 'failed'; readonly error: string; readonly fatal: boolean }
  | { readonly as: 'snoozed'; readonly until: string }
  | { readonly as: 'released' }
)

function jobEndsOf(ended: RemoteOutcome): JobEnd[] {
  const given = ended.status === 'completed' ? ended.result : undefined
  return Array.isArray(given) ? given.filter((end) => typeof end === 'object' && end !== null) : []
}

/** What comes from a worker is checked: it may be of another version, or hostile. */
function outcomeOf(job: Job, ended: RemoteOutcome, end: JobEnd | undefined): Outcome {
  if (ended.status === 'released') return { job, as: 'released' }
  if (ended.status === 'failed')
    return { job, as: 'failed', error: shortText(ended.error), fatal: !ended.retryable }
  switch (end?.as) {
    case 'completed':
      return isResult(end.result) ? { job, as: 'completed', result: end.result } : { job, as: 'completed' }
    case 'failed':
      return { job, as: 'failed', error: shortText(end.error), fatal: end.fatal === true }
    case 'snoozed': {
      const until = new Date(end.until)
      if (!Number.isNaN(until.getTime())) return { job, as: 'snoozed', until }
      break
    }
    case 'released':
      return { job, as: 'released' }
  }
  return { job, as: 'failed', error: 'The remote worker did not say how the job ended', fatal: false }
}

function isResult(result: unknown): boolean {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return false
  try {
    requireShallowResult(result)
    return true
  } catch {
    return false
  }
}

function shortText(text: unknown): string {
  return storableText(typeof text === 'string' ? text : 'it failed', '').slice(0, 2000)
}

// In the remote worker.

interface RunJobContext {
  readonly signal: AbortSignal
  enqueue(from: string, job: JsonObject): Promise<string>
}

/** Runs the handler of a call for its jobs. Never throws: an error is an outcome. */
export async function runJobCall(
  handlers: JobHandlers,
  call: RemoteCall,
  { signal, enqueue }: RunJobContext,
  log: Logger,
): Promise<RemoteOutcome> {
  const handler = handlers[call.name]
  if (handler === undefined)
    return { status: 'failed', error: `This worker has no handler of ${call.name}`, retryable: true }
  const jobs = (call.body as unknown as { jobs: readonly WireJob[] }).jobs.map(revive)
  const running = new HandlerCall(handler, jobs, {
    log,
    enqueue: (from, job) => enqueue(from.job_id, JSON.parse(JSON.stringify(job)) as JsonObject),
  })
  const abort = (): void => running.abort(abortedBy(signal.reason))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  const outcomes = await running.run(call.timeoutMs)
  signal.removeEventListener('abort', abort)
  let left = MAX_CALL_BYTES
  const result = outcomes.map((outcome) => {
    const bytes = 'result' in outcome ? Buffer.byteLength(JSON.stringify(outcome.result)) : 0
    if (bytes > left) return withoutResult(outcome, log)
    left -= bytes
    return endOf(outcome)
  })
  return { status: 'completed', result }
}

/** How each job of a call ended, in one word. */
export function jobOutcomesOf(outcome: RemoteOutcome): string[] {
  return outcome.status === 'completed' ? jobEndsOf(outcome).map(({ as }) => as) : [outcome.status]
}

type WireJob = Omit<Job, 'process_after' | 'enqueued_at'> & {
  readonly process_after: string
  readonly enqueued_at: string
}

function revive(job: WireJob): Job {
  return { ...job, process_after: new Date(job.process_after), enqueued_at: new Date(job.enqueued_at) }
}

function abortedBy(reason: unknown): JobAborted {
  const { why, message } = reason as { why?: string; message?: string }
  return new JobAborted(
    why === 'cancelled' || why === 'timed_out' || why === 'stopping' ? why : 'lease_lost',
    message ?? errorText(reason),
  )
}

/** The job has done its work, so a result that is too large is left out, as a direct worker does with one that cannot be stored. */
function withoutResult({ job }: Outcome, log: Logger): JobEnd {
  const { job_id } = job
  log.warn(
    { job_id },
    `the results of a call have more than ${MAX_CALL_BYTES / 1024} KiB, so this one is not kept: return references, not data`,
  )
  return { job_id, as: 'completed' }
}

function endOf(outcome: Outcome): JobEnd {
  const { job_id } = outcome.job
  switch (outcome.as) {
    case 'completed':
      return 'result' in outcome
        ? { job_id, as: 'completed', result: outcome.result }
        : { job_id, as: 'completed' }
    case 'failed':
      return { job_id, as: 'failed', error: outcome.error, fatal: outcome.fatal }
    case 'snoozed':
      return { job_id, as: 'snoozed', until: outcome.until.toISOString() }
    default:
      return { job_id, as: 'released' }
  }
}

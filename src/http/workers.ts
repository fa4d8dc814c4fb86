/**
 * Workers outside Node: they claim, complete and fail jobs over HTTP, under the same lease and with the same fence as our own workers.
 * A token of stagedoor_executor reaches the jobs of its own executor and nothing else; the database checks that.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutorHooks } from '../app/metrics.ts'
import { listWhoWorks, WhoWorks } from '../app/workers.ts'
import {
  beginJobs,
  byClaimOrder,
  type ClaimOptions,
  claimJobs,
  completedBy,
  completeJobs,
  failJobs,
  keepLease,
  leaveWorker,
  registerWorker,
  releaseJobs,
  requireShallowResult,
  snoozeJobs,
} from '../jobs/lease.ts'
import { FailureOutcome, Job } from '../jobs/shapes.ts'
import { beginWait, endWait, type WaitingClaim, WaitingClaims } from '../jobs/waiting-claims.ts'
import type { ClaimedJob } from '../jobs/worker-types.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { shape, Text, Timestamp, Type, Uuid } from '../kernel/schema.ts'
import type { Wakeups } from '../runtime/wakeups.ts'
import { Executor, Kind, requireExecutor } from './jobs.ts'
import { limit, routes } from './routes.ts'

const DEFAULT_LEASE_S = 30
const refusals = [403, 409] as const

/** No transaction and no connection is held while a request waits. */
const MAX_WAIT_S = 20

const LeasedJob = shape('ClaimedJob', {
  ...Job.properties,
  begun: Type.Boolean({ description: 'it may begin at once; the others after `begin`' }),
})
const Cancelled = Type.Array(Text, { description: 'jobs that somebody cancelled: stop them and fail them' })

const Counted = Type.Array(Text, { description: 'those that counted' })
/** An outcome that comes too late, under another epoch or twice does not count; the answer says which. */
const JobLeaseRef = { job_id: Uuid, epoch: Type.Integer({ description: 'the lease_epoch of the job' }) }
const BATCH = { minItems: 1, maxItems: 1000 }
const EXACT = { additionalProperties: false }
const outcomeRefusals = [403, 409, 422] as const

export function workerRoutes(hooks: ExecutorHooks, wakeups: Wakeups | undefined) {
  return routes('workers', (api) => {
    const closing = new AbortController()
    const waiting = new WaitingClaims(wakeups)
    api.fastify.addHook('preClose', async () => closing.abort())
    api.get('/', {
      operationId: 'listWorkers',
      summary:
        'Who works: workers of jobs with the jobs that each runs, engines of executions, workers behind gateways, and who leads what',
      description: 'For whoever operates a workspace. Of the running jobs you see those of your workspaces.',
      answer: WhoWorks,
      problems: [403],
      handle: (request) => request.transaction(listWhoWorks),
    })

    api.post('/', {
      operationId: 'registerWorker',
      summary: 'Register a worker that claims jobs of these kinds, as long as it keeps its lease',
      description:
        'Needs a token of stagedoor_executor whose claim `executor` is this one, or of service_role.',
      body: {
        executor: Executor,
        kinds: Type.Array(Kind, { minItems: 1, maxItems: 1000 }),
        name: Type.Optional(Type.String({ maxLength: 200, description: 'for people' })),
        lease_s: Type.Integer({
          minimum: 1,
          maximum: 3600,
          default: DEFAULT_LEASE_S,
          description: 'after so long without a heartbeat its jobs go to other workers',
        }),
      },
      example: { executor: 'external_worker', kinds: ['send_report'], lease_s: 30 },
      answer: shape('RegisteredWorker', { worker: Text, leased_until: Timestamp }),
      status: 201,
      problems: refusals,
      handle: async (request) => {
        const { lease_s, name, ...terms } = request.body
        requireExecutor(terms.executor)
        const { worker, leased_until } = await request.transaction(async (client) => {
          const worker = await registerWorker(client, {
            ...terms,
            leaseMs: lease_s * 1000,
            ...(name !== undefined && { name }),
          })
          return { worker, ...(await keepLease(client, worker)) }
        })
        return { worker, leased_until }
      },
    })

    api.post('/:id/heartbeat', {
      operationId: 'heartbeatWorker',
      summary: 'Keep the lease; the answer names the jobs that somebody cancelled',
      description:
        'Once a third of lease_s is right. A lease that has passed is not revived: register again.',
      answer: Type.Object({
        leased_until: Timestamp,
        cancelled: Cancelled,
      }),
      problems: refusals,
      handle: (request) => request.transaction((client) => keepLease(client, request.params.id)),
    })

    api.delete('/:id', {
      operationId: 'deleteWorker',
      summary: 'End the lease: jobs that it held are free at once, without an attempt used',
      problems: refusals,
      handle: (request) => request.transaction((client) => leaveWorker(client, request.params.id)),
    })

    api.post('/:id/claim', {
      operationId: 'claimJobs',
      summary: 'The next due jobs, higher priority first; waits for some if there are none',
      description:
        'Asking keeps the lease, and so does waiting. If an answer got lost, leave and register again: what the worker held is free at once.',
      body: {
        limit: limit(1000, 1),
        wait_s: Type.Number({ minimum: 0, maximum: MAX_WAIT_S, default: 0 }),
        begin: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 1000,
            description:
              'so many of them begin at once, the first ones that say `begun`; call `begin` for the others before they do. Default: all. If the worker dies, what had begun is charged with the crash',
          }),
        ),
        held: Type.Integer({
          minimum: 0,
          default: 0,
          description:
            'how many jobs this worker still holds; a job whose worker crashed before is leased only at 0, and alone',
        }),
      },
      answer: Type.Object({
        jobs: Type.Array(LeasedJob),
        leased_until: Timestamp,
        cancelled: Cancelled,
      }),
      problems: [403, 409],
      handle: async (request, reply) => {
        const { limit, wait_s, begin, held } = request.body
        const worker = request.params.id
        const claim = new WaitingRequest(request, worker, waiting, limit, { begin, held })
        const gone = new AbortController()
        reply.raw.once('close', () => gone.abort())
        const { jobs, leased_until, cancelled } = await claim.within(
          wait_s * 1000,
          AbortSignal.any([closing.signal, gone.signal]),
        )
        if (hasGone(reply)) await giveBack(request, worker, jobs, wakeups)
        else hooks.onClaim(jobs.length)
        return { jobs: jobs.sort(byClaimOrder), leased_until, cancelled }
      },
    })

    api.post('/:id/begin', {
      operationId: 'beginJobs',
      summary: 'These jobs, leased ahead, begin now; do not begin one that the answer does not name',
      description: 'Only for jobs of a lease with `begin`: what it did not begin at once.',
      body: { jobs: Type.Array(shape('JobToBegin', JobLeaseRef, EXACT), BATCH) },
      answer: Type.Object({ begun: Counted }),
      problems: outcomeRefusals,
      handle: async (request) => {
        const jobs = request.body.jobs.map(({ job_id, epoch }) => ({ job_id, lease_epoch: epoch }))
        const begun = await request.transaction((client) => beginJobs(client, request.params.id, jobs))
        return { begun }
      },
    })

    api.post('/:id/complete', {
      operationId: 'completeJobs',
      summary: 'These jobs are done; what counted is never claimed again',
      description:
        'Said twice because the answer got lost, a job is `already_completed`. `not_yours`: its lease passed or its epoch is another one, so that others have it or had it. A result that is no object of references or has more than 8,192 characters is a 422, one that is nested more than 100 deep a 400: complete the job without it, or fail it.',
      body: {
        jobs: Type.Array(
          shape(
            'CompletedJob',
            {
              ...JobLeaseRef,
              result: Type.Optional(Type.Unknown({ description: 'kept in the history; references only' })),
            },
            EXACT,
          ),
          BATCH,
        ),
      },
      answer: Type.Object({
        completed: Counted,
        already_completed: Type.Array(Text, {
          description: 'those that this worker had completed before',
        }),
        not_yours: Type.Array(Text, { description: 'those that do not count' }),
      }),
      problems: [...outcomeRefusals, 413],
      handle: async (request) => {
        const worker = request.params.id
        const ended = request.body.jobs.map(({ job_id, epoch, result }) => {
          requireShallowResult(result)
          return { job: { job_id, lease_epoch: epoch }, result }
        })
        const answer = await request.transaction(async (client) => {
          const completed = await completeJobs(client, worker, ended)
          const counted = new Set(completed)
          const others = ended.map(({ job }) => job.job_id).filter((id) => !counted.has(id))
          const already = new Set(others.length > 0 ? await completedBy(client, worker, others) : [])
          return {
            completed,
            already_completed: others.filter((id) => already.has(id)),
            not_yours: others.filter((id) => !already.has(id)),
          }
        })
        hooks.onComplete(answer.completed.length)
        return answer
      },
    })

    api.post('/:id/fail', {
      operationId: 'failJobs',
      summary: 'These jobs failed: tried again later, or dead letters',
      body: {
        jobs: Type.Array(
          shape(
            'FailedJob',
            {
              ...JobLeaseRef,
              error: Type.String({ minLength: 1, maxLength: 10_000 }),
              fatal: Type.Optional(
                Type.Boolean({ description: 'trying again is no use: a dead letter at once' }),
              ),
            },
            EXACT,
          ),
          BATCH,
        ),
      },
      answer: Type.Object({
        failed: Type.Array(FailureOutcome),
      }),
      problems: outcomeRefusals,
      handle: async (request) => {
        const failures = request.body.jobs.map(({ job_id, epoch, error, fatal }) => ({
          job: { job_id, lease_epoch: epoch },
          error,
          ...(fatal !== undefined && { fatal }),
        }))
        const failed = await request.transaction((client) => failJobs(client, request.params.id, failures))
        hooks.onFail(failed.length)
        return { failed }
      },
    })

    api.post('/:id/snooze', {
      operationId: 'snoozeJobs',
      summary: 'Not now: these jobs come again then, and no attempt was used',
      body: {
        jobs: Type.Array(
          shape('SnoozedJob', { ...JobLeaseRef, until: Type.String({ format: 'date-time' }) }, EXACT),
          BATCH,
        ),
      },
      answer: Type.Object({ snoozed: Counted }),
      problems: outcomeRefusals,
      handle: async (request) => {
        const snoozes = request.body.jobs.map(({ job_id, epoch, until }) => ({
          job: { job_id, lease_epoch: epoch },
          until: new Date(until),
        }))
        return {
          snoozed: await request.transaction((client) => snoozeJobs(client, request.params.id, snoozes)),
        }
      },
    })
  })
}

interface Leased {
  readonly jobs: ClaimedJob[]
  readonly leased_until: Date
  readonly cancelled: string[]
}

/** A claim that waits for jobs if there are none. */
class WaitingRequest {
  private readonly request: FastifyRequest
  private readonly worker: string
  private readonly claims: WaitingClaims
  private readonly limit: number
  private readonly options: ClaimOptions
  private isWaiting = false
  private hasEnded = false

  constructor(
    request: FastifyRequest,
    worker: string,
    claims: WaitingClaims,
    limit: number,
    options: ClaimOptions,
  ) {
    this.request = request
    this.worker = worker
    this.claims = claims
    this.limit = limit
    this.options = options
  }

  async within(ms: number, signal: AbortSignal): Promise<Leased> {
    const deadline = performance.now() + ms
    const leased = await this.look()
    if (isAnswer(leased) || ms <= 0 || signal.aborted) return leased
    this.claims.add(this.worker)
    this.isWaiting = true
    let claim: WaitingClaim | undefined
    try {
      const terms = await this.request.transaction((client) => beginWait(client, this.worker))
      claim = this.claims.join(terms, this.options.held ?? 0)
      return await this.lookUntil(deadline, claim, signal)
    } finally {
      claim?.leave()
      // Its lease may have passed: then there is nothing to end.
      if (this.isWaiting)
        await this.request.transaction((client) => this.endWaitOfLast(client)).catch(() => {})
      await this.stopWaiting()
    }
  }

  private async lookUntil(deadline: number, claim: WaitingClaim, signal: AbortSignal): Promise<Leased> {
    for (;;) {
      const leased = await this.look()
      claim.looked(leased.jobs.length > 0)
      const leftMs = deadline - performance.now()
      if (isAnswer(leased) || leftMs <= 0 || signal.aborted) return leased
      await claim.wait(leftMs, signal)
      if (signal.aborted) return leased
    }
  }

  private async look(): Promise<Leased> {
    const answer = await this.request.transaction(async (client) => {
      const kept = await keepLease(client, this.worker)
      const jobs = await claimJobs(client, this.worker, this.limit, this.options)
      if (jobs.length > 0) await this.endWaitOfLast(client)
      return { ...kept, jobs }
    })
    if (answer.jobs.length > 0) await this.stopWaiting()
    return answer
  }

  /** Enqueues do not notify for this worker any more, unless another of its claims waits. */
  private async endWaitOfLast(client: Queryable): Promise<void> {
    if (!this.isWaiting || this.claims.countOf(this.worker) > 1) return
    await endWait(client, this.worker)
    this.hasEnded = true
  }

  /**
   * After the commit. A claim of the same worker that began to wait meanwhile has lost the worker's mark, and gets it back; of two that ended
   * together neither was the last.
   */
  private async stopWaiting(): Promise<void> {
    if (!this.isWaiting) return
    this.isWaiting = false
    this.claims.remove(this.worker)
    const othersWait = this.claims.countOf(this.worker) > 0
    if (this.hasEnded !== othersWait) return
    await this.request
      .transaction<unknown>((client) => (othersWait ? beginWait : endWait)(client, this.worker))
      .catch(() => {})
  }
}

/** Somebody who wants a job of theirs to end should not wait for the next one. */
function isAnswer({ jobs, cancelled }: Leased): boolean {
  return jobs.length > 0 || cancelled.length > 0
}

/** Nobody would ever hear of them, while the heartbeats of the same worker kept them from everybody else. */
async function giveBack(
  request: FastifyRequest,
  worker: string,
  jobs: readonly ClaimedJob[],
  wakeups: Wakeups | undefined,
): Promise<void> {
  if (jobs.length === 0) return
  await request.transaction((client) => releaseJobs(client, worker, jobs))
  wakeups?.tell('jobs')
}

function hasGone({ raw }: FastifyReply): boolean {
  return raw.destroyed && !raw.writableFinished
}

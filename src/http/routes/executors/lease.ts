/** The next jobs for an executor, waiting for some if there are none. */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type ClaimedJob, type ClaimOptions, claimJobs, keepLease, releaseJobs } from '../../../jobs/lease.ts'
import type { LeaseCounts } from '../../measures.ts'
import { problems, Timestamp } from '../../responses.ts'
import { LeasedJob, presentLeased, Uuid } from '../jobs/shapes.ts'

/** Between two looks of a request that waits; no transaction and no connection is held meanwhile. */
const LOOK_MS = 250
const LONGEST_WAIT_S = 20

interface Leased {
  readonly jobs: ClaimedJob[]
  readonly leased_until: Date
  readonly cancelled: string[]
}

export function leaseRoutes(counts: LeaseCounts): FastifyPluginAsyncTypebox {
  return async (api) => {
    const closing = new AbortController()
    api.addHook('preClose', async () => closing.abort())
    api.post(
      '/workers/:id/lease',
      {
        schema: {
          operationId: 'leaseJobs',
          summary: 'The next due jobs, higher priority first; waits for some if there are none',
          description:
            'Asking keeps the lease, and so does waiting. If an answer got lost, leave and register again: what the worker held is free at once.',
          tags: ['executors'],
          params: Type.Object({ id: Uuid }),
          body: Type.Object(
            {
              limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1 }),
              wait_s: Type.Number({ minimum: 0, maximum: LONGEST_WAIT_S, default: 0 }),
              begin: Type.Optional(
                Type.Integer({
                  minimum: 0,
                  maximum: 1000,
                  description:
                    'so many of them begin at once, the first ones that say `begun`; tell of the others with `begin` before they do. Default: all. If the worker dies, what had begun is charged with the crash',
                }),
              ),
              held: Type.Integer({
                minimum: 0,
                default: 0,
                description:
                  'how many jobs this worker still has in hand; a job with a crash behind it is leased only with 0, and then alone',
              }),
            },
            { additionalProperties: false },
          ),
          response: {
            200: Type.Object({
              jobs: Type.Array(LeasedJob),
              leased_until: Timestamp,
              cancelled: Type.Array(Type.String(), {
                description: 'jobs of yours that somebody wants to end',
              }),
            }),
            ...problems(400, 401, 403, 409),
          },
        },
      },
      async (request, reply) => {
        const { limit, wait_s, begin, held } = request.body
        const { jobs, leased_until, cancelled } = await leaseWithin(
          wait_s * 1000,
          () => lease(request, request.params.id, limit, { begin, held }),
          () => closing.signal.aborted || hasGone(reply),
        )
        if (hasGone(reply)) await giveBack(request, request.params.id, jobs)
        else counts.claimed(jobs.length)
        return {
          jobs: jobs.sort(byTurn).map(presentLeased),
          leased_until: leased_until.toISOString(),
          cancelled,
        }
      },
    )
  }
}

async function leaseWithin(ms: number, look: () => Promise<Leased>, isOver: () => boolean): Promise<Leased> {
  const deadline = performance.now() + ms
  for (;;) {
    const leased = await look()
    const left = deadline - performance.now()
    // Somebody who wants a job of theirs to end should not wait for the next one.
    if (leased.jobs.length > 0 || leased.cancelled.length > 0 || left <= 0 || isOver()) return leased
    await delay(Math.min(LOOK_MS, left))
  }
}

function lease(
  request: FastifyRequest,
  worker: string,
  limit: number,
  options: ClaimOptions,
): Promise<Leased> {
  return request.transaction(async (client) => {
    const kept = await keepLease(client, worker)
    return { ...kept, jobs: await claimJobs(client, worker, limit, options) }
  })
}

/** Nobody would ever hear of them, while the heartbeats of the same worker kept them from everybody else. */
async function giveBack(request: FastifyRequest, worker: string, jobs: readonly ClaimedJob[]): Promise<void> {
  if (jobs.length > 0) await request.transaction((client) => releaseJobs(client, worker, jobs))
}

function hasGone({ raw }: FastifyReply): boolean {
  return raw.destroyed && !raw.writableFinished
}

function byTurn(a: ClaimedJob, b: ClaimedJob): number {
  return (
    Number(b.begun) - Number(a.begun) ||
    b.priority - a.priority ||
    a.process_after.getTime() - b.process_after.getTime() ||
    (a.job_id < b.job_id ? -1 : 1)
  )
}

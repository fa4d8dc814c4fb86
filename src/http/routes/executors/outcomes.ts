/** What became of leased jobs. Said too late, under another epoch or twice, it does not count. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { completeJobs, failJobs, snoozeJob } from '../../../jobs/lease.ts'
import type { LeaseCounts } from '../../measures.ts'
import { nullable, problems, Timestamp } from '../../responses.ts'
import { Uuid } from '../jobs/shapes.ts'

const OfWorker = Type.Object({ id: Uuid })
const Counted = Type.Array(Type.String(), { description: 'those that counted' })
const Told = { job_id: Uuid, epoch: Type.Integer({ description: 'the lease_epoch of the job' }) }
const MOST = { minItems: 1, maxItems: 1000 }
const EXACT = { additionalProperties: false }
const refusals = problems(400, 401, 403, 409, 422)
const tags = ['executors']

export function outcomeRoutes(counts: LeaseCounts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post(
      '/workers/:id/complete',
      {
        schema: {
          operationId: 'completeJobs',
          summary: 'These jobs are done; what counted never runs again',
          tags,
          params: OfWorker,
          body: Type.Object(
            {
              jobs: Type.Array(
                Type.Object(
                  {
                    ...Told,
                    result: Type.Optional(
                      Type.Unknown({ description: 'kept in the history; references only' }),
                    ),
                  },
                  EXACT,
                ),
                MOST,
              ),
            },
            EXACT,
          ),
          response: { 200: Type.Object({ completed: Counted }), ...refusals },
        },
      },
      async (request) => {
        const ended = request.body.jobs.map(({ job_id, epoch, result }) => ({
          job: { job_id, lease_epoch: epoch },
          result,
        }))
        const completed = await request.transaction((client) =>
          completeJobs(client, request.params.id, ended),
        )
        counts.completed(completed.length)
        return { completed }
      },
    )

    api.post(
      '/workers/:id/fail',
      {
        schema: {
          operationId: 'failJobs',
          summary: 'These jobs failed: tried again later, or dead letters',
          tags,
          params: OfWorker,
          body: Type.Object(
            {
              jobs: Type.Array(
                Type.Object(
                  {
                    ...Told,
                    error: Type.String({ minLength: 1, maxLength: 10_000 }),
                    fatal: Type.Optional(
                      Type.Boolean({ description: 'trying again is no use: a dead letter at once' }),
                    ),
                  },
                  EXACT,
                ),
                MOST,
              ),
            },
            EXACT,
          ),
          response: {
            200: Type.Object({
              failed: Type.Array(
                Type.Object({
                  job_id: Type.String(),
                  outcome: Type.Enum(['retry', 'dead', 'cancelled']),
                  process_after: nullable(Timestamp),
                }),
              ),
            }),
            ...refusals,
          },
        },
      },
      async (request) => {
        const failures = request.body.jobs.map(({ job_id, epoch, error, fatal }) => ({
          job: { job_id, lease_epoch: epoch },
          error,
          ...(fatal !== undefined && { fatal }),
        }))
        const failed = await request.transaction((client) => failJobs(client, request.params.id, failures))
        counts.failed(failed.length)
        return {
          failed: failed.map((job) => ({ ...job, process_after: job.process_after?.toISOString() ?? null })),
        }
      },
    )

    api.post(
      '/workers/:id/snooze',
      {
        schema: {
          operationId: 'snoozeJobs',
          summary: 'Not now: these jobs come again then, and no attempt was used',
          tags,
          params: OfWorker,
          body: Type.Object(
            {
              jobs: Type.Array(
                Type.Object({ ...Told, until: Type.String({ format: 'date-time' }) }, EXACT),
                MOST,
              ),
            },
            EXACT,
          ),
          response: { 200: Type.Object({ snoozed: Counted }), ...refusals },
        },
      },
      async (request) => {
        const snoozed = await request.transaction(async (client) => {
          const counted: string[] = []
          for (const { job_id, epoch, until } of request.body.jobs) {
            const job = { job_id, lease_epoch: epoch }
            if (await snoozeJob(client, request.params.id, job, new Date(until))) counted.push(job_id)
          }
          return counted
        })
        return { snoozed }
      },
    )
  }
}

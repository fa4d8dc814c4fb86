/** What becomes of leased jobs. Said too late, under another epoch or twice, it does not count, and the answer says which. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import { beginJobs, completedBy, completeJobs, failJobs, snoozeJob } from '../../../jobs/lease.ts'
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
      '/workers/:id/begin',
      {
        schema: {
          operationId: 'beginJobs',
          summary: 'These jobs, leased ahead, begin now; do not begin one that the answer does not name',
          description: 'Only for jobs of a lease with `begin`: what it did not begin at once.',
          tags,
          params: OfWorker,
          body: Type.Object({ jobs: Type.Array(Type.Object(Told, EXACT), MOST) }, EXACT),
          response: { 200: Type.Object({ begun: Counted }), ...refusals },
        },
      },
      async (request) => {
        const jobs = request.body.jobs.map(({ job_id, epoch }) => ({ job_id, lease_epoch: epoch }))
        const begun = await request.transaction((client) => beginJobs(client, request.params.id, jobs))
        return { begun }
      },
    )

    api.post(
      '/workers/:id/complete',
      {
        schema: {
          operationId: 'completeJobs',
          summary: 'These jobs are done; what counted is never claimed again',
          description:
            'Said twice because the answer got lost, a job is `already_completed`. `not_yours`: its lease passed or its epoch is another one, so that others have it or had it. A result that is no object of references or has more than 8,192 characters is a 422, one that is nested more than 100 deep a 400: complete the job without it, or fail it.',
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
          response: {
            200: Type.Object({
              completed: Counted,
              already_completed: Type.Array(Type.String(), {
                description: 'those that this worker had completed before',
              }),
              not_yours: Type.Array(Type.String(), { description: 'those that do not count' }),
            }),
            ...refusals,
            ...problems(413),
          },
        },
      },
      async (request) => {
        const worker = request.params.id
        const ended = request.body.jobs.map(({ job_id, epoch, result }) => {
          requireShallow(result)
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
        counts.completed(answer.completed.length)
        return answer
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

/** Deeper than this the database's own parser gives up at some point that depends on its stack. */
const MAX_DEPTH = 100

function requireShallow(result: unknown): void {
  if (depthOf(result, MAX_DEPTH + 1) <= MAX_DEPTH) return
  throw new StagedoorError(
    'job_invalid',
    { kind: null, reason: `its result is nested more than ${MAX_DEPTH} deep` },
    {
      message: `The result of a job is nested more than ${MAX_DEPTH} deep`,
      hint: 'A result carries references: put the data into a table and its key into the result.',
    },
  )
}

/** How deep objects and arrays stand in each other, counted up to `most`. No recursion: the depth is the caller's. */
function depthOf(value: unknown, most: number): number {
  let level = [value]
  for (let depth = 0; ; depth++) {
    level = level.filter((one) => typeof one === 'object' && one !== null)
    if (level.length === 0 || depth === most) return depth
    level = level.flatMap((one) => Object.values(one as object))
  }
}

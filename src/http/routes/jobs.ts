/** Jobs over HTTP: looked at by the members of their workspace, enqueued and steered by the back end. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import { EXECUTORS } from '../../jobs/executors.ts'
import type { NewJob } from '../../jobs/job.ts'
import { cancelJob, enqueueMany, findJob, listJobs, replayJobs } from '../../jobs/queue.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems } from '../responses.ts'
import { JOB_STATES, JobShape, Kind, presentJob, Uuid } from './jobs/shapes.ts'

const Ref = Type.Optional(Type.String({ maxLength: 1000 }))
const NewJobShape = Type.Object(
  {
    job_kind: Kind,
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'the same kind and key again: the same job, also after it has ended',
      }),
    ),
    executor: Type.Optional(Type.Enum([...EXECUTORS])),
    source_ref: Ref,
    target_ref: Ref,
    payload_ref: Ref,
    safe_payload: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'references, never data' }),
    ),
    priority: Type.Optional(Type.Integer({ minimum: -32767, maximum: 32767, description: 'higher first' })),
    process_after: Type.Optional(Type.String({ format: 'date-time' })),
    workspace_id: Type.Optional(Uuid),
    correlation_id: Type.Optional(Uuid),
    causation_event_id: Type.Optional(Uuid),
  },
  { additionalProperties: false },
)

export const jobRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listJobs',
        summary: 'Jobs of your workspaces, newest first: waiting, running and ended ones',
        tags: ['jobs'],
        querystring: Type.Object(
          {
            state: Type.Optional(Type.Enum([...JOB_STATES])),
            kind: Type.Optional(Kind),
            workspace_id: Type.Optional(Uuid),
            correlation_id: Type.Optional(Uuid),
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: Type.Optional(
              Type.String({ format: 'uuid', description: 'the `next` of the page before' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ jobs: Type.Array(JobShape), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, kind, ...filter } = request.query
      const rows = await request.transaction((client) =>
        listJobs(client, { ...filter, limit: limit + 1, ...(kind !== undefined && { job_kind: kind }) }),
      )
      const page = rows.slice(0, limit)
      return { jobs: page.map(presentJob), next: rows.length > limit ? page.at(-1)!.job_id : null }
    },
  )

  api.post(
    '/',
    {
      schema: {
        operationId: 'enqueueJobs',
        summary: 'Enqueue jobs, all of them or none; for tokens of service_role',
        description: 'A job with a key that was used before is not enqueued again: its id is answered.',
        tags: ['jobs'],
        body: Type.Object(
          { jobs: Type.Array(NewJobShape, { minItems: 1, maxItems: 10_000 }) },
          { additionalProperties: false, examples: [{ jobs: [{ job_kind: 'send_report' }] }] },
        ),
        response: { 201: Type.Object({ jobs: Type.Array(Type.String()) }), ...problems(400, 401, 403, 422) },
      },
    },
    async (request, reply) => {
      const jobs = await request.transaction((client) =>
        enqueueMany(client, request.body.jobs as readonly NewJob[]),
      )
      return reply.status(201).send({ jobs })
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getJob',
        summary: 'One job, wherever it is now',
        tags: ['jobs'],
        params: Type.Object({ id: Uuid }),
        response: { 200: JobShape, ...problems(400, 401, 404) },
      },
    },
    async (request) => {
      const { id } = request.params
      const job = await request.transaction((client) => findJob(client, id))
      if (!job) throw new StagedoorError('job_not_found', { what: `job ${id}` })
      return presentJob(job)
    },
  )

  api.post(
    '/:id/cancel',
    {
      schema: {
        operationId: 'cancelJob',
        summary: 'End a job before its time',
        description:
          'One that waits is gone at once. One that runs is told: `requested`; it may still end well.',
        tags: ['jobs'],
        params: Type.Object({ id: Uuid }),
        body: Type.Union([
          Type.Object(
            { reason: Type.Optional(Type.String({ maxLength: 2000 })) },
            { additionalProperties: false },
          ),
          Type.Null(),
        ]),
        response: {
          200: Type.Object({ outcome: Type.Enum(['cancelled', 'requested']) }),
          ...problems(400, 401, 403, 404, 409),
        },
      },
    },
    async (request) => ({
      outcome: await request.transaction((client) =>
        cancelJob(client, request.params.id, request.body?.reason),
      ),
    }),
  )

  api.post(
    '/replay',
    {
      schema: {
        operationId: 'replayJobs',
        summary: 'Dead letters back into the queue, under their own ids and with all attempts before them',
        description: 'A member names the workspace. Answers the ids of those that were dead letters.',
        tags: ['jobs'],
        body: Type.Object(
          {
            jobs: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
            kind: Type.Optional(Kind),
            died_before: Type.Optional(Type.String({ format: 'date-time' })),
            workspace_id: Type.Optional(Uuid),
            limit: Type.Integer({ minimum: 1, maximum: 100_000, default: 1000 }),
          },
          { additionalProperties: false, examples: [{ kind: 'send_report' }] },
        ),
        response: {
          200: Type.Object({ jobs: Type.Array(Type.String()) }),
          ...problems(400, 401, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { kind, died_before, ...filter } = request.body
      const jobs = await request.transaction((client) =>
        replayJobs(client, {
          ...filter,
          ...(kind !== undefined && { job_kind: kind }),
          ...(died_before !== undefined && { died_before: new Date(died_before) }),
        }),
      )
      return { jobs }
    },
  )
}

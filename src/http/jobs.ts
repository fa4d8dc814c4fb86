/** Jobs and their kinds: members of a workspace look at them, the back end enqueues and controls them. */
import {
  cancelJob,
  EXECUTORS,
  enqueueMany,
  listJobs,
  listKinds,
  pauseKind,
  replayJobs,
  requireJob,
  resumeKind,
  setKind,
} from '../jobs/queue.ts'
import { JOB_STATUSES, JobKind, JobRecord, KindSettings } from '../jobs/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { shape, Text, Type, Uuid } from '../kernel/schema.ts'
import { After, Limit, limit, listPage, page, Reason, routes } from './routes.ts'

export const Kind = Type.String({ pattern: '^[a-z][a-z0-9_.:-]{0,62}$', examples: ['send_report'] })
/** Not an enumeration: the names of the seeds are valid, and offered to nobody who did not ask for them. */
export const Executor = Type.String({ maxLength: 63, examples: ['external_worker'] })

export function requireExecutor(name: string | undefined): void {
  if (name === undefined || (EXECUTORS as readonly string[]).includes(name)) return
  throw new StagedoorError('request_invalid', { reason: `there is no executor ${name}` })
}

const Ref = Type.Optional(Type.String({ maxLength: 1000 }))
const Jobs = Type.Object({ jobs: Type.Array(Text, { description: 'their ids' }) })

const NewJob = shape(
  'NewJob',
  {
    job_kind: Kind,
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'the same kind and key again: the same job, also after it has ended',
      }),
    ),
    executor: Type.Optional(Executor),
    source_ref: Ref,
    target_ref: Ref,
    payload_ref: Ref,
    payload: Type.Optional(Type.Record(Text, Type.Unknown(), { description: 'references, never data' })),
    priority: Type.Optional(Type.Integer({ minimum: -32767, maximum: 32767, description: 'higher first' })),
    process_after: Type.Optional(Type.String({ format: 'date-time' })),
    workspace_id: Type.Optional(Uuid),
    correlation_id: Type.Optional(Uuid),
    causation_event_id: Type.Optional(Uuid),
  },
  { additionalProperties: false },
)

export const jobRoutes = routes('jobs', (api) => {
  api.get('/', {
    operationId: 'listJobs',
    summary: 'Jobs of your workspaces, newest first: waiting, running and ended ones',
    query: {
      status: Type.Optional(Type.Enum([...JOB_STATUSES])),
      kind: Type.Optional(Kind),
      workspace_id: Type.Optional(Uuid),
      correlation_id: Type.Optional(Uuid),
      limit: Limit,
      after: After,
    },
    answer: page('jobs', JobRecord),
    handle: (request) =>
      listPage(
        request.query,
        'jobs',
        'job_id',
        ({ workspace_id: workspaceId, correlation_id: correlationId, ...filter }) =>
          request.transaction((client) => listJobs(client, { ...filter, workspaceId, correlationId })),
      ),
  })

  api.post('/', {
    operationId: 'enqueueJobs',
    summary: 'Enqueue jobs, all of them or none; for tokens of service_role',
    description: 'A job with a key that was used before is not enqueued again: its id is answered.',
    body: { jobs: Type.Array(NewJob, { minItems: 1, maxItems: 10_000 }) },
    example: { jobs: [{ job_kind: 'send_report' }] },
    answer: Jobs,
    status: 201,
    problems: [403, 422],
    handle: async (request) => {
      for (const { executor } of request.body.jobs) requireExecutor(executor)
      return { jobs: await request.transaction((client) => enqueueMany(client, request.body.jobs)) }
    },
  })

  api.get('/:id', {
    operationId: 'getJob',
    summary: 'One job, wherever it is now',
    answer: JobRecord,
    problems: [404],
    handle: (request) => request.transaction((client) => requireJob(client, request.params.id)),
  })

  api.post('/:id/cancel', {
    operationId: 'cancelJob',
    summary: 'End a job before its time',
    description:
      'A waiting job is cancelled at once. For a running one the answer is `requested`: its worker is asked to stop, and it may still complete.',
    optionalBody: { reason: Reason },
    answer: Type.Object({ outcome: Type.Enum(['cancelled', 'requested']) }),
    problems: [403, 404, 409],
    handle: async (request) => ({
      outcome: await request.transaction((client) =>
        cancelJob(client, request.params.id, request.body?.reason),
      ),
    }),
  })

  api.post('/replay', {
    operationId: 'replayJobs',
    summary: 'Dead letters back into the queue, under their own ids and with all attempts before them',
    description: 'A member names the workspace. Answers the ids of those that were dead letters.',
    body: {
      jobs: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
      kind: Type.Optional(Kind),
      failed_before: Type.Optional(Type.String({ format: 'date-time' })),
      workspace_id: Type.Optional(Uuid),
      limit: limit(100_000, 1000),
    },
    example: { kind: 'send_report' },
    answer: Jobs,
    problems: [403, 404, 409],
    handle: async (request) => {
      const { workspace_id: workspaceId, failed_before, ...filter } = request.body
      const failedBefore = failed_before === undefined ? undefined : new Date(failed_before)
      return {
        jobs: await request.transaction((client) =>
          replayJobs(client, { ...filter, workspaceId, failedBefore }),
        ),
      }
    },
  })
})

const params = { kind: Kind }
const BACK_END = 'For tokens of service_role: a kind is shared by all workspaces.'

export const jobKindRoutes = routes('jobs', (api) => {
  api.get('/', {
    operationId: 'listJobKinds',
    summary: 'The kinds of jobs and the settings of each',
    answer: Type.Object({ kinds: Type.Array(JobKind) }),
    handle: async (request) => ({ kinds: await request.transaction(listKinds) }),
  })

  api.patch('/:kind', {
    operationId: 'updateJobKind',
    summary: 'Change the settings of a kind; what is left out stays',
    description: BACK_END,
    params,
    body: KindSettings,
    answer: JobKind,
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => {
        await setKind(client, request.params.kind, request.body)
        return readKind(client, request.params.kind)
      }),
  })

  for (const [action, change, summary] of [
    ['pause', pauseKind, 'No job of this kind begins until it is resumed; running ones go on'],
    ['resume', resumeKind, 'Jobs of this kind begin again'],
  ] as const) {
    api.post(`/:kind/${action}`, {
      operationId: `${action}JobKind`,
      summary,
      description: BACK_END,
      params,
      answer: JobKind,
      problems: [403, 404],
      handle: (request) =>
        request.transaction(async (client) => {
          await change(client, request.params.kind)
          return readKind(client, request.params.kind)
        }),
    })
  }
})

async function readKind(client: Client, kind: string): Promise<JobKind> {
  const kinds = await listKinds(client)
  return kinds.find(({ job_kind }) => job_kind === kind)!
}

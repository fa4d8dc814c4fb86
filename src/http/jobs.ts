/** Jobs, their kinds and dead letters: members of a workspace look at them and replay, whoever has the right everywhere controls kinds. */
import { groupDeadLetters, listDeadLetters, MAX_GROUPED, replaySelection } from '../jobs/dead-letters.ts'
import {
  cancelJob,
  EXECUTORS,
  enqueueMany,
  listJobs,
  listKinds,
  pauseKind,
  requireJob,
  resumeKind,
  setKind,
} from '../jobs/queue.ts'
import {
  DeadLetterGroup,
  JOB_STATUSES,
  JobDetail,
  JobKind,
  JobRecord,
  JobStatistics,
  KindSettings,
} from '../jobs/shapes.ts'
import { jobStatistics, STATISTICS_WINDOWS, type StatisticsWindow } from '../jobs/statistics.ts'
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

const GroupId = Type.String({ pattern: '^[0-9a-f]{16}$', description: 'of `GET /dead-letters/groups`' })
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
    replica: true,
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

  api.get('/statistics', {
    operationId: 'getJobStatistics',
    replica: true,
    summary: 'Counts by kind and state, and throughput and latency over the last hour, day or week',
    description:
      'Of the jobs that you may see. A bucket is a minute, 15 minutes or an hour long. What failed in an earlier attempt and ended well counts as completed.',
    query: {
      window: Type.Enum(Object.keys(STATISTICS_WINDOWS) as StatisticsWindow[], { default: '1h' }),
      kind: Type.Optional(Kind),
      workspace_id: Type.Optional(Uuid),
    },
    answer: JobStatistics,
    problems: [403],
    handle: (request) => {
      const { workspace_id: workspaceId, ...filter } = request.query
      return request.transaction((client) => jobStatistics(client, { ...filter, workspaceId }))
    },
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
    replica: true,
    summary: 'One job, wherever it is now, with what its failed attempts said',
    answer: JobDetail,
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
    description:
      'A member names the workspace. Say which: ids, a kind, a group of `GET /dead-letters/groups`, all that failed before a time, or what meets several of these. Answers the ids of those that were dead letters.',
    body: {
      jobs: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
      kind: Type.Optional(Kind),
      group: Type.Optional(GroupId),
      failed_before: Type.Optional(Type.String({ format: 'date-time' })),
      dry_run: Type.Optional(
        Type.Boolean({ description: 'replay nothing: the ids are those that would be replayed' }),
      ),
      workspace_id: Type.Optional(Uuid),
      limit: limit(100_000, 1000),
    },
    example: { kind: 'send_report' },
    answer: Jobs,
    problems: [403, 404, 409],
    handle: async (request) => {
      const { workspace_id: workspaceId, failed_before, dry_run: dryRun, ...filter } = request.body
      const failedBefore = timeOf(failed_before)
      return {
        jobs: await request.transaction((client) =>
          replaySelection(client, { ...filter, workspaceId, failedBefore, dryRun }),
        ),
      }
    },
  })
})

function timeOf(given: string | undefined): Date | undefined {
  return given === undefined ? undefined : new Date(given)
}

const deadLetterFilter = {
  kind: Type.Optional(Kind),
  failed_before: Type.Optional(Type.String({ format: 'date-time' })),
  workspace_id: Type.Optional(Uuid),
}

export const deadLetterRoutes = routes('jobs', (api) => {
  api.get('/', {
    operationId: 'listDeadLetters',
    replica: true,
    summary: 'Dead letters of your workspaces, those that were enqueued last first',
    query: { ...deadLetterFilter, group: Type.Optional(GroupId), limit: Limit, after: After },
    answer: page('jobs', JobRecord),
    problems: [403],
    handle: (request) =>
      listPage(request.query, 'jobs', 'job_id', ({ workspace_id: workspaceId, failed_before, ...filter }) =>
        request.transaction((client) =>
          listDeadLetters(client, { ...filter, workspaceId, failedBefore: timeOf(failed_before) }),
        ),
      ),
  })

  api.get('/groups', {
    operationId: 'groupDeadLetters',
    replica: true,
    summary: 'Dead letters grouped by kind and error, the most frequent first',
    description: `An error is grouped by its first line, without ids, times and numbers. The newest ${MAX_GROUPED} dead letters are grouped; \`cut\` says whether there are more.`,
    query: { ...deadLetterFilter, limit: limit(500, 100) },
    answer: Type.Object({
      groups: Type.Array(DeadLetterGroup),
      total: Type.Integer({
        description: 'dead letters in all groups, also those that the limit leaves out',
      }),
      cut: Type.Boolean(),
    }),
    problems: [403],
    handle: (request) => {
      const { workspace_id: workspaceId, failed_before, ...filter } = request.query
      return request.transaction((client) =>
        groupDeadLetters(client, { ...filter, workspaceId, failedBefore: timeOf(failed_before) }),
      )
    },
  })
})

const params = { kind: Kind }
const SETTINGS_RIGHT =
  'A kind is shared by all workspaces: for people who administer every workspace, and tokens of service_role.'
const PAUSE_RIGHT =
  'A kind is shared by all workspaces: for people who operate every workspace, and tokens of service_role.'

export const jobKindRoutes = routes('jobs', (api) => {
  api.get('/', {
    operationId: 'listJobKinds',
    replica: true,
    summary: 'The kinds of jobs and the settings of each',
    answer: Type.Object({ kinds: Type.Array(JobKind) }),
    handle: async (request) => ({ kinds: await request.transaction(listKinds) }),
  })

  api.patch('/:kind', {
    operationId: 'updateJobKind',
    summary: 'Change the settings of a kind; what is left out stays',
    description: SETTINGS_RIGHT,
    params,
    body: KindSettings,
    answer: JobKind,
    problems: [403],
    handle: (request) =>
      request.decide(async (client) => {
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
      description: PAUSE_RIGHT,
      params,
      answer: JobKind,
      problems: [403, 404],
      handle: (request) =>
        request.decide(async (client) => {
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

/** Executions: started and controlled by those who may operate in their workspace, looked at by its members. */
import { actorNames } from '../access/members.ts'
import {
  cancelExecution,
  pauseExecution,
  rebuildExecution,
  rerunExecution,
  resumeExecution,
  startExecution,
} from '../executions/control.ts'
import { getExecutionGraph, getExecutionTimeline, listLoopItems } from '../executions/graph.ts'
import {
  countByStatus,
  getExecution,
  listEvents,
  listExecutions,
  listPlaybookRuns,
  listSteps,
  readResult,
  requireExecution,
} from '../executions/queries.ts'
import { createResultStore, type SharedResults } from '../executions/results.ts'
import {
  EXECUTION_STATUSES,
  ExecutionCounts,
  ExecutionDetail,
  ExecutionGraph,
  ExecutionRecord,
  ExecutionStep,
  ExecutionTimeline,
  ITEM_STATUSES,
  LoggedEvent,
  LoopItem,
  PlaybookRuns,
} from '../executions/shapes.ts'
import type { JsonObject as JsonObjectType } from '../kernel/json.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { IntegerOrNull, JsonObject, shape, Text, Type, Uuid } from '../kernel/schema.ts'
import { requireService } from './access.ts'
import { ActorNames } from './responses.ts'
import { Limit, limit, listPage, page, Reason, routes } from './routes.ts'

/** Up to the largest bigint. */
export const ExecutionId = Type.String({
  pattern: '^([0-9]{1,18}|[0-8][0-9]{18}|9[01][0-9]{17}|92[01][0-9]{16})$',
  examples: ['380609617270407169'],
})
export const PlaybookName = Type.String({
  pattern: '^[a-z][a-z0-9_.:-]{0,62}$',
  examples: ['nightly-import'],
})
const MAX_INTEGER = 2_147_483_647
const Version = Type.Integer({ minimum: 1, maximum: MAX_INTEGER })
const Seq = Type.Integer({
  minimum: 0,
  maximum: MAX_INTEGER,
  default: 0,
  description: 'the `next` of the page before',
})
const Started = shape('StartedExecution', { execution_id: Text })
const ExecutionControl = shape('ExecutionControl', {
  execution_id: Text,
  action: Type.Enum(['cancel', 'pause', 'resume']),
})
const params = { id: ExecutionId }
const StepName = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }))
const started = {
  playbook: Type.Optional(PlaybookName),
  workspace_id: Type.Optional(Uuid),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'started at or after this time' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'started before this time' })),
}

export interface ResultFiles {
  /** As dot_executor: asked after the caller's right was checked. */
  readonly pool: Pool
  readonly home: string
  readonly shared?: SharedResults | undefined
}

export const executionRoutes = (files: ResultFiles) =>
  routes('executions', (api) => {
    api.get('/', {
      operationId: 'listExecutions',
      replica: true,
      summary: 'Executions of your workspaces, newest first',
      description: 'Those that another execution started are listed with `parent`.',
      query: {
        status: Type.Optional(Type.Enum([...EXECUTION_STATUSES])),
        ...started,
        failed: Type.Boolean({ default: false, description: 'those that failed, or of which items failed' }),
        parent: Type.Optional(ExecutionId),
        limit: Limit,
        after: Type.Optional(ExecutionId),
      },
      answer: page('executions', ExecutionRecord, { people: ActorNames }),
      handle: (request) =>
        request.transaction(async (client) => {
          const list = await listPage(
            request.query,
            'executions',
            'execution_id',
            ({ workspace_id: workspaceId, ...filter }) => listExecutions(client, { ...filter, workspaceId }),
          )
          const starters = list.executions.map(({ started_by }) => started_by)
          return { ...list, people: await actorNames(client, starters) }
        }),
    })

    api.get('/counts', {
      operationId: 'countExecutions',
      replica: true,
      summary: 'How many executions there are of each status',
      description: 'Of the newest 10,000 that match and that no other execution started.',
      query: started,
      answer: ExecutionCounts,
      handle: (request) => {
        const { workspace_id: workspaceId, ...filter } = request.query
        return request.transaction((client) => countByStatus(client, { ...filter, workspaceId }))
      },
    })

    api.get('/by-playbook', {
      operationId: 'listPlaybookRuns',
      replica: true,
      summary: 'The latest execution of each playbook, and how the others did',
      description: 'Among the newest 2,000 that no other execution started.',
      answer: Type.Object({ playbooks: Type.Array(PlaybookRuns) }),
      handle: async (request) => ({ playbooks: await request.transaction(listPlaybookRuns) }),
    })

    api.post('/', {
      operationId: 'startExecution',
      summary: 'Start a playbook',
      description:
        'Members start what is open to them, in a workspace where they may operate. The same playbook, workspace and key again is the same execution; with other arguments it is refused.',
      body: {
        playbook: PlaybookName,
        args: Type.Optional(JsonObject),
        workspace_id: Type.Optional(Uuid),
        version: Type.Optional(Version),
        idempotency_key: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
      },
      example: { playbook: 'nightly-import', args: { n: 10 }, idempotency_key: '2026-11-16' },
      answer: Started,
      status: 201,
      problems: [403, 404, 409, 422],
      handle: async (request) => {
        const { playbook, args, version, workspace_id: workspaceId, idempotency_key } = request.body
        const options = { version, workspaceId, idempotencyKey: idempotency_key }
        const execution_id = await request.transaction((client) =>
          startExecution(client, playbook, args as JsonObjectType | undefined, options),
        )
        return { execution_id }
      },
    })

    api.get('/:id', {
      operationId: 'getExecution',
      replica: true,
      summary: 'One execution with its first hundred steps',
      description: '`next_steps` is `after` of the next page of `/steps`; null where these are all.',
      params,
      answer: ExecutionDetail,
      problems: [404],
      handle: (request) => request.transaction((client) => getExecution(client, request.params.id)),
    })

    api.get('/:id/steps', {
      operationId: 'listExecutionSteps',
      replica: true,
      summary: 'The steps of an execution, in the order in which they were entered',
      params,
      query: { after: Seq, limit: limit(1000, 100) },
      answer: Type.Object({ steps: Type.Array(ExecutionStep), next: IntegerOrNull }),
      problems: [404],
      handle: (request) =>
        request.transaction(async (client) =>
          listSteps(client, await requireExecution(client, request.params.id), request.query),
        ),
    })

    api.get('/:id/history', {
      operationId: 'listExecutionHistory',
      replica: true,
      summary: 'What happened to an execution: its log, oldest first',
      params,
      query: {
        after: Seq,
        limit: limit(1000, 100),
        items: Type.Boolean({
          default: true,
          description: 'with what happened to single items of loops',
        }),
        failed: Type.Boolean({ default: false, description: 'only what failed' }),
        step: StepName,
      },
      answer: Type.Object({ events: Type.Array(LoggedEvent), next: IntegerOrNull }),
      problems: [404],
      handle: async (request) => {
        const { id } = request.params
        const { after, limit, items, failed, step } = request.query
        const rows = await request.transaction(async (client) => {
          await requireExecution(client, id)
          return listEvents(client, id, { after, limit: limit + 1, withoutItems: !items, failed, step })
        })
        const events = rows.slice(0, limit)
        return { events, next: rows.length > limit ? events.at(-1)!.seq : null }
      },
    })

    api.get('/:id/graph', {
      operationId: 'getExecutionGraph',
      replica: true,
      summary: 'The steps that an execution entered, the arcs that it took, and its playbook',
      params,
      answer: ExecutionGraph,
      problems: [404],
      handle: (request) =>
        request.transaction(async (client) =>
          getExecutionGraph(client, await requireExecution(client, request.params.id)),
        ),
    })

    api.get('/:id/timeline', {
      operationId: 'getExecutionTimeline',
      replica: true,
      summary: 'Which process ran which steps and items, and when; and what runs now',
      params,
      answer: ExecutionTimeline,
      problems: [404],
      handle: (request) =>
        request.transaction(async (client) =>
          getExecutionTimeline(client, await requireExecution(client, request.params.id)),
        ),
    })

    api.get('/:id/loops/:loop/items', {
      operationId: 'listLoopItems',
      replica: true,
      summary: 'The items of a loop, in the order of its collection',
      params: { ...params, loop: ExecutionId },
      query: {
        status: Type.Optional(
          Type.Enum([...ITEM_STATUSES], {
            description:
              'failed: with cancelled ones; open: issued and not ended. Default: all that were issued',
          }),
        ),
        after: Type.Integer({
          minimum: -1,
          maximum: MAX_INTEGER,
          default: -1,
          description: 'the `next` of the page before',
        }),
        limit: limit(999, 100),
      },
      answer: Type.Object({ items: Type.Array(LoopItem), next: IntegerOrNull }),
      problems: [404],
      handle: async (request) => {
        const { id, loop } = request.params
        const { status, after, limit } = request.query
        const rows = await request.transaction((client) =>
          listLoopItems(client, id, loop, { status, after, limit: limit + 1 }),
        )
        const items = rows.slice(0, limit)
        return { items, next: rows.length > limit ? items.at(-1)!.index : null }
      },
    })

    for (const [action, work, summary, description] of [
      [
        'cancel',
        cancelExecution,
        'Cancel an execution',
        'Outstanding commands are dropped, and executions that it started end, too.',
      ],
      ['pause', pauseExecution, 'Pause an execution: running steps end, no other begins', undefined],
      ['resume', resumeExecution, 'Continue a paused execution', undefined],
    ] as const) {
      api.post(`/:id/${action}`, {
        operationId: `${action}Execution`,
        summary,
        ...(description !== undefined && { description }),
        params,
        ...(action === 'cancel' && { optionalBody: { reason: Reason } }),
        answer: ExecutionControl,
        status: 202,
        problems: [403, 404, 409],
        handle: async (request) => {
          const { id } = request.params
          const { reason } = (request.body ?? {}) as { reason?: string }
          await request.transaction((client) => work(client, id, reason))
          return { execution_id: id, action }
        },
      })
    }

    api.post('/:id/rerun', {
      operationId: 'rerunExecution',
      summary: 'A new execution that begins at a step of an old one, with what came before it there',
      params,
      body: {
        from_step: Type.String({ minLength: 1, maxLength: 200 }),
        version: Type.Optional(Version),
      },
      example: { from_step: 'load' },
      answer: Started,
      status: 201,
      problems: [403, 404, 422],
      handle: async (request) => {
        const { from_step, ...options } = request.body
        const execution_id = await request.transaction((client) =>
          rerunExecution(client, request.params.id, from_step, options),
        )
        return { execution_id }
      },
    })

    api.post('/:id/rebuild', {
      operationId: 'rebuildExecution',
      summary: 'Rebuild the projection of an execution from its log; for tokens of service_role',
      params,
      answer: Started,
      problems: [403, 404],
      handle: async (request) => {
        requireService(request, 'a projection is rebuilt by the back end')
        const { id } = request.params
        await request.transaction(async (client) => {
          await requireExecution(client, id)
          await rebuildExecution(client, id)
        })
        return { execution_id: id }
      },
    })

    api.get('/:id/result', {
      operationId: 'getExecutionResult',
      summary: 'The result of an execution, or of one of its steps',
      description: 'Also what is kept by reference. 409 until it has completed.',
      params,
      query: {
        step: Type.Optional(
          Type.String({ maxLength: 200, description: 'the entry of this step that ended last' }),
        ),
      },
      answer: Type.Object({ execution_id: Text, value: Type.Unknown() }),
      problems: [404, 409],
      handle: async (request) => {
        const { id } = request.params
        const transaction = request.transaction.bind(request)
        return {
          execution_id: id,
          value: await readResult(transaction, createResultStore(files), id, request.query.step),
        }
      },
    })
  })

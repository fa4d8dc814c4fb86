/** Executions over HTTP: started and steered by those who may operate in their workspace, looked at by its members. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { JsonObject } from '../../executions/playbook/definition.ts'
import {
  EXECUTION_STATUSES,
  executionEvents,
  listExecutions,
  requireExecution,
  showExecution,
} from '../../executions/shown-executions.ts'
import { executionSteps } from '../../executions/shown-steps.ts'
import { startExecution } from '../../executions/steering.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems } from '../responses.ts'
import {
  ExecutionDetailShape,
  ExecutionId,
  ExecutionShape,
  LoggedEventShape,
  PlaybookName,
  presentDetail,
  presentExecution,
  presentLogged,
  presentStep,
  StepShape,
} from './executions/shapes.ts'
import { Uuid } from './jobs/shapes.ts'

const One = Type.Object({ id: ExecutionId })

export const executionRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listExecutions',
        summary: 'Executions of your workspaces, newest first',
        description: 'Those that another execution started are listed with `parent`.',
        tags: ['executions'],
        querystring: Type.Object(
          {
            status: Type.Optional(Type.Enum([...EXECUTION_STATUSES])),
            playbook: Type.Optional(PlaybookName),
            workspace_id: Type.Optional(Uuid),
            parent: Type.Optional(ExecutionId),
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: Type.Optional(ExecutionId),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ executions: Type.Array(ExecutionShape), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, ...filter } = request.query
      const rows = await request.transaction((client) =>
        listExecutions(client, { ...filter, limit: limit + 1 }),
      )
      const page = rows.slice(0, limit)
      return {
        executions: page.map(presentExecution),
        next: rows.length > limit ? page.at(-1)!.execution_id : null,
      }
    },
  )

  api.post(
    '/',
    {
      schema: {
        operationId: 'startExecution',
        summary: 'Start a playbook',
        description:
          'Members start what is open to them, in a workspace where they may operate. The same playbook, workspace and key again is the same execution; with other arguments it is refused.',
        tags: ['executions'],
        body: Type.Object(
          {
            playbook: PlaybookName,
            args: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
            workspace_id: Type.Optional(Uuid),
            version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
            idempotency_key: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
          },
          {
            additionalProperties: false,
            examples: [{ playbook: 'nightly-import', args: { n: 10 }, idempotency_key: '2026-11-16' }],
          },
        ),
        response: {
          201: Type.Object({ execution_id: Type.String() }),
          ...problems(400, 401, 403, 404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { playbook, args, ...options } = request.body
      const execution_id = await request.transaction((client) =>
        startExecution(client, playbook, args as JsonObject | undefined, options),
      )
      return reply.status(201).send({ execution_id })
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getExecution',
        summary: 'One execution with its first hundred steps',
        description: '`next_steps` is `after` of the next page of `/steps`; null where these are all.',
        tags: ['executions'],
        params: One,
        response: { 200: ExecutionDetailShape, ...problems(400, 401, 404) },
      },
    },
    async (request) =>
      presentDetail(await request.transaction((client) => showExecution(client, request.params.id))),
  )

  api.get(
    '/:id/steps',
    {
      schema: {
        operationId: 'listExecutionSteps',
        summary: 'The steps of an execution, in the order in which they were entered',
        tags: ['executions'],
        params: One,
        querystring: Type.Object(
          {
            after: Type.Integer({
              minimum: 0,
              maximum: 2_147_483_647,
              default: 0,
              description: 'the `next` of the page before',
            }),
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            steps: Type.Array(StepShape),
            next: Type.Union([Type.Integer(), Type.Null()]),
          }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const { steps, next } = await request.transaction(async (client) =>
        executionSteps(client, await requireExecution(client, request.params.id), request.query),
      )
      return { steps: steps.map(presentStep), next }
    },
  )

  api.get(
    '/:id/events',
    {
      schema: {
        operationId: 'listExecutionEvents',
        summary: 'The log of an execution, in its order',
        tags: ['executions'],
        params: One,
        querystring: Type.Object(
          {
            after: Type.Integer({
              minimum: 0,
              maximum: 2_147_483_647,
              default: 0,
              description: 'the `next` of the page before',
            }),
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
            items: Type.Boolean({
              default: true,
              description: 'with what happened to single items of loops',
            }),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            events: Type.Array(LoggedEventShape),
            next: Type.Union([Type.Integer(), Type.Null()]),
          }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const { after, limit, items } = request.query
      const rows = await request.transaction(async (client) => {
        await requireExecution(client, request.params.id)
        return executionEvents(client, request.params.id, { after, limit: limit + 1, without_items: !items })
      })
      const page = rows.slice(0, limit)
      return { events: page.map(presentLogged), next: rows.length > limit ? page.at(-1)!.seq : null }
    },
  )
}

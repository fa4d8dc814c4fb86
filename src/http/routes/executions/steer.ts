/** What is told to an execution: cancel, pause, resume, run again from a step, fold anew. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { requireExecution } from '../../../executions/shown-executions.ts'
import {
  cancelExecution,
  pauseExecution,
  rerunExecution,
  resumeExecution,
} from '../../../executions/steering.ts'
import { invalidInput } from '../../invalid-input.ts'
import { problems } from '../../responses.ts'
import { requireService } from '../../service-only.ts'
import { ExecutionId } from './shapes.ts'

const One = Type.Object({ id: ExecutionId })
const Told = Type.Object({ execution_id: Type.String(), told: Type.Enum(['cancel', 'pause', 'resume']) })

export const executionSteerRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.post(
    '/:id/cancel',
    {
      schema: {
        operationId: 'cancelExecution',
        summary: 'End an execution before its time',
        description: 'What is outstanding is dropped, and executions that it started end, too.',
        tags: ['executions'],
        params: One,
        body: Type.Union([
          Type.Object(
            { reason: Type.Optional(Type.String({ maxLength: 2000 })) },
            { additionalProperties: false },
          ),
          Type.Null(),
        ]),
        response: { 202: Told, ...problems(400, 401, 403, 404, 409) },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      await request.transaction((client) => cancelExecution(client, id, request.body?.reason))
      return reply.status(202).send({ execution_id: id, told: 'cancel' as const })
    },
  )

  for (const [told, work, summary] of [
    ['pause', pauseExecution, 'Let what runs end, and begin nothing new'],
    ['resume', resumeExecution, 'Go on with an execution that is paused'],
  ] as const) {
    api.post(
      `/:id/${told}`,
      {
        schema: {
          operationId: `${told}Execution`,
          summary,
          tags: ['executions'],
          params: One,
          response: { 202: Told, ...problems(400, 401, 403, 404, 409) },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        await request.transaction((client) => work(client, id))
        return reply.status(202).send({ execution_id: id, told })
      },
    )
  }

  api.post(
    '/:id/rerun',
    {
      schema: {
        operationId: 'rerunExecution',
        summary: 'A new execution that begins at a step of an old one, with what came before it there',
        tags: ['executions'],
        params: One,
        body: Type.Object(
          {
            from_step: Type.String({ minLength: 1, maxLength: 200 }),
            version: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 2_147_483_647,
                description: 'of the playbook; default: that of the old one',
              }),
            ),
          },
          { additionalProperties: false, examples: [{ from_step: 'load' }] },
        ),
        response: {
          201: Type.Object({ execution_id: Type.String() }),
          ...problems(400, 401, 403, 404, 422),
        },
      },
    },
    async (request, reply) => {
      const { from_step, ...options } = request.body
      const execution_id = await request.transaction((client) =>
        rerunExecution(client, request.params.id, from_step, options),
      )
      return reply.status(201).send({ execution_id })
    },
  )

  api.post(
    '/:id/rebuild',
    {
      schema: {
        operationId: 'rebuildExecution',
        summary: 'Fold what is shown of an execution from its log anew; for tokens of service_role',
        tags: ['executions'],
        params: One,
        response: { 200: Type.Object({ execution_id: Type.String() }), ...problems(400, 401, 403, 404) },
      },
    },
    async (request) => {
      requireService(request, 'what is shown is rebuilt by the back end')
      const { id } = request.params
      await request.transaction(async (client) => {
        await requireExecution(client, id)
        await client.query('select noetl.rebuild_execution_projection($1)', [id])
      })
      return { execution_id: id }
    },
  )
}

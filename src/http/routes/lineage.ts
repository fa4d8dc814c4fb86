/** Where a production row comes from. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import { TABLE_PATTERN } from '../../ingest/datasets/declare.ts'
import { rowLineage } from '../../ingest/promotion.ts'
import { exactJson, exactly, JSON_TEXT } from '../exact-answer.ts'
import { invalidInput } from '../invalid-input.ts'
import { problems } from '../responses.ts'
import { readExactly, workspaceOf } from './uploads/options.ts'
import { LineageEntry } from './uploads/shapes.ts'

export const lineageRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/lineage',
    {
      schema: {
        operationId: 'getRowLineage',
        summary: 'Every promotion that wrote a production row, newest first: which file, which line, who',
        tags: ['uploads'],
        querystring: Type.Object(
          {
            workspace_id: Type.Optional(
              Type.String({ format: 'uuid', description: 'may be left out by whoever has exactly one' }),
            ),
            target: Type.String({
              pattern: TABLE_PATTERN,
              examples: ['public.daily_metrics'],
            }),
            id: Type.Optional(Type.String({ format: 'uuid', description: 'of the row' })),
            key: Type.Optional(
              Type.String({
                maxLength: 10_000,
                description: 'the whole natural key of the row, as a JSON object; instead of id',
                examples: ['{"order_id":"0198c5e0-7c1e-7000-8000-000000000001","position":3}'],
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ entries: Type.Array(LineageEntry) }),
          ...problems(400, 401, 403),
        },
      },
    },
    async (request, reply) => {
      const { workspace_id, target, id, key } = request.query
      const row = rowOf(id, key)
      const entries = await request.transaction(async (client) =>
        rowLineage(exactly(client), await workspaceOf(client, workspace_id), target, row),
      )
      return reply.type(JSON_TEXT).send(exactJson({ entries }) as never)
    },
  )
}

function rowOf(id: string | undefined, key: string | undefined) {
  if (id !== undefined && key === undefined) return { id }
  const named = id === undefined && key !== undefined ? readExactly(key, 'key') : undefined
  if (named !== null && typeof named === 'object' && !Array.isArray(named)) {
    return { key: named as Record<string, unknown> }
  }
  throw new StagedoorError('request_invalid', {
    reason: 'name the row by its id, or by its key as a JSON object',
  })
}

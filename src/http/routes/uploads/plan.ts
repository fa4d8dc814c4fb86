/** The plan of an upload: made, looked at, handed to a second person. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import { listPlanRows, listStaleRows, PLAN_ACTIONS, planUpload, submitPlan } from '../../../ingest/plan.ts'
import { requireUpload } from '../../../ingest/uploads.ts'
import { exactJson, exactly, JSON_TEXT } from '../../exact-answer.ts'
import { nullable, problems } from '../../responses.ts'
import { answerDetail } from './detail.ts'
import { RowLimit, RowPlace } from './list.ts'
import { Detail, GateMode, PlanDigest, PlanRow, RepeatedKeys, StaleRow, UploadId } from './shapes.ts'

const refusals = problems(400, 401, 403, 404, 409)

export const planRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.post(
    '/:id/plan',
    {
      schema: {
        operationId: 'planUpload',
        summary: 'Work out what an upload would change; an earlier plan is gone',
        tags: ['uploads'],
        params: UploadId,
        body: Type.Object(
          {
            gate_mode: GateMode,
            threshold: Type.Optional(
              Type.Number({
                minimum: 0,
                maximum: 1,
                description: 'share of valid lines that LENIENT asks for; default 0.9',
              }),
            ),
            repeated_keys: Type.Optional(RepeatedKeys),
          },
          { additionalProperties: false, examples: [{ gate_mode: 'LENIENT', threshold: 0.95 }] },
        ),
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) => answerDetail(request, reply, (client, id) => planUpload(client, id, request.body)),
  )

  api.get(
    '/:id/plan/rows',
    {
      schema: {
        operationId: 'listPlanRows',
        summary: 'What would change, row by row, in the order in which it will be applied',
        tags: ['uploads'],
        params: UploadId,
        querystring: Type.Object(
          {
            row_type: Type.Optional(Type.String({ maxLength: 63 })),
            action: Type.Optional(Type.Enum([...PLAN_ACTIONS])),
            column: Type.Optional(
              Type.String({ maxLength: 63, description: 'only updates that change this column' }),
            ),
            by_more_than: Type.Optional(
              Type.Number({ minimum: 0, description: '… by more than this share of the old value: 0.5' }),
            ),
            limit: RowLimit,
            after: RowPlace,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ rows: Type.Array(PlanRow), next: nullable(Type.String()) }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request, reply) => {
      const { limit, ...filter } = request.query
      if (filter.by_more_than !== undefined && filter.column === undefined) {
        throw new StagedoorError('request_invalid', { reason: 'by_more_than needs a column' })
      }
      const found = await request.transaction(async (client) => {
        const db = exactly(client)
        const { upload_id } = await requireUpload(db, request.params.id)
        return listPlanRows(db, upload_id, { ...filter, limit: limit + 1 })
      })
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      const next = last && found.length > limit ? `${last.type_order}.${last.row_number}` : null
      return reply.type(JSON_TEXT).send(exactJson({ rows, next }) as never)
    },
  )

  api.get(
    '/:id/plan/stale',
    {
      schema: {
        operationId: 'listStaleRows',
        summary:
          'The rows that somebody changed since the plan was made: what it saw, what it would write, what is there now',
        tags: ['uploads'],
        params: UploadId,
        querystring: Type.Object({ limit: RowLimit }, { additionalProperties: false }),
        response: {
          200: Type.Object({
            items: Type.Array(StaleRow),
            total: Type.Integer({ description: 'in all, also beyond the limit; 0: the plan is not stale' }),
          }),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const found = await request.transaction(async (client) => {
        const db = exactly(client)
        const { upload_id, status } = await requireUpload(db, request.params.id)
        // The rows are compared in a temporary table, which PostgreSQL counts as writing.
        if (request.principal!.readOnly && status === 'planned') {
          const reason = 'a plan cannot be compared with its tables with a token that can only read'
          throw new StagedoorError('permission_denied', { reason })
        }
        return listStaleRows(db, upload_id, { limit: request.query.limit })
      })
      return reply.type(JSON_TEXT).send(exactJson(found) as never)
    },
  )

  api.post(
    '/:id/submit',
    {
      schema: {
        operationId: 'submitUpload',
        summary: 'Hand the plan that you saw to a second person',
        tags: ['uploads'],
        params: UploadId,
        body: Type.Object({ digest: PlanDigest }, { additionalProperties: false }),
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) =>
      answerDetail(request, reply, (client, id) => submitPlan(client, id, request.body.digest)),
  )
}

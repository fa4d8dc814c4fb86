/** Approving, rejecting, promoting, undoing, discarding. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import { approvePlan, rejectPlan } from '../../../ingest/plan.ts'
import { planUndo, promoteUpload, undoUpload } from '../../../ingest/promotion.ts'
import { discardUpload, requireUpload } from '../../../ingest/uploads.ts'
import { exactJson, exactly, JSON_TEXT } from '../../exact-answer.ts'
import { problems } from '../../responses.ts'
import { answerDetail } from './detail.ts'
import { Detail, PlanDigest, UndoPlan, UploadId } from './shapes.ts'

const refusals = problems(400, 401, 403, 404, 409)
const Seen = Type.Object({ digest: PlanDigest }, { additionalProperties: false })
/** These run under stagedoor_reviewer for people, and never for an agent's token. */
const DECIDES = { decides: true }

export const decisionRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.post(
    '/:id/approve',
    {
      schema: {
        operationId: 'approveUpload',
        summary: 'Approve exactly the plan that you saw, ticking what you looked at',
        tags: ['uploads'],
        params: UploadId,
        body: Type.Object(
          {
            digest: PlanDigest,
            ticked: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, default: [] }),
          },
          { additionalProperties: false },
        ),
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) =>
      answerDetail(request, reply, (client, id) => approvePlan(client, id, request.body), DECIDES),
  )

  api.post(
    '/:id/reject',
    {
      schema: {
        operationId: 'rejectUpload',
        summary: 'Reject the plan of an upload, with a reason; it can be corrected and planned again',
        tags: ['uploads'],
        params: UploadId,
        body: Type.Object(
          { reason: Type.String({ minLength: 1, maxLength: 2000 }) },
          { additionalProperties: false, examples: [{ reason: 'The spend of week 27 is doubled.' }] },
        ),
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) =>
      answerDetail(request, reply, (client, id) => rejectPlan(client, id, request.body.reason), DECIDES),
  )

  api.post(
    '/:id/promote',
    {
      schema: {
        operationId: 'promoteUpload',
        summary: 'Apply the plan that you saw, all of it in one transaction',
        tags: ['uploads'],
        params: UploadId,
        body: Seen,
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) =>
      answerDetail(request, reply, (client, id) => promoteUpload(client, id, request.body.digest)),
  )

  api.get(
    '/:id/undo',
    {
      schema: {
        operationId: 'planUploadUndo',
        summary: 'What an undo would do now; changes nothing',
        tags: ['uploads'],
        params: UploadId,
        response: { 200: UndoPlan, ...refusals },
      },
    },
    async (request, reply) => {
      const plan = await request.transaction(async (client) => {
        const db = exactly(client)
        const { upload_id, status } = await requireUpload(db, request.params.id)
        // The rows are compared in a temporary table, which PostgreSQL counts as writing.
        if (request.principal!.readOnly && status === 'promoted') {
          const reason = 'an undo cannot be worked out with a token that can only read'
          throw new StagedoorError('permission_denied', { reason })
        }
        return planUndo(db, upload_id)
      })
      return reply.type(JSON_TEXT).send(exactJson(plan) as never)
    },
  )

  api.post(
    '/:id/undo',
    {
      schema: {
        operationId: 'undoUpload',
        summary: 'Take a promotion back, if it is still the undo that you saw',
        tags: ['uploads'],
        params: UploadId,
        body: Seen,
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) =>
      answerDetail(request, reply, (client, id) => undoUpload(client, id, request.body.digest), DECIDES),
  )

  api.post(
    '/:id/discard',
    {
      schema: {
        operationId: 'discardUpload',
        summary: 'Throw an upload away that was not promoted',
        tags: ['uploads'],
        params: UploadId,
        response: { 200: Detail, ...refusals },
      },
    },
    (request, reply) => answerDetail(request, reply, discardUpload),
  )
}

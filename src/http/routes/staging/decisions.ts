/** Ticking, approving, rejecting, withdrawing, consuming. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { requireIntactBlobs } from '../../../staging/blobs/verify.ts'
import {
  approveRecord,
  consumeRecord,
  readChecklist,
  rejectRecord,
  tickItem,
  withdrawRecord,
} from '../../../staging/records.ts'
import { problems } from '../../responses.ts'
import { readDetail, requireRecord } from './records.ts'
import { Checklist, Detail, Digest, presentChecklist, RecordId } from './shapes.ts'
import type { Stores } from './uploads.ts'

const JSON_TEXT = 'application/json; charset=utf-8'
const refusals = problems(400, 401, 403, 404, 409)
/** These run under stagedoor_reviewer for people, and never for an agent's token. */
const DECIDES = { decides: true }

export function decisionRoutes({ blobs }: Stores): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post(
      '/:id/tick',
      {
        schema: {
          operationId: 'tickStagingChecklist',
          summary: 'Tick an item of the checklist, or take the tick away',
          tags: ['staging'],
          params: RecordId,
          body: Type.Object(
            {
              item_id: Type.String({ minLength: 1 }),
              ticked: Type.Boolean({ default: true }),
              note: Type.Optional(Type.String({ maxLength: 2000 })),
            },
            {
              additionalProperties: false,
              examples: [{ item_id: 'sums', note: 'checked against the export' }],
            },
          ),
          response: { 200: Type.Object({ checklist: Checklist }), ...refusals },
        },
      },
      async (request) => {
        const { id } = request.params
        const { item_id, ticked, note } = request.body
        return request.transaction(async (client) => {
          await requireRecord(client, id)
          await tickItem(client, id, item_id, ticked, note)
          return { checklist: presentChecklist(await readChecklist(client, id)) }
        }, DECIDES)
      },
    )

    api.post(
      '/:id/approve',
      {
        schema: {
          operationId: 'approveStagingRecord',
          summary: 'Approve exactly the bytes that you saw: their digest is required',
          tags: ['staging'],
          params: RecordId,
          body: Type.Object(
            { digest: Digest, approval_doc_id: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })) },
            { additionalProperties: false },
          ),
          response: { 200: Detail, ...refusals },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        const { digest, approval_doc_id } = request.body
        const text = await request.transaction(async (client) => {
          await requireRecord(client, id)
          await requireIntactBlobs(client, blobs, id, { others: 'refused' })
          await approveRecord(client, id, {
            digest,
            ...(approval_doc_id !== undefined && { approvalDocId: approval_doc_id }),
          })
          return readDetail(client, request, id)
        }, DECIDES)
        return reply.type(JSON_TEXT).send(text as never)
      },
    )

    api.post(
      '/:id/reject',
      {
        schema: {
          operationId: 'rejectStagingRecord',
          summary: 'Reject a record, with a reason',
          tags: ['staging'],
          params: RecordId,
          body: Type.Object(
            { reason: Type.String({ minLength: 1, maxLength: 2000 }) },
            { additionalProperties: false, examples: [{ reason: 'The sums do not agree with the export.' }] },
          ),
          response: { 200: Detail, ...refusals },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        const text = await request.transaction(async (client) => {
          await requireRecord(client, id)
          await rejectRecord(client, id, request.body.reason)
          return readDetail(client, request, id)
        }, DECIDES)
        return reply.type(JSON_TEXT).send(text as never)
      },
    )

    api.post(
      '/:id/withdraw',
      {
        schema: {
          operationId: 'withdrawStagingRecord',
          summary: 'Take back what you staged, as long as nobody has decided',
          tags: ['staging'],
          params: RecordId,
          response: { 200: Detail, ...refusals },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        const text = await request.transaction(async (client) => {
          await requireRecord(client, id)
          await withdrawRecord(client, id)
          return readDetail(client, request, id)
        })
        return reply.type(JSON_TEXT).send(text as never)
      },
    )

    api.post(
      '/:id/consume',
      {
        schema: {
          operationId: 'consumeStagingRecord',
          summary: 'Consume a record, for a run that is open or for one that is opened and ended here',
          tags: ['staging'],
          params: RecordId,
          body: Type.Union([
            Type.Object(
              {
                run_id: Type.Optional(
                  Type.String({ format: 'uuid', description: 'of a run that is running' }),
                ),
                command: Type.Optional(
                  Type.String({
                    minLength: 1,
                    maxLength: 200,
                    description: 'names the run that is opened here',
                  }),
                ),
                digest: Type.Optional(Digest),
              },
              { additionalProperties: false, examples: [{ command: 'cut week 27' }] },
            ),
            Type.Null(),
          ]),
          response: { 200: Type.Object({ run_id: Type.String({ format: 'uuid' }) }), ...refusals },
        },
      },
      async (request) => {
        const { id } = request.params
        const { run_id, command, digest } = request.body ?? {}
        return request.transaction(async (client) => {
          await requireRecord(client, id)
          await requireIntactBlobs(client, blobs, id, { others: 'refused' })
          const run = await consumeRecord(client, id, {
            ...(run_id !== undefined && { runId: run_id }),
            ...(command !== undefined && { command }),
            ...(digest !== undefined && { digest }),
          })
          return { run_id: run }
        })
      },
    )
  }
}

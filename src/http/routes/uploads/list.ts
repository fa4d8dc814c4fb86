/** Looking at uploads: the list, one of them, what happened to it, what it wrote. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import { listEventsAbout } from '../../../events/outbox.ts'
import { uploadLineage } from '../../../ingest/promotion.ts'
import { listUploads, requireUpload, UPLOAD_STATUSES, type UploadStatus } from '../../../ingest/uploads.ts'
import { exactJson, exactly, JSON_TEXT } from '../../exact-answer.ts'
import { namesOf, People } from '../../people.ts'
import { nullable, problems } from '../../responses.ts'
import { Event, presentEvent } from '../events.ts'
import { answerDetail } from './detail.ts'
import { Detail, LedgerRow, Upload, UploadId } from './shapes.ts'

/** More than any upload has: one for each thing that was done to it. */
const MOST_EVENTS = 1000
export const RowPlace = Type.Optional(
  Type.String({ pattern: '^[0-9]{1,4}[.][0-9]{1,9}$', description: 'the `next` of the page before' }),
)
export const RowLimit = Type.Integer({ minimum: 1, maximum: 1000, default: 100 })

export const listRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/',
    {
      schema: {
        operationId: 'listUploads',
        summary: 'Uploads that you may see, newest first; without how they were read',
        tags: ['uploads'],
        querystring: Type.Object(
          {
            workspace_id: Type.Optional(Type.String({ format: 'uuid' })),
            status: Type.Optional(
              Type.String({ description: 'one or several', examples: ['staged,planned'], maxLength: 200 }),
            ),
            waiting: Type.Optional(Type.Boolean({ description: 'only those that wait for a decision' })),
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: Type.Optional(
              Type.String({ format: 'uuid', description: 'the `next` of the page before' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ uploads: Type.Array(Upload), people: People, next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request, reply) => {
      const { limit, status, ...filter } = request.query
      const { rows, uploads, people } = await request.transaction(async (client) => {
        const rows = await listUploads(exactly(client), {
          ...filter,
          limit: limit + 1,
          ...(status !== undefined && { status: statuses(status) }),
        })
        const uploads = rows.slice(0, limit)
        const people = await namesOf(
          client,
          uploads.map(({ uploaded_by }) => uploaded_by),
        )
        return { rows, uploads, people }
      })
      const next = rows.length > limit ? uploads.at(-1)!.upload_id : null
      return reply.type(JSON_TEXT).send(exactJson({ uploads, people, next }) as never)
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getUpload',
        summary: 'One upload: how it was read, its plan and review, and what you may do with it',
        tags: ['uploads'],
        params: UploadId,
        response: { 200: Detail, ...problems(400, 401, 404) },
      },
    },
    (request, reply) => answerDetail(request, reply),
  )

  api.get(
    '/:id/history',
    {
      schema: {
        operationId: 'listUploadEvents',
        summary: 'What happened to an upload, oldest first',
        tags: ['uploads', 'events'],
        params: UploadId,
        response: { 200: Type.Object({ events: Type.Array(Event) }), ...problems(400, 401, 404) },
      },
    },
    async (request) => {
      const { id } = request.params
      const rows = await request.transaction(async (client) => {
        const { upload_id } = await requireUpload(exactly(client), id)
        return listEventsAbout(client, { domain: 'staging', subject: upload_id, limit: MOST_EVENTS })
      })
      return { events: rows.map(presentEvent) }
    },
  )

  api.get(
    '/:id/lineage',
    {
      schema: {
        operationId: 'listUploadLineage',
        summary: 'The production rows that an upload wrote, with the lines that they come from',
        tags: ['uploads'],
        params: UploadId,
        querystring: Type.Object({ limit: RowLimit, after: RowPlace }, { additionalProperties: false }),
        response: {
          200: Type.Object({ rows: Type.Array(LedgerRow), next: nullable(Type.String()) }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request, reply) => {
      const { limit, after } = request.query
      const found = await request.transaction(async (client) => {
        const db = exactly(client)
        const { upload_id } = await requireUpload(db, request.params.id)
        return uploadLineage(db, upload_id, { limit: limit + 1, ...(after !== undefined && { after }) })
      })
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      const next = last && found.length > limit ? `${last.type_order}.${last.line}` : null
      return reply.type(JSON_TEXT).send(exactJson({ rows, next }) as never)
    },
  )
}

function statuses(list: string): UploadStatus[] {
  const asked = list.split(',').map((status) => status.trim())
  const unknown = asked.find((status) => !UPLOAD_STATUSES.includes(status as UploadStatus))
  if (unknown === undefined) return asked as UploadStatus[]
  const reason = `querystring/status must be of ${UPLOAD_STATUSES.join(', ')}, and ${unknown || 'an empty one'} is not`
  throw new StagedoorError('request_invalid', { reason })
}

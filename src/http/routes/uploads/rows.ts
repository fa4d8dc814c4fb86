/** The lines of an upload: page by page, or the wrong ones as a file to correct. */
import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { rawKeys } from '../../../ingest/datasets/compile/payload.ts'
import { exportProblems, listLeftOut, listRows, VERDICTS } from '../../../ingest/rows.ts'
import { requireUpload } from '../../../ingest/uploads.ts'
import { attachment } from '../../attachment.ts'
import { exactJson, exactly, JSON_TEXT } from '../../exact-answer.ts'
import { nullable, problems } from '../../responses.ts'
import { RowLimit } from './list.ts'
import { LeftOutLine, StagedRow, UploadId } from './shapes.ts'

const EXPORT_PAGE = 500

export const rowRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/:id/rows',
    {
      schema: {
        operationId: 'listUploadRows',
        summary: 'The lines of an upload with what is wrong with them, in the order of the file',
        tags: ['uploads'],
        params: UploadId,
        querystring: Type.Object(
          {
            row_type: Type.Optional(
              Type.String({ maxLength: 63, description: 'default: the one with a row for each line' }),
            ),
            status: Type.Optional(Type.Enum([...VERDICTS])),
            problems: Type.Optional(Type.Boolean({ description: 'only lines with an error or a warning' })),
            limit: RowLimit,
            after: Type.Optional(
              Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'the line before the page' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ rows: Type.Array(StagedRow), next: nullable(Type.String()) }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request, reply) => {
      const { limit, row_type, ...filter } = request.query
      const found = await request.transaction(async (client) => {
        const { upload_id, reading } = await requireUpload(client, request.params.id)
        const type = row_type ?? reading?.layout.leaf
        if (type === undefined) return []
        return listRows(exactly(client), upload_id, { ...filter, row_type: type, limit: limit + 1 })
      })
      const rows = found.slice(0, limit)
      const next = found.length > limit ? String(rows.at(-1)!.row_number) : null
      return reply.type(JSON_TEXT).send(exactJson({ rows, next }) as never)
    },
  )

  api.get(
    '/:id/left-out',
    {
      schema: {
        operationId: 'listUploadLeftOut',
        summary:
          'The lines that are left out, each with its reason and its figures, in the order of the file',
        tags: ['uploads'],
        params: UploadId,
        querystring: Type.Object(
          {
            limit: RowLimit,
            after: Type.Optional(
              Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'the line before the page' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ lines: Type.Array(LeftOutLine), next: nullable(Type.String()) }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const { limit, after } = request.query
      const found = await request.transaction(async (client) => {
        const { upload_id } = await requireUpload(client, request.params.id)
        return listLeftOut(client, upload_id, { limit: limit + 1, ...(after !== undefined && { after }) })
      })
      const lines = found.slice(0, limit)
      return { lines, next: found.length > limit ? String(lines.at(-1)!.line) : null }
    },
  )

  api.get(
    '/:id/problems.csv',
    {
      schema: {
        operationId: 'downloadUploadProblems',
        summary: 'The wrong lines as a CSV, with what is wrong beside each: correct it and upload it again',
        tags: ['uploads'],
        params: UploadId,
        querystring: Type.Object(
          {
            left_out: Type.Optional(
              Type.Boolean({
                description: 'the lines that are left out instead, with the reason beside each',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: { description: 'the wrong lines', content: { 'text/csv': { schema: Type.String() } } },
          ...problems(400, 401, 404),
        },
      },
    },
    async (request, reply) => {
      const upload = await request.transaction((client) => requireUpload(client, request.params.id))
      const { upload_id, reading, file_name } = upload
      // Each page in a transaction of its own: none of them waits for whoever downloads.
      const page = async (after: number) =>
        reading
          ? request.transaction((client) =>
              listRows(client, upload_id, {
                row_type: reading.layout.leaf,
                status: request.query.left_out ? 'skipped' : 'invalid',
                limit: EXPORT_PAGE,
                after,
              }),
            )
          : []
      const lines = exportProblems(page, reading ? rawKeys(reading.headers) : [])
      return reply
        .type('text/csv; charset=utf-8')
        .headers({
          'content-disposition': attachment(
            `${file_name.replace(/\.[^.]*$/, '')} ${request.query.left_out ? 'left out' : 'problems'}.csv`,
          ),
          'cache-control': 'private, no-store',
          'content-security-policy': "default-src 'none'; sandbox",
        })
        .send(Readable.from(lines) as never)
    },
  )
}

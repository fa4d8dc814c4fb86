/** Documents that were cut, over HTTP. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { type KnownDocument, listDocuments, readDocument } from '../../units/documents.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'
import { After, Uuid } from './units/shapes.ts'

const tags = ['documents']
const facts = {
  document_id: Type.String(),
  workspace_id: Type.String(),
  source_ref: Type.String(),
  title: Type.String(),
  language: Type.String(),
  content_hash: Type.String(),
  bytes: Type.Integer(),
  pieces: Type.Integer(),
  updated_by: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
  deleted_at: nullable(Timestamp),
}
const PieceShape = Type.Object({
  piece_address: Type.String({ description: 'by which manifests name it' }),
  position: Type.Integer(),
  unit_id: Type.String(),
  canonical_address: Type.String(),
  unit_kind: Type.String(),
  title: Type.String(),
  lifecycle_status: Type.String(),
  version_no: Type.Integer(),
  content_hash: Type.String({ description: 'of the piece; the unit may have been edited since' }),
  dropped_at: nullable(Timestamp),
})

export const documentRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listDocuments',
        summary: 'Documents of your workspaces that were cut, newest first',
        tags,
        querystring: Type.Object(
          {
            workspace_id: Type.Optional(Uuid),
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: After,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ documents: Type.Array(Type.Object(facts)), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, ...filter } = request.query
      const rows = await request.transaction((client) =>
        listDocuments(client, { ...filter, limit: limit + 1 }),
      )
      const page = rows.slice(0, limit)
      return {
        documents: page.map(present),
        next: rows.length > limit ? page.at(-1)!.document_id : null,
      }
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getDocument',
        summary: 'A document with its text, and which unit holds which of its pieces',
        tags,
        params: Type.Object({ id: Uuid }),
        querystring: Type.Object(
          {
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1000, description: 'of the map' }),
            after: After,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            ...facts,
            body: Type.String(),
            map: Type.Array(PieceShape),
            next: nullable(Type.String()),
          }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const { body, map, next, ...document } = await request.transaction((client) =>
        readDocument(client, request.params.id, request.query),
      )
      return {
        ...present(document),
        body,
        map: map.map((piece) => ({ ...piece, dropped_at: piece.dropped_at?.toISOString() ?? null })),
        next,
      }
    },
  )
}

function present(document: KnownDocument) {
  return {
    ...document,
    created_at: document.created_at.toISOString(),
    updated_at: document.updated_at.toISOString(),
    deleted_at: document.deleted_at?.toISOString() ?? null,
  }
}

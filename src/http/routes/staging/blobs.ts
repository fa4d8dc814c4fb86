/** Large parts, uploaded by themselves: bytes in, a reference out. */
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { problems } from '../../responses.ts'
import { Blob } from './shapes.ts'
import { receiveBlob, registerBlob, type Stores } from './uploads.ts'

export function uploadRoutes(stores: Stores): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
    api.put(
      '/blobs',
      {
        schema: {
          operationId: 'uploadStagingBlob',
          summary: 'Upload the bytes of a large part; stage a record with the reference',
          description: 'A blob that no record refers to is deleted after a while.',
          tags: ['staging'],
          querystring: Type.Object(
            {
              workspace_id: Type.Optional(
                Type.String({ format: 'uuid', description: 'where it will be staged' }),
              ),
            },
            { additionalProperties: false },
          ),
          body: {
            content: { 'application/octet-stream': { schema: Type.Unknown({ description: 'the bytes' }) } },
          },
          response: { 201: Blob, ...problems(400, 401, 403, 409, 413) },
        },
      },
      async (request, reply) => {
        // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
        reply.header('connection', 'close')
        if (Number(request.headers['content-length'] ?? 0) > stores.blobLimit) {
          throw new StagedoorError('body_too_large', { limit: stores.blobLimit })
        }
        await request.transaction((client) => requireStaging(client, request.query.workspace_id))
        if (!request.body) throw new StagedoorError('request_invalid', { reason: 'the body is empty' })
        const blob = await receiveBlob(request.body as Readable, stores)
        const { blob_ref, byte_len, content_hash } = blob
        // A reference that is not registered is nobody's: it is swept as an orphan.
        await request.transaction((client) => registerBlob(client, request.query.workspace_id, blob))
        reply.removeHeader('connection')
        return reply.status(201).send({ blob_ref, byte_len: String(byte_len), content_hash })
      },
    )
  }
}

/** Staging a record: as JSON, or as a form with a file for each part. */
import type { IncomingMessage } from 'node:http'
import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { withBlobsForRecord } from '../../../staging/blobs/for-record.ts'
import type { BlobFacts } from '../../../staging/blobs/store.ts'
import { decodeUtf8, readJson } from '../../../staging/exact-json.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { type CreatedRecord, createRecord } from '../../../staging/records.ts'
import { invalidInput } from '../../invalid-input.ts'
import { readJsonBody } from '../../json-limits.ts'
import { problems } from '../../responses.ts'
import { createSlots } from '../../slots.ts'
import { readForm } from './form.ts'
import { Created, NewRecord, NewRecordForm, type NewRecordShape } from './shapes.ts'
import { registerBlob, type Stores } from './uploads.ts'

/** 64 MiB of parts, and room for their names, quotes and escapes. */
const BODY_LIMIT = 80 * 1024 ** 2
/** A JSON body is held in memory, several times over while it is read. Larger ones than this wait for each other. */
const LARGE = 1024 ** 2
const LARGE_AT_ONCE = 2

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON body as it was sent; `body` is a copy whose numbers may be rounded. */
    bodyText: string
  }
}

const Headers = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]+$',
      description: 'the same key with the same content finds the record instead of making another',
    }),
  ),
})

const Form = Type.Object(
  {
    record: Type.Optional(
      Type.String({ description: 'first: the record as JSON, without the parts that follow' }),
    ),
  },
  {
    description:
      'After it a file for each part, named by its field. JSON and text up to 10 MiB are kept as such, all else as blobs.',
    additionalProperties: Type.String({ format: 'binary' }),
  },
)

export function createRoutes(stores: Stores): FastifyPluginAsyncTypebox {
  return async (api) => {
    const slots = createSlots(LARGE_AT_ONCE)
    api.decorateRequest('bodyText', '')
    api.addHook('preParsing', async (request, reply) => {
      if (isLarge(request)) await slots(request, reply)
    })
    api.removeAllContentTypeParsers()
    api.addContentTypeParser(
      'application/json',
      async (request: FastifyRequest, payload: IncomingMessage) => {
        const body = await readJsonBody(request, payload, 'staging_part_invalid')
        request.bodyText = decodeUtf8(body, 'The body')
        return readJson(request.bodyText, 'the body', 'request_invalid')
      },
    )
    await api.register(multipart, {
      // Every field comes as a stream: as a field, JSON would be parsed and its numbers rounded.
      isPartAFile: () => true,
      // Blobs are counted while they are stored.
      limits: { fileSize: Number.MAX_SAFE_INTEGER },
    })
    api.post(
      '/',
      {
        bodyLimit: BODY_LIMIT,
        // A form is read by the handler; until then there is nothing to validate.
        preValidation: async (request) => {
          if (request.isMultipart()) request.body = {}
        },
        schema: {
          operationId: 'createStagingRecord',
          summary: 'Stage a record with its parts',
          description:
            'JSON is kept exactly as it is sent, numbers beyond 2^53 included. Nothing is stored unless everything is.',
          tags: ['staging'],
          headers: Headers,
          body: {
            content: { 'application/json': { schema: NewRecord }, 'multipart/form-data': { schema: Form } },
          },
          response: { 200: Created, 201: Created, ...problems(400, 401, 403, 409, 413) },
        },
      },
      async (request, reply) => {
        const key = request.headers['idempotency-key']
        const made = request.isMultipart()
          ? await createFromForm(request, reply, stores, key)
          : await createFromJson(request, stores, key)
        if (made.created) reply.header('location', `/api/staging/${made.staging_record_id}`)
        return reply.status(made.created ? 201 : 200).send(made)
      },
    )
  }
}

/** A body that does not say its length may be of any. Forms go to the disk as they come. */
function isLarge(request: FastifyRequest): boolean {
  return !request.isMultipart() && Number(request.headers['content-length'] ?? Infinity) > LARGE
}

async function createFromJson(request: FastifyRequest, stores: Stores, key?: string): Promise<CreatedRecord> {
  const record = request.body as NewRecordShape
  const blobs = await factsOf(record, stores)
  return request.transaction((client) => createWithBlobs(client, stores, request.bodyText, key, { blobs }))
}

async function createFromForm(
  request: FastifyRequest,
  reply: FastifyReply,
  stores: Stores,
  key?: string,
): Promise<CreatedRecord> {
  // If anything goes wrong, the rest of the form is still on its way: the connection is of no further use.
  reply.header('connection', 'close')
  const undeleted = (blob_ref: string, error: unknown): void =>
    request.log.warn({ err: error, blob_ref }, 'a blob could not be deleted')
  const made = await withBlobsForRecord(
    stores.blobs,
    async (stored) => {
      let named: Record<string, BlobFacts> = {}
      let text = ''
      let workspace: string | undefined
      try {
        const parts = await readForm(request, stores, BODY_LIMIT, stored, async (sent) => {
          const record = validRecord(request, readJson(sent, 'the field record', 'request_invalid'))
          text = sent
          workspace = record.workspace_id
          await request.transaction((client) => requireStaging(client, record.workspace_id))
          named = await factsOf(record, stores)
        })
        const blobs = { ...named, ...Object.fromEntries(stored.map((blob) => [blob.blob_ref, facts(blob)])) }
        return await request.transaction(async (client) => {
          for (const blob of stored) await registerBlob(client, workspace, blob)
          return createWithBlobs(client, stores, text, key, { blobs, parts })
        })
      } catch (error) {
        request.raw.unpipe()
        request.raw.resume()
        throw error
      }
    },
    undeleted,
  )
  reply.removeHeader('connection')
  return made
}

/** Create locks the blobs against deletion. One that went between the first look and the lock is missed here. */
async function createWithBlobs(
  client: Client,
  { blobs }: Stores,
  text: string,
  key: string | undefined,
  extras: { blobs: Record<string, BlobFacts>; parts?: string },
): Promise<CreatedRecord> {
  const made = await createRecord(client, text, key, extras)
  if (!made.created) return made
  for (const ref of Object.keys(extras.blobs)) {
    if (!(await blobs.facts(ref))) throw new StagedoorError('blob_missing', { ref })
  }
  return made
}

function validRecord(request: FastifyRequest, record: unknown): NewRecordShape {
  const validate = request.compileValidationSchema(NewRecordForm)
  if (!validate(record)) throw invalidInput((validate.errors ?? []) as never, 'record')
  return record as NewRecordShape
}

/** The blobs that the record refers to. Whatever the caller says of them must be what the store says. */
async function factsOf(record: NewRecordShape, { blobs }: Stores): Promise<Record<string, BlobFacts>> {
  const found: Record<string, BlobFacts> = {}
  for (const [index, part] of (record.parts ?? []).entries()) {
    if (part.payload_kind !== 'blob_ref' || part.blob_ref === undefined) continue
    const blob = await blobs.facts(part.blob_ref)
    if (!blob) throw new StagedoorError('blob_missing', { ref: part.blob_ref })
    const wrong =
      (part.content_hash !== undefined && part.content_hash !== blob.content_hash) ||
      (part.byte_len !== undefined && Number(part.byte_len) !== blob.byte_len)
    if (wrong) {
      const message = `Part ${index} (${part.part_name}): byte_len or content_hash is not that of the blob, which has ${blob.byte_len} bytes and the digest ${blob.content_hash}`
      throw new StagedoorError('staging_part_invalid', { part: index }, { message })
    }
    found[part.blob_ref] = facts(blob)
  }
  return found
}

function facts({ byte_len, content_hash }: BlobFacts): BlobFacts {
  return { byte_len, content_hash }
}

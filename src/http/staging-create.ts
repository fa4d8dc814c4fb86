/** Staging a record: as JSON, or as a form with a file for each part. */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import multipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NewIssue } from '../events/issues.ts'
import { requireStaging } from '../gates/gates.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { BigCount, Digest, type Row, shape, Type, Uuid } from '../kernel/schema.ts'
import { API_PREFIX } from '../kernel/version.ts'
import type { BlobFacts, BlobStore, StoredBlob } from '../runtime/stores/blob-store.ts'
import { registerBlob, withBlobsForRecord } from '../staging/blobs.ts'
import { refuseCostlyJson, tooManyPartsError } from '../staging/json-limits.ts'
import {
  createRecord,
  decodeUtf8,
  MAX_PART_BYTES,
  MAX_PARTS,
  MAX_TOTAL_BYTES,
  readJson,
} from '../staging/records.ts'
import { CreatedRecord, PayloadKind, STAGEABLE_KINDS, STAGEABLE_TYPES } from '../staging/shapes.ts'
import { invalidInput } from './problem.ts'
import { createSlots, formError, readJsonBody, uncut } from './request-limits.ts'
import { routes } from './routes.ts'

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

const NewPart = shape(
  'NewPart',
  {
    part_name: Type.String({ minLength: 1, maxLength: 200 }),
    payload_kind: PayloadKind,
    payload_json: Type.Optional(Type.Unknown({ description: 'any JSON, up to 10 MiB; kept exactly' })),
    payload_text: Type.Optional(Type.String({ description: 'up to 10 MiB' })),
    blob_ref: Type.Optional(Type.String({ description: 'what PUT /api/v1/staging/blobs answered' })),
    byte_len: Type.Optional(
      Type.Union([BigCount, Type.Integer({ minimum: 0 })], {
        description: 'of a blob; if given, it must match',
      }),
    ),
    content_hash: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of a blob; if given, it must match' }),
    ),
  },
  { additionalProperties: false },
)

const envelope = {
  workspace_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'only back-end code may leave it out' }),
  ),
  staging_kind: Type.Enum([...STAGEABLE_KINDS]),
  payload_type: Type.Enum([...STAGEABLE_TYPES]),
  purpose: Type.String({ minLength: 1, maxLength: 2000, description: 'a few words for whoever decides' }),
  owner_actor: Type.Optional(Type.String({ description: 'only back-end code may name another than itself' })),
  source_kind: Type.Optional(
    Type.Enum(['agent', 'user', 'system', 'import'], {
      description: 'default: agent for an agent’s token, which cannot say user; else user',
    }),
  ),
  source_ref: Type.Optional(Type.String({ maxLength: 2000 })),
  expires_at: Type.Optional(Type.String({ format: 'date-time' })),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  new: Type.Optional(
    Type.Boolean({
      description:
        'another record from the same source_ref, which without an idempotency key is found again by it and the kind',
    }),
  ),
  referenced_iu_ids: Type.Optional(Type.Array(Uuid, { maxItems: 1000 })),
}

const EXAMPLE = {
  workspace_id: '0190b5a2-7c1e-7a33-8f0e-3a1d5b7c9e11',
  staging_kind: 'review_package',
  payload_type: 'review_bundle',
  purpose: 'Commentary on the report of week 27',
  source_kind: 'agent',
  parts: [
    { part_name: 'manifest', payload_kind: 'json', payload_json: { campaigns: ['120210000000000001'] } },
    { part_name: 'commentary', payload_kind: 'text', payload_text: 'Spend rose because …' },
    { part_name: 'checklist', payload_kind: 'json', payload_json: [{ id: 'sums', text: 'The sums agree' }] },
  ],
}

const NewRecord = shape(
  'NewStagingRecord',
  { ...envelope, parts: Type.Array(NewPart, { minItems: 1, maxItems: MAX_PARTS }) },
  { additionalProperties: false, examples: [EXAMPLE] },
)
/** The first field of a form; the files are the parts. */
const NewRecordForm = shape(
  'NewStagingRecordForm',
  { ...envelope, parts: Type.Optional(Type.Array(NewPart, { maxItems: MAX_PARTS })) },
  { additionalProperties: false },
)
type NewRecordForm = Row<typeof NewRecordForm>

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

const Form = shape(
  'StagingForm',
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

export function recordCreateRoutes(stores: Stores) {
  return routes('staging', async (api) => {
    const slots = createSlots(LARGE_AT_ONCE)
    api.fastify.decorateRequest('bodyText', '')
    api.fastify.addHook('preParsing', async (request, reply) => {
      if (isLarge(request)) await slots(request, reply)
    })
    api.fastify.removeAllContentTypeParsers()
    api.fastify.addContentTypeParser(
      'application/json',
      async (request: FastifyRequest, payload: IncomingMessage) => {
        const body = await readJsonBody(request, payload, 'staging_part_invalid')
        request.bodyText = decodeUtf8(body, 'The body')
        return readJson(request.bodyText, 'the body', 'request_invalid')
      },
    )
    await api.fastify.register(multipart, {
      // Every field comes as a stream: as a field, JSON would be parsed and its numbers rounded.
      isPartAFile: () => true,
      // Blobs are counted while they are stored.
      limits: { fileSize: Number.MAX_SAFE_INTEGER },
    })
    api.post('/', {
      operationId: 'createStagingRecord',
      summary: 'Stage a record with its parts',
      description:
        'JSON is kept exactly as it is sent, numbers beyond 2^53 included. Nothing is stored unless everything is.',
      answer: CreatedRecord,
      status: 201,
      problems: [403, 409, 413],
      bodyLimit: BODY_LIMIT,
      preValidation: async (request) => {
        if (request.isMultipart()) request.body = {}
      },
      schema: {
        headers: Headers,
        body: {
          content: { 'application/json': { schema: NewRecord }, 'multipart/form-data': { schema: Form } },
        },
        response: { 200: CreatedRecord },
      },
      handle: async (request, reply) => {
        const key = request.headers['idempotency-key'] as string | undefined
        const made = request.isMultipart()
          ? await createFromForm(request, reply, stores, key)
          : await createFromJson(request, stores, key)
        if (made.created) reply.header('location', `${API_PREFIX}/staging/${made.staging_record_id}`)
        else reply.status(200)
        return made
      },
    })
  })
}

/** A body that does not say its length may be of any. Forms go to the disk as they come. */
function isLarge(request: FastifyRequest): boolean {
  return !request.isMultipart() && Number(request.headers['content-length'] ?? Infinity) > LARGE
}

async function createFromJson(request: FastifyRequest, stores: Stores, key?: string): Promise<CreatedRecord> {
  const record = request.body as NewRecordForm
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
  const onDeleteFailed = (blob_ref: string, error: unknown): void =>
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
    onDeleteFailed,
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

function validRecord(request: FastifyRequest, record: unknown): NewRecordForm {
  const validate = request.compileValidationSchema(NewRecordForm)
  if (!validate(record)) throw invalidInput((validate.errors ?? []) as never, 'record')
  return record as NewRecordForm
}

/** The blobs that the record refers to. Whatever the caller says of them must be what the store says. */
async function factsOf(record: NewRecordForm, { blobs }: Stores): Promise<Record<string, BlobFacts>> {
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

// A record sent as a form: the field `record` first, then a file for each part.

/**
 * Gives the parts as JSON text of an array. `opened` is called with the record before the first part is read. Blobs are added to `stored` as they come, so that
 * whoever called can delete them whatever happens.
 */
async function readForm(
  request: FastifyRequest,
  stores: Stores,
  recordLimit: number,
  stored: StoredBlob[],
  opened: (record: string) => Promise<void>,
): Promise<string> {
  let record: string | undefined
  let inline = 0
  const parts: string[] = []
  for await (const file of filesOf(request)) {
    if (record === undefined) {
      record = await readRecord(file, recordLimit)
      await opened(record)
      continue
    }
    if (parts.length === MAX_PARTS) {
      throw tooManyPartsError()
    }
    const part = await readPart(file, stores, stored)
    inline += part.length
    if (inline > MAX_TOTAL_BYTES) throw new StagedoorError('body_too_large', { limit: MAX_TOTAL_BYTES })
    parts.push(part)
  }
  if (record === undefined) throw recordMissing()
  return `[${parts.join(',')}]`
}

/** Errors of the parser are errors of the request. */
async function* filesOf(request: FastifyRequest): AsyncGenerator<MultipartFile> {
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') yield part
    }
  } catch (error) {
    throw formError(error)
  }
}

async function readRecord(file: MultipartFile, limit: number): Promise<string> {
  if (file.fieldname !== 'record') throw recordMissing()
  const { bytes, rest } = await readUpTo(file.file, limit)
  if (rest) throw new StagedoorError('body_too_large', { limit })
  refuseCostlyJson(bytes)
  return decodeUtf8(bytes, 'The field record')
}

function recordMissing(): StagedoorError {
  return new StagedoorError('request_invalid', {
    reason: 'the first field of the form must be `record`, the record as JSON',
  })
}

/** JSON and text of up to 10 MiB are kept in the database, everything else as a blob. */
async function readPart(file: MultipartFile, stores: Stores, stored: StoredBlob[]): Promise<string> {
  const name = file.fieldname
  const isJson = file.mimetype === 'application/json' || file.mimetype.endsWith('+json')
  if (!isJson && !file.mimetype.startsWith('text/')) return storePart(name, file.file, stores, stored)
  const { bytes, rest } = await readUpTo(file.file, MAX_PART_BYTES)
  if (rest) return storePart(name, Readable.from(rest), stores, stored)
  if (!isJson) {
    const text = decodeUtf8(bytes, `The part ${name}`, { keepMark: true })
    return JSON.stringify({ part_name: name, payload_kind: 'text', payload_text: text })
  }
  refuseCostlyJson(bytes)
  const text = decodeUtf8(bytes, `The part ${name}`)
  readJson(text, `the part ${name}`, 'request_invalid')
  return `{"part_name":${JSON.stringify(name)},"payload_kind":"json","payload_json":${text}}`
}

async function storePart(
  name: string,
  bytes: Readable,
  stores: Stores,
  stored: StoredBlob[],
): Promise<string> {
  const blob = await receiveBlob(bytes, stores)
  stored.push(blob)
  return JSON.stringify({ part_name: name, payload_kind: 'blob_ref', blob_ref: blob.blob_ref })
}

/** `rest` begins from the start, and is there if there is more than `limit`. */
async function readUpTo(
  file: Readable,
  limit: number,
): Promise<{ bytes: Buffer; rest?: AsyncGenerator<Buffer> }> {
  const chunks: Buffer[] = []
  let length = 0
  const iterator: AsyncIterator<Buffer> = file.iterator({ destroyOnReturn: false })
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      chunks.push(next.value)
      length += next.value.length
      if (length > limit) return { bytes: Buffer.alloc(0), rest: from(chunks, iterator) }
    }
  } catch (error) {
    throw formError(error)
  }
  return { bytes: Buffer.concat(chunks) }
}

async function* from(chunks: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
}

// Large parts, uploaded by themselves: bytes in, a reference out.

export function blobRoutes(stores: Stores) {
  return routes('staging', async (api) => {
    api.fastify.removeAllContentTypeParsers()
    api.fastify.addContentTypeParser('application/octet-stream', (_request, payload, done) =>
      done(null, payload),
    )
    api.put('/blobs', {
      operationId: 'uploadStagingBlob',
      summary: 'Upload the bytes of a large part; stage a record with the reference',
      description: 'A blob that no record refers to is deleted after a while.',
      query: {
        workspace_id: Type.Optional(Type.String({ format: 'uuid', description: 'where it will be staged' })),
      },
      answer: shape('StagingBlob', { blob_ref: Type.String(), byte_len: BigCount, content_hash: Digest }),
      status: 201,
      problems: [403, 409, 413],
      schema: {
        body: {
          content: { 'application/octet-stream': { schema: Type.Unknown({ description: 'the bytes' }) } },
        },
      },
      handle: async (request, reply) => {
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
        return { blob_ref, byte_len: String(byte_len), content_hash }
      },
    })
  })
}

// Bytes on their way into the blob store: counted, never held in memory, and nothing left behind of a broken one.

export interface Stores {
  readonly blobs: BlobStore
  readonly blobLimit: number
  /** Opens an issue, or counts one more occurrence of it. */
  readonly issues?: (issue: NewIssue) => Promise<unknown>
}

async function receiveBlob(source: Readable, { blobs, blobLimit }: Stores): Promise<StoredBlob> {
  let length = 0
  const counted = uncut(source, (chunk) => {
    length += chunk.length
    if (length > blobLimit) throw new StagedoorError('body_too_large', { limit: blobLimit })
    return chunk
  })
  try {
    return await blobs.put(counted)
  } catch (error) {
    counted.destroy()
    throw error
  }
}

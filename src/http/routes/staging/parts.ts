/** The bytes of a part, whole or a range of them. */
import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import type { ByteRange } from '../../../staging/blobs/store.ts'
import { tampered } from '../../../staging/blobs/verify.ts'
import { type Part, readPart } from '../../../staging/records.ts'
import { attachment } from '../../attachment.ts'
import { parseRange } from '../../byte-range.ts'
import { problems } from '../../responses.ts'
import { requireRecord } from './records.ts'
import type { Stores } from './uploads.ts'

/** Never text/html or a script, whatever the bytes look like. */
const CONTENT_TYPE = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  blob_ref: 'application/octet-stream',
}

const bytesOf = (description: string) => ({
  description,
  content: Object.fromEntries(
    Object.values(CONTENT_TYPE).map((type) => [type.split(';')[0], { schema: Type.Unknown() }]),
  ),
})

export function partRoutes(stores: Stores): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/:id/parts/:index',
      {
        // The length, the ranges and the ETag are those of the bytes as they were staged.
        compress: false,
        schema: {
          operationId: 'getStagingPart',
          summary: 'The bytes of a part; JSON in its canonical form. Takes Range, If-Range and If-None-Match',
          tags: ['staging'],
          params: Type.Object({
            id: Type.String({ format: 'uuid', description: 'the record' }),
            index: Type.Integer({ minimum: 0, maximum: 99, description: 'of the part, from 0' }),
          }),
          headers: Type.Object({
            range: Type.Optional(Type.String({ examples: ['bytes=0-1023'] })),
            'if-range': Type.Optional(Type.String()),
            'if-none-match': Type.Optional(Type.String()),
          }),
          response: {
            200: bytesOf('all of it; the ETag is the content_hash of the part'),
            206: bytesOf('the range'),
            304: { description: 'you have it', type: 'null' },
            ...problems(400, 401, 404, 409, 416),
          },
        },
      },
      async (request, reply) => {
        const { id, index } = request.params
        const part = await request.transaction(async (client) => {
          await requireRecord(client, id)
          return readPart(client, id, index)
        })
        if (!part) throw new StagedoorError('not_found', { what: `part ${index} of the record ${id}` })
        await requireBlob(id, part, stores)
        return send(request, reply, part, { ...stores, altered: () => altered(request, id, part, stores) })
      },
    )
  }
}

/** Before the first header: an answer that has begun cannot become an error. */
async function requireBlob(record: string, part: Part, { blobs }: Stores): Promise<void> {
  if (part.blob_ref === null) return
  const facts = await blobs.facts(part.blob_ref)
  if (facts?.byte_len === part.byte_len && facts.content_hash === part.content_hash) return
  throw tampered(record, part.part_index)
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  part: Part,
  stores: Stores & Watching,
): Promise<FastifyReply> {
  const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers
  const etag = `"${part.content_hash}"`
  // Ranges are for GET, and only of the very bytes that the caller has begun with.
  const asked = request.method === 'GET' && (ifRange === undefined || ifRange === etag) ? range : undefined
  const wanted = parseRange(asked, part.byte_len)
  if (wanted === 'unsatisfiable') {
    reply.header('content-range', `bytes */${part.byte_len}`)
    throw unsatisfiable(part)
  }
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': attachment(part.part_name),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  })
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) return reply.status(304).send()
  if (wanted) {
    reply.status(206).header('content-range', `bytes ${wanted.start}-${wanted.end}/${part.byte_len}`)
  }
  const length = wanted ? wanted.end - wanted.start + 1 : part.byte_len
  return reply
    .type(CONTENT_TYPE[part.payload_kind])
    .header('content-length', length)
    .send(request.method === 'HEAD' ? Readable.from([]) : await bytes(part, wanted, stores))
}

function unsatisfiable(part: Part): StagedoorError {
  const reason = `the range is not within the ${part.byte_len} bytes of the part`
  return new StagedoorError('range_invalid', { reason })
}

async function bytes(
  part: Part,
  range: ByteRange | undefined,
  { blobs, altered }: Stores & Watching,
): Promise<Buffer | Readable> {
  if (part.blob_ref !== null) {
    // Of a range alone nobody can say whether it is what was staged: the whole is read first.
    if (range && !(await blobs.verify(part.blob_ref))) throw await altered()
    const bytes = await blobs.open(part.blob_ref, range)
    return range ? bytes : proved(bytes, part.content_hash, altered)
  }
  const whole = Buffer.from(part.content ?? '', 'utf8')
  return range ? whole.subarray(range.start, range.end + 1) : whole
}

interface Watching {
  /** Told once when the bytes are not those that were staged. Gives what to answer. */
  altered(): Promise<Error>
}

/** The last chunk is held back until all are known to be what was staged: of others nobody gets the whole. */
function proved(bytes: Readable, expected: string, altered: () => Promise<Error>): Readable {
  const hash = createHash('sha256')
  let held: Buffer | undefined
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      const ready = held
      held = chunk
      done(null, ready)
    },
    flush(done) {
      if (hash.digest('hex') === expected) return done(null, held)
      altered().then(done, done)
    },
  })
  bytes.on('error', (error) => check.destroy(error))
  check.on('close', () => bytes.destroy())
  return bytes.pipe(check)
}

async function altered(
  request: FastifyRequest,
  record: string,
  part: Part,
  { issues }: Stores,
): Promise<Error> {
  const error = tampered(record, part.part_index)
  request.log.error({ record, part: part.part_index }, 'the bytes of a blob are not those that were staged')
  await issues?.({
    code: 'staging_blob_altered',
    severity: 'critical',
    subject: record,
    title: error.message,
    detail: { part: part.part_index, content_hash: part.content_hash },
  }).catch((failure: unknown) => request.log.error({ err: failure }, 'the issue could not be opened'))
  return error
}

function matches(header: string, etag: string): boolean {
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}

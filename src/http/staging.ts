/** The staging zone: list, look, decide. Every rule is the database's. */

import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { actorNames } from '../access/members.ts'
import { findStandingOf, ReviewStanding } from '../changes/reviews.ts'
import { type NewIssue, openIssue } from '../events/issues.ts'
import { listEventsAbout } from '../events/outbox.ts'
import { OutboxEvent } from '../events/shapes.ts'
import { readCallerRights } from '../gates/caller-rights.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { BigCount, Digest, nullable, shape, Text, Type, Uuid } from '../kernel/schema.ts'
import type { ByteRange } from '../runtime/stores/blob-store.ts'
import { requireIntactBlobs, tamperedError } from '../staging/blobs.ts'
import { recordPermissions, StagingPermissions } from '../staging/permissions.ts'
import {
  approveRecord,
  consumeRecord,
  findRecord,
  listRecords,
  type Part,
  readChecklist,
  readPart,
  rejectRecord,
  requireRecord,
  tickItem,
  withdrawRecord,
} from '../staging/records.ts'
import { ChecklistItem, LifecycleStatus, PartDigest, StagingKind, StagingSummary } from '../staging/shapes.ts'
import { acceptChangeNumbers } from './changes.ts'
import { ActorNames, attachment, parseRange, withRawJson } from './responses.ts'
import { After, Limit, listPage, page, type Routes, routes } from './routes.ts'
import type { ApiContext } from './server.ts'
import { blobRoutes, recordCreateRoutes, type Stores } from './staging-create.ts'

const GIBIBYTE = 1024 ** 3

export function stagingRoutes(context: ApiContext) {
  const stores = {
    blobs: context.blobs,
    blobLimit: context.blobLimit ?? 2 * GIBIBYTE,
    // As the back end: somebody who reads a part may open no issue.
    issues: (issue: NewIssue) =>
      inTransaction(context.ingest.pool, (client) => openIssue(client, issue), { role: 'dot_executor' }),
  }
  return routes('staging', async (api) => {
    acceptChangeNumbers(api.fastify, 'record', 'cut')
    // Each of the first two reads bodies in a way of its own, which the others must not inherit.
    await api.fastify.register(recordCreateRoutes(stores))
    await api.fastify.register(blobRoutes(stores))
    readRoutes(api)
    partRoutes(api, stores)
    decisionRoutes(api, stores)
  })
}

const StagingDetail = shape('StagingDetail', {
  ...StagingSummary.properties,
  part_digests: Type.Array(shape('PartOfRecord', { ...PartDigest.properties, byte_len: BigCount })),
  referenced_iu_ids: Type.Array(Uuid),
  checklist: Type.Array(ChecklistItem),
  may: StagingPermissions,
  review: nullable(ReviewStanding),
  metadata: nullable(Type.Record(Text, Type.Unknown())),
})
/** Numbers of the metadata are not rounded. */
const answersDetail = { answer: StagingDetail, problems: [403, 404, 409], raw: true } as const

function readRoutes(api: Routes): void {
  api.get('/', {
    operationId: 'listStagingRecords',
    replica: true,
    summary: 'Staging records that you may see, newest first',
    query: {
      status: Type.Optional(LifecycleStatus),
      kind: Type.Optional(StagingKind),
      owner: Type.Optional(Type.String({ description: 'the actor who staged it' })),
      workspace_id: Type.Optional(Uuid),
      undecided: Type.Optional(
        Type.Boolean({
          description:
            'only what needs a person: pending, not expired, approval required; without the reviews of uploads, which are decided there',
        }),
      ),
      limit: Limit,
      after: After,
    },
    answer: page('records', StagingSummary, { people: ActorNames }),
    handle: (request) =>
      request.transaction(async (client) => {
        const list = await listPage(
          request.query,
          'records',
          'staging_record_id',
          ({ workspace_id, ...filter }) =>
            listRecords(client, {
              ...filter,
              ...(workspace_id !== undefined && { workspace: workspace_id }),
            }),
        )
        const owners = list.records.map(({ owner_actor }) => owner_actor)
        return { ...list, people: await actorNames(client, owners) }
      }),
  })

  api.get('/:id', {
    operationId: 'getStagingRecord',
    replica: true,
    summary: 'One record: digests of its parts, its checklist, and what you may do with it',
    ...answersDetail,
    handle: (request) => answerDetail(request),
  })

  api.get('/:id/history', {
    operationId: 'listStagingHistory',
    replica: true,
    summary: 'What happened to a record, oldest first',
    tags: ['staging', 'events'],
    query: { limit: Limit, after: After },
    answer: page('events', OutboxEvent),
    problems: [404],
    handle: (request) =>
      listPage(request.query, 'events', 'id', (filter) =>
        request.transaction(async (client) => {
          const { staging_record_id: subject } = await requireRecord(client, request.params.id)
          return listEventsAbout(client, { domain: 'staging', subject, ...filter })
        }),
      ),
  })
}

/** Answers a record that the caller may see, after `work` on it. */
function answerDetail(
  request: FastifyRequest<{ Params: { id: string } }>,
  work?: (client: Client, id: string) => Promise<unknown>,
  transaction: FastifyRequest['transaction'] = request.transaction,
) {
  const { id } = request.params
  return transaction.bind(request)(async (client) => {
    if (work) {
      await requireRecord(client, id)
      await work(client, id)
    }
    return readDetail(client, request, id)
  })
}

async function readDetail(client: Client, request: FastifyRequest, id: string) {
  const record = await requireRecord(client, id)
  const checklist = await readChecklist(client, id)
  const caller = await readCallerRights(client, record.workspace_id, request.principal!)
  const exact = await findRecord(withRawJson(client), id)
  return {
    ...record,
    part_digests: record.part_digests.map((part) => ({ ...part, byte_len: String(part.byte_len) })),
    referenced_iu_ids: record.referenced_iu_ids ?? [],
    checklist,
    may: recordPermissions(record, checklist, caller),
    review: record.approval_required ? ((await findStandingOf(client, id)) ?? null) : null,
    metadata: exact?.metadata ?? null,
  }
}

function decisionRoutes(api: Routes, { blobs }: Stores): void {
  api.post('/:id/tick', {
    operationId: 'tickStagingChecklist',
    summary: 'Tick an item of the checklist, or remove the tick',
    body: {
      item_id: Type.String({ minLength: 1 }),
      ticked: Type.Boolean({ default: true }),
      note: Type.Optional(Type.String({ maxLength: 2000 })),
    },
    example: { item_id: 'sums', note: 'checked against the export' },
    answer: Type.Object({ checklist: Type.Array(ChecklistItem) }),
    problems: [403, 404, 409],
    handle: (request) => {
      const { id } = request.params
      const { item_id, ticked, note } = request.body
      return request.decide(async (client) => {
        await requireRecord(client, id)
        await tickItem(client, id, item_id, { ticked, note })
        return { checklist: await readChecklist(client, id) }
      })
    },
  })

  api.post('/:id/approve', {
    operationId: 'approveStagingRecord',
    summary: 'Approve exactly the bytes that you saw: their digest is required',
    body: {
      digest: Digest,
      approval_doc_id: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    },
    ...answersDetail,
    handle: (request) =>
      answerDetail(
        request,
        async (client, id) => {
          const { digest, approval_doc_id: approvalDocId } = request.body
          await requireIntactBlobs(client, blobs, id, { others: 'refused' })
          await approveRecord(client, id, omitUndefined({ digest, approvalDocId }))
        },
        request.decide,
      ),
  })

  api.post('/:id/reject', {
    operationId: 'rejectStagingRecord',
    summary: 'Reject a record, with a reason',
    body: { reason: Type.String({ minLength: 1, maxLength: 2000 }) },
    example: { reason: 'The sums do not agree with the export.' },
    ...answersDetail,
    handle: (request) =>
      answerDetail(request, (client, id) => rejectRecord(client, id, request.body.reason), request.decide),
  })

  api.post('/:id/withdraw', {
    operationId: 'withdrawStagingRecord',
    summary: 'Take back what you staged, as long as nobody has decided',
    ...answersDetail,
    handle: (request) => answerDetail(request, withdrawRecord),
  })

  api.post('/:id/consume', {
    operationId: 'consumeStagingRecord',
    summary: 'Consume a record, for a run that is open or for one that is opened and ended here',
    optionalBody: {
      run_id: Type.Optional(Type.String({ format: 'uuid', description: 'of a run that is running' })),
      command: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'names the run that is opened here' }),
      ),
      digest: Type.Optional(Digest),
    },
    example: { command: 'cut week 27' },
    answer: Type.Object({ run_id: Uuid }),
    problems: [403, 404, 409],
    handle: (request) => {
      const { id } = request.params
      const { run_id: runId, ...options } = request.body ?? {}
      return request.transaction(async (client) => {
        await requireRecord(client, id)
        await requireIntactBlobs(client, blobs, id, { others: 'refused' })
        return {
          run_id: await consumeRecord(client, id, { ...options, ...(runId !== undefined && { runId }) }),
        }
      })
    },
  })
}

// The bytes of a part, whole or a range of them.

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

function partRoutes(api: Routes, stores: Stores): void {
  api.get('/:id/parts/:index', {
    operationId: 'getStagingPart',
    summary: 'The bytes of a part; JSON in its canonical form. Takes Range, If-Range and If-None-Match',
    params: {
      id: Type.String({ format: 'uuid', description: 'the record' }),
      index: Type.Integer({ minimum: 0, maximum: 99, description: 'of the part, from 0' }),
    },
    status: 200,
    problems: [404, 409, 416],
    compress: false,
    schema: {
      headers: Type.Object({
        range: Type.Optional(Type.String({ examples: ['bytes=0-1023'] })),
        'if-range': Type.Optional(Text),
        'if-none-match': Type.Optional(Text),
      }),
      response: {
        200: bytesOf('all of it; the ETag is the content_hash of the part'),
        206: bytesOf('the range'),
        304: { description: 'you have it', type: 'null' },
      },
    },
    handle: async (request, reply) => {
      const { id, index } = request.params
      const part = await request.transaction(async (client) => {
        await requireRecord(client, id)
        return readPart(client, id, index)
      })
      if (!part) throw new StagedoorError('not_found', { what: `part ${index} of the record ${id}` })
      await requireBlob(id, part, stores)
      return send(request, reply, part, { ...stores, altered: () => altered(request, id, part, stores) })
    },
  })
}

/** Before the first header: an answer that has begun cannot become an error. */
async function requireBlob(record: string, part: Part, { blobs }: Stores): Promise<void> {
  if (part.blob_ref === null) return
  const facts = await blobs.facts(part.blob_ref)
  if (facts?.byte_len === part.byte_len && facts.content_hash === part.content_hash) return
  throw tamperedError(record, part.part_index)
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
  const error = tamperedError(record, part.part_index)
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

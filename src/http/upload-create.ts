/** POST /uploads: receives a file into the store, opens the upload with the caller's rights, enqueues the job that reads it, and answers. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  admitUpload,
  type IngestActor,
  type IngestOptions,
  type PipelineDeps,
  queueUpload,
} from '../ingest/pipeline.ts'
import { planOptions } from '../ingest/plan-shapes.ts'
import { Upload } from '../ingest/shapes.ts'
import { homeUploadFiles, type StoredFile, type UploadFiles } from '../ingest/upload-files.ts'
import { findUpload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Static, shape, Type } from '../kernel/schema.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { readJson } from '../staging/records.ts'
import { workspaceOf } from './access.ts'
import {
  acceptFiles,
  type FileSink,
  fileOptionsOf,
  fileRoute,
  type ReceivedFile,
  readingOptions,
  receiveFile,
  refuseTooLarge,
} from './receive-file.ts'
import { JSON_TEXT, stringifyRawJson, withRawJson } from './responses.ts'
import { routes, Workspace } from './routes.ts'

const Created = shape('CreatedUpload', {
  upload: Upload,
  created: Type.Boolean({ description: 'false: the same bytes are there already' }),
})

export function uploadCreateRoutes(ingest: PipelineDeps) {
  return routes('uploads', async (api) => {
    await acceptFiles(api.fastify)
    const { preValidation, body } = fileRoute(UploadForm)
    api.post('/', {
      operationId: 'createUpload',
      summary: 'Upload a file: as a form, or as the raw body with the options in the query string',
      description:
        'Answers as soon as the file is in the store. A job reads, checks and plans it, in any process that shares the store, whether you wait or not: follow it at /api/v1/uploads/{id}/progress of any server, cancel it with /api/v1/uploads/{id}/discard. The same bytes for the same client are recognised. In a form the fields come before the file.',
      query: UploadQuery,
      answer: Created,
      status: 202,
      problems: [403, 404, 409, 413, 429],
      preValidation,
      schema: { body, response: { 200: Created } },
      handle: (request, reply) => create(request, reply, ingest),
    })
  })
}

async function create(request: FastifyRequest, reply: FastifyReply, deps: PipelineDeps): Promise<never> {
  // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
  reply.header('connection', 'close')
  const caller: IngestActor = { transaction: (work) => request.transaction(work) }
  const files = deps.files ?? homeUploadFiles(deps.home)
  let workspaceId = ''
  const received = await receiveFile<UploadOptions, StoredFile>(request, storeSink(files), {
    options: UploadOptions,
    admit: async (options) => {
      workspaceId = await request.transaction((client) => workspaceOf(client, options.workspace_id))
      return admission(request, caller, { ...options, workspaceId })
    },
  })
  reply.removeHeader('connection')
  const options = ingestOptionsOf(request, received, workspaceId)
  const { upload_id, upload, created } = await queueUpload(
    { ...deps, files },
    received.file,
    { ...options, actor: caller },
    (client, id) => findUpload(withRawJson(client), id),
  )
  return reply
    .status(created ? 202 : 200)
    .header('location', `${API_PREFIX}/uploads/${upload_id}`)
    .type(JSON_TEXT)
    .send(stringifyRawJson({ upload, created })) as never
}

function storeSink(files: UploadFiles): FileSink<StoredFile> {
  return { put: (bytes, limit) => files.put(bytes, { limit }), remove: (file) => files.delete(file.file_ref) }
}

/** Before a byte is taken: whoever may not upload here does not fill the disk either. */
async function admission(
  request: FastifyRequest,
  caller: IngestActor,
  target: UploadOptions & { workspaceId: string },
): Promise<{ limit: number }> {
  const { workspaceId, dataset, platform } = target
  const file = fileOptionsOf(target, undefined)
  const { maxBytes: limit } = await admitUpload(caller, { workspaceId, dataset, platform, file })
  cursorOf(target)
  refuseTooLarge(request, limit)
  return { limit }
}

function ingestOptionsOf(
  request: FastifyRequest,
  { options, file_name, format }: ReceivedFile<UploadOptions, StoredFile>,
  workspaceId: string,
): Omit<IngestOptions, 'actor' | 'signal' | 'onEvent' | 'sameBytes' | 'maxQueueWaitMs'> {
  return {
    workspaceId,
    dataset: options.dataset,
    platform: options.platform,
    clientId: options.client_id,
    until: options.until ?? 'planned',
    fileName: file_name,
    file: fileOptionsOf(options, format),
    cursor: cursorOf(options),
    onInvalid: options.on_invalid,
    threshold: options.threshold,
    repeatedKeys: options.repeated_keys,
    maxDeleted: options.max_deleted,
    allowShortFile: options.allow_short_file,
    dryRun: options.dry_run,
    requestId: request.id,
  }
}

// Options of an upload: as fields of a form, or in the query string of a raw body.

const optional = {
  workspace_id: Workspace,
  client_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'whose data it is, where the dataset has clients' }),
  ),
  ...planOptions,
  dry_run: Type.Optional(Type.Boolean({ description: 'read, check and plan, but never to be promoted' })),
  // Not promoted: the back end continues the upload, and for it the right to operate is not asked for.
  until: Type.Optional(Type.Enum(['staged', 'planned', 'submitted'], { description: 'default planned' })),
  ...readingOptions,
  cursor_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  cursor_value: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'JSON: where the next pull begins, kept with the promotion',
    }),
  ),
}
const Dataset = Type.String({ maxLength: 63, examples: ['ads'] })
const Platform = Type.String({ maxLength: 63, examples: ['meta'] })

/** Of a raw body: a form brings its own. */
const UploadQuery = { dataset: Type.Optional(Dataset), platform: Type.Optional(Platform), ...optional }
/** Optional here, because the form itself is read by the handler, and the query string may have them, too. */
const UploadForm = shape(
  'UploadForm',
  {
    dataset: Type.Optional(Dataset),
    platform: Type.Optional(Platform),
    ...optional,
    file: Type.Optional(Type.String({ format: 'binary', description: 'the last field' })),
  },
  { description: 'dataset, platform and file must be there; the file comes last.' },
)
const UploadOptions = Type.Object(
  { dataset: Dataset, platform: Platform, ...optional },
  { additionalProperties: false },
)
type UploadOptions = Static<typeof UploadOptions>

function cursorOf({ cursor_name, cursor_value }: UploadOptions): IngestOptions['cursor'] {
  if (cursor_name === undefined && cursor_value === undefined) return undefined
  if (cursor_name === undefined || cursor_value === undefined) {
    throw new StagedoorError('request_invalid', { reason: 'cursor_name and cursor_value go together' })
  }
  return { name: cursor_name, value: readExactly(cursor_value, 'cursor_value') }
}

/** JSON whose numbers JavaScript can hold; others would be rounded without a word. */
export function readExactly(text: string, what: string): unknown {
  const value = readJson(text, what, 'request_invalid')
  if (/\d{16}/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ''))) {
    const reason = `${what} has a number of more than 15 digits: write it as a string`
    throw new StagedoorError('request_invalid', { reason })
  }
  return value
}

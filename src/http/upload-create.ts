/** POST /uploads: receives a file, opens the upload with the caller's rights, answers, and continues in the background. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  admitUpload,
  backEndActor,
  continueUpload,
  type IngestActor,
  type IngestOptions,
  openUpload,
  type PipelineDeps,
} from '../ingest/pipeline.ts'
import { planOptions, Upload } from '../ingest/shapes.ts'
import { findUpload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Static, shape, Type } from '../kernel/schema.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { readJson } from '../staging/records.ts'
import { workspaceOf } from './access.ts'
import {
  acceptFiles,
  fileOptionsOf,
  fileRoute,
  type ReceivedFile,
  readingOptions,
  receiveFile,
  refuseTooLarge,
} from './receive-file.ts'
import { JSON_TEXT, stringifyRawJson, withRawJson } from './responses.ts'
import { routes, Workspace } from './routes.ts'
import type { BackgroundUploads } from './upload-progress.ts'

const Created = shape('CreatedUpload', {
  upload: Upload,
  created: Type.Boolean({ description: 'false: the same bytes are there already' }),
})

export function uploadCreateRoutes(ingest: PipelineDeps, background: BackgroundUploads) {
  return routes('uploads', async (api) => {
    await acceptFiles(api.fastify)
    const { preValidation, body } = fileRoute(UploadForm)
    api.post('/', {
      operationId: 'createUpload',
      summary: 'Upload a file: as a form, or as the raw body with the options in the query string',
      description:
        'Answers as soon as the file is here. It is read, checked and planned in the background: follow it at /api/v1/uploads/{id}/progress. The same bytes for the same client are recognised. In a form the fields come before the file.',
      query: UploadQuery,
      answer: Created,
      status: 202,
      problems: [403, 404, 409, 413, 429],
      preValidation,
      schema: { body, response: { 200: Created } },
      handle: (request, reply) => create(request, reply, ingest, background),
    })
  })
}

async function create(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PipelineDeps,
  background: BackgroundUploads,
): Promise<never> {
  // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
  reply.header('connection', 'close')
  const caller: IngestActor = { transaction: (work) => request.transaction(work) }
  let workspaceId = ''
  const received = await receiveFile<UploadOptions>(request, deps.home, {
    options: UploadOptions,
    admit: async (options) => {
      workspaceId = await request.transaction((client) => workspaceOf(client, options.workspace_id))
      return admission(request, caller, { ...options, workspaceId })
    },
  })
  reply.removeHeader('connection')
  const options = ingestOptionsOf(request, received, workspaceId)
  const opened = await openUpload(deps, received.file, { ...options, actor: caller }, (client, id) =>
    findUpload(withRawJson(client), id),
  )
  const { upload_id, upload, created } = opened
  if (created) {
    // The request has ended by then; the back end acts for its caller, whose right to stage was checked.
    const actor = backEndActor(deps.pool, upload.uploaded_by)
    background.start(upload_id, (signal) => continueUpload(deps, opened, { ...options, actor, signal }))
  }
  return reply
    .status(created ? 202 : 200)
    .header('location', `${API_PREFIX}/uploads/${upload_id}`)
    .type(JSON_TEXT)
    .send(stringifyRawJson({ upload, created })) as never
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

/** A caller does not wait in a queue: `uploads_at_once` says when to try again. */
function ingestOptionsOf(
  request: FastifyRequest,
  { options, file_name, format }: ReceivedFile<UploadOptions>,
  workspaceId: string,
): Omit<IngestOptions, 'actor'> {
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
    maxQueueWaitMs: 0,
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

/** Uploading: the file is received, the upload opened under the caller's own rights, and read behind the scenes. */
import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { StagedoorError } from '../../../errors.ts'
import { requireDataset } from '../../../ingest/datasets/registry.ts'
import { type IngestContext, newUpload } from '../../../ingest/ingest.ts'
import {
  type BegunUpload,
  beginUpload,
  findUpload,
  type Upload,
  uploadLimits,
} from '../../../ingest/uploads.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { exactJson, exactly, JSON_TEXT } from '../../exact-answer.ts'
import { problems } from '../../responses.ts'
import { createSlots } from '../../slots.ts'
import {
  cursorOf,
  howToRead,
  planOf,
  UploadForm,
  type UploadOptions,
  UploadQuery,
  workspaceOf,
} from './options.ts'
import type { Readings } from './readings.ts'
import { type Admit, BODY_TYPES, type ReceivedFile, receiveBody, receiveForm } from './receive.ts'
import { Upload as UploadShape } from './shapes.ts'

/** Larger ones wait for a place, so that nobody's files fill the disk all at once. */
const LARGE = 1024 ** 2
const LARGE_AT_ONCE = 8
const LARGE_OF_ONE_CALLER = 2
/** What a form adds to its file. */
const FORM_EXTRA = 64 * 1024

const Created = Type.Object({
  upload: UploadShape,
  created: Type.Boolean({ description: 'false: the same bytes are there already' }),
})

export function createRoutes(ingest: IngestContext, readings: Readings): FastifyPluginAsyncTypebox {
  return async (api) => {
    const slots = createSlots(LARGE_AT_ONCE, LARGE_OF_ONE_CALLER)
    api.addHook('preParsing', async (request, reply) => {
      if (Number(request.headers['content-length'] ?? Infinity) > LARGE) await slots(request, reply)
    })
    api.removeAllContentTypeParsers()
    api.addContentTypeParser(BODY_TYPES, (_request: FastifyRequest, payload: unknown, done) =>
      done(null, payload),
    )
    await api.register(multipart, {
      limits: {
        fileSize: Number.MAX_SAFE_INTEGER,
        files: 1,
        fields: 30,
        fieldSize: 20_000,
        fieldNameSize: 100,
      },
    })
    api.post(
      '/',
      {
        // The body is read by the handler; until then there is nothing to validate.
        preValidation: async (request) => {
          if (request.isMultipart()) request.body = {}
        },
        schema: {
          operationId: 'createUpload',
          summary: 'Upload a file: as a form, or as the body with what is said about it in the address',
          description:
            'Answers as soon as the file is here. It is read, checked and planned behind the scenes: follow it at /api/uploads/{id}/progress. The same bytes for the same client are recognised. In a form the fields come before the file.',
          tags: ['uploads'],
          querystring: UploadQuery,
          body: {
            content: {
              'multipart/form-data': { schema: UploadForm },
              ...Object.fromEntries(
                BODY_TYPES.map((type) => [type, { schema: Type.Unknown({ description: 'the file' }) }]),
              ),
            },
          },
          response: { 200: Created, 202: Created, ...problems(400, 401, 403, 404, 409, 413, 429) },
        },
      },
      (request, reply) => create(request, reply, ingest, readings),
    )
  }
}

async function create(
  request: FastifyRequest,
  reply: FastifyReply,
  ingest: IngestContext,
  readings: Readings,
): Promise<never> {
  // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
  reply.header('connection', 'close')
  let workspace = ''
  const admit: Admit = async (options) => {
    const admitted = await admission(request, options)
    workspace = admitted.workspace
    return admitted
  }
  const received = await receive(request, ingest.home, admit)
  reply.removeHeader('connection')
  const { begun, upload, answer } = await open(request, received, workspace).catch(async (error) => {
    await received.file.remove()
    throw error
  })
  if (begun.reader_token === null) await received.file.remove()
  else {
    readings.start({
      upload_id: begun.upload_id,
      reader_token: begun.reader_token,
      file: received.file,
      how: howToRead(received.options, received.format),
      request_id: request.id,
      plan: planOf(received.options, upload.uploaded_by),
    })
  }
  return reply
    .status(begun.created ? 202 : 200)
    .header('location', `/api/uploads/${begun.upload_id}`)
    .type(JSON_TEXT)
    .send(answer) as never
}

async function receive(request: FastifyRequest, home: string, admit: Admit): Promise<ReceivedFile> {
  try {
    return await (request.isMultipart() ? receiveForm : receiveBody)(request, home, admit)
  } catch (error) {
    request.raw.unpipe()
    request.raw.resume()
    throw error
  }
}

/** Before a byte is taken: whoever may not upload here does not fill the disk either. Opening checks again. */
async function admission(request: FastifyRequest, options: UploadOptions) {
  const { workspace, limits } = await request.transaction(async (client) => {
    const workspace = await workspaceOf(client, options.workspace_id)
    await requireStaging(client, workspace)
    await requireDataset(client, options.dataset, options.platform)
    return { workspace, limits: await uploadLimits(client, workspace) }
  })
  cursorOf(options)
  const limit = Number(limits.max_bytes)
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limit + (request.isMultipart() ? FORM_EXTRA : 0)) {
    throw new StagedoorError('upload_too_large', { limit })
  }
  return { workspace, limit }
}

interface OpenedUpload {
  readonly begun: BegunUpload
  readonly upload: Upload
  readonly answer: string
}

async function open(
  request: FastifyRequest,
  received: ReceivedFile,
  workspace: string,
): Promise<OpenedUpload> {
  const { file, file_name, options } = received
  return request.transaction(async (client) => {
    const begun = await beginUpload(
      client,
      newUpload(file, {
        dataset: options.dataset,
        platform: options.platform,
        workspace_id: workspace,
        client_id: options.client_id,
        file_name,
        dry_run: options.dry_run,
        repeated_keys: options.repeated_keys,
        until: options.until ?? 'planned',
        how: howToRead(options, received.format),
        cursor: cursorOf(options),
      }),
    )
    const upload = await findUpload(exactly(client), begun.upload_id)
    if (!upload) throw hiddenTwin()
    return { begun, upload, answer: exactJson({ upload, created: begun.created }) }
  })
}

/** An agent sees its own uploads only. */
function hiddenTwin(): StagedoorError {
  return new StagedoorError(
    'upload_state',
    {},
    {
      message:
        'Somebody else has uploaded the same file for this client already, and you cannot see their upload',
      hint: 'Ask a person of the workspace to go on with it, or to discard it.',
    },
  )
}

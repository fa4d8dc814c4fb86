/** Mappings of a dataset: what the headers and values of files mean, remembered per workspace and platform, and previewed for a file. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { titleOf } from '../ingest/datasets/dataset.ts'
import { type MappingChange, readMapping, updateMapping, writeMapping } from '../ingest/datasets/mapping.ts'
import { asDeclared, requireDataset } from '../ingest/datasets/registry.ts'
import { DatasetMapping, DatasetMatches, datasetMapping, MappingPreview } from '../ingest/mapping-shapes.ts'
import { admitFile, admitUpload, type IngestActor, type PipelineDeps } from '../ingest/pipeline.ts'
import { forgetReadOptions, listReadOptions } from '../ingest/read-options.ts'
import { matchSpooled, previewSpooled } from '../ingest/source-preview.ts'
import type { SpooledFile } from '../ingest/spool.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { type Static, shape, Type } from '../kernel/schema.ts'
import { Semaphore } from '../runtime/semaphore.ts'
import { workspaceOf } from './access.ts'
import {
  acceptFiles,
  fileOptionsOf,
  fileRoute,
  readingOptions,
  receiveFile,
  refuseTooLarge,
  spoolSink,
} from './receive-file.ts'
import { DatasetName, type Routes, routes, Workspace } from './routes.ts'

const workspace_id = Workspace
const platform = Type.String({ maxLength: 63, examples: ['meta'] })

export function mappingRoutes(ingest: PipelineDeps) {
  return routes('datasets', async (api) => {
    rememberedRoutes(api)
    // It reads bodies in a way of its own, which the others must not inherit.
    await api.fastify.register(previewRoutes(ingest))
  })
}

// What is remembered.

function rememberedRoutes(api: Routes): void {
  api.get('/:dataset/mapping', {
    operationId: 'getDatasetMapping',
    summary: 'What was said about headers and values, by whom, and the fields that there are',
    params: DatasetName,
    query: { workspace_id, platform },
    answer: DatasetMapping,
    problems: [403, 404],
    handle: (request) => {
      const { workspace_id, platform } = request.query
      return request.transaction(async (client) => {
        const workspace = await workspaceOf(client, workspace_id)
        await client.query(`select iu_core.require_member($1, 'read')`, [workspace])
        return answerMapping(client, workspace, request.params.dataset, platform)
      })
    },
  })

  api.put('/:dataset/mapping', {
    operationId: 'setDatasetMapping',
    summary: 'Replace all that is remembered of headers and values',
    params: DatasetName,
    body: { workspace_id, platform, ...datasetMapping },
    answer: DatasetMapping,
    problems: [403, 404],
    handle: (request) => {
      const { dataset } = request.params
      const { workspace_id, platform, headers, field_values } = request.body
      return request.transaction(async (client) => {
        const workspace = await workspaceOf(client, workspace_id)
        await writeMapping(client, { workspaceId: workspace, dataset, platform }, { headers, field_values })
        return answerMapping(client, workspace, dataset, platform)
      })
    },
  })

  api.patch('/:dataset/mapping', {
    operationId: 'updateDatasetMapping',
    summary:
      'Say what some headers and values mean; remembered for the next files of the workspace, all others stay',
    params: DatasetName,
    body: {
      workspace_id,
      platform,
      headers: Type.Optional(datasetMapping.headers),
      field_values: Type.Optional(datasetMapping.field_values),
    },
    example: { platform: 'meta', headers: { Kosten: 'spend', Notes: null } },
    answer: DatasetMapping,
    problems: [403, 404],
    handle: (request) => {
      const { workspace_id, platform, headers, field_values } = request.body
      return change(request, { workspace_id, platform }, { headers, field_values })
    },
  })

  api.delete('/:dataset/mapping', {
    operationId: 'deleteDatasetMappingEntry',
    summary: 'Forget what a header means, what a value of a field means, or how files are to be read',
    params: DatasetName,
    query: {
      workspace_id,
      platform,
      header: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
      field: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      value: Type.Optional(
        Type.String({ maxLength: 1000, description: 'of that field, as it is in the file' }),
      ),
      read_options: Type.Optional(
        Type.String({
          pattern: '^([0-9a-f]{64}|all)$',
          description: 'the shape whose options are forgotten, or all of yours',
        }),
      ),
      author: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'whose options; default your own; those of others need the right to operate',
        }),
      ),
    },
    answer: DatasetMapping,
    problems: [403, 404],
    handle: (request) => {
      const { header, field, value, read_options, author, ...where } = request.query
      const named = [header, field ?? value, read_options].filter((part) => part !== undefined).length
      const isValue = field !== undefined && value !== undefined
      const isPart = (field ?? value) !== undefined && !isValue
      if (named !== 1 || isPart || (author !== undefined && read_options === undefined)) {
        const reason =
          'name one of a header, a field and a value of it, or read_options; author goes with read_options'
        throw new StagedoorError('request_invalid', { reason })
      }
      if (read_options !== undefined) return forgetOptions(request, where, read_options, author)
      const forget = isValue ? { field_values: { [field]: [value] } } : { headers: [header!] }
      return change(request, where, { forget })
    },
  })
}

function forgetOptions(
  request: FastifyRequest,
  { workspace_id, platform }: { workspace_id?: string | undefined; platform: string },
  shape: string,
  author: string | undefined,
) {
  const { dataset } = request.params as { dataset: string }
  return request.transaction(async (client) => {
    const workspaceId = await workspaceOf(client, workspace_id)
    const of = { workspaceId, dataset, platform, author, ...(shape !== 'all' && { shape }) }
    await forgetReadOptions(client, of)
    return answerMapping(client, workspaceId, dataset, platform)
  })
}

function change(
  request: FastifyRequest,
  { workspace_id, platform }: { workspace_id?: string | undefined; platform: string },
  changes: MappingChange,
) {
  const { dataset } = request.params as { dataset: string }
  return request.transaction(async (client) => {
    const workspaceId = await workspaceOf(client, workspace_id)
    await updateMapping(client, { workspaceId, dataset, platform }, changes)
    return answerMapping(client, workspaceId, dataset, platform)
  })
}

async function answerMapping(client: Client, workspaceId: string, name: string, platform: string) {
  const dataset = asDeclared(await requireDataset(client, name, platform, workspaceId))
  const mapping = await readMapping(client, { workspaceId, dataset: name, platform })
  const fields = Object.entries(dataset.fields).map(([field, { type, required = false }]) => ({
    field,
    title: titleOf(dataset, field),
    type,
    required,
  }))
  const read_options = await listReadOptions(client, { workspaceId, dataset: name, platform })
  return { ...mapping, read_options, fields }
}

// A preview: the file is read, nothing of it is kept, and nothing is written.

/** Reading a file takes a core: a preview waits behind others rather than slowing uploads down. */
const MAX_CONCURRENT_PREVIEWS = 4
const MAX_PREVIEWS_PER_WORKSPACE = 2

const sharedOptions = {
  workspace_id,
  head: Type.Optional(
    Type.Boolean({
      description: 'the file is only the beginning of a longer CSV or JSON lines: its last line is left out',
    }),
  ),
}
const options = { ...sharedOptions, ...readingOptions }
const { encoding, delimiter, columns, header_line, sheet, file_name } = readingOptions
const matchOptions = { ...sharedOptions, encoding, delimiter, columns, header_line, sheet, file_name }
const MatchForm = shape(
  'DatasetMatchForm',
  {
    ...matchOptions,
    file: Type.Optional(Type.String({ format: 'binary', description: 'the last field' })),
  },
  { description: 'file must be there and comes last.' },
)
const MatchOptions = Type.Object(matchOptions, { additionalProperties: false })
type MatchOptions = Static<typeof MatchOptions>
const PreviewQuery = { platform: Type.Optional(platform), ...options }
const PreviewForm = shape(
  'MappingPreviewForm',
  {
    platform: Type.Optional(platform),
    ...options,
    file: Type.Optional(Type.String({ format: 'binary', description: 'the last field' })),
  },
  { description: 'platform and file must be there; the file comes last.' },
)
const PreviewOptions = Type.Object({ platform, ...options }, { additionalProperties: false })
type PreviewOptions = Static<typeof PreviewOptions>

function previewRoutes(ingest: PipelineDeps) {
  return routes('datasets', async (api) => {
    await acceptFiles(api.fastify)
    const semaphore = new Semaphore(MAX_CONCURRENT_PREVIEWS, { perKey: MAX_PREVIEWS_PER_WORKSPACE })
    const { preValidation, body } = fileRoute(PreviewForm)
    api.post('/:dataset/mapping/preview', {
      operationId: 'previewDatasetMapping',
      summary: 'Which column of a file is which field, before it is uploaded; nothing is kept',
      description:
        'As a form, or as the raw body with the options in the query string. Columns are mapped by what the workspace remembers and by name, as the file would be read; for the others fields are proposed. Answers that somebody has given go into headers and field_values.',
      params: DatasetName,
      query: PreviewQuery,
      answer: MappingPreview,
      problems: [403, 404, 413, 422, 429],
      preValidation,
      schema: { body },
      handle: (request, reply) => preview(request, reply, ingest, semaphore),
    })

    const match = fileRoute(MatchForm)
    api.post('/match', {
      operationId: 'matchDatasets',
      summary: 'Which dataset a file is of, by its headers and values; nothing is kept',
      description:
        'As a form, or as the raw body with the options in the query string. Headers count by name, by what the workspace remembers, and by likeness. `best` is null where no dataset fits or several fit as well: then a person chooses.',
      query: matchOptions,
      answer: DatasetMatches,
      problems: [403, 413, 422, 429],
      preValidation: match.preValidation,
      schema: { body: match.body },
      handle: (request, reply) => matchFile(request, reply, ingest, semaphore),
    })
  })
}

async function matchFile(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PipelineDeps,
  semaphore: Semaphore,
) {
  // As in `preview`.
  reply.header('connection', 'close')
  const actor: IngestActor = { transaction: (work) => request.transaction(work) }
  let workspaceId = ''
  const { file, options, format } = await receiveFile<MatchOptions, SpooledFile>(
    request,
    spoolSink(deps.home),
    {
      options: MatchOptions,
      admit: async (options) => {
        workspaceId = await request.transaction((client) => workspaceOf(client, options.workspace_id))
        const { maxBytes: limit } = await admitFile(actor, workspaceId)
        refuseTooLarge(request, limit)
        return { limit }
      },
    },
  )
  reply.removeHeader('connection')
  const asked = { workspaceId, head: options.head, file: fileOptionsOf(options, format) }
  return semaphore.within({ key: workspaceId }, () => matchSpooled(actor, file, asked))
}

async function preview(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PipelineDeps,
  semaphore: Semaphore,
) {
  const { dataset } = request.params as { dataset: string }
  // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
  reply.header('connection', 'close')
  const actor: IngestActor = { transaction: (work) => request.transaction(work) }
  let workspaceId = ''
  const received = await receiveFile<PreviewOptions, SpooledFile>(request, spoolSink(deps.home), {
    options: PreviewOptions,
    admit: async (options) => {
      workspaceId = await request.transaction((client) => workspaceOf(client, options.workspace_id))
      const target = { workspaceId, dataset, platform: options.platform }
      const { maxBytes: limit } = await admitUpload(actor, {
        ...target,
        file: fileOptionsOf(options, undefined),
      })
      refuseTooLarge(request, limit)
      return { limit }
    },
  })
  reply.removeHeader('connection')
  const { file, options, format } = received
  const { platform, head } = options
  const asked = { workspaceId, dataset, platform, head, file: fileOptionsOf(options, format) }
  return semaphore.within({ key: workspaceId }, () => previewSpooled(actor, file, asked))
}

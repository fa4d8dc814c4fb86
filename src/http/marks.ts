/** From a document to units: mark it, look at the marking, and cut it once it is approved (POST /staging/{id}/approve). */
import { StagedoorError } from '../kernel/errors.ts'
import { Digest, Type } from '../kernel/schema.ts'
import { cutFromManifest } from '../units/cut.ts'
import { Cut, Marking, StagedMark } from '../units/shapes.ts'
import { workspaceOf } from './access.ts'
import { acceptChangeNumbers } from './changes.ts'
import { routes, Workspace } from './routes.ts'

// Loaded with the first document: parser and schema take a third of a second.
const marking = () => import('../app/marking.ts')

/** 10 MiB of text, the most that a part holds, and room for its escapes. */
const BODY_LIMIT = 24 * 1024 ** 2

export const markRoutes = routes('units', (api) => {
  acceptChangeNumbers(api.fastify, 'cut')
  api.post('/', {
    operationId: 'markDocument',
    summary: 'Propose how a Markdown document is cut, and stage the proposal for review',
    description:
      'The same text under the same reference again finds its record. For those who may stage, agents among them.',
    body: {
      workspace_id: Workspace,
      text: Type.String({ minLength: 1 }),
      source_ref: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2000,
          description:
            'where it comes from: marked again under it, it is the same document. Needed without a manifest',
          examples: ['handbook.md'],
        }),
      ),
      manifest: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'cut it like this: a manifest that somebody changed (docs/reference/mark-manifest.schema.json); positions and hashes are computed again',
        }),
      ),
      address: Type.Optional(
        Type.String({ maxLength: 100, description: 'the first segment of every address' }),
      ),
      title: Type.Optional(Type.String({ maxLength: 500 })),
      language: Type.Optional(Type.String({ maxLength: 35 })),
      again: Type.Optional(
        Type.Boolean({ description: 'a new record also where nothing has changed since the last cut' }),
      ),
    },
    example: { source_ref: 'handbook.md', text: '# Handbook\n\n## Leave\n\n28 days.\n' },
    answer: StagedMark,
    problems: [403, 413, 422],
    bodyLimit: BODY_LIMIT,
    handle: async (request) => {
      const { workspace_id, text: source, source_ref: sourceRef, manifest, ...options } = request.body
      if (manifest === undefined && sourceRef === undefined) {
        const reason = 'say where the document comes from, as source_ref'
        throw new StagedoorError('request_invalid', { reason })
      }
      const { stageEditedManifest, stageMark } = await marking()
      const workspace = await request.transaction((client) => workspaceOf(client, workspace_id))
      const transaction = request.transaction.bind(request)
      const { report, ...staged } = manifest
        ? await stageEditedManifest(transaction, { workspace, manifest, source })
        : await stageMark(transaction, { ...options, workspace, source, sourceRef: sourceRef! })
      return { ...staged, ...report }
    },
  })

  api.get('/:id', {
    operationId: 'getMarking',
    summary: 'A staged marking: the pieces beside their text, and what the cut would do with each',
    answer: Marking,
    problems: [403, 404],
    handle: async (request) => {
      const { readMarking } = await marking()
      const { record, ...marked } = await request.transaction((client) =>
        readMarking(client, request.params.id),
      )
      const { staging_record_id, content_hash: digest, lifecycle_status } = record
      return { staging_record_id, digest, lifecycle_status, ...marked }
    },
  })

  api.post('/:id/cut', {
    operationId: 'cutFromManifest',
    summary: 'Cut an approved marking into units, in one transaction',
    description:
      'Only what changed is touched; a piece that is enacted gets a successor draft. The digest is the one that was approved.',
    body: {
      digest: Type.String({ ...Digest, description: 'of the part manifest, or of the record' }),
      source: Type.Optional(
        Type.String({ description: 'the document, where the record holds the manifest alone' }),
      ),
    },
    answer: Cut,
    problems: [403, 404, 409, 422],
    handle: (request) =>
      request.transaction((client) =>
        cutFromManifest(client, request.params.id, request.body.digest, request.body.source),
      ),
  })
})

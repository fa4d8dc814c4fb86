/** From a document to units over HTTP: mark, look, and, once somebody approved it (POST /api/staging/{id}/approve), cut. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import { cutFromManifest } from '../../units/cut.ts'
import { invalidInput } from '../invalid-input.ts'
import { problems } from '../responses.ts'
import {
  documentFacts,
  GONE,
  gone,
  LeftOut,
  leftOutPart,
  Moved,
  movedTo,
  OutlookOfPiece,
  piece,
  replacedVersion,
} from './marks/shapes.ts'
import { Uuid, Workspace } from './units/shapes.ts'
import { workspaceOf } from './uploads/options.ts'

// Loaded with the first document: parser and schema take a third of a second.
const marking = () => import('../../stagedoor/marking.ts')
const marked = () => import('../../stagedoor/marked.ts')

const tags = ['units']
/** 10 MiB of text, the most that a part holds, and room for its escapes. */
const BODY_LIMIT = 24 * 1024 ** 2

export const markRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.post(
    '/',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        operationId: 'markDocument',
        summary: 'Propose how a Markdown document is cut, and stage the proposal for review',
        description:
          'The same text under the same reference again finds its record. For those who may stage, agents among them.',
        tags,
        body: Type.Object(
          {
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
                  'cut it like this: a manifest that somebody changed (docs/reference/mark-manifest.schema.json); positions and hashes are taken anew',
              }),
            ),
            address: Type.Optional(
              Type.String({ maxLength: 100, description: 'the first segment of every address' }),
            ),
            title: Type.Optional(Type.String({ maxLength: 500 })),
            language: Type.Optional(Type.String({ maxLength: 35 })),
          },
          {
            additionalProperties: false,
            examples: [{ source_ref: 'handbook.md', text: '# Handbook\n\n## Leave\n\n28 days.\n' }],
          },
        ),
        response: {
          200: Type.Object({
            staging_record_id: Type.String(),
            digest: Type.String({ description: 'to be said at approval and at the cut' }),
            lifecycle_status: Type.String(),
            created: Type.Boolean(),
            pieces: Type.Array(Type.Object({ ...piece, bytes: Type.Integer(), moved: Moved })),
            gone: Type.Array(Type.Object(gone), GONE),
            left_out: LeftOut,
          }),
          ...problems(400, 401, 403, 413, 422),
        },
      },
    },
    async (request) => {
      const { workspace_id, text: source, source_ref: sourceRef, manifest, ...options } = request.body
      if (manifest === undefined && sourceRef === undefined) throw withoutReference()
      const { stageMark } = await marking()
      const { stageEditedManifest } = await marked()
      const workspace = await request.transaction((client) => workspaceOf(client, workspace_id))
      const transaction = request.transaction.bind(request)
      const {
        report,
        manifest: _,
        left_out,
        ...staged
      } = manifest
        ? await stageEditedManifest(transaction, { workspace, manifest, source })
        : await stageMark(transaction, { ...options, workspace, source, sourceRef: sourceRef! })
      return {
        ...staged,
        pieces: [...report.pieces],
        gone: [...report.gone],
        left_out: left_out && { ...left_out, parts: [...left_out.parts] },
      }
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getMarking',
        summary: 'A staged marking: the pieces beside their text, and what the cut would do with each',
        tags,
        params: Type.Object({ id: Uuid }),
        response: {
          200: Type.Object({
            staging_record_id: Type.String(),
            digest: Type.String(),
            lifecycle_status: Type.String(),
            document: documentFacts,
            pieces: Type.Array(
              Type.Object({
                position: Type.Integer(),
                parent: Type.Union([Type.String(), Type.Null()]),
                ...piece,
                from: Type.Integer(),
                to: Type.Integer(),
                hash: Type.String(),
                topics: Type.Array(Type.String()),
                text: Type.String(),
                before: Type.Union([Type.String(), Type.Null()], {
                  description: 'what its unit says now, where the piece changed',
                }),
                moved: Moved,
                outlook: OutlookOfPiece,
              }),
            ),
            gone: Type.Array(
              Type.Object({
                ...gone,
                retired: Type.Array(Type.String(), { description: 'drafts that the cut would retire' }),
                kept: Type.Array(Type.String(), { description: 'what is in force, and stays' }),
              }),
              GONE,
            ),
            left_out: LeftOut,
            legacy: Type.Union(
              [
                Type.Object({
                  document_id: Type.String(),
                  title: Type.String(),
                  content_hash: Type.String(),
                  is_same: Type.Boolean({ description: 'whether it says what is marked' }),
                }),
                Type.Null(),
              ],
              {
                description: 'the document of the old knowledge base under this source, which stays as it is',
              },
            ),
          }),
          ...problems(400, 401, 403, 404),
        },
      },
    },
    async (request) => {
      const { readMarking } = await marked()
      const { record, document, pieces, gone, left_out, legacy } = await request.transaction((client) =>
        readMarking(client, request.params.id),
      )
      const { staging_record_id, content_hash: digest, lifecycle_status } = record
      return {
        staging_record_id,
        digest,
        lifecycle_status,
        document,
        pieces: [...pieces],
        gone: gone.map((one) => ({ ...one, retired: [...one.retired], kept: [...one.kept] })),
        left_out: left_out && { ...left_out, parts: [...left_out.parts] },
        legacy,
      }
    },
  )

  api.post(
    '/:id/cut',
    {
      schema: {
        operationId: 'cutFromManifest',
        summary: 'Cut an approved marking into units, in one transaction',
        description:
          'Only what changed is touched; a piece that is enacted gets a successor draft. The digest is the one that was approved.',
        tags,
        params: Type.Object({ id: Uuid }),
        body: Type.Object(
          {
            digest: Type.String({
              pattern: '^[0-9a-f]{64}$',
              description: 'of the part manifest, or of the record',
            }),
            source: Type.Optional(
              Type.String({ description: 'the document, where the record holds the manifest alone' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            run_id: Type.String(),
            document_id: Type.String(),
            born: Type.Integer(),
            versioned: Type.Integer(),
            successors: Type.Integer(),
            retired: Type.Integer(),
            kept: Type.Integer(),
            unchanged: Type.Integer(),
            units: Type.Array(
              Type.Object({
                unit_id: Type.String(),
                canonical_address: Type.String(),
                what: Type.Enum(['born', 'versioned', 'successor', 'retired', 'moved']),
                replaced_version: replacedVersion,
                ...movedTo,
              }),
              { description: 'those that the cut touched' },
            ),
            kinds_kept: Type.Optional(
              Type.Array(Type.String(), {
                description: 'addresses of units that the manifest calls another kind; they keep theirs',
              }),
            ),
            orders_replaced: Type.Optional(
              Type.Array(Type.String(), {
                description: 'containers whose order people had made, and the document changed',
              }),
            ),
            legacy_kept: Type.Optional(
              Type.Boolean({
                description: 'the document is one of the old knowledge base, whose own text stays as it is',
              }),
            ),
            left_out: Type.Optional(
              Type.Object(
                { bytes: Type.Integer(), parts: Type.Array(Type.Object(leftOutPart)) },
                { description: 'text of the document that the manifest has in no piece' },
              ),
            ),
          }),
          ...problems(400, 401, 403, 404, 409, 422),
        },
      },
    },
    (request) =>
      request.transaction(async (client) => {
        const done = await cutFromManifest(
          client,
          request.params.id,
          request.body.digest,
          request.body.source,
        )
        const { units, kinds_kept, orders_replaced, left_out, ...counts } = done
        return {
          ...counts,
          units: [...units],
          ...(kinds_kept && { kinds_kept: [...kinds_kept] }),
          ...(orders_replaced && { orders_replaced: [...orders_replaced] }),
          ...(left_out && { left_out: { ...left_out, parts: [...left_out.parts] } }),
        }
      }),
  )
}

function withoutReference(): StagedoorError {
  return new StagedoorError('request_invalid', { reason: 'say where the document comes from, as source_ref' })
}

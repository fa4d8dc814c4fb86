/** Looking after search over HTTP: what waits, what failed, what it costs; by administrators, or by the back end for all of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { putDocument, removeDocument } from '../../../search/documents.ts'
import type { Search } from '../../../search/library.ts'
import {
  deadProjections,
  MAX_COUNTED,
  projectNow,
  replayProjections,
  waitingForSearch,
} from '../../../search/status.ts'
import { EMBEDDERS, STORES } from '../../../search/switching.ts'
import { invalidInput } from '../../invalid-input.ts'
import { nullable, problems, Timestamp } from '../../responses.ts'
import { requireService } from '../../service-only.ts'
import { Uuid, Workspace } from '../units/shapes.ts'
import { TEXT_LIMIT } from '../units.ts'
import { workspaceOf } from '../uploads/options.ts'
import { AuditShape, CollectionShape, presentStatus, StatusShape } from './care-shapes.ts'

const tags = ['search']
/** Under stagedoor_reviewer for people, whose membership the database asks for the right to administer. */
const DECIDES = { decides: true }
const Count = Type.Object({ count: Type.Integer() })

export const searchCareRoutes =
  (search: Search): FastifyPluginAsyncTypebox =>
  async (api) => {
    api.setSchemaErrorFormatter(invalidInput)
    api.get(
      '/status',
      {
        schema: {
          operationId: 'getSearchStatus',
          summary: 'Collections, what waits, outages, phases and cost of search; for the back end',
          tags,
          response: { 200: StatusShape, ...problems(401, 403) },
        },
      },
      async (request) => {
        requireService(request, 'it is about all workspaces')
        return presentStatus(await search.status())
      },
    )

    api.get(
      '/waiting',
      {
        schema: {
          operationId: 'countWaitingForSearch',
          summary: 'How many of your units and documents are not in search yet, and how many failed',
          description: `Counts end at ${MAX_COUNTED}, which means that many or more.`,
          tags,
          response: {
            200: Type.Object({ pending: Type.Integer(), failed: Type.Integer() }),
            ...problems(401),
          },
        },
      },
      (request) => request.transaction(waitingForSearch),
    )

    api.post(
      '/now',
      {
        schema: {
          operationId: 'projectNow',
          summary: 'What waits for quiet is brought into search at once; for those who operate',
          tags,
          body: Type.Union([
            Type.Object(
              {
                workspace_id: Workspace,
                units: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
              },
              { additionalProperties: false },
            ),
            Type.Null(),
          ]),
          response: { 200: Count, ...problems(400, 401, 403, 404) },
        },
      },
      async (request) => {
        const { workspace_id, units } = request.body ?? {}
        const count = await request.transaction(async (client) =>
          projectNow(client, units ? { units } : { workspace: await workspaceOf(client, workspace_id) }),
        )
        return { count }
      },
    )

    api.get(
      '/dead',
      {
        schema: {
          operationId: 'listDeadProjections',
          summary: 'What could not be brought into search after all its tries, newest first',
          tags,
          querystring: Type.Object(
            {
              workspace_id: Type.Optional(Uuid),
              limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
            },
            { additionalProperties: false },
          ),
          response: {
            200: Type.Object({
              dead: Type.Array(
                Type.Object({
                  outbox_id: Type.String(),
                  unit_id: nullable(Type.String()),
                  document_id: nullable(Type.String()),
                  name: Type.String(),
                  tries: Type.Integer(),
                  error: nullable(Type.String()),
                  died_at: Timestamp,
                }),
              ),
            }),
            ...problems(400, 401),
          },
        },
      },
      async (request) => {
        const { workspace_id, limit } = request.query
        const dead = await request.transaction((client) =>
          deadProjections(client, { limit, ...(workspace_id !== undefined && { workspace: workspace_id }) }),
        )
        return { dead: dead.map((one) => ({ ...one, died_at: one.died_at.toISOString() })) }
      },
    )

    api.post(
      '/replay',
      {
        schema: {
          operationId: 'replayProjections',
          summary: 'Dead letters are tried again; for those who administer',
          tags,
          body: Type.Union([
            Type.Object(
              {
                workspace_id: Workspace,
                outbox: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
              },
              { additionalProperties: false },
            ),
            Type.Null(),
          ]),
          response: { 200: Count, ...problems(400, 401, 403, 404) },
        },
      },
      async (request) => {
        const { workspace_id, outbox } = request.body ?? {}
        const isService = request.principal?.role === 'service_role'
        const count = await request.transaction(
          async (client) =>
            replayProjections(client, {
              ...(outbox && { outbox }),
              ...(!(isService && workspace_id === undefined) && {
                workspace: await workspaceOf(client, workspace_id),
              }),
            }),
          DECIDES,
        )
        return { count }
      },
    )

    api.post(
      '/audit',
      {
        schema: {
          operationId: 'auditSearch',
          summary:
            'Compare what the vector stores really hold with Postgres, and repair on request; for the back end',
          tags,
          body: Type.Union([
            Type.Object({ repair: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
            Type.Null(),
          ]),
          response: { 200: AuditShape, ...problems(400, 401, 403) },
        },
      },
      async (request) => {
        requireService(request, 'stores hold what is of all workspaces')
        const { ok, collections, findings } = await search.audit({ repair: request.body?.repair === true })
        return { ok, collections: [...collections], findings: [...findings] }
      },
    )

    api.post(
      '/switch',
      {
        schema: {
          operationId: 'switchSearch',
          summary:
            'Another embedder or store: a new collection is filled beside the old one; for the back end',
          tags,
          body: Type.Object(
            {
              embedder: Type.Optional(Type.Enum([...EMBEDDERS])),
              model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
              dimension: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096 })),
              store: Type.Optional(Type.Enum([...STORES])),
            },
            { additionalProperties: false, examples: [{ embedder: 'openai' }] },
          ),
          response: { 202: CollectionShape, ...problems(400, 401, 403, 409, 422) },
        },
      },
      async (request, reply) => {
        requireService(request, 'search is switched for all workspaces')
        return reply.status(202).send(await search.switchTo(request.body))
      },
    )

    api.post(
      '/switch/cancel',
      {
        schema: {
          operationId: 'cancelSearchSwitch',
          summary: 'Give up the collection that is being built; for the back end',
          tags,
          response: { 200: Type.Object({ collection: nullable(Type.String()) }), ...problems(401, 403) },
        },
      },
      async (request) => {
        requireService(request, 'search is switched for all workspaces')
        return { collection: (await search.cancelSwitch()) ?? null }
      },
    )

    api.post(
      '/phases/:phase',
      {
        schema: {
          operationId: 'setSearchPhase',
          summary:
            'Open or close a phase of the migration from the old knowledge base, in order; for the back end',
          tags,
          params: Type.Object({ phase: Type.Integer({ minimum: 1, maximum: 3 }) }),
          body: Type.Object(
            { open: Type.Boolean(), reason: Type.Optional(Type.String({ maxLength: 2000 })) },
            { additionalProperties: false, examples: [{ open: true }] },
          ),
          response: { 200: Type.Object({ changed: Type.Boolean() }), ...problems(400, 401, 403, 409) },
        },
      },
      async (request) => {
        requireService(request, 'phases hold for all workspaces')
        const { open, reason } = request.body
        return { changed: await search.setPhase(request.params.phase, open, reason) }
      },
    )

    api.post(
      '/window',
      {
        schema: {
          operationId: 'setSearchWindow',
          summary: 'How long search waits after an edit, and after a deletion; for the back end',
          tags,
          body: Type.Object(
            {
              quiet_s: Type.Optional(Type.Integer({ minimum: 120, maximum: 180 })),
              delete_s: Type.Optional(Type.Integer({ minimum: 30, maximum: 60 })),
              reason: Type.Optional(Type.String({ maxLength: 2000 })),
            },
            { additionalProperties: false, examples: [{ quiet_s: 180 }] },
          ),
          response: { 200: Type.Object({ changed: Type.Boolean() }), ...problems(400, 401, 403) },
        },
      },
      async (request) => {
        requireService(request, 'the window holds for all workspaces')
        return { changed: await search.setWindow(request.body) }
      },
    )

    api.post(
      '/documents',
      {
        bodyLimit: TEXT_LIMIT,
        config: { right: 'administer' },
        schema: {
          operationId: 'putSearchedDocument',
          summary:
            'Take a document of the old knowledge base into search, or bring it up to date; for those who administer',
          tags,
          body: Type.Object(
            {
              workspace_id: Workspace,
              source_ref: Type.String({ minLength: 1, maxLength: 2000 }),
              title: Type.String({ minLength: 1, maxLength: 500 }),
              text: Type.String({ minLength: 1 }),
              language: Type.Optional(Type.String({ maxLength: 35, examples: ['en'] })),
            },
            { additionalProperties: false },
          ),
          response: { 200: Type.Object({ document_id: Type.String() }), ...problems(400, 401, 403, 413) },
        },
      },
      async (request) => {
        const { workspace_id, text: body, ...document } = request.body
        const document_id = await request.transaction(
          async (client) =>
            putDocument(client, await workspaceOf(client, workspace_id), { ...document, body }),
          DECIDES,
        )
        return { document_id }
      },
    )

    api.post(
      '/documents/:id/remove',
      {
        schema: {
          operationId: 'removeSearchedDocument',
          summary: 'Take a document of the old knowledge base out of search; for those who administer',
          tags,
          params: Type.Object({ id: Uuid }),
          response: { 204: Type.Null(), ...problems(400, 401, 403, 404) },
        },
      },
      async (request, reply) => {
        await request.transaction((client) => removeDocument(client, request.params.id), DECIDES)
        return reply.status(204).send(null)
      },
    )
  }

/** Units over HTTP: looked at by the members of their workspace, born by those who may operate in it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { unitEdges } from '../../units/edges.ts'
import { diffUnit, unitHistory } from '../../units/history.ts'
import { listUnits, readUnit } from '../../units/reading.ts'
import { createUnit, createUnits } from '../../units/units.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems } from '../responses.ts'
import {
  Address,
  After,
  DiffShape,
  EdgeShape,
  HistoryShape,
  Kind,
  Position,
  Profile,
  presentDetail,
  presentEdge,
  presentHistory,
  presentUnit,
  Status,
  UnitDetailShape,
  UnitId,
  UnitShape,
  Uuid,
  VersionNumber,
  Workspace,
} from './units/shapes.ts'
import { workspaceOf } from './uploads/options.ts'

/** A text of 1 MiB whose every character is escaped; what is longer is refused before it is read. */
export const TEXT_LIMIT = 7 * 1024 ** 2
const BATCH_LIMIT = 64 * 1024 ** 2
const tags = ['units']

const newUnit = {
  canonical_address: Address,
  body: Type.String({ description: 'between one character and 1 MiB' }),
  title: Type.Optional(Type.String({ maxLength: 500, description: 'default: the first heading or line' })),
  unit_kind: Type.Optional(Kind),
  language: Type.Optional(Type.String({ maxLength: 35, examples: ['en'] })),
  container_id: Type.Optional(Uuid),
  source_ref: Type.Optional(Type.String({ maxLength: 2000 })),
  profile: Type.Optional(Profile),
}

export const unitRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listUnits',
        summary: 'Units of your workspaces by workspace and address; those of a container in their order',
        tags,
        querystring: Type.Object(
          {
            workspace_id: Type.Optional(Uuid),
            address: Type.Optional(Address),
            under: Type.Optional(Type.String({ maxLength: 400, description: 'the address of a branch' })),
            container_id: Type.Optional(Uuid),
            kind: Type.Optional(Kind),
            status: Type.Optional(Status),
            topic: Type.Optional(Type.String({ maxLength: 63 })),
            conformance: Type.Optional(Type.Enum(['conforms', 'deviates'])),
            drift: Type.Optional(Type.Enum(['none', 'drifted'])),
            deleted: Type.Boolean({ default: false, description: 'only the deleted ones' }),
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: After,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ units: Type.Array(UnitShape), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, address, kind, status, ...filter } = request.query
      const rows = await request.transaction((client) =>
        listUnits(client, {
          ...filter,
          limit: limit + 1,
          ...(address !== undefined && { canonical_address: address }),
          ...(kind !== undefined && { unit_kind: kind }),
          ...(status !== undefined && { lifecycle_status: status }),
        }),
      )
      const page = rows.slice(0, limit)
      return { units: page.map(presentUnit), next: rows.length > limit ? page.at(-1)!.unit_id : null }
    },
  )

  api.post(
    '/',
    {
      bodyLimit: TEXT_LIMIT,
      config: { right: 'operate' },
      schema: {
        operationId: 'createUnit',
        summary: 'A unit is born: a draft in version 1',
        tags,
        body: Type.Object(
          { workspace_id: Workspace, ...newUnit },
          {
            additionalProperties: false,
            examples: [{ canonical_address: 'handbook/leave', body: '# Leave\n\n28 days.' }],
          },
        ),
        response: {
          201: Type.Object({
            unit_id: Type.String(),
            unit_version_id: Type.String(),
            content_hash: Type.String(),
          }),
          ...problems(400, 401, 403, 404, 409, 413, 422),
        },
      },
    },
    async (request, reply) => {
      const { workspace_id, ...unit } = request.body
      const born = await request.transaction(async (client) =>
        createUnit(client, await workspaceOf(client, workspace_id), unit),
      )
      return reply.status(201).send(born)
    },
  )

  api.post(
    '/batch',
    {
      bodyLimit: BATCH_LIMIT,
      config: { right: 'operate' },
      schema: {
        operationId: 'createUnits',
        summary: 'Many units are born, all of them or none',
        tags,
        body: Type.Object(
          {
            workspace_id: Workspace,
            units: Type.Array(
              Type.Object({ ...newUnit, position: Type.Optional(Position) }, { additionalProperties: false }),
              { minItems: 1, maxItems: 10_000 },
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          201: Type.Object({
            units: Type.Array(Type.Object({ unit_id: Type.String(), canonical_address: Type.String() })),
          }),
          ...problems(400, 401, 403, 404, 409, 413, 422),
        },
      },
    },
    async (request, reply) => {
      const { workspace_id, units } = request.body
      const born = await request.transaction(async (client) =>
        createUnits(client, await workspaceOf(client, workspace_id), units),
      )
      return reply.status(201).send({ units: born })
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getUnit',
        summary: 'A unit with its text: the current one, that of a version, or that of a time',
        tags,
        params: UnitId,
        querystring: Type.Object(
          {
            version: Type.Optional(VersionNumber),
            as_of: Type.Optional(
              Type.String({ format: 'date-time', description: 'as it was then; not with version' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: UnitDetailShape, ...problems(400, 401, 404) },
      },
    },
    async (request) => {
      const { version, as_of } = request.query
      return presentDetail(
        await request.transaction((client) =>
          readUnit(
            client,
            { unit_id: request.params.id },
            {
              ...(version !== undefined && { version }),
              ...(as_of !== undefined && { asOf: new Date(as_of) }),
            },
          ),
        ),
      )
    },
  )

  api.get(
    '/:id/history',
    {
      schema: {
        operationId: 'getUnitHistory',
        summary: 'The versions of a unit and the changes of its life, newest first',
        tags,
        params: UnitId,
        querystring: Type.Object(
          {
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
            before: Type.Optional(VersionNumber),
            lifecycle_before: Type.Optional(
              Type.String({
                format: 'uuid',
                description: 'the log_id of the last change of the page before',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: HistoryShape, ...problems(400, 401, 404) },
      },
    },
    async (request) => {
      const { lifecycle_before: lifecycleBefore, ...page } = request.query
      return presentHistory(
        await request.transaction((client) =>
          unitHistory(client, request.params.id, {
            ...page,
            ...(lifecycleBefore !== undefined && { lifecycleBefore }),
          }),
        ),
      )
    },
  )

  api.get(
    '/:id/diff',
    {
      schema: {
        operationId: 'diffUnit',
        summary: 'From one version to another; by default what the current one changed',
        tags,
        params: UnitId,
        querystring: Type.Object(
          { from: Type.Optional(VersionNumber), to: Type.Optional(VersionNumber) },
          { additionalProperties: false },
        ),
        response: { 200: DiffShape, ...problems(400, 401, 404) },
      },
    },
    (request) => request.transaction((client) => diffUnit(client, request.params.id, request.query)),
  )

  api.get(
    '/:id/edges',
    {
      schema: {
        operationId: 'listUnitEdges',
        summary: 'The edges from a unit and to it, by type and target',
        tags,
        params: UnitId,
        querystring: Type.Object(
          { limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200 }), after: After },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            out: Type.Array(EdgeShape),
            in: Type.Array(EdgeShape),
            next: nullable(Type.String()),
          }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const edges = await request.transaction((client) => unitEdges(client, request.params.id, request.query))
      return { out: edges.out.map(presentEdge), in: edges.in.map(presentEdge), next: edges.next }
    },
  )
}

/** Changing units: text, profile, edges, place. For those who may operate in their workspace. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { withConflictDiff } from '../../../units/conflicts.ts'
import { addEdge, removeEdge } from '../../../units/edges.ts'
import { changeProfile, editSlice, editUnit, moveUnit, reorderUnits } from '../../../units/units.ts'
import { invalidInput } from '../../invalid-input.ts'
import { problems } from '../../responses.ts'
import { TEXT_LIMIT } from '../units.ts'
import { EditedShape, Note, Position, Profile, UnitId, Uuid, VersionNumber } from './shapes.ts'

const tags = ['units']
const refusals = problems(400, 401, 403, 404, 409, 422)
const CONFLICT =
  'If the unit is no longer at expected_version nothing is written: 409 with both hashes and the diff between the two in `details`.'

export const unitWriteRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.post(
    '/:id/edit',
    {
      bodyLimit: TEXT_LIMIT,
      config: { right: 'operate' },
      schema: {
        operationId: 'editUnit',
        summary: 'A new version of a draft',
        description: CONFLICT,
        tags,
        params: UnitId,
        body: Type.Object(
          {
            expected_version: VersionNumber,
            body: Type.Optional(Type.String()),
            title: Type.Optional(Type.String({ maxLength: 500 })),
            language: Type.Optional(Type.String({ maxLength: 35 })),
            note: Note,
          },
          {
            additionalProperties: false,
            examples: [{ expected_version: 1, body: '# Leave\n\n30 days.', note: 'agreed on Monday' }],
          },
        ),
        response: { 200: EditedShape, ...refusals, ...problems(413) },
      },
    },
    (request) =>
      withConflictDiff(request.transaction.bind(request), (client) =>
        editUnit(client, request.params.id, request.body),
      ),
  )

  api.post(
    '/:id/slice',
    {
      bodyLimit: TEXT_LIMIT,
      config: { right: 'operate' },
      schema: {
        operationId: 'editUnitSlice',
        summary: 'A new version of a draft, in which a part of the text is another one',
        description: `Characters count from 0, \`to\` is not part of it, the same twice inserts. ${CONFLICT}`,
        tags,
        params: UnitId,
        body: Type.Object(
          {
            expected_version: VersionNumber,
            from: Type.Integer(),
            to: Type.Integer(),
            text: Type.String(),
            note: Note,
          },
          {
            additionalProperties: false,
            examples: [{ expected_version: 2, from: 9, to: 11, text: '30' }],
          },
        ),
        response: { 200: EditedShape, ...refusals, ...problems(413) },
      },
    },
    (request) =>
      withConflictDiff(request.transaction.bind(request), (client) =>
        editSlice(client, request.params.id, request.body),
      ),
  )

  api.patch(
    '/:id/profile',
    {
      schema: {
        operationId: 'changeUnitProfile',
        summary: 'Merge into the profile, at its top level; null takes a key away',
        description: '`topic_labels` come from the topics of the workspace. Answers the whole profile.',
        tags,
        params: UnitId,
        body: Type.Record(Type.String(), Type.Unknown(), {
          examples: [{ topic_labels: ['leave'], summary: 'How many days' }],
        }),
        response: { 200: Profile, ...refusals },
      },
    },
    (request) => request.transaction((client) => changeProfile(client, request.params.id, request.body)),
  )

  api.post(
    '/:id/edges',
    {
      schema: {
        operationId: 'addUnitEdge',
        summary: 'An edge to another unit, or to whatever a reference names',
        description: 'What is not there (yet) is `unverified`; the checker looks again.',
        tags,
        params: UnitId,
        body: Type.Object(
          {
            edge_type: Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$', examples: ['explains'] }),
            target: Type.String({
              minLength: 1,
              maxLength: 2000,
              description: 'an address in the same workspace, the id of a unit, or any other reference',
            }),
          },
          { additionalProperties: false, examples: [{ edge_type: 'explains', target: 'handbook/leave' }] },
        ),
        response: {
          200: Type.Object({
            edge_id: Type.String(),
            edge_status: Type.Enum(['verified', 'unverified']),
            created: Type.Boolean(),
          }),
          ...refusals,
        },
      },
    },
    (request) => request.transaction((client) => addEdge(client, request.params.id, request.body)),
  )

  api.delete(
    '/edges/:edge',
    {
      schema: {
        operationId: 'removeUnitEdge',
        summary: 'Take an edge away',
        tags,
        params: Type.Object({ edge: Uuid }),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      await request.transaction((client) => removeEdge(client, request.params.edge))
      return reply.status(204).send(null)
    },
  )

  api.post(
    '/:id/move',
    {
      schema: {
        operationId: 'moveUnit',
        summary: 'Into another container, or out of all',
        tags,
        params: UnitId,
        body: Type.Object(
          {
            container_id: Type.Union([Uuid, Type.Null()]),
            position: Type.Optional(Position),
          },
          { additionalProperties: false },
        ),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { container_id, position } = request.body
      await request.transaction((client) => moveUnit(client, request.params.id, container_id, position))
      return reply.status(204).send(null)
    },
  )

  api.post(
    '/:id/reorder',
    {
      schema: {
        operationId: 'reorderUnits',
        summary: 'What is in the unit, in another order',
        description: 'Exactly the units that are in it, once each.',
        tags,
        params: UnitId,
        body: Type.Object(
          { units: Type.Array(Uuid, { minItems: 1, maxItems: 10_000 }) },
          { additionalProperties: false },
        ),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      await request.transaction((client) => reorderUnits(client, request.params.id, request.body.units))
      return reply.status(204).send(null)
    },
  )
}

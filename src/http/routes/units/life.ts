/** The life of units over HTTP. Who decides steps up for the request; the database checks what their role may. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Client } from '../../../db/connection.ts'
import { withConflictDiff } from '../../../units/conflicts.ts'
import {
  amendKind,
  deleteUnit,
  enactUnit,
  mergeUnits,
  restoreUnit,
  retireUnit,
  splitUnit,
  supersedeUnit,
} from '../../../units/lifecycle.ts'
import { readUnit } from '../../../units/reading.ts'
import { invalidInput } from '../../invalid-input.ts'
import { problems } from '../../responses.ts'
import { AprRef, Kind, presentDetail, UnitDetailShape, UnitId, Uuid, VersionNumber } from './shapes.ts'

const tags = ['units']
const DECIDES = { decides: true }
const answers = { 200: UnitDetailShape, ...problems(400, 401, 403, 404, 409, 422) }
const Reason = Type.Union([
  Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2000 })) }, { additionalProperties: false }),
  Type.Null(),
])

export const unitLifeRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.post(
    '/:id/enact',
    {
      schema: {
        operationId: 'enactUnit',
        summary: 'Put a draft into force: from now on nobody changes its text',
        description: 'For those who may review. If it is no longer at expected_version, nothing happens.',
        tags,
        params: UnitId,
        body: Type.Object(
          { expected_version: VersionNumber, apr_ref: AprRef },
          { additionalProperties: false },
        ),
        response: answers,
      },
    },
    async (request) =>
      presentDetail(
        await withConflictDiff(
          (work) => request.transaction(work, DECIDES),
          async (client) => {
            await enactUnit(client, request.params.id, request.body)
            return readUnit(client, { unit_id: request.params.id })
          },
        ),
      ),
  )

  api.post(
    '/:id/supersede',
    {
      schema: {
        operationId: 'supersedeUnit',
        summary: 'An enacted unit gives its place to another enacted one',
        tags,
        params: UnitId,
        body: Type.Object({ successor: Uuid, apr_ref: AprRef }, { additionalProperties: false }),
        response: answers,
      },
    },
    (request) => decide(request, (client, id) => supersedeUnit(client, id, request.body)),
  )

  api.post(
    '/:id/retire',
    {
      schema: {
        operationId: 'retireUnit',
        summary: 'A unit is no longer valid, and nothing takes its place',
        tags,
        params: UnitId,
        body: Reason,
        response: answers,
      },
    },
    (request) => decide(request, (client, id) => retireUnit(client, id, request.body?.reason)),
  )

  api.post(
    '/:id/delete',
    {
      schema: {
        operationId: 'deleteUnit',
        summary: 'Take a unit out of sight; it can be restored',
        description: 'A draft by those who may operate, anything else by those who may review.',
        tags,
        params: UnitId,
        body: Reason,
        response: answers,
      },
    },
    (request) => decide(request, (client, id) => deleteUnit(client, id, request.body?.reason)),
  )

  api.post(
    '/:id/restore',
    {
      schema: {
        operationId: 'restoreUnit',
        summary: 'Bring a deleted unit back as it was',
        tags,
        params: UnitId,
        response: answers,
      },
    },
    (request) => decide(request, restoreUnit),
  )

  api.post(
    '/:id/amend',
    {
      schema: {
        operationId: 'amendUnitKind',
        summary: 'Give a unit another kind, under an approval of its own',
        tags,
        params: UnitId,
        body: Type.Object({ unit_kind: Kind, apr_ref: AprRef }, { additionalProperties: false }),
        response: answers,
      },
    },
    (request) => decide(request, (client, id) => amendKind(client, id, request.body)),
  )

  api.post(
    '/:id/split',
    {
      schema: {
        operationId: 'splitUnit',
        summary: 'Retire a unit; two or more hold its parts, each with an edge split_from to it',
        description:
          'Of a draft come drafts. Of what is in force comes what is in force, under apr_ref. For those who may review.',
        tags,
        params: UnitId,
        body: Type.Object(
          {
            expected_version: VersionNumber,
            parts: Type.Array(
              Type.Object({ ...part, unit_kind: Type.Optional(Kind) }, { additionalProperties: false }),
              {
                minItems: 2,
                maxItems: 1000,
              },
            ),
            ...exchange,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ units: Type.Array(Exchanged) }),
          ...problems(400, 401, 403, 404, 409, 422),
        },
      },
    },
    async (request) => ({
      units: await withConflictDiff(
        (work) => request.transaction(work, DECIDES),
        (client) => splitUnit(client, request.params.id, request.body),
      ),
    }),
  )

  api.post(
    '/merge',
    {
      schema: {
        operationId: 'mergeUnits',
        summary: 'Retire units; one holds what they said, with edges merged_from to each',
        description:
          'Of drafts comes a draft. Of what is in force comes what is in force, under apr_ref. For those who may review.',
        tags,
        body: Type.Object(
          {
            units: Type.Array(
              Type.Object(
                { unit_id: Uuid, expected_version: VersionNumber },
                { additionalProperties: false },
              ),
              { minItems: 2, maxItems: 1000, description: 'in the order of their texts' },
            ),
            canonical_address: part.canonical_address,
            body: Type.Optional(
              Type.String({ minLength: 1, description: 'default: their texts, one after the other' }),
            ),
            title: part.title,
            ...exchange,
          },
          { additionalProperties: false },
        ),
        response: { 200: Exchanged, ...problems(400, 401, 403, 404, 409, 422) },
      },
    },
    (request) =>
      withConflictDiff(
        (work) => request.transaction(work, DECIDES),
        (client) => mergeUnits(client, request.body),
      ),
  )
}

const Exchanged = Type.Object({
  unit_id: Type.String(),
  canonical_address: Type.String(),
  unit_version_id: Type.String(),
  content_hash: Type.String(),
})
const exchange = {
  apr_ref: Type.Optional(AprRef),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
}
const part = {
  canonical_address: Type.String({ minLength: 1, maxLength: 400 }),
  body: Type.String({ minLength: 1 }),
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
}

/** Answers the unit as it is then. */
async function decide(
  request: FastifyRequest,
  change: (client: Client, id: string) => Promise<void>,
): Promise<ReturnType<typeof presentDetail>> {
  const { id } = request.params as { id: string }
  const unit = await request.transaction(async (client) => {
    await change(client, id)
    return readUnit(client, { unit_id: id })
  }, DECIDES)
  return presentDetail(unit)
}

/** Consumers over HTTP: looked at and reviewed by people. Registering and switching need an administrator of the database. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import {
  type Consumer,
  consumerEvidence,
  type Dispatch,
  findConsumer,
  listConsumers,
  listUndelivered,
  reviewConsumer,
} from '../../events/consumers.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'

const ConsumerShape = Type.Object({
  consumer_id: Type.String(),
  state: Type.Enum(['disabled', 'dry_run', 'reviewed', 'active']),
  event_domain: Type.String(),
  event_type: Type.String(),
  event_stream: nullable(Type.String()),
  workspace_id: nullable(Type.String()),
  job_kind: Type.String(),
  executor: Type.String(),
  idempotency_key_template: Type.String(),
  payload_ref_template: nullable(Type.String()),
  fail_closed: Type.Boolean(),
  priority: Type.Integer(),
  max_depth: Type.Integer({ description: 'events deeper than this are not passed on' }),
  rate: Type.Union([Type.Integer(), Type.Null()]),
  rate_period: nullable(Type.String()),
  notes: nullable(Type.String()),
  registered_by: Type.String(),
  registered_at: Timestamp,
  reviewed_by: nullable(Type.String()),
  reviewed_at: nullable(Timestamp),
  activated_at: nullable(Timestamp),
})

export const DispatchShape = Type.Object({
  event_id: Type.String(),
  consumer_id: Type.String(),
  outcome: Type.String(),
  detail: Type.Unknown(),
  dispatched_at: Timestamp,
})

const EvidenceShape = Type.Object({
  event_id: Type.String(),
  idempotency_key: nullable(Type.String()),
  payload_ref: nullable(Type.String()),
  problem: nullable(Type.String()),
  dispatched_at: Timestamp,
})

const OfConsumer = Type.Object({ id: Type.String({ maxLength: 63 }) })
const Limit = Type.Object(
  { limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }) },
  { additionalProperties: false },
)
const refusals = problems(400, 401, 403, 404, 409)
const tags = ['consumers']

export const consumerRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listConsumers',
        summary: 'Consumers of your workspaces and of all, and how far each is',
        description: 'Registered by an administrator of the database: `stagedoor consumer add`.',
        tags,
        response: { 200: Type.Object({ consumers: Type.Array(ConsumerShape) }), ...problems(401, 403) },
      },
    },
    async (request) => ({ consumers: (await request.transaction(listConsumers)).map(present) }),
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getConsumer',
        summary: 'One consumer',
        tags,
        params: OfConsumer,
        response: { 200: ConsumerShape, ...problems(401, 403, 404) },
      },
    },
    async (request) => {
      const { id } = request.params
      const consumer = await request.transaction((client) => findConsumer(client, id))
      if (!consumer) throw new StagedoorError('consumer_not_found', { consumer: id })
      return present(consumer)
    },
  )

  api.get(
    '/:id/evidence',
    {
      schema: {
        operationId: 'listConsumerEvidence',
        summary: 'The jobs that a consumer in dry run would have made, newest first',
        tags,
        params: OfConsumer,
        querystring: Limit,
        response: { 200: Type.Object({ evidence: Type.Array(EvidenceShape) }), ...refusals },
      },
    },
    async (request) => {
      const rows = await request.transaction((client) =>
        consumerEvidence(client, request.params.id, request.query.limit),
      )
      return { evidence: rows.map((row) => ({ ...row, dispatched_at: row.dispatched_at.toISOString() })) }
    },
  )

  api.get(
    '/:id/undelivered',
    {
      schema: {
        operationId: 'listUndelivered',
        summary:
          'Events of which a consumer made no job: errors, too deep, waiting for their turn; newest first',
        tags,
        params: OfConsumer,
        querystring: Limit,
        response: { 200: Type.Object({ dispatches: Type.Array(DispatchShape) }), ...refusals },
      },
    },
    async (request) => {
      const rows = await request.transaction((client) =>
        listUndelivered(client, { consumer: request.params.id, limit: request.query.limit }),
      )
      return { dispatches: rows.map(presentDispatch) }
    },
  )

  api.post(
    '/:id/review',
    {
      schema: {
        operationId: 'reviewConsumer',
        summary: 'Say that you have looked at the evidence and agree',
        description:
          'Anybody with the right to review in its workspace but the one who registered it. One of all workspaces is the back end’s to review: a token of service_role whose subject says who.',
        tags,
        params: OfConsumer,
        body: Type.Object(
          {
            evidence: Type.Integer({
              minimum: 1,
              maximum: 1000,
              description: 'how many lines you looked at',
            }),
          },
          { additionalProperties: false, examples: [{ evidence: 3 }] },
        ),
        response: { 200: ConsumerShape, ...refusals },
      },
    },
    async (request) =>
      present(
        await request.transaction((client) => reviewConsumer(client, request.params.id, request.body), {
          decides: true,
        }),
      ),
  )
}

export function presentDispatch(dispatch: Dispatch) {
  return { ...dispatch, dispatched_at: dispatch.dispatched_at.toISOString() }
}

function present(consumer: Consumer) {
  return {
    ...consumer,
    registered_at: consumer.registered_at.toISOString(),
    reviewed_at: consumer.reviewed_at?.toISOString() ?? null,
    activated_at: consumer.activated_at?.toISOString() ?? null,
  }
}

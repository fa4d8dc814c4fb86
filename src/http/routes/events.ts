import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listEvents } from '../../events/outbox.ts'
import { nullable, problems, Timestamp } from '../responses.ts'

const Event = Type.Object({
  id: Type.String({ format: 'uuid' }),
  domain: Type.String(),
  type: Type.String(),
  stream: nullable(Type.String()),
  subject_ref: nullable(Type.String()),
  canonical_address: nullable(Type.String()),
  workspace_id: nullable(Type.String()),
  correlation_id: Type.String(),
  causation_event_id: nullable(Type.String()),
  causation_depth: Type.Integer(),
  actor: Type.String(),
  actor_via: nullable(Type.String()),
  payload: Type.Record(Type.String(), Type.Unknown()),
  created_at: Timestamp,
})

export const eventRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'Events of your workspaces, newest first',
        tags: ['events'],
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
          after: Type.Optional(Type.String({ format: 'uuid', description: 'the `next` of the page before' })),
        }),
        response: {
          200: Type.Object({ events: Type.Array(Event), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, after } = request.query
      const rows = await request.transaction((client) =>
        listEvents(client, { limit: limit + 1, ...(after !== undefined && { before: after }) }),
      )
      const page = rows.slice(0, limit)
      return {
        events: page.map((row) => ({
          id: row.id,
          domain: row.event_domain,
          type: row.event_type,
          stream: row.event_stream,
          subject_ref: row.event_subject_ref,
          canonical_address: row.canonical_address,
          workspace_id: row.workspace_id,
          correlation_id: row.correlation_id,
          causation_event_id: row.causation_event_id,
          causation_depth: row.causation_depth,
          actor: row.actor,
          actor_via: row.actor_via,
          payload: row.safe_payload,
          created_at: row.created_at.toISOString(),
        })),
        next: rows.length > limit ? page.at(-1)!.id : null,
      }
    },
  )
}

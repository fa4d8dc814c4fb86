import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listEvents, type OutboxEvent } from '../../events/outbox.ts'
import { namesOf, People } from '../people.ts'
import { nullable, problems, Timestamp } from '../responses.ts'

export const Event = Type.Object({
  id: Type.String({ format: 'uuid' }),
  event_domain: Type.String(),
  event_type: Type.String(),
  event_stream: nullable(Type.String()),
  event_subject_ref: nullable(Type.String()),
  canonical_address: nullable(Type.String()),
  workspace_id: nullable(Type.String()),
  correlation_id: Type.String(),
  causation_event_id: nullable(Type.String()),
  causation_depth: Type.Integer(),
  actor: Type.String(),
  actor_via: nullable(Type.String()),
  safe_payload: Type.Record(Type.String(), Type.Unknown()),
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
          200: Type.Object({ events: Type.Array(Event), people: People, next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, after } = request.query
      const { rows, page, people } = await request.transaction(async (client) => {
        const rows = await listEvents(client, { limit: limit + 1, ...(after !== undefined && { after }) })
        const page = rows.slice(0, limit)
        const people = await namesOf(
          client,
          page.map(({ actor }) => actor),
        )
        return { rows, page, people }
      })
      return {
        events: page.map(presentEvent),
        people,
        next: rows.length > limit ? page.at(-1)!.id : null,
      }
    },
  )
}

export function presentEvent(row: OutboxEvent) {
  return { ...row, created_at: row.created_at.toISOString() }
}

/** The topic vocabulary over HTTP. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Client } from '../../db/connection.ts'
import { addTopic, listTopics, retireTopic } from '../../units/topics.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'
import { After, Uuid } from './units/shapes.ts'
import { workspaceOf } from './uploads/options.ts'

const tags = ['topics']
const Label = Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$', examples: ['leave'] })
const Where = Type.Optional(
  Type.Union([Uuid, Type.Null()], {
    description: 'null: of every workspace, for service_role; left out: the only one of the caller',
  }),
)
const TopicShape = Type.Object({
  topic_id: Type.String(),
  workspace_id: nullable(Type.String()),
  topic_label: Type.String(),
  description: nullable(Type.String()),
  retired_at: nullable(Timestamp),
  registered_by: Type.String(),
  registered_at: Timestamp,
  units: Type.Integer({ description: 'how many carry it, of those that you may see' }),
})
const DECIDES = { decides: true }

export const topicRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listTopics',
        summary: 'Topics that units may carry: those of your workspaces and those of all',
        tags,
        querystring: Type.Object(
          {
            workspace_id: Type.Optional(Uuid),
            limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200 }),
            after: After,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ topics: Type.Array(TopicShape), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { workspace_id, limit, ...page } = request.query
      const topics = await request.transaction((client) =>
        listTopics(client, workspace_id, { ...page, limit: limit + 1 }),
      )
      const shown = topics.slice(0, limit)
      return {
        next: topics.length > limit ? shown.at(-1)!.topic_id : null,
        topics: shown.map((topic) => ({
          ...topic,
          retired_at: topic.retired_at?.toISOString() ?? null,
          registered_at: topic.registered_at.toISOString(),
        })),
      }
    },
  )

  api.post(
    '/',
    {
      schema: {
        operationId: 'addTopic',
        summary: 'Add a topic, or bring a retired one back; for those who administer',
        tags,
        body: Type.Object(
          {
            workspace_id: Where,
            topic_label: Label,
            description: Type.Optional(Type.String({ maxLength: 2000 })),
          },
          { additionalProperties: false, examples: [{ topic_label: 'leave' }] },
        ),
        response: { 204: Type.Null(), ...problems(400, 401, 403, 409, 422) },
      },
    },
    async (request, reply) => {
      const { workspace_id, topic_label, description } = request.body
      await request.transaction(
        async (client) => addTopic(client, await where(client, workspace_id), topic_label, description),
        DECIDES,
      )
      return reply.status(204).send(null)
    },
  )

  api.post(
    '/:label/retire',
    {
      schema: {
        operationId: 'retireTopic',
        summary: 'Units that carry it keep it, no other gets it; for those who administer',
        tags,
        params: Type.Object({ label: Label }),
        body: Type.Union([
          Type.Object({ workspace_id: Where }, { additionalProperties: false }),
          Type.Null(),
        ]),
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 422) },
      },
    },
    async (request, reply) => {
      await request.transaction(
        async (client) =>
          retireTopic(client, await where(client, request.body?.workspace_id), request.params.label),
        DECIDES,
      )
      return reply.status(204).send(null)
    },
  )
}

async function where(client: Client, named: string | null | undefined): Promise<string | null> {
  return named === null ? null : workspaceOf(client, named)
}

/** The topics that units may carry. */
import type { Client } from '../kernel/postgres/connection.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { createTopic, listTopics, retireTopic } from '../units/edges.ts'
import { Topic } from '../units/shapes.ts'
import { workspaceOf } from './access.ts'
import { After, limit, listPage, page, Reason, routes } from './routes.ts'

const Label = Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$', examples: ['leave'] })
const Where = Type.Optional(
  Type.Union([Uuid, Type.Null()], {
    description: 'null: of every workspace, for service_role; left out: the only one of the caller',
  }),
)

export const topicRoutes = routes('topics', (api) => {
  api.get('/', {
    operationId: 'listTopics',
    replica: true,
    summary: 'Topics that units may carry: those of your workspaces and those of all',
    query: { workspace_id: Type.Optional(Uuid), limit: limit(1000, 200), after: After },
    answer: page('topics', Topic),
    handle: (request) =>
      listPage(request.query, 'topics', 'topic_id', ({ workspace_id, ...filter }) =>
        request.transaction((client) => listTopics(client, workspace_id, filter)),
      ),
  })

  api.post('/', {
    operationId: 'createTopic',
    summary: 'Create a topic, or bring a retired one back; for those who administer',
    body: { workspace_id: Where, topic_label: Label, description: Reason },
    example: { topic_label: 'leave' },
    problems: [403, 409, 422],
    handle: (request) => {
      const { workspace_id, topic_label, description } = request.body
      return request.decide(async (client) =>
        createTopic(client, await where(client, workspace_id), topic_label, description),
      )
    },
  })

  api.post('/:label/retire', {
    operationId: 'retireTopic',
    summary: 'Units that carry it keep it, no other gets it; for those who administer',
    params: { label: Label },
    optionalBody: { workspace_id: Where },
    problems: [403, 404, 422],
    handle: (request) =>
      request.decide(async (client) =>
        retireTopic(client, await where(client, request.body?.workspace_id), request.params.label),
      ),
  })
})

async function where(client: Client, named: string | null | undefined): Promise<string | null> {
  return named === null ? null : workspaceOf(client, named)
}

/** Consumers: people review them. Registering and switching need an administrator of the database. */
import {
  consumerEvidence,
  listConsumers,
  listUndelivered,
  requireConsumer,
  reviewConsumer,
} from '../events/consumers.ts'
import { Consumer, Dispatch, Evidence } from '../events/shapes.ts'
import { Type } from '../kernel/schema.ts'
import { Limit, routes } from './routes.ts'

const params = { id: Type.String({ maxLength: 63 }) }
const query = { limit: Limit }
const problems = [403, 404, 409] as const

export const consumerRoutes = routes('consumers', (api) => {
  api.get('/', {
    operationId: 'listConsumers',
    replica: true,
    summary: 'Consumers of your workspaces and of all, and the state of each',
    description: 'Registered by an administrator of the database: `stagedoor consumer register`.',
    answer: Type.Object({ consumers: Type.Array(Consumer) }),
    problems: [403],
    handle: async (request) => ({ consumers: await request.transaction(listConsumers) }),
  })

  api.get('/:id', {
    operationId: 'getConsumer',
    replica: true,
    summary: 'One consumer',
    params,
    answer: Consumer,
    problems: [403, 404],
    handle: (request) => request.transaction((client) => requireConsumer(client, request.params.id)),
  })

  api.get('/:id/evidence', {
    operationId: 'listConsumerEvidence',
    replica: true,
    summary: 'The jobs that a consumer in dry run would have made, newest first',
    params,
    query,
    answer: Type.Object({ evidence: Type.Array(Evidence) }),
    problems,
    handle: async (request) => ({
      evidence: await request.transaction((client) =>
        consumerEvidence(client, request.params.id, request.query.limit),
      ),
    }),
  })

  api.get('/:id/undelivered', {
    operationId: 'listUndelivered',
    replica: true,
    summary:
      'Events of which a consumer made no job: failed, too deep, or deferred by its rate; newest first',
    params,
    query,
    answer: Type.Object({ dispatches: Type.Array(Dispatch) }),
    problems,
    handle: async (request) => ({
      dispatches: await request.transaction((client) =>
        listUndelivered(client, { consumer: request.params.id, limit: request.query.limit }),
      ),
    }),
  })

  api.post('/:id/review', {
    operationId: 'reviewConsumer',
    summary: 'Say that you have looked at the evidence and agree',
    description:
      'Anybody with the right to review in its workspace, except the one who registered it. One of all workspaces is reviewed by the back end: a token of service_role whose subject says who.',
    params,
    body: {
      evidence: Type.Integer({ minimum: 1, maximum: 1000, description: 'how many lines you looked at' }),
    },
    example: { evidence: 3 },
    answer: Consumer,
    problems,
    handle: (request) => request.decide((client) => reviewConsumer(client, request.params.id, request.body)),
  })
})

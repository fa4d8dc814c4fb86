/** Routes of SQL events: people review, activate and disable them. Registering one needs an administrator of the database. */
import {
  activateRoute,
  disableRoute,
  listRoutes,
  requireRoute,
  reviewRoute,
  routeEvidence,
} from '../events/routes.ts'
import { Route, RouteEvidence } from '../events/shapes.ts'
import { Type } from '../kernel/schema.ts'
import { limit, routes } from './routes.ts'

const params = { code: Type.String({ maxLength: 127 }) }
const problems = [403, 404, 409] as const

export const eventRouteRoutes = routes('event routes', (api) => {
  api.get('/', {
    operationId: 'listEventRoutes',
    replica: true,
    summary: 'Routes of your workspaces and the state of each',
    description: 'Registered by an administrator of the database: `stagedoor route register`.',
    answer: Type.Object({ routes: Type.Array(Route) }),
    problems: [403],
    handle: async (request) => ({ routes: await request.transaction(listRoutes) }),
  })

  api.get('/:code', {
    operationId: 'getEventRoute',
    replica: true,
    summary: 'One route',
    params,
    answer: Route,
    problems: [403, 404],
    handle: (request) => request.transaction((client) => requireRoute(client, request.params.code)),
  })

  api.get('/:code/evidence', {
    operationId: 'listEventRouteEvidence',
    replica: true,
    summary: 'What the dry run of a route would have sent, newest statement first',
    params,
    query: { limit: limit(200, 20) },
    answer: Type.Object({ evidence: Type.Array(RouteEvidence) }),
    problems,
    handle: async (request) => ({
      evidence: await request.transaction((client) =>
        routeEvidence(client, request.params.code, request.query.limit),
      ),
    }),
  })

  api.post('/:code/review', {
    operationId: 'reviewEventRoute',
    summary: 'Say that you have looked at the evidence and agree',
    description: 'Anybody with the right to review, except the one who registered it.',
    params,
    body: {
      evidence: Type.Integer({ minimum: 1, maximum: 1000, description: 'how many statements you looked at' }),
      revision: Type.Integer({ minimum: 1, description: 'of the definition that you looked at' }),
    },
    example: { evidence: 3, revision: 1 },
    answer: Route,
    problems,
    handle: (request) =>
      request.decide(async (client) => {
        await reviewRoute(client, request.params.code, request.body)
        return requireRoute(client, request.params.code)
      }),
  })

  for (const [action, change, summary] of [
    ['activate', activateRoute, 'Let a reviewed route send'],
    ['disable', disableRoute, 'Stop a route at once; its review stays'],
  ] as const) {
    api.post(`/:code/${action}`, {
      operationId: `${action}EventRoute`,
      summary,
      params,
      answer: Route,
      problems,
      handle: (request) =>
        request.decide(async (client) => {
          await change(client, request.params.code)
          return requireRoute(client, request.params.code)
        }),
    })
  }
})

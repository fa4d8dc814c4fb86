/** Routes of SQL events over HTTP: looked at, reviewed and switched by people. Registering needs an administrator of the database. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Client } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import {
  activateRoute,
  disableRoute,
  findRoute,
  listRoutes,
  type Route,
  reviewRoute,
  routeEvidence,
} from '../../events/routes.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'

const RouteShape = Type.Object({
  route_code: Type.String(),
  state: Type.Enum(['disabled', 'dry_run', 'reviewed', 'active']),
  source_object_kind: Type.String(),
  source_schema: nullable(Type.String()),
  source_table: nullable(Type.String()),
  sql_event: Type.String(),
  target_event_domain: Type.String(),
  target_event_type: Type.String(),
  target_event_stream: nullable(Type.String()),
  fail_closed: Type.Boolean(),
  idempotency_policy: Type.Unknown(),
  payload_contract: Type.Unknown({ description: 'keep_refs, forbid_keys, subject, only_changed' }),
  workspace_id: nullable(Type.String()),
  workspace_column: nullable(Type.String()),
  revision: Type.Integer({
    description: 'counts the definitions; a review names the one that was looked at',
  }),
  registered_by: Type.String(),
  registered_at: Timestamp,
  reviewed_by: nullable(Type.String()),
  reviewed_at: nullable(Timestamp),
  evidence_seen: Type.Union([Type.Integer(), Type.Null()]),
  activated_by: nullable(Type.String()),
  activated_at: nullable(Timestamp),
  disabled_reason: nullable(Type.String()),
  attached: Type.Integer({ description: 'on how many tables its triggers are' }),
  evidence: Type.Integer({ description: 'statements of the dry run that are kept' }),
  failures: Type.String(),
  last_failure: nullable(Type.String()),
  last_failed_at: nullable(Timestamp),
})

const EvidenceShape = Type.Object({
  evidence_id: Type.String(),
  route_code: Type.String(),
  revision: Type.Integer(),
  relation: Type.String(),
  events: Type.String(),
  refused: Type.String({ description: 'of these an event could not have been sent' }),
  sample: Type.Array(Type.Unknown()),
  actor: Type.String(),
  recorded_at: Timestamp,
})

const OfRoute = Type.Object({ code: Type.String({ maxLength: 127 }) })
const DECIDES = { decides: true }
const refusals = problems(400, 401, 403, 404, 409)
const tags = ['event routes']

export const eventRouteRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listEventRoutes',
        summary: 'Routes of your workspaces and how far each is',
        description: 'Registered by an administrator of the database: `stagedoor route add`.',
        tags,
        response: { 200: Type.Object({ routes: Type.Array(RouteShape) }), ...problems(401, 403) },
      },
    },
    async (request) => ({ routes: (await request.transaction(listRoutes)).map(present) }),
  )

  api.get(
    '/:code',
    {
      schema: {
        operationId: 'getEventRoute',
        summary: 'One route',
        tags,
        params: OfRoute,
        response: { 200: RouteShape, ...problems(401, 403, 404) },
      },
    },
    async (request) =>
      present(await request.transaction((client) => requireRoute(client, request.params.code))),
  )

  api.get(
    '/:code/evidence',
    {
      schema: {
        operationId: 'listEventRouteEvidence',
        summary: 'What the dry run of a route would have sent, newest statement first',
        tags,
        params: OfRoute,
        querystring: Type.Object(
          { limit: Type.Integer({ minimum: 1, maximum: 200, default: 20 }) },
          { additionalProperties: false },
        ),
        response: { 200: Type.Object({ evidence: Type.Array(EvidenceShape) }), ...refusals },
      },
    },
    async (request) => {
      const rows = await request.transaction((client) =>
        routeEvidence(client, request.params.code, request.query.limit),
      )
      return {
        evidence: rows.map((row) => ({
          ...row,
          sample: [...row.sample],
          recorded_at: row.recorded_at.toISOString(),
        })),
      }
    },
  )

  api.post(
    '/:code/review',
    {
      schema: {
        operationId: 'reviewEventRoute',
        summary: 'Say that you have looked at the evidence and agree',
        description: 'Anybody with the right to review but the one who registered it.',
        tags,
        params: OfRoute,
        body: Type.Object(
          {
            evidence: Type.Integer({
              minimum: 1,
              maximum: 1000,
              description: 'how many statements you looked at',
            }),
            revision: Type.Integer({ minimum: 1, description: 'of the definition that you looked at' }),
          },
          { additionalProperties: false, examples: [{ evidence: 3, revision: 1 }] },
        ),
        response: { 200: RouteShape, ...refusals },
      },
    },
    async (request) => {
      const { code } = request.params
      return present(
        await request.transaction(async (client) => {
          await reviewRoute(client, code, request.body)
          return requireRoute(client, code)
        }, DECIDES),
      )
    },
  )

  for (const [action, change, summary] of [
    ['activate', activateRoute, 'Let a reviewed route send'],
    ['disable', disableRoute, 'Stop a route at once; its review stays'],
  ] as const) {
    api.post(
      `/:code/${action}`,
      {
        schema: {
          operationId: `${action}EventRoute`,
          summary,
          tags,
          params: OfRoute,
          response: { 200: RouteShape, ...refusals },
        },
      },
      async (request) => {
        const { code } = request.params
        return present(
          await request.transaction(async (client) => {
            await change(client, code)
            return requireRoute(client, code)
          }, DECIDES),
        )
      },
    )
  }
}

async function requireRoute(client: Client, code: string): Promise<Route> {
  const route = await findRoute(client, code)
  if (!route) throw new StagedoorError('route_unknown', { route: code })
  return route
}

function present(route: Route) {
  return {
    ...route,
    registered_at: route.registered_at.toISOString(),
    reviewed_at: route.reviewed_at?.toISOString() ?? null,
    activated_at: route.activated_at?.toISOString() ?? null,
    last_failed_at: route.last_failed_at?.toISOString() ?? null,
  }
}

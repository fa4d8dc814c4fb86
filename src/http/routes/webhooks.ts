/** Targets of webhooks over HTTP, for the administrators of a workspace. A secret goes in and never comes out. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  listWebhookTargets,
  removeWebhookTarget,
  requireReachable,
  setWebhookTarget,
  type WebhookTarget,
} from '../../jobs/webhook-targets.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'
import { Uuid } from './jobs/shapes.ts'

const TargetShape = Type.Object({
  target_code: Type.String(),
  workspace_id: nullable(Type.String()),
  purpose: Type.String(),
  url: Type.String(),
  description: nullable(Type.String()),
  enabled: Type.Boolean(),
  disabled_reason: nullable(Type.String()),
  registered_by: Type.String(),
  registered_at: Timestamp,
  changed_at: Timestamp,
})
const OfTarget = Type.Object({ target: Type.String({ pattern: '^[a-z][a-z0-9_.-]{0,62}$' }) })
const OfWorkspace = Type.Object(
  {
    workspace_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'left out by the back end only' }),
    ),
  },
  { additionalProperties: false },
)
/** Under stagedoor_reviewer for people, whose membership the database asks for the right to administer. */
const DECIDES = { decides: true }
const tags = ['webhooks']

export const webhookRoutes =
  (hosts: readonly string[]): FastifyPluginAsyncTypebox =>
  async (api) => {
    api.setSchemaErrorFormatter(invalidInput)
    api.get(
      '/',
      {
        schema: {
          operationId: 'listWebhookTargets',
          summary: 'The targets of a workspace, without their secrets',
          tags,
          querystring: OfWorkspace,
          response: { 200: Type.Object({ targets: Type.Array(TargetShape) }), ...problems(400, 401, 403) },
        },
      },
      async (request) => ({
        targets: (
          await request.transaction(
            (client) => listWebhookTargets(client, request.query.workspace_id),
            DECIDES,
          )
        ).map(present),
      }),
    )

    api.put(
      '/:target',
      {
        schema: {
          operationId: 'setWebhookTarget',
          summary: 'Add a target, or change one; what is left out stays',
          description:
            'A new one needs url, secret and purpose. Webhooks go only to hosts of STAGEDOOR_WEBHOOK_HOSTS.',
          tags,
          params: OfTarget,
          body: Type.Object(
            {
              url: Type.Optional(
                Type.String({ maxLength: 2000, examples: ['https://chat.example.com/hooks/1'] }),
              ),
              secret: Type.Optional(
                Type.String({ maxLength: 200, description: 'whsec_ and 24 to 64 random bytes in base64' }),
              ),
              purpose: Type.Optional(Type.Enum(['review', 'alert', 'event'])),
              workspace_id: Type.Optional(Uuid),
              description: Type.Optional(Type.String({ maxLength: 1000 })),
              enabled: Type.Optional(Type.Boolean()),
            },
            { additionalProperties: false },
          ),
          response: { 204: Type.Null(), ...problems(400, 401, 403) },
        },
      },
      async (request, reply) => {
        await request.transaction(async (client) => {
          await setWebhookTarget(client, request.params.target, request.body)
          // Once their right is known: a name is looked up for administrators only.
          if (request.body.url !== undefined) await requireReachable(request.body.url, hosts)
        }, DECIDES)
        return reply.status(204).send(null)
      },
    )

    api.delete(
      '/:target',
      {
        schema: {
          operationId: 'removeWebhookTarget',
          summary: 'Take a target away; what was not delivered yet becomes a dead letter',
          tags,
          params: OfTarget,
          response: { 204: Type.Null(), ...problems(400, 401, 403, 404) },
        },
      },
      async (request, reply) => {
        await request.transaction((client) => removeWebhookTarget(client, request.params.target), DECIDES)
        return reply.status(204).send(null)
      },
    )
  }

function present(target: WebhookTarget) {
  return {
    ...target,
    registered_at: target.registered_at.toISOString(),
    changed_at: target.changed_at.toISOString(),
  }
}

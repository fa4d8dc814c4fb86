/** Targets of webhooks, for the administrators of a workspace. A secret goes in and never comes out. */
import { WebhookFormat, WebhookPurpose, WebhookTarget } from '../jobs/shapes.ts'
import {
  deleteWebhookTarget,
  listWebhookTargets,
  requireReachable,
  setWebhookTarget,
  testWebhookTarget,
  type WebhookOptions,
} from '../jobs/webhooks.ts'
import { Text, Type, Uuid } from '../kernel/schema.ts'
import { routes } from './routes.ts'

const params = { target: Type.String({ pattern: '^[a-z][a-z0-9_.-]{0,62}$' }) }

export const webhookRoutes = (allowed: Pick<WebhookOptions, 'hosts' | 'mailDomains'>) =>
  routes('webhooks', (api) => {
    api.get('/', {
      operationId: 'listWebhookTargets',
      replica: true,
      summary: 'The targets of a workspace, without their secrets',
      query: {
        workspace_id: Type.Optional(
          Type.String({ format: 'uuid', description: 'left out by the back end only' }),
        ),
      },
      answer: Type.Object({ targets: Type.Array(WebhookTarget) }),
      problems: [403],
      handle: async (request) => ({
        targets: await request.decide((client) => listWebhookTargets(client, request.query.workspace_id)),
      }),
    })

    api.put('/:target', {
      operationId: 'setWebhookTarget',
      summary: 'Create a target, or update one; what is left out stays',
      description:
        'A new one needs url, secret and purpose. Webhooks go only to hosts of STAGEDOOR_WEBHOOK_HOSTS, e-mail only to domains of STAGEDOOR_MAIL_DOMAINS, or of members where that is not set.',
      params,
      body: {
        url: Type.Optional(
          Type.String({
            maxLength: 2000,
            description:
              'or an address for e-mail: mailto:team@example.com, or mailto:{reviewers} for the people whose review is requested',
            examples: ['https://chat.example.com/hooks/1'],
          }),
        ),
        secret: Type.Optional(
          Type.String({ maxLength: 200, description: 'whsec_ and 24 to 64 random bytes in base64' }),
        ),
        purpose: Type.Optional(WebhookPurpose),
        format: Type.Optional(WebhookFormat),
        workspace_id: Type.Optional(Uuid),
        description: Type.Optional(Type.String({ maxLength: 1000 })),
        enabled: Type.Optional(Type.Boolean()),
      },
      problems: [403],
      handle: (request) =>
        request.decide(async (client) => {
          await setWebhookTarget(client, request.params.target, request.body)
          // After the right is checked: only administrators have a name looked up.
          const { url } = request.body
          if (url !== undefined) await requireReachable(client, { code: request.params.target, url }, allowed)
        }),
    })

    api.post('/:target/test', {
      operationId: 'testWebhookTarget',
      summary: 'Deliver one webhook of the type test; the job says what became of it',
      params,
      answer: Type.Object({ job_id: Text }),
      problems: [403, 404],
      handle: async (request) => ({
        job_id: await request.decide((client) => testWebhookTarget(client, request.params.target)),
      }),
    })

    api.delete('/:target', {
      operationId: 'deleteWebhookTarget',
      summary: 'Delete a target; what was not delivered yet becomes a dead letter',
      params,
      problems: [403, 404],
      handle: (request) => request.decide((client) => deleteWebhookTarget(client, request.params.target)),
    })
  })

/** Members of a workspace and invitations to it. Its administrators change them; the database decides. */
import {
  createInvitation,
  Invitation,
  invitationLink,
  listInvitations,
  revokeInvitation,
} from '../access/invitations.ts'
import { APP_ROLES, deleteMember, emailsOf, managesMembers, membersOf, setMember } from '../access/members.ts'
import { shape, Text, TextOrNull, Type } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { type Credentials, publicUrlOf } from './credentials.ts'
import { routes, Workspace } from './routes.ts'
import type { ApiContext } from './server.ts'

const Member = shape('Member', {
  workspace_id: Text,
  workspace: TextOrNull,
  user_id: Type.String({ description: 'the subject (sub) at sign-in' }),
  display_name: TextOrNull,
  role: Type.Enum([...APP_ROLES]),
  database_role: Text,
  email: Type.Optional(
    Type.String({ description: 'from the identity provider; for administrators, and of oneself' }),
  ),
})

const User = {
  user: Type.String({ minLength: 1, maxLength: 255, description: 'the id of a member, url-encoded' }),
}
const Role = Type.Enum([...APP_ROLES])

export const memberRoutes = (credentials: Credentials) =>
  routes('access', (api) => {
    api.get('/', {
      operationId: 'listMembers',
      summary: 'Who is a member of a workspace, and with which role',
      query: { workspace_id: Workspace },
      answer: Type.Object({
        members: Type.Array(Member),
        managed: Type.Boolean({
          description:
            'false: public.workspace_members is a table of your own; members are added and removed there, and only roles are changed here',
        }),
      }),
      problems: [403],
      handle: (request) =>
        request.transaction(async (client) => {
          const workspace = await workspaceOf(client, request.query.workspace_id)
          const members = await membersOf(client, workspace)
          const emails = await emailsOf(
            client,
            members.map(({ user_id }) => user_id),
          )
          return {
            members: members.map((one) => {
              const email = emails.get(one.user_id)
              return email === undefined ? one : { ...one, email }
            }),
            managed: await managesMembers(client),
          }
        }),
    })

    api.put('/:user', {
      operationId: 'setMember',
      summary: 'Change the role or the name of a member, or add somebody whose id is known',
      description: 'For administrators. The last administrator of a workspace keeps that role.',
      params: User,
      body: {
        workspace_id: Workspace,
        role: Role,
        name: Type.Optional(Type.String({ maxLength: 255 })),
      },
      example: { role: 'reviewer' },
      answer: Member,
      problems: [403, 409],
      handle: (request) =>
        request.decide(async (client) => {
          const { workspace_id, role, name } = request.body
          return setMember(client, {
            workspaceId: await workspaceOf(client, workspace_id),
            userId: request.params.user,
            role,
            displayName: name,
          })
        }),
    })

    api.delete('/:user', {
      operationId: 'deleteMember',
      summary: 'Remove a member; whoever is in no workspace then is signed out',
      params: User,
      query: { workspace_id: Workspace },
      answer: Type.Object({
        tokens: Type.Integer({
          description: 'machine tokens that they created in this workspace and that go on working',
        }),
      }),
      problems: [403, 404, 409],
      handle: async (request) => {
        const { user } = request.params
        const tokens = await request.decide(async (client) =>
          deleteMember(client, await workspaceOf(client, request.query.workspace_id), user),
        )
        credentials.forgetSessions(user)
        return { tokens }
      },
    })
  })

export const invitationRoutes = ({ config }: ApiContext) =>
  routes('access', (api) => {
    api.get('/', {
      operationId: 'listInvitations',
      summary: 'Invitations to a workspace; those that ended are listed for 90 days',
      query: { workspace_id: Workspace },
      answer: Type.Object({ invitations: Type.Array(Invitation) }),
      problems: [403],
      handle: (request) =>
        request.decide(async (client) => ({
          invitations: await listInvitations(client, await workspaceOf(client, request.query.workspace_id)),
        })),
    })

    api.post('/', {
      operationId: 'createInvitation',
      summary: 'Invite somebody: a link that makes whoever signs in with it a member, once',
      body: {
        workspace_id: Workspace,
        invitee: Type.String({ minLength: 1, maxLength: 255, description: 'a name or an e-mail address' }),
        role: Role,
        days: Type.Optional(Type.Integer({ minimum: 1, maximum: 30, default: 7 })),
      },
      example: { invitee: 'grace@example.com', role: 'reviewer' },
      answer: Type.Object({
        invitation: Invitation,
        link: Type.String({ description: 'shown only now; send it to the person' }),
      }),
      status: 201,
      problems: [403, 409],
      handle: async (request, reply) => {
        const { workspace_id, invitee, role, days = 7 } = request.body
        const { code, invitation } = await request.decide(async (client) =>
          createInvitation(client, {
            workspaceId: await workspaceOf(client, workspace_id),
            invitee,
            role,
            days,
          }),
        )
        reply.header('cache-control', 'no-store')
        return { invitation, link: invitationLink(publicUrlOf(request, config.publicUrl), code) }
      },
    })

    api.post('/:id/revoke', {
      operationId: 'revokeInvitation',
      summary: 'The link of an invitation works no more',
      optionalBody: { workspace_id: Workspace },
      answer: Type.Object({ revoked: Type.Boolean({ description: 'false: it had ended before' }) }),
      problems: [403, 404],
      handle: (request) =>
        request.decide(async (client) => ({
          revoked: await revokeInvitation(
            client,
            await workspaceOf(client, request.body?.workspace_id),
            request.params.id,
          ),
        })),
    })
  })

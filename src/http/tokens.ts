/** Tokens for machines. Administrators of a workspace create and revoke them; those of the back end need a token of service_role. */
import {
  createMachineToken,
  listMachineTokens,
  MACHINE_ROLES,
  type MachineRole,
  MachineToken,
  revokeMachineToken,
} from '../access/machine-tokens.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { Text, Type } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import type { Credentials } from './credentials.ts'
import { routes, Workspace } from './routes.ts'

export const tokenRoutes = (credentials: Credentials) =>
  routes('access', (api) => {
    api.get('/', {
      operationId: 'listTokens',
      summary: 'Tokens of machines: name, role, expiry and last use; never the token itself',
      query: { workspace_id: Workspace },
      answer: Type.Object({ tokens: Type.Array(MachineToken) }),
      problems: [403],
      handle: (request) =>
        request.decide(async (client) => ({
          tokens: await listMachineTokens(
            client,
            await scopeOf(client, request.query.workspace_id, request.principal!.role),
          ),
        })),
    })

    api.post('/', {
      operationId: 'createToken',
      summary: 'Create a token for a machine; the answer is the only one that shows it',
      description:
        'The roles viewer, operator and agent are for one workspace. executor and service act in all of them: only a token of service_role creates those.',
      body: {
        workspace_id: Workspace,
        name: Type.String({ minLength: 1, maxLength: 100 }),
        role: Type.Enum([...MACHINE_ROLES]),
        read_only: Type.Optional(Type.Boolean({ description: 'the database refuses every write' })),
        executor: Type.Optional(
          Type.String({ maxLength: 100, description: 'whose jobs the role executor leases' }),
        ),
        days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366, default: 90 })),
      },
      example: { name: 'nightly export', role: 'operator', days: 90 },
      answer: Type.Object({
        secret: Type.String({ description: 'sdt_…, for `Authorization: Bearer`; shown only now' }),
        token: MachineToken,
      }),
      status: 201,
      problems: [403, 409],
      handle: async (request, reply) => {
        const { workspace_id, name, role, read_only: readOnly, executor, days = 90 } = request.body
        if ((role === 'executor') !== (executor !== undefined))
          throw new StagedoorError('request_invalid', {
            reason: 'the role executor names the executor whose jobs it leases, and no other role does',
          })
        const created = await request.decide(async (client) =>
          createMachineToken(client, {
            workspaceId: isOfBackEnd(role) ? null : await workspaceOf(client, workspace_id),
            name,
            role,
            days,
            readOnly,
            executor,
          }),
        )
        reply.header('cache-control', 'no-store')
        return created
      },
    })

    api.post('/:id/revoke', {
      operationId: 'revokeToken',
      summary: 'The token works no more',
      optionalBody: { workspace_id: Workspace },
      answer: Type.Object({
        revoked: Type.Boolean({ description: 'false: it was revoked before' }),
        token_id: Text,
      }),
      problems: [403, 404],
      handle: async (request) => {
        const { id } = request.params
        const revoked = await request.decide(async (client) =>
          revokeMachineToken(
            client,
            await scopeOf(client, request.body?.workspace_id, request.principal!.role),
            id,
          ),
        )
        credentials.forgetToken(id)
        return { revoked, token_id: id }
      },
    })
  })

function isOfBackEnd(role: MachineRole): boolean {
  return role === 'executor' || role === 'service'
}

/** The back end is in no workspace: without one it means its own tokens. */
function scopeOf(client: Client, given: string | undefined, role: string): Promise<string> | string | null {
  return given === undefined && role === 'service_role' ? null : workspaceOf(client, given)
}

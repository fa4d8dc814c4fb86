/** Who the caller is, and what that allows. */
import type { FastifyRequest } from 'fastify'
import { Me, whoAmI } from '../access/members.ts'
import { takeSignInCode } from '../access/sign-in-codes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { Text, Type } from '../kernel/schema.ts'
import { routes } from './routes.ts'
import type { ApiContext } from './server.ts'

export const accessRoutes = ({ pool, signIn }: ApiContext) =>
  routes('access', (api) => {
    api.get('/me', {
      operationId: 'me',
      summary: 'Who am I, and in which workspaces?',
      answer: Me,
      handle: (request) => request.transaction(whoAmI),
    })

    if (signIn === undefined) return
    api.post('/sign-in', {
      operationId: 'signIn',
      summary: 'Exchange the code of a sign-in link for a token; a code is good once',
      body: { code: Type.String({ minLength: 20, maxLength: 200 }) },
      answer: Type.Object({ token: Text }),
      config: { public: true },
      problems: [401],
      bodyLimit: 4096,
      handle: async (request, reply) => {
        const who = await inTransaction(pool, (client) => takeSignInCode(client, request.body.code), {
          role: 'service_role',
        })
        if (who === undefined) {
          const reason = 'the sign-in link was used already, or is too old'
          throw new StagedoorError('token_invalid', { reason })
        }
        reply.header('cache-control', 'no-store')
        return { token: await signIn(who) }
      },
    })
  })

/** For what only the back end may do. The database refuses others as well, in words about a function. */
export function requireService({ principal }: FastifyRequest, reason: string, option?: string): void {
  if (principal?.role === 'service_role') return
  const command = ['stagedoor token --role service_role', option]
    .filter((word) => word !== undefined)
    .join(' ')
  throw new StagedoorError(
    'permission_denied',
    { reason },
    { hint: `Ask with a token of service_role: \`${command}\`.` },
  )
}

/** Named, or the only one that the caller has. */
export async function workspaceOf(db: Queryable, given: string | undefined): Promise<string> {
  if (given !== undefined) return given
  const { workspaces } = await whoAmI(db)
  if (workspaces.length === 1) return workspaces[0]!.id
  const reason = `you are a member of ${workspaces.length} workspaces: name one as workspace_id`
  throw new StagedoorError('request_invalid', { reason })
}

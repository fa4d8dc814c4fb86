/** Who the caller is, and what that allows. */
import type { FastifyRequest } from 'fastify'
import { Me, whoAmI } from '../access/members.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { routes } from './routes.ts'

export const accessRoutes = routes('access', (api) => {
  api.get('/me', {
    operationId: 'me',
    summary: 'Who am I, and in which workspaces?',
    answer: Me,
    handle: (request) => request.transaction(whoAmI),
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

import type { FastifyRequest } from 'fastify'
import { StagedoorError } from '../errors.ts'

/** For what is the back end's. The database refuses others as well, in words about a function. */
export function requireService({ principal }: FastifyRequest, reason: string): void {
  if (principal?.role === 'service_role') return
  throw new StagedoorError(
    'permission_denied',
    { reason },
    { hint: 'Ask with a token of service_role: `stagedoor token --role service_role`.' },
  )
}

/** The HTTP API over a test database, called in process. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll } from 'vitest'
import { createHealthProbe, type HealthCheck } from '../../src/db/health.ts'
import { inTransaction } from '../../src/db/transaction.ts'
import { createServer } from '../../src/http/server.ts'
import { createTokenVerifier, signToken } from '../../src/http/tokens.ts'
import type { TestDatabase } from './database.ts'
import type { Member } from './factories.ts'

export const SECRET = randomBytes(32).toString('base64url')

export interface TestApi {
  app: FastifyInstance
  get(url: string, token?: string): Promise<{ status: number; body: never; headers: Record<string, unknown> }>
  token(
    member: Pick<Member, 'userId' | 'role'>,
    options?: { expiresIn?: string; readOnly?: boolean },
  ): Promise<string>
}

interface ApiSettings {
  rateLimit?: number
  bodyLimit?: number
  workers?: () => HealthCheck
  /** Routes that only the test has. */
  routes?: (app: FastifyInstance) => void
}

export function useApi(db: TestDatabase, settings: ApiSettings = {}): TestApi {
  const api = {
    async get(url: string, token?: string) {
      const reply = await api.app.inject({ url, headers: token ? { authorization: `Bearer ${token}` } : {} })
      return { status: reply.statusCode, body: reply.json() as never, headers: reply.headers }
    },
    token: (member, { expiresIn = '1h', readOnly = false } = {}) =>
      signToken(SECRET, { subject: member.userId, role: member.role, expiresIn, readOnly }),
  } as TestApi
  beforeAll(async () => {
    const probe = createHealthProbe()
    const workers = db.pool('stagedoor_worker')
    api.app = await createServer({
      config: { bodyLimit: settings.bodyLimit ?? 1_048_576, rateLimit: settings.rateLimit ?? 0 },
      pool: db.pool('stagedoor_api'),
      tokens: createTokenVerifier(
        { jwksUrl: undefined, jwtIssuer: undefined, jwtAudience: undefined },
        SECRET,
      ),
      health: async () => [
        ...(await inTransaction(workers, probe)),
        settings.workers?.() ?? { name: 'workers', ok: true, detail: 'in the test' },
      ],
    })
    settings.routes?.(api.app)
  })
  afterAll(() => api.app.close())
  return api
}

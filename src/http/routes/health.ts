import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { HealthCheck } from '../../db/health.ts'
import { asStagedoorError } from '../../errors.ts'
import { VERSION } from '../../version.ts'

const Check = Type.Object({ name: Type.String(), ok: Type.Boolean(), detail: Type.String() })
const Ready = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('not_ready')]),
  checks: Type.Array(Check),
})

export function healthRoutes(health: () => Promise<HealthCheck[]>): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/health',
      {
        config: { public: true },
        schema: {
          operationId: 'health',
          summary: 'Is the process alive?',
          tags: ['health'],
          security: [],
          response: { 200: Type.Object({ status: Type.Literal('ok'), version: Type.String() }) },
        },
      },
      () => ({ status: 'ok' as const, version: VERSION }),
    )
    api.get(
      '/ready',
      {
        config: { public: true },
        schema: {
          operationId: 'ready',
          summary: 'Can it do its work? Database, migrations, workers.',
          tags: ['health'],
          security: [],
          response: { 200: Ready, 503: Ready },
        },
      },
      async (_request, reply) => {
        const checks = await health().catch((error: unknown) => [
          { name: 'database', ok: false, detail: asStagedoorError(error).message },
        ])
        const ready = checks.every((check) => check.ok)
        return reply.status(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not_ready', checks })
      },
    )
  }
}

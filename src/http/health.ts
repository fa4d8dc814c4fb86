/** Operations: is the process alive and ready, its metrics, the gates. */

import type { Metrics } from '../app/metrics.ts'
import { openIssueCounts } from '../events/issues.ts'
import { readerLag } from '../events/outbox.ts'
import { executionStatistics } from '../executions/queries.ts'
import { Gate, listGates } from '../gates/gates.ts'
import { queueStatistics } from '../jobs/queue.ts'
import { asStagedoorError } from '../kernel/errors.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { shape, Text, Type } from '../kernel/schema.ts'
import { VERSION } from '../kernel/version.ts'
import { searchStatus } from '../search/status.ts'
import { requireService } from './access.ts'
import { routes } from './routes.ts'

const Ready = shape('Ready', {
  status: Type.Enum(['ready', 'not_ready']),
  checks: Type.Array(shape('HealthCheck', { name: Text, ok: Type.Boolean(), detail: Text })),
})

/** Probes of containers and load balancers: without a version in their path, because no client is made for them. */
export function healthRoutes(health: () => Promise<HealthCheck[]>) {
  return routes('health', (api) => {
    api.get('/health', {
      operationId: 'health',
      summary: 'Is the process alive?',
      answer: shape('Health', { status: Type.Literal('ok'), version: Text }),
      config: { public: true },
      handle: () => ({ status: 'ok' as const, version: VERSION }),
    })

    api.get('/ready', {
      operationId: 'ready',
      summary: 'Can it do its work? Database, migrations, workers.',
      answer: Ready,
      config: { public: true },
      schema: { response: { 503: Ready } },
      handle: async (_request, reply) => {
        const checks = await health().catch((error: unknown) => [
          { name: 'database', ok: false, detail: asStagedoorError(error).message },
        ])
        const ready = checks.every((check) => check.ok)
        if (!ready) reply.status(503)
        return { status: ready ? ('ready' as const) : ('not_ready' as const), checks }
      },
    })
  })
}

export function metricRoutes(metrics: Metrics) {
  return routes('health', (api) => {
    api.get('/metrics', {
      operationId: 'metrics',
      summary: 'Metrics of queue, workers, readers, issues and executions, for Prometheus',
      description:
        'They are about all workspaces: `stagedoor token --role service_role --read-only --expires-in 1y` makes a token for the scraper.',
      status: 200,
      problems: [403],
      schema: {
        produces: ['text/plain'],
        response: {
          200: {
            description: 'the text format of Prometheus',
            content: { 'text/plain': { schema: Type.String() } },
          },
        },
      },
      handle: async (request, reply) => {
        requireService(request, 'the metrics are about all workspaces', '--read-only')
        const now = await request.transaction(async (client) => ({
          queue: await queueStatistics(client),
          readers: await readerLag(client),
          issues: await openIssueCounts(client),
          executions: await executionStatistics(client),
          search: await searchStatus(client),
        }))
        return reply.type(metrics.contentType).send(await metrics.render(now))
      },
    })
  })
}

export const gateRoutes = routes('gates', (api) => {
  api.get('/gates', {
    operationId: 'listGates',
    summary: 'The configuration gates, open or closed',
    description: 'An administrator of the database changes them: `stagedoor gate open <gate>`.',
    answer: Type.Object({ gates: Type.Array(Gate) }),
    handle: async (request) => ({ gates: await request.transaction(listGates) }),
  })
})

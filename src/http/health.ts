/** Operations: is the process alive and ready, its metrics, the gates. */

import { requireRightAnywhere } from '../access/members.ts'
import { describeCheck } from '../app/health.ts'
import type { Metrics } from '../app/metrics.ts'
import { listProcesses, Process } from '../app/processes.ts'
import { listReviewPolicies, type ReviewPolicy } from '../changes/policies.ts'
import { openIssueCounts } from '../events/issues.ts'
import { readerLag } from '../events/outbox.ts'
import { executionStatistics } from '../executions/queries.ts'
import { Gate, listGates } from '../gates/gates.ts'
import { spoolUsage } from '../ingest/spool.ts'
import { listPools } from '../jobs/pools.ts'
import { queueStatistics } from '../jobs/queue.ts'
import { asStagedoorError } from '../kernel/errors.ts'
import { type HealthCheck, readStorage } from '../kernel/postgres/health.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { shape, Text, Type } from '../kernel/schema.ts'
import { VERSION } from '../kernel/version.ts'
import { searchStatus } from '../search/status.ts'
import { requireService } from './access.ts'
import { routes } from './routes.ts'
import type { ApiContext } from './server.ts'

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
        const ready = checks.every(({ name, ok }) => ok || WORKS_WITHOUT.has(name))
        if (!ready) reply.status(503)
        return { status: ready ? ('ready' as const) : ('not_ready' as const), checks }
      },
    })
  })
}

/** A server answers without NATS: an outage must not take all of them from their load balancer. */
const WORKS_WITHOUT = new Set(['nats', 'gateway', 'gateway_jobs', 'gateway_executions'])

/** How this installation does, for whoever operates it. The probes above are public, and say less. */
export function healthDetailRoutes({
  health,
  pool,
  ingest,
  replica,
  nats,
}: Pick<ApiContext, 'health' | 'pool' | 'ingest' | 'replica' | 'nats'>) {
  return routes('health', (api) => {
    api.get('/health', {
      operationId: 'getHealthDetails',
      summary: 'The checks of this process with what to do about each; for whoever operates a workspace',
      answer: shape('HealthDetails', {
        version: Text,
        checks: Type.Array(
          shape('HealthDetail', {
            name: Text,
            title: Text,
            ok: Type.Boolean(),
            severity: Type.Enum(['ok', 'warning', 'error'], {
              description: 'a warning: everything goes on, slower',
            }),
            detail: Text,
            remedy: Type.String({ description: 'what to do if it is not ok' }),
          }),
        ),
      }),
      problems: [403],
      handle: async (request) => {
        const { role } = request.principal!
        const policies = await request.transaction(async (client) => {
          await requireRightAnywhere(client, 'operate', undefined, role)
          return listReviewPolicies(client)
        })
        // A replica that is away makes nobody unready: the primary answers. NATS that is away only delays.
        const more = [replica, nats].flatMap((part) => (part ? [part.health()] : []))
        const checks = [...(await health()), ...more, checkPolicies(policies)]
        return { version: VERSION, checks: checks.map(describeCheck) }
      },
    })

    api.get('/processes', {
      operationId: 'listProcesses',
      summary: 'Which processes work on the database: host, version, roles, last heartbeat',
      description: 'Those of the last ten minutes, for whoever operates a workspace.',
      answer: Type.Object({ processes: Type.Array(Process) }),
      problems: [403],
      handle: async (request) => ({ processes: await request.transaction(listProcesses) }),
    })

    api.get('/health/storage', {
      operationId: 'getStorage',
      summary:
        'Size of the database and of its largest tables, of the spool, and how far readers of events are behind',
      description:
        'About all workspaces: for people who administer every workspace, and tokens of service_role.',
      answer: shape('Storage', {
        database_bytes: Type.Number(),
        tables: Type.Array(
          shape('TableSize', {
            schema_name: Text,
            table_name: Text,
            bytes: Type.Number({ description: 'with its indexes; partitions count as their table' }),
            row_estimate: Type.Number(),
          }),
        ),
        spool: shape(
          'SpoolUsage',
          { files: Type.Integer(), bytes: Type.Number() },
          { description: 'files that are received and read now on the machine that answers' },
        ),
        readers: Type.Array(
          shape('ReaderLag', {
            reader: Text,
            unread: Type.Integer({ description: 'events, counted up to 10,000' }),
            lag_s: Type.Number({ description: 'age of the oldest of them' }),
          }),
        ),
      }),
      problems: [403],
      handle: async (request) => {
        const storage = await request.decide(readStorage)
        return {
          ...storage,
          spool: await spoolUsage(ingest.home),
          // Nobody but the back end reads them; that the caller may ask is checked above.
          readers: await inTransaction(pool, (client) => readerLag(client), {
            role: 'service_role',
            readOnly: true,
          }),
        }
      },
    })
  })
}

function checkPolicies(policies: readonly ReviewPolicy[]): HealthCheck {
  const warnings = policies.flatMap((policy) => policy.warnings)
  return {
    name: 'review_policies',
    ok: warnings.length === 0,
    detail:
      warnings[0] ??
      `${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}, all can be evaluated`,
  }
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
          processes: await listProcesses(client),
          pools: await listPools(client),
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

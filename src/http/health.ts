/** Operations: is the process alive and ready, its metrics, the gates. */

import { requireRightAnywhere } from '../access/members.ts'
import type { Metrics } from '../app/metrics.ts'
import { openIssueCounts } from '../events/issues.ts'
import { readerLag } from '../events/outbox.ts'
import { executionStatistics } from '../executions/queries.ts'
import { Gate, listGates } from '../gates/gates.ts'
import { spoolUsage } from '../ingest/spool.ts'
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

const PARTITIONS_REMEDY =
  'Maintenance creates them ahead of time. Look whether `stagedoor start` or a worker runs, and at its log.'

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

const CHECK_TEXTS: Readonly<Record<string, readonly [title: string, remedy: string]>> = {
  embedded_postgres: ['Embedded PostgreSQL', 'Look at the log of `stagedoor start`, which starts it again.'],
  search: [
    'Worker of search',
    'Look at Search for what could not be indexed, and at the log of this process.',
  ],
  database: ['Database', 'Look whether PostgreSQL runs and takes connections: `stagedoor doctor`.'],
  migrations: ['Schema of the database', 'Apply what is missing: `stagedoor migrate`.'],
  event_partitions: ['Room for events', PARTITIONS_REMEDY],
  job_partitions: ['Room for the job history', PARTITIONS_REMEDY],
  execution_partitions: ['Room for executions', PARTITIONS_REMEDY],
  workers: [
    'Maintenance',
    'Look at the log of `stagedoor start`: a task that cleans up or creates partitions fails.',
  ],
  jobs: ['Job worker', 'Look at the log of this process, and at Jobs for what runs too long.'],
  dispatcher: [
    'Dispatcher of events',
    'Look at the log of the process that runs it: `stagedoor worker --dispatch`.',
  ],
  executions: [
    'Engine of executions',
    'Look at the log of this process, and at Executions for what is stuck.',
  ],
  projection: ['Projection of executions', 'Rebuild it if it stays behind: `stagedoor execution rebuild`.'],
  store: [
    'Store of blobs',
    'The code at the beginning is in the guide of troubleshooting, with what to do. The check is repeated every 15 seconds.',
  ],
  blobs: ['Files of staged parts', 'Look whether the folder of the blobs is there and can be written.'],
}

/** How this installation does, for whoever operates it. The probes above are public, and say less. */
export function healthDetailRoutes({ health, pool, ingest }: Pick<ApiContext, 'health' | 'pool' | 'ingest'>) {
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
            detail: Text,
            remedy: Type.String({ description: 'what to do if it is not ok' }),
          }),
        ),
      }),
      problems: [403],
      handle: async (request) => {
        const { role } = request.principal!
        await request.transaction((client) => requireRightAnywhere(client, 'operate', undefined, role))
        const checks = await health()
        return {
          version: VERSION,
          checks: checks.map((check) => {
            const [title, remedy] = CHECK_TEXTS[check.name] ?? [
              check.name,
              'Compare with `stagedoor doctor`.',
            ]
            return { ...check, title, remedy }
          }),
        }
      },
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

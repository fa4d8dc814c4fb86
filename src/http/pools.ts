/** Pools of workers and how many are wanted: what an autoscaler asks. */
import { listPools, Pool, poolDemand } from '../jobs/pools.ts'
import { Type } from '../kernel/schema.ts'
import { routes } from './routes.ts'

const Concurrency = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'calls at once of one worker; default: 10 jobs, 50 steps and items of playbooks',
  }),
)

export const poolRoutes = routes('workers', (api) => {
  api.get('/', {
    operationId: 'listPools',
    summary: 'Pools of workers: what runs, what is due, how many workers are wanted',
    description:
      'Workers of one pool offer the same kinds of jobs, or the same handlers of playbooks. What is due and nobody offers is a pool without workers. For whoever operates a workspace.',
    query: { concurrency: Concurrency },
    answer: Type.Object({ pools: Type.Array(Pool) }),
    problems: [403],
    handle: (request) =>
      request.transaction(async (client) => {
        const { concurrency } = request.query
        return { pools: await listPools(client, { concurrency, steps: concurrency }) }
      }),
  })

  api.get('/:pool/demand', {
    operationId: 'getPoolDemand',
    summary:
      'How many workers a pool wants, for autoscalers as KEDA (metrics-api, valueLocation wanted_workers)',
    description:
      'The pool need not have a worker: name its kinds (`send_report,geocode`), behind another executor (`external_worker/send_report`), or its handlers (`handler:geocode`).',
    params: {
      pool: Type.String({
        pattern: '^(handler:|[A-Za-z_]{1,62}/)?[A-Za-z_][A-Za-z0-9_.:,-]{0,2000}$',
        examples: ['send_report'],
      }),
    },
    query: { concurrency: Concurrency },
    answer: Pool,
    problems: [403],
    handle: (request) =>
      request.transaction((client) => poolDemand(client, request.params.pool, request.query.concurrency)),
  })
})

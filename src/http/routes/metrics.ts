/** Figures for Prometheus. They are about all workspaces, so the token is the back end's; a read-only one will do. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import { openIssueCounts } from '../../events/issues.ts'
import { readerLag } from '../../events/lag.ts'
import { executionStatistics } from '../../executions/statistics.ts'
import { queueStatistics } from '../../jobs/statistics.ts'
import { searchStatus } from '../../search/status.ts'
import type { Measures } from '../measures.ts'
import { problems } from '../responses.ts'

export function metricRoutes(measures: Measures): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/metrics',
      {
        schema: {
          operationId: 'metrics',
          summary: 'Figures of queue, workers, readers, issues and executions, for Prometheus',
          description:
            'They are about all workspaces: `stagedoor token --role service_role --read-only --expires-in 1y` makes a token for the scraper.',
          tags: ['health'],
          produces: ['text/plain'],
          response: {
            200: {
              description: 'the text format of Prometheus',
              content: { 'text/plain': { schema: Type.String() } },
            },
            ...problems(401, 403),
          },
        },
      },
      async (request, reply) => {
        if (request.principal!.role !== 'service_role') {
          throw new StagedoorError(
            'permission_denied',
            { reason: 'the figures are about all workspaces' },
            { hint: 'Ask with a token of service_role: `stagedoor token --role service_role --read-only`.' },
          )
        }
        const now = await request.transaction(async (client) => ({
          queue: await queueStatistics(client),
          readers: await readerLag(client),
          issues: await openIssueCounts(client),
          executions: await executionStatistics(client),
          search: await searchStatus(client),
        }))
        return reply.type(measures.contentType).send(await measures.render(now))
      },
    )
  }
}

/** From a change to what came of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readTrace } from '../../stagedoor/trace.ts'
import { problems } from '../responses.ts'
import { DispatchShape, presentDispatch } from './consumers.ts'
import { Event, presentEvent } from './events.ts'
import { JobShape, presentJob, Uuid } from './jobs/shapes.ts'

export const traceRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/traces/:id',
    {
      schema: {
        operationId: 'getTrace',
        summary:
          'The chain from a change to its results: events and jobs, each in the order in which they began',
        description:
          'By the correlation id, or by the id of any event or job in it. `causation_event_id` says what each came from.',
        tags: ['events', 'jobs'],
        params: Type.Object({ id: Uuid }),
        response: {
          200: Type.Object({
            correlation_id: Type.String(),
            events: Type.Array(Event),
            jobs: Type.Array(JobShape),
            undelivered: Type.Array(DispatchShape, {
              description: 'where a consumer made no job of an event',
            }),
            cut: Type.Boolean({ description: 'there is more than the first thousand' }),
          }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const trace = await request.transaction((client) => readTrace(client, request.params.id))
      return {
        ...trace,
        events: trace.events.map(presentEvent),
        jobs: trace.jobs.map(presentJob),
        undelivered: trace.undelivered.map(presentDispatch),
      }
    },
  )
}

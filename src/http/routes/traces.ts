/** From a change to what came of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readTrace } from '../../stagedoor/trace.ts'
import { problems } from '../responses.ts'
import { DispatchShape, presentDispatch } from './consumers.ts'
import { Event, presentEvent } from './events.ts'
import { ExecutionId, presentTraced, TracedExecutionShape } from './executions/shapes.ts'
import { JobShape, presentJob, Uuid } from './jobs/shapes.ts'

export const traceRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/traces/:id',
    {
      schema: {
        operationId: 'getTrace',
        summary:
          'The chain from a change to its results: events, jobs and executions, each in the order in which they began',
        description:
          'By the correlation id, or by the id of any event, job or execution in it. `causation_event_id` says what each came from.',
        tags: ['events', 'jobs', 'executions'],
        params: Type.Object({ id: Type.Union([Uuid, ExecutionId]) }),
        response: {
          200: Type.Object({
            correlation_id: Type.String(),
            events: Type.Array(Event),
            jobs: Type.Array(JobShape),
            executions: Type.Array(TracedExecutionShape),
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
        executions: trace.executions.map(presentTraced),
        undelivered: trace.undelivered.map(presentDispatch),
      }
    },
  )
}

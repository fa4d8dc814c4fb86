/**
 * Executors outside Node: they lease, keep, complete and fail jobs over HTTP, under the same lease and with the same fence as
 * our own workers. A token of stagedoor_executor reaches the jobs of its own executor and nothing else; the database sees to it.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { EXECUTORS } from '../../jobs/executors.ts'
import { keepLease, leaveWorker, registerWorker } from '../../jobs/lease.ts'
import { invalidInput } from '../invalid-input.ts'
import type { LeaseCounts } from '../measures.ts'
import { problems, Timestamp } from '../responses.ts'
import { leaseRoutes } from './executors/lease.ts'
import { outcomeRoutes } from './executors/outcomes.ts'
import { Kind, Uuid } from './jobs/shapes.ts'

const DEFAULT_LEASE_S = 30
const OfWorker = Type.Object({ id: Uuid })
const refusals = problems(400, 401, 403, 409)
const tags = ['executors']

export function executorRoutes(counts: LeaseCounts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.setSchemaErrorFormatter(invalidInput)
    api.post(
      '/workers',
      {
        schema: {
          operationId: 'registerWorker',
          summary: 'Begin: a worker that takes jobs of these kinds, as long as it keeps its lease',
          description:
            'Needs a token of stagedoor_executor whose claim `executor` is this one, or of service_role.',
          tags,
          body: Type.Object(
            {
              executor: Type.Enum([...EXECUTORS]),
              kinds: Type.Array(Kind, { minItems: 1, maxItems: 1000 }),
              name: Type.Optional(Type.String({ maxLength: 200, description: 'for people' })),
              lease_s: Type.Integer({
                minimum: 1,
                maximum: 3600,
                default: DEFAULT_LEASE_S,
                description:
                  'after so long without a word the worker counts as dead, and others get its jobs',
              }),
            },
            {
              additionalProperties: false,
              examples: [{ executor: 'external_worker', kinds: ['send_report'], lease_s: 30 }],
            },
          ),
          response: { 201: Type.Object({ worker: Type.String(), leased_until: Timestamp }), ...refusals },
        },
      },
      async (request, reply) => {
        const { lease_s, name, ...terms } = request.body
        const { worker, leased_until } = await request.transaction(async (client) => {
          const worker = await registerWorker(client, {
            ...terms,
            leaseMs: lease_s * 1000,
            ...(name !== undefined && { name }),
          })
          return { worker, ...(await keepLease(client, worker)) }
        })
        return reply.status(201).send({ worker, leased_until: leased_until.toISOString() })
      },
    )

    api.post(
      '/workers/:id/heartbeat',
      {
        schema: {
          operationId: 'keepLease',
          summary: 'Keep the lease, and hear which of your jobs somebody wants to end',
          description:
            'Once a third of lease_s is right. A lease that has passed is not revived: register again.',
          tags,
          params: OfWorker,
          response: {
            200: Type.Object({
              leased_until: Timestamp,
              cancelled: Type.Array(Type.String(), {
                description: 'stop them and fail them: they end as cancelled',
              }),
            }),
            ...refusals,
          },
        },
      },
      async (request) => {
        const lease = await request.transaction((client) => keepLease(client, request.params.id))
        return { leased_until: lease.leased_until.toISOString(), cancelled: lease.cancelled }
      },
    )

    api.delete(
      '/workers/:id',
      {
        schema: {
          operationId: 'leaveWorker',
          summary: 'End: the lease is over, and what it held is free at once, without an attempt used',
          tags,
          params: OfWorker,
          response: { 204: Type.Null(), ...refusals },
        },
      },
      async (request, reply) => {
        await request.transaction((client) => leaveWorker(client, request.params.id))
        return reply.status(204).send(null)
      },
    )

    await api.register(leaseRoutes(counts))
    await api.register(outcomeRoutes(counts))
  }
}

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listGates } from '../../gates/gates.ts'
import { nullable, problems, Timestamp } from '../responses.ts'

const Gate = Type.Object({
  gate: Type.String(),
  open: Type.Boolean(),
  description: Type.String(),
  changed_at: nullable(Timestamp),
  changed_by: nullable(Type.String()),
})

export const gateRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/gates',
    {
      schema: {
        operationId: 'listGates',
        summary: 'The configuration gates, open or closed',
        description: 'Gates are changed by an administrator of the database: `stagedoor gate open <gate>`.',
        tags: ['gates'],
        response: { 200: Type.Object({ gates: Type.Array(Gate) }), ...problems(401) },
      },
    },
    async (request) => {
      const gates = await request.transaction(listGates)
      return {
        gates: gates.map((gate) => ({ ...gate, changed_at: gate.changed_at?.toISOString() ?? null })),
      }
    },
  )
}

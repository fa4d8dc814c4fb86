/** What an execution gave, or one of its steps: also what is too large for an event. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Pool } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import type { Json } from '../../../executions/playbook/definition.ts'
import { createResults } from '../../../executions/results/tiers.ts'
import { outputOf, readResult, requireExecution } from '../../../executions/shown-executions.ts'
import { stepResult } from '../../../executions/shown-steps.ts'
import { invalidInput } from '../../invalid-input.ts'
import { problems } from '../../responses.ts'
import { ExecutionId } from './shapes.ts'

export interface ResultFiles {
  /** As dot_executor: asked after the caller was let through. */
  readonly pool: Pool
  readonly home: string
}

const Value = Type.Object({ execution_id: Type.String(), value: Type.Unknown() })

export function executionResultRoutes(files: () => ResultFiles): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.setSchemaErrorFormatter(invalidInput)
    api.get(
      '/:id/result',
      {
        schema: {
          operationId: 'getExecutionResult',
          summary: 'What an execution gave, or one of its steps',
          description: 'Also what is kept by reference. 409 until it has ended well.',
          tags: ['executions'],
          params: Type.Object({ id: ExecutionId }),
          querystring: Type.Object(
            {
              step: Type.Optional(
                Type.String({ maxLength: 200, description: 'the entry of this step that ended last' }),
              ),
            },
            { additionalProperties: false },
          ),
          response: { 200: Value, ...problems(400, 401, 404, 409) },
        },
      },
      async (request) => {
        const { id } = request.params
        const { step } = request.query
        const { kept, inDatabase } = await request.transaction(async (client) => {
          const execution = await requireExecution(client, id)
          const given =
            step === undefined ? await outputOf(client, execution) : await stepResult(client, id, step)
          if (given === undefined) throw new StagedoorError('step_unknown', { execution: id, step: step! })
          const found = given as Kept | null
          if (found === null)
            throw new StagedoorError('execution_not_completed', { execution: id, status: execution.status })
          return {
            kept: found,
            inDatabase: found.ref === undefined ? undefined : await readResult(client, found.ref),
          }
        })
        if (kept.ref === undefined) return { execution_id: id, value: kept.value ?? null }
        if (inDatabase!.store_tier === 'db') return { execution_id: id, value: inDatabase!.body }
        const value = await createResults(files()).load({ ref: kept.ref, bytes: kept.bytes ?? 0 })
        return { execution_id: id, value }
      },
    )
  }
}

interface Kept {
  readonly value?: Json
  readonly ref?: string
  readonly bytes?: number
}

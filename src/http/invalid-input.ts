/** Says what is wrong with an input in words that name the place, the unknown property and the choices. */
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { StagedoorError } from '../errors.ts'

export function invalidInput(
  errors: readonly Pick<FastifySchemaValidationError, 'instancePath' | 'message' | 'params'>[],
  where: string,
): StagedoorError {
  const reason = errors.map((error) => describe(error, where)).join('; ')
  return new StagedoorError('request_invalid', { reason })
}

function describe(
  {
    instancePath,
    message,
    params,
  }: Pick<FastifySchemaValidationError, 'instancePath' | 'message' | 'params'>,
  where: string,
): string {
  const place = `${where}${instancePath}`
  if ('additionalProperty' in params) return `${place} has no property ${params.additionalProperty}`
  if (Array.isArray(params.allowedValues)) return `${place} must be one of ${params.allowedValues.join(', ')}`
  return `${place} ${message}`
}

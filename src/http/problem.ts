/** Every error leaves as application/problem+json (RFC 9457) with the catalogue's status and hint. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { asStagedoorError, type ErrorCode, StagedoorError } from '../kernel/errors.ts'
import { mapDatabaseError } from '../kernel/postgres/errors.ts'
import { Type } from '../kernel/schema.ts'
import { hasLargeBody } from './request-limits.ts'

export const Problem = Type.Object(
  {
    type: Type.String({ description: 'names the error; docs/reference/errors.md describes it' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    hint: Type.String({ description: 'what to do about it' }),
    code: Type.String({ description: 'stable code of the error catalogue' }),
    retryable: Type.Boolean(),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'what a program needs to go on, as both hashes and the diff of a unit_version_conflict',
      }),
    ),
    request_id: Type.String(),
  },
  { title: 'Problem' },
)

type Status = 400 | 401 | 403 | 404 | 409 | 413 | 416 | 422 | 429

/** One answer for all of them; the catalogue of errors has the statuses. */
const refused = {
  description: 'refused; `hint` says what to do',
  content: { 'application/problem+json': { schema: Problem } },
}

export function problems(...statuses: Status[]) {
  return Object.fromEntries(statuses.map((status) => [status, refused]))
}

/** Whose details are of the caller's own making, or of what the caller may read. */
const DETAILED: readonly ErrorCode[] = [
  'unit_version_conflict',
  'unit_locked',
  'unit_transition_refused',
  'slice_out_of_range',
  'topic_unknown',
  'profile_core_key',
  'manifest_invalid',
  'repair_refused',
  'plan_conflicts',
  'file_encoding_unknown',
]

export function notFound(request: FastifyRequest): StagedoorError {
  return new StagedoorError('not_found', { what: `${request.method} ${request.url.split('?')[0]}` })
}

export function sendProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asStagedoorError(fromFastify(thrown, request))
  const internal = error.code === 'internal'
  // What is still on its way nobody reads: the connection is of no further use.
  if (request.raw.complete === false && hasLargeBody(request)) reply.header('connection', 'close')
  if (internal) request.log.error({ err: error.cause ?? error }, 'unexpected error')
  return reply
    .status(error.status)
    .type('application/problem+json')
    .send({
      type: `urn:stagedoor:error:${error.code}`,
      title: error.code.replaceAll('_', ' '),
      status: error.status,
      // What went wrong inside stays in the log, next to the request id.
      detail: internal ? 'Something went wrong inside Stagedoor.' : error.message,
      hint: error.apiHint,
      code: error.code,
      retryable: error.retryable,
      ...(DETAILED.includes(error.code) && { details: error.details }),
      request_id: request.id,
    })
}

function fromFastify(thrown: unknown, request: FastifyRequest): unknown {
  if (thrown instanceof StagedoorError) return thrown
  const { code, statusCode, validation, message } = thrown as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new StagedoorError('body_too_large', { limit: request.routeOptions.bodyLimit ?? 0 })
  }
  if (validation || (statusCode !== undefined && statusCode >= 400 && statusCode < 500)) {
    return new StagedoorError('request_invalid', { reason: message })
  }
  return mapDatabaseError(thrown)
}

// Says what is wrong with an input in words that name the place, the unknown property and the choices.

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
  // A part of the path: whoever followed a wrong address reads this.
  if (where === 'params' && params.format === 'uuid')
    return `the ${instancePath.slice(1)} in the address is not a uuid`
  const place = `${where}${instancePath}`
  if ('additionalProperty' in params) return `${place} has no property ${params.additionalProperty}`
  if (Array.isArray(params.allowedValues)) return `${place} must be one of ${params.allowedValues.join(', ')}`
  return `${place} ${message}`
}

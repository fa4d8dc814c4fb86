/** What many routes answer. */
import { Type } from 'typebox'

const REASONS = {
  400: 'the request is not valid',
  401: 'no token, or not a valid one',
  403: 'not allowed',
  404: 'not there',
  409: 'in conflict with the present state',
  413: 'larger than the limit',
  416: 'the range is not within the bytes',
  422: 'understood, but it cannot be done with this content',
  429: 'too much at once',
}

export function problems(...statuses: (keyof typeof REASONS)[]) {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: REASONS[status],
        content: { 'application/problem+json': { schema: Type.Ref('Problem') } },
      },
    ]),
  )
}

export const Timestamp = Type.String({ format: 'date-time' })
export const nullable = <T extends ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()])

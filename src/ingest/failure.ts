/** What is kept with an upload that could not be read or planned. */
import { asStagedoorError, type ErrorDetails } from '../errors.ts'

export interface Failure {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly details?: ErrorDetails
}

/** What is not one of our errors may quote a path or a cell, in its message and in its details; the log has it. */
export function failureOf(thrown: unknown, what: 'read' | 'planned'): Failure {
  const { code, message, hint, details } = asStagedoorError(thrown)
  if (code !== 'internal') return { code, message, hint, details }
  return { code, message: `Something went wrong inside Stagedoor while this file was ${what}.`, hint }
}

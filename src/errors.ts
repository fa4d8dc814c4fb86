/** Errors that a person can act on; `catalogue.ts` lists them all. */
import { CATALOGUE, type ErrorSpec } from './catalogue.ts'

export type ErrorCode = keyof typeof CATALOGUE
export type ErrorDetails = Record<string, string | number | boolean | null | readonly string[]>

const specs: Record<ErrorCode, ErrorSpec> = CATALOGUE

interface ErrorOptions {
  cause?: unknown
  /** Replaces the catalogue's text, for errors whose words come from the database. */
  message?: string
  hint?: string
}

/** An error that a person can act on. Everything that leaves a module is one, or it is a bug. */
export class StagedoorError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly hint: string
  /** The same for somebody who has the API and no command line. */
  readonly apiHint: string
  readonly status: number
  readonly exitCode: number
  readonly retryable: boolean

  constructor(code: ErrorCode, details: ErrorDetails = {}, options: ErrorOptions = {}) {
    const spec = specs[code]
    super(options.message ?? fill(spec.message, details), { cause: options.cause })
    this.name = 'StagedoorError'
    this.code = code
    this.details = details
    this.hint = options.hint ?? fill(spec.hint, details)
    this.apiHint = options.hint ?? fill(spec.apiHint ?? spec.hint, details)
    this.status = spec.status
    this.exitCode = spec.exit
    this.retryable = spec.retryable
  }
}

const bySqlstate = new Map<string, ErrorCode>(
  (Object.keys(specs) as ErrorCode[]).flatMap((code) =>
    (specs[code].sqlstates ?? []).map((sqlstate) => [sqlstate, code] as const),
  ),
)

export function codeOfSqlstate(sqlstate: string): ErrorCode | undefined {
  return bySqlstate.get(sqlstate)
}

/** What is thrown may be anything; from here on it is a StagedoorError. */
export function asStagedoorError(thrown: unknown): StagedoorError {
  if (thrown instanceof StagedoorError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new StagedoorError('internal', { reason }, { cause: thrown })
}

/** Anything can be thrown: an object without a prototype has no text, and a getter may throw in its turn. */
export function textOfThrown(thrown: unknown, textOf: (error: Error) => string): string {
  try {
    return thrown instanceof Error ? textOf(thrown) : String(thrown)
  } catch {
    return `it threw a value of the type ${typeof thrown} that has no text`
  }
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = details[name]
    if (Array.isArray(value)) return value.join(', ')
    return value === undefined || value === null ? '' : String(value)
  })
}

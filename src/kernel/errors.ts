/** Errors that a person can act on; `catalogue.ts` lists them all. */
import { CATALOGUE, type ErrorSpec } from './catalogue.ts'

export type ErrorCode = keyof typeof CATALOGUE
export type ErrorDetails = Record<
  string,
  string | number | boolean | null | readonly string[] | readonly object[]
>

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
  /** The same hint for users of the API. */
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

/** Converts any thrown value to a StagedoorError. */
export function asStagedoorError(thrown: unknown): StagedoorError {
  if (thrown instanceof StagedoorError) return thrown
  return new StagedoorError('internal', { reason: textOfThrown(thrown) }, { cause: thrown })
}

/** The text of any thrown value: by default the message of an error. Never throws: `String()` fails for an object without a prototype, and a getter may throw. */
export function textOfThrown(thrown: unknown, textOf = (error: Error) => error.message): string {
  try {
    return thrown instanceof Error ? textOf(thrown) : String(thrown)
  } catch {
    return `a thrown value of type ${typeof thrown} that cannot be shown as text`
  }
}

/** `{name}` is filled from the details. */
export function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = details[name]
    if (Array.isArray(value)) return value.join(', ')
    return value === undefined || value === null ? '' : String(value)
  })
}

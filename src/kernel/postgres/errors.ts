/** Maps errors of the driver and of PostgreSQL to errors of the catalogue. Nothing else does. */
import pg from 'pg'
import { codeOfSqlstate, type ErrorDetails, StagedoorError } from '../errors.ts'

/** SQLSTATEs of a server that is temporarily unavailable. */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '08006', '08001', '53300'])

/** Maps what a connection attempt threw. The message shows `url` without its password. */
export function mapConnectionError(error: unknown, url?: string): unknown {
  if (error instanceof StagedoorError || !(error instanceof Error)) return error
  if (error instanceof pg.DatabaseError && !UNAVAILABLE.has(error.code ?? ''))
    return mapDatabaseError(error, url)
  const { code } = error as { code?: string }
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined
  const reason = error.message || first?.message || code || 'it does not answer'
  return new StagedoorError('database_unreachable', { target: describeTarget(url), reason }, { cause: error })
}

/** Maps what a statement threw. Returns errors that are not the database's unchanged. */
export function mapDatabaseError(error: unknown, url?: string): unknown {
  if (!(error instanceof pg.DatabaseError)) return error
  const state = error.code ?? ''
  // "Failing row contains (…)" shows data of users, which must not be logged.
  if (state.startsWith('23')) error.detail = undefined
  const target = describeTarget(url)
  if (UNAVAILABLE.has(state)) {
    return new StagedoorError('database_unreachable', { target, reason: error.message }, { cause: error })
  }
  if (state === '23514' && error.table === 'event_outbox') {
    return new StagedoorError('event_partition_missing', {}, { cause: error })
  }
  if (state === '23514' && error.table === 'job_history' && error.constraint === undefined) {
    return new StagedoorError('job_partition_missing', {}, { cause: error })
  }
  const code = codeOfSqlstate(state)
  if (code === undefined) return error
  if (!state.startsWith('SD')) {
    return new StagedoorError(code, { reason: error.message, target }, { cause: error })
  }
  // Raised by our SQL: message and details come from the database; the catalogue adds status, exit code and hint.
  return new StagedoorError(code, parseDetails(error.detail), {
    cause: error,
    message: error.message,
    ...(error.hint && { hint: error.hint }),
  })
}

function parseDetails(detail: string | undefined): ErrorDetails {
  if (!detail?.startsWith('{')) return {}
  try {
    return JSON.parse(detail) as ErrorDetails
  } catch {
    return {}
  }
}

function describeTarget(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'the database'
  const { hostname, port, pathname } = new URL(url)
  return `${hostname || 'localhost'}:${port || 5432}${pathname}`
}

// Transient errors: a retry of the same statement may succeed.

/** Classes: connection, insufficient resources, shutdown of the server. Codes: serialization failure, deadlock, lock timeout. */
const CLASSES = new Set(['08', '53', '57', '58'])
const STATES = new Set(['40001', '40P01', '55P03'])

/** The error is the connection's, not the server's: it is unknown whether the statement was executed. */
export function isConnectionError(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || CLASSES.has(error.code?.slice(0, 2) ?? '')
}

export function isTransient(error: unknown): boolean {
  return (
    isConnectionError(error) ||
    STATES.has((error as pg.DatabaseError).code ?? '') ||
    isWithoutPartition(error)
  )
}

/** A table has no partition for today: the next maintenance of any process creates one. */
function isWithoutPartition(error: unknown): boolean {
  const { code, constraint } = error as pg.DatabaseError
  return code === '23514' && constraint === undefined
}

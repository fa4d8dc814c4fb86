/** The one place where what the driver throws becomes an error of the catalogue. */
import pg from 'pg'
import { codeOfSqlstate, type ErrorCode, type ErrorDetails, StagedoorError } from '../errors.ts'

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  '57P01', // admin shutdown
  '57P02', // crash shutdown
  '57P03', // cannot connect now
  '08006',
  '08001',
  '53300', // too many connections
])

/** Anything that is not a database error is handed back as it is. `url` is only named without its password. */
export function mapDatabaseError(error: unknown, url?: string): unknown {
  if (error instanceof StagedoorError || !(error instanceof Error)) return error
  const state = (error as { code?: string }).code ?? ''
  const target = url ? describeTarget(url) : 'the database'
  if (UNREACHABLE.has(state) || isConnectionLoss(error)) {
    const reason = error.message || (error instanceof AggregateError && String(error.errors[0])) || state
    return new StagedoorError('database_unreachable', { target, reason }, { cause: error })
  }
  if (!(error instanceof pg.DatabaseError)) return error
  if (state === '23514' && error.table === 'event_outbox') {
    return new StagedoorError('event_partition_missing', {}, { cause: error })
  }
  const code = codeOfSqlstate(state)
  if (code === undefined) return error
  return mapped(code, state, error, target)
}

function mapped(code: ErrorCode, state: string, error: pg.DatabaseError, target: string): StagedoorError {
  if (!state.startsWith('SD')) {
    return new StagedoorError(code, { reason: error.message, target }, { cause: error })
  }
  // Ours: the words and the details are the database's, the catalogue adds status, exit code and hint.
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

function isConnectionLoss(error: Error): boolean {
  // The driver reports these without a code.
  return (
    error.message === 'Connection terminated unexpectedly' ||
    error.message === 'Connection terminated' ||
    error.message === 'timeout expired' ||
    error.message === 'Connection terminated due to connection timeout'
  )
}

function describeTarget(url: string): string {
  if (!URL.canParse(url)) return 'the given address'
  const { hostname, port, pathname } = new URL(url)
  return `${hostname || 'localhost'}:${port || 5432}${pathname}`
}

/** The one place where what the driver throws becomes an error of the catalogue. */
import pg from 'pg'
import { codeOfSqlstate, type ErrorDetails, StagedoorError } from '../errors.ts'

/** SQLSTATEs with which a server says that it cannot be used just now. */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '08006', '08001', '53300'])

/** What a connection attempt threw. `url` is named without its password. */
export function mapConnectionError(error: unknown, url?: string): unknown {
  if (error instanceof StagedoorError || !(error instanceof Error)) return error
  if (error instanceof pg.DatabaseError && !UNAVAILABLE.has(error.code ?? ''))
    return mapDatabaseError(error, url)
  const { code } = error as { code?: string }
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined
  const reason = error.message || first?.message || code || 'it does not answer'
  return new StagedoorError('database_unreachable', { target: describeTarget(url), reason }, { cause: error })
}

/** What a statement threw. Anything that is not the database's is handed back as it is: it is the caller's own. */
export function mapDatabaseError(error: unknown, url?: string): unknown {
  if (!(error instanceof pg.DatabaseError)) return error
  const state = error.code ?? ''
  // "Failing row contains (…)": values of people's, which no log may hold.
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

function describeTarget(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'the database'
  const { hostname, port, pathname } = new URL(url)
  return `${hostname || 'localhost'}:${port || 5432}${pathname}`
}

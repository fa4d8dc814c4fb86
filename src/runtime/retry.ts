/** Repeats what must come through while the database, or the store of results, is unavailable. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StagedoorError } from '../kernel/errors.ts'
import { isTransient } from '../kernel/postgres/errors.ts'

const RETRY_MS = 300
const MAX_RETRY_MS = 60_000
/** The database does not answer, or all sessions for it are taken. */
const UNAVAILABLE = new Set<string>(['database_unreachable', 'pool_exhausted'])

/** Throws at once any other error than an outage, and every error after a minute or when nobody wants the answer any more. */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  isWanted: () => boolean = () => true,
): Promise<T> {
  for (const began = performance.now(); ; ) {
    try {
      return await work()
    } catch (error) {
      if (!isWanted() || !isUnavailable(error) || performance.now() - began > MAX_RETRY_MS) throw error
      await delay(RETRY_MS * (0.5 + Math.random()))
    }
  }
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isTransient(error)
  if (error instanceof StagedoorError)
    return UNAVAILABLE.has(error.code) || (error.retryable && error.code.startsWith('store_'))
  if (error instanceof TypeError || error instanceof SyntaxError) return false
  const { code, retryable } = error as { code?: string; retryable?: boolean }
  // An error of a tool, which decides itself about another attempt.
  if (retryable !== undefined) return false
  // The driver has no code for a connection that broke.
  return code === undefined || /^(ECONN|EPIPE|ETIMEDOUT|EHOST)/.test(code)
}

/**
 * While the database is away each loop of a process (worker, dispatcher, engine, maintenance, search) says so several times a second,
 * with a stack. One line a second for all of them will do: one log of this kind a process.
 */
import pg from 'pg'
import type { Logger } from 'pino'
import { isConnectionError } from '../db/transient.ts'
import { StagedoorError } from '../errors.ts'

const EVERY_MS = 1000

/** The same log; only warnings and errors of that kind are counted instead of written, all but one a second. */
export function outageLog(log: Logger, clock: () => number = () => performance.now()): Logger {
  let saidAt = Number.NEGATIVE_INFINITY
  let passed = 0
  const write = (level: 'warn' | 'error', given: readonly unknown[]): void => {
    const { err } = (given[0] ?? {}) as { err?: unknown }
    if (err === undefined || !isAway(err)) {
      ;(log[level] as (...line: unknown[]) => void)(...given)
      return
    }
    passed += 1
    if (clock() - saidAt < EVERY_MS) return
    saidAt = clock()
    const reason = (err as Error).message
    log.warn(
      { reason, warnings: passed },
      'the database is away; what is done is kept, and written when it is back',
    )
    passed = 0
  }
  // What handlers write goes its own way.
  return Object.create(log, {
    warn: { value: (...given: unknown[]) => write('warn', given) },
    error: { value: (...given: unknown[]) => write('error', given) },
    child: { value: log.child.bind(log) },
  })
}

function isAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isConnectionError(error)
  if (error instanceof StagedoorError) return error.code === 'database_unreachable'
  const { code, message } = error as { code?: string; message?: string }
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST)/.test(code ?? '') ||
    /^Connection terminated|^timeout exceeded/.test(message ?? '')
  )
}

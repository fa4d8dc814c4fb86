/** The log of a process: lines for people in a terminal, JSON lines for machines everywhere else. */

import pg from 'pg'
import pino, { type Logger } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { isConnectionError } from '../kernel/postgres/errors.ts'

export function createLog(
  { logLevel: level, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  isTerminal = process.stderr.isTTY === true,
  destination: pino.DestinationStream = pino.destination(2),
): Logger {
  const redact = ['req.headers.authorization']
  if (logFormat === 'json' || (logFormat === 'auto' && !isTerminal))
    return pino({ level, redact }, destination)
  const debugging = level === 'debug' || level === 'trace'
  const forPeople = pretty({
    destination,
    colorize: isTerminal && process.env.NO_COLOR === undefined,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    // People see the message of an error; its stack is shown at the levels debug and trace.
    ignore: debugging ? 'pid,hostname' : 'pid,hostname,err',
    ...(!debugging && { messageFormat: withReason }),
  })
  return pino({ level, redact }, forPeople)
}

function withReason(line: Record<string, unknown>, messageKey: string): string {
  const reason = (line.err as { message?: unknown } | undefined)?.message
  return [line[messageKey], reason].filter((part) => part !== undefined).join(': ')
}

const OUTAGE_LOG_INTERVAL_MS = 1000

/**
 * The same log, with one line a second about an outage of the database. Each loop of a process (worker, dispatcher, engine,
 * maintenance, search) would write several, with a stack: they are counted instead. One log of this kind a process.
 */
export function throttleOutageLog(log: Logger, clock: () => number = () => performance.now()): Logger {
  let writtenAt = Number.NEGATIVE_INFINITY
  let warnings = 0
  const write = (level: 'warn' | 'error', line: readonly unknown[]): void => {
    const { err } = (line[0] ?? {}) as { err?: unknown }
    if (err === undefined || !isDatabaseUnavailable(err)) {
      ;(log[level] as (...line: unknown[]) => void)(...line)
      return
    }
    warnings += 1
    if (clock() - writtenAt < OUTAGE_LOG_INTERVAL_MS) return
    writtenAt = clock()
    const reason = (err as Error).message
    log.warn({ reason, warnings }, 'the database is away; what is done is kept, and written when it is back')
    warnings = 0
  }
  // Handlers write to a child log, which is not throttled.
  return Object.create(log, {
    warn: { value: (...line: unknown[]) => write('warn', line) },
    error: { value: (...line: unknown[]) => write('error', line) },
    child: { value: log.child.bind(log) },
  })
}

function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isConnectionError(error)
  if (error instanceof StagedoorError) return error.code === 'database_unreachable'
  const { code, message } = error as { code?: string; message?: string }
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST)/.test(code ?? '') ||
    /^Connection terminated|^timeout exceeded|^Client has encountered a connection error/.test(message ?? '')
  )
}

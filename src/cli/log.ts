/** The log of a process: lines for people in a terminal, JSON lines for machines everywhere else. */
import pino, { type Logger } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from '../config.ts'

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
    // An error is its message here; its stack is for those who look for a bug.
    ignore: debugging ? 'pid,hostname' : 'pid,hostname,err',
    ...(!debugging && { messageFormat: withReason }),
  })
  return pino({ level, redact }, forPeople)
}

function withReason(line: Record<string, unknown>, messageKey: string): string {
  const reason = (line.err as { message?: unknown } | undefined)?.message
  return [line[messageKey], reason].filter((part) => part !== undefined).join(': ')
}

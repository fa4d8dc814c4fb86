/** Something of the database that must come through: what it does not answer now is asked again. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isTransient } from '../../db/transient.ts'
import { StagedoorError } from '../../errors.ts'
import { ToolError } from '../tool.ts'

const RETRY_MS = 300
const MOST_MS = 60_000

/** Throws at once what is not the connection's fault, and everything after a minute. */
export async function patiently<T>(ask: () => Promise<T>, isWanted: () => boolean = () => true): Promise<T> {
  for (const began = performance.now(); ; ) {
    try {
      return await ask()
    } catch (error) {
      if (!isWanted() || !isAway(error) || performance.now() - began > MOST_MS) throw error
      await delay(RETRY_MS * (0.5 + Math.random()))
    }
  }
}

function isAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isTransient(error)
  if (error instanceof StagedoorError) return error.code === 'database_unreachable'
  if (error instanceof ToolError || error instanceof TypeError || error instanceof SyntaxError) return false
  const { code } = error as { code?: string }
  return code === undefined || /^(ECONN|EPIPE|ETIMEDOUT|EHOST)/.test(code)
}

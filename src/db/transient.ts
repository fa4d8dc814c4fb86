/** Which errors of our own statements go away by themselves. */
import pg from 'pg'

/** Classes: connection, not enough resources, the operator restarts the server. Then: serialisation, deadlock, lock timeout. */
const CLASSES = new Set(['08', '53', '57', '58'])
const STATES = new Set(['40001', '40P01', '55P03'])

/** What the server did not say itself is the connection's. Then it is not known whether the statement counted. */
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

/** A table has no partition for today: it has one again as soon as anybody's maintenance runs. */
function isWithoutPartition(error: unknown): boolean {
  const { code, constraint } = error as pg.DatabaseError
  return code === '23514' && constraint === undefined
}

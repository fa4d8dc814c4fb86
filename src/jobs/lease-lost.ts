import pg from 'pg'

/** The lease of this worker has passed: it must register again. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'SD703'
}

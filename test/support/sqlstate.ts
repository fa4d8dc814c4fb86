/** The SQLSTATE with which the database refused, whether the error was mapped to the catalogue or not. */
import pg from 'pg'

export async function sqlstateOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (thrown) {
    for (let error = thrown; error instanceof Error; error = error.cause) {
      if (error instanceof pg.DatabaseError) return error.code ?? 'no SQLSTATE'
    }
    throw thrown
  }
  return 'not refused'
}

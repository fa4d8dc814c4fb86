/** The database's word for: this shard, or this engine's whole lease, belongs to somebody else now. */
import pg from 'pg'

export function isFenced(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'SD805'
}

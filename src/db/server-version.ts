import type pg from 'pg'
import { StagedoorError } from '../errors.ts'

const OLDEST = 150000

/** Refuses a server that is too old before anything is read or changed. */
export async function assertSupported(client: pg.Client, url: string): Promise<number> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  )
  const { number, version } = rows[0]!
  if (number < OLDEST) {
    const { hostname, port } = new URL(url)
    throw new StagedoorError('postgres_too_old', { target: `${hostname}:${port || 5432}`, version })
  }
  return number
}

/**
 * Is there a pooler between us and the server that gives every transaction another session? LISTEN, advisory
 * locks and SET do not survive that, so migrations, workers and notifications must go around it.
 */
import pg from 'pg'
import { mapDatabaseError } from '../database-error.ts'
import type { Finding } from './finding.ts'

/** `unknown`: no second session was to be had. */
export type Pooling = 'none' | 'session' | 'transaction' | 'unknown'

/** A busy pool may hand out sessions that look like ours for a while, but not this often. */
const ROUNDS = 5
/** A pool with nothing left makes us wait. */
const PATIENCE_MS = 5_000

/**
 * Two open clients have two sessions, and each keeps its own. A pooler of transactions shows the same session to
 * both, or another one to the same. One of sessions tells a process id of its own making when we connect.
 */
export async function detectPooling(url: string): Promise<Pooling> {
  const clients = [probe(url), probe(url)]
  try {
    for (const client of clients) await client.connect()
    const owners = new Map<number, pg.Client>()
    let announced = true
    for (let round = 0; round < ROUNDS; round++) {
      for (const client of clients) {
        const pid = await backendOf(client)
        if (pid === undefined) return 'unknown'
        if ((owners.get(pid) ?? client) !== client) return 'transaction'
        owners.set(pid, client)
        announced &&= pid === announcedPid(client)
      }
      if (owners.size > clients.length) return 'transaction'
      if (announced) return 'none'
    }
    return 'session'
  } catch (error) {
    throw mapDatabaseError(error, url)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

export function poolerFinding(url: string): Finding {
  const { hostname, port } = new URL(url)
  return {
    kind: 'pooler',
    object: `endpoint ${hostname}:${port || 5432}`,
    problem:
      'is a pooler in transaction mode: migrations, LISTEN and workers need a session that stays the same',
    remedy: 'Set DATABASE_DIRECT_URL to the address of the server itself, or of a pooler in session mode.',
  }
}

function probe(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'stagedoor doctor',
  })
  client.on('error', () => {})
  return client
}

/** Undefined: nobody answered in time, because others have all the sessions. */
async function backendOf(client: pg.Client): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, undefined)
  })
  const answer = client.query<{ pid: number }>('select pg_backend_pid() as pid')
  try {
    return (await Promise.race([answer, patience]))?.rows[0]?.pid
  } finally {
    clearTimeout(timer)
    // The client is closed under a question that nobody waits for any more.
    answer.catch(() => {})
  }
}

/** What the other end said when we connected; the driver's types do not list it. */
function announcedPid(client: pg.Client): number | undefined {
  return (client as unknown as { processID?: number }).processID
}

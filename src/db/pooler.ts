/**
 * Is there a pooler between us and the server that gives every transaction another session? LISTEN, advisory
 * locks and SET do not survive that, so migrations, workers and notifications must go around it.
 */
import pg from 'pg'
import { StagedoorError } from '../errors.ts'
import { mapConnectionError } from './database-error.ts'

/** `unknown`: no second session was to be had. */
export type Pooling = 'none' | 'session' | 'transaction' | 'unknown'

/** A busy pool may hand out sessions that look like ours for a while, but not this often. */
const ROUNDS = 5
/** A pool with nothing left makes us wait. */
const PATIENCE_MS = 5_000
/** The server, the database or the login has no connection left. */
const TOO_MANY = '53300'

/** For what keeps a lock, a role or a LISTEN in its session: through such a pooler it might wait for ever. */
export async function refuseTransactionPooler(url: string): Promise<void> {
  if ((await detectPooling(url)) === 'transaction') {
    throw new StagedoorError('pooler_refused', { target: endpointOf(url) })
  }
}

/** `host:port`, without login and password. */
export function endpointOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname || 'localhost'}:${port || 5432}`
}

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
    if ((error as { code?: string }).code === TOO_MANY) return 'unknown'
    throw mapConnectionError(error, url)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

function probe(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'stagedoor probe',
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

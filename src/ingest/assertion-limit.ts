/**
 * The time that an assertion of a dataset has. PostgreSQL arms its timers for whole statements, and an assertion is a part of a plan or of a
 * promotion. So the session says in notices which assertion it begins and when it ends, and one that takes longer is cancelled by another
 * session: fn_ingest_assertions catches that, and names the assertion.
 */
import pg from 'pg'
import type { Queryable } from '../kernel/postgres/connection.ts'

/** What fn_ingest_assertions sends. */
const NOTICE = 'stagedoor: assertion'
/** The session holds this lock, with its process id as the second number, exactly while an assertion is checked. */
const LOCK = 20_059
/** A cancellation that could not be sent is sent again. */
const RETRY_MS = 2_000
/** The plan or the promotion waits for a cancellation that is under way, also when it has ended itself. */
const CANCEL_TIMEOUT_MS = 5_000

interface RunningAssertion {
  readonly backend: number
  readonly seconds: number
}

export async function withinAssertionLimit<T>(db: Queryable, work: () => Promise<T>): Promise<T> {
  if (!isSession(db)) return work()
  let timer: NodeJS.Timeout | undefined
  let running: RunningAssertion | null = null
  let cancelling: Promise<unknown> = Promise.resolve()
  const cancel = async (late: RunningAssertion): Promise<void> => {
    await cancelAssertion(db, late.backend, () => running === late)
    if (running === late) timer = setTimeout(endLate, RETRY_MS, late)
  }
  const endLate = (late: RunningAssertion): void => {
    // That of an assertion before it may still be under way.
    cancelling = Promise.all([cancelling, cancel(late)])
  }
  const listener = ({ message, detail }: { message?: string | undefined; detail?: string | undefined }) => {
    if (message !== NOTICE) return
    clearTimeout(timer)
    running = JSON.parse(detail ?? 'null') as RunningAssertion | null
    if (running) timer = setTimeout(endLate, running.seconds * 1000, running)
  }
  db.on('notice', listener)
  try {
    return await work()
  } finally {
    running = null
    clearTimeout(timer)
    db.off('notice', listener)
    // The session is about to be somebody else's: no cancellation may come after this.
    await cancelling
  }
}

/** A session of the driver, whose settings another one can have. */
type Session = pg.ClientBase & { readonly connectionParameters: pg.ClientConfig }

function isSession(db: Queryable): db is Session {
  return 'connectionParameters' in db && 'on' in db
}

/** A login may cancel what it runs itself. While the connection was opened the assertion may have ended: then nothing is cancelled. */
async function cancelAssertion(
  { connectionParameters }: Session,
  backend: number,
  isRunning: () => boolean,
): Promise<void> {
  // Not a copy: the password is no property that a copy would have.
  const settings: pg.ClientConfig = Object.assign(Object.create(connectionParameters), {
    connectionTimeoutMillis: CANCEL_TIMEOUT_MS,
    query_timeout: CANCEL_TIMEOUT_MS,
  })
  const other = new pg.Client(settings)
  other.on('error', () => {})
  try {
    await other.connect()
    if (!isRunning()) return
    await other.query(
      `select pg_cancel_backend(pid) from pg_locks
        where locktype = 'advisory' and classid = $1::integer::oid and objid = $2::integer::oid and pid = $2 and granted`,
      [LOCK, backend],
    )
  } catch {
    // Tried again until the assertion has ended.
  } finally {
    await other.end().catch(() => {})
  }
}

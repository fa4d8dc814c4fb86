/**
 * Which history of the database a session sees: the system identifier of its server and the timeline. A failover to a replica begins
 * another timeline, a restore may bring another server. Commits of the end may be missing then, and transaction ids and ids of
 * sequences are used again: whatever a process derived from the former history and has in memory is wrong. A failover breaks
 * direct sessions, so it is enough to ask once a session.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { StagedoorError } from '../errors.ts'

/** Why a lease ends when its database has another history. */
export const OTHER_HISTORY = 'the database has another history'

export interface OtherHistory {
  readonly before: string
  readonly now: string
}

/**
 * The control file says the new timeline only after the first checkpoint of the new primary; the name of the WAL file says it at
 * once. A standby writes no WAL and has no such name.
 */
const WHICH_HISTORY = `
  select system_identifier || '/' || case when pg_is_in_recovery() then 'standby'
           else left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end as history
    from pg_control_system()`
const STANDBY = /\/standby$/

const historyOfSession = new WeakMap<object, string>()

/** `<system identifier>/<timeline>`; undefined where the server does not tell, as some managed ones. */
export function historyOf(client: object): string | undefined {
  return historyOfSession.get(client)
}

/** The identifier of a server, which its replicas share. Undefined where it does not tell, as some managed ones. */
export async function systemIdentifier(db: Pick<pg.ClientBase, 'query'>): Promise<string | undefined> {
  try {
    const { rows } = await db.query<{ id: string }>(
      'select system_identifier::text as id from pg_control_system()',
    )
    return rows[0]!.id
  } catch (error) {
    if ((error as { code?: unknown }).code === INSUFFICIENT_PRIVILEGE) return undefined
    throw error
  }
}

const INSUFFICIENT_PRIVILEGE = '42501'

/** The history that the sessions of a pool see, and who must know when it becomes another one. */
export class PoolHistory {
  private known: string | undefined
  private changes = 0
  private readonly listeners = new Set<(change: OtherHistory) => void>()

  /** Grows with every change: whoever asked for a session before one must not get one of after it. */
  get generation(): number {
    return this.changes
  }

  get isWatched(): boolean {
    return this.listeners.size > 0
  }

  watch(listener: (change: OtherHistory) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** The session was opened before the history became another one. */
  isFormer(client: object): boolean {
    const own = historyOf(client)
    return own !== undefined && this.known !== undefined && own !== this.known
  }

  /** Asks a new session. All listeners have been called before anybody can use it. */
  async examine(client: pg.ClientBase): Promise<void> {
    const history = await client.query<{ history: string }>(WHICH_HISTORY).then(
      ({ rows }) => rows[0]!.history,
      (error) => {
        // Refused or not known there: the log itself still refuses a gap. A broken session is found by its first statement.
        if (typeof (error as { code?: unknown }).code === 'string') return undefined
        throw error
      },
    )
    if (history === undefined) return
    historyOfSession.set(client, history)
    // A session outlives the promotion of its standby, and would then write without having been asked.
    if (STANDBY.test(history)) {
      if (this.isWatched) throw unreachable('the server is a standby')
      return
    }
    const before = this.known
    this.known = history
    if (before === undefined || before === history) return
    this.changes++
    for (const listener of this.listeners) listener({ before, now: history })
  }
}

/**
 * Tells the database: the first process opens an issue for people and ends all leases, because what was completed under them may be
 * lost. Called before a process registers again.
 */
export async function announceHistory(
  db: Pick<pg.ClientBase, 'query'>,
  log: Logger,
  { before, now }: OtherHistory,
): Promise<void> {
  await db.query('select iu_core.fn_database_history_announce($1, $2)', [before, now])
  log.warn(
    { before, now },
    'the database continues from another history, after a failover or a restore; what was in memory is read again',
  )
}

/** Nothing is wrong with the database: the same call succeeds when it is made again, by whoever still wants it. */
export function otherHistory(): StagedoorError {
  return unreachable('it continues from another history than before, after a failover or a restore')
}

function unreachable(reason: string): StagedoorError {
  return new StagedoorError('database_unreachable', { target: 'the database', reason })
}

/**
 * The processes that work on a database: each has a row with its host, version and roles, and sends a heartbeat every few seconds. Servers learn from
 * it how many share the rate limits, people see who does what, and two servers whose tokens differ are refused.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { type Pool, type Queryable, withClient } from '../kernel/postgres/connection.ts'
import { columnsOf, type Row, shape, Text, Timestamp, TimestampOrNull, Type } from '../kernel/schema.ts'
import { VERSION } from '../kernel/version.ts'
import { PeriodicTasks } from '../runtime/periodic-tasks.ts'

export const ProcessRole = Type.Enum([
  'server',
  'worker',
  'engine',
  'dispatcher',
  'search',
  'maintenance',
  'gateway',
])
export type ProcessRole = Row<typeof ProcessRole>

export const Process = shape('Process', {
  process_id: Text,
  host: Text,
  pid: Type.Integer(),
  version: Text,
  roles: Type.Array(ProcessRole),
  started_at: Timestamp,
  seen_at: Timestamp,
  draining_at: TimestampOrNull,
  is_alive: Type.Boolean({ description: 'false: silent for more than 20 seconds' }),
})
export type Process = Row<typeof Process>

/** The processes that ran in the last ten minutes. For whoever operates a workspace. */
export async function listProcesses(db: Queryable): Promise<Process[]> {
  const { rows } = await db.query<Process>(`select ${columnsOf(Process)} from iu_core.fn_processes()`)
  return rows
}

/** What tokens a server signs and accepts. */
export interface TokenSecrets {
  readonly signing: string | undefined
  /** The former secret, which is accepted as well while the secret is changed. */
  readonly other?: string | undefined
}

/** This process in the registry of one database. */
export interface RegisteredProcess {
  readonly id: string
  /** How many servers share the rate limits, this one included; at least 1. */
  readonly servers: number
  /** Adds the roles of a further part of this process. The returned function removes them. */
  join(roles: readonly ProcessRole[]): Promise<() => Promise<void>>
  /** Other servers take over: from now on this one does not count among those that share the rate limits. */
  drain(): Promise<void>
  /** Sends heartbeats on a session of this pool from now on. */
  beat(pool: Pool): void
  leave(): Promise<void>
}

interface RegistryOptions {
  readonly url: string
  readonly roles: readonly ProcessRole[]
  /** Of a server. */
  readonly tokens?: TokenSecrets | undefined
  readonly log: Logger
  readonly beatMs?: number
}

const BEAT_MS = 5_000
const MAX_WAIT_MS = 3_000

/** Throws `token_secret_differs` where a live server of this database would refuse our tokens, or we would refuse its. */
export async function registerProcess({
  url,
  roles,
  tokens,
  log,
  beatMs = BEAT_MS,
}: RegistryOptions): Promise<RegisteredProcess> {
  const id = randomUUID()
  const fingerprints = tokens && fingerprintsOf(tokens)
  const beats = new PeriodicTasks(log)
  const parts = new Set([roles])
  let servers = 1
  let draining = false

  const register = (db: Queryable): Promise<unknown> =>
    db.query('select iu_core.fn_process_register($1, $2, $3, $4, $5, $6, $7)', [
      id,
      hostname() || 'unknown',
      process.pid,
      VERSION,
      [...new Set([...parts].flat())],
      fingerprints?.signsWith ?? null,
      fingerprints?.accepts ?? [],
    ])
  const beat = async (db: Queryable): Promise<void> => {
    const { rows } = await db.query<{ known: boolean; servers: number }>(
      'select known, servers from iu_core.fn_process_heartbeat($1, $2)',
      [id, draining],
    )
    const [answer] = rows
    servers = Math.max(answer!.servers, 1)
    // Others took its row for that of a dead process: it was frozen or cut off for minutes.
    if (!answer!.known) await register(db)
  }
  const onOwnSession = (work: (db: Queryable) => Promise<unknown>) =>
    withClient(url, work, { role: 'dot_executor', purpose: 'process' })

  await onOwnSession(async (client) => {
    await register(client)
    await beat(client)
  })
  let beatNow = () => onOwnSession(beat)
  const registerAgain = () =>
    withinLimit(onOwnSession(register), 'the roles of the process could not be written')
  /** Without the database the row is left to the others, who take it for dead after 20 s: a process that stops does not wait for that. */
  const withinLimit = async (work: Promise<unknown>, failed: string): Promise<void> => {
    const limit = AbortSignal.timeout(MAX_WAIT_MS)
    await Promise.race([work, once(limit, 'abort')]).catch((error: unknown) =>
      log.debug({ err: error }, failed),
    )
  }
  return {
    id,
    get servers() {
      return servers
    },
    async join(more) {
      const part = [...more]
      parts.add(part)
      await registerAgain()
      return async () => {
        parts.delete(part)
        await registerAgain()
      }
    },
    async drain() {
      draining = true
      await withinLimit(beatNow(), 'the drain could not be announced')
    },
    beat(pool) {
      beatNow = () => beat(pool)
      beats.every(beatMs, () => beatNow())
    },
    async leave() {
      await withinLimit(beats.stop(), 'a heartbeat did not end')
      const leaving = onOwnSession((client) => client.query('select iu_core.fn_process_leave($1)', [id]))
      await withinLimit(leaving, 'the process could not leave the registry')
    },
  }
}

/** Digests keyed by the secrets themselves: equal secrets have equal digests, and a digest says nothing else. */
function fingerprintsOf({ signing, other }: TokenSecrets): { signsWith: string; accepts: string[] } {
  const signsWith = fingerprint(signing ?? '')
  return { signsWith, accepts: [signsWith, ...(other === undefined ? [] : [fingerprint(other)])] }
}

function fingerprint(secret: string): string {
  return createHmac('sha256', secret).update('stagedoor token secret').digest('hex').slice(0, 32)
}

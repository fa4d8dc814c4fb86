/**
 * Reads from a replica (DATABASE_READ_URL) that see what their caller wrote. The answer to a write says how far the log of the primary is;
 * the caller sends that back, and the replica answers once it has replayed so much. Where it has not, is broken, or far behind, the primary
 * answers.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { systemIdentifier } from '../kernel/postgres/history.ts'
import { type Caller, inTransaction } from '../kernel/postgres/transaction.ts'
import { PeriodicTasks } from '../runtime/periodic-tasks.ts'

/** The header of the answer to a write: how far the log of the primary is. The caller sends it back with its reads. */
export const AFTER_HEADER = 'stagedoor-after'
/** The value of the header where the position could not be read: the primary answers the reads. */
const PRIMARY_ONLY = 'primary'

const PROBE_MS = 1_000
/** A replica that is further behind answers nobody. */
const MAX_LAG_MS = 10_000
/** How long a read waits for the replica. */
const MAX_WAIT_MS = 150
const POLL_MS = 5

/** Who answered a read, and why not the replica. */
type ReadAnswer = 'replica' | 'behind' | 'broken' | 'refused'

export interface ReplicaHooks {
  onRead?(answer: ReadAnswer): void
  onLag?(ms: number): void
}

interface ReplicaDeps {
  /** Logged in as stagedoor_api, as that of the primary. */
  readonly pool: Pool
  readonly primary: Pool
  readonly log: Logger
  readonly hooks?: ReplicaHooks
}

export class ReadReplica {
  private readonly deps: ReplicaDeps
  private readonly probes: PeriodicTasks
  /** Positions of the primary, with the times at which they were read. */
  private passed: readonly { readonly at: number; readonly lsn: bigint }[] = []
  private timeline: string | undefined
  /** Why the replica is not asked; undefined: it is asked. */
  private trouble: string | undefined = 'the replica has not answered yet'
  private lagMs = 0
  /** Whether the replica belongs to this primary; undefined: not known yet. */
  private isSameSystem: boolean | undefined
  /** The position up to which the replica is known to have replayed. */
  private replayed = 0n

  constructor(deps: ReplicaDeps) {
    this.deps = deps
    this.probes = new PeriodicTasks(deps.log)
    this.probes.every(PROBE_MS, () => this.probe(), { firstMs: 0 })
  }

  /** Runs `work` on the replica, or on the primary where the replica cannot answer. `after` is what the caller sent. `work` only reads. */
  async read<T>(work: (client: Client) => Promise<T>, caller: Caller, after: string | undefined): Promise<T> {
    const { pool, primary, hooks } = this.deps
    const onPrimary = (why: ReadAnswer): Promise<T> => {
      hooks?.onRead?.(why)
      return inTransaction(primary, work, caller)
    }
    if (this.trouble !== undefined) return onPrimary('broken')
    const needed = this.neededLsn(after)
    if (needed === undefined) return onPrimary('behind')
    let answer: T
    try {
      const readOnly = { ...caller, readOnly: true }
      answer = await inTransaction(
        pool,
        async (client) => {
          await this.untilReplayed(client, needed)
          return work(client)
        },
        readOnly,
      )
    } catch (error) {
      if (error instanceof Behind) return onPrimary('behind')
      const why = whyNotReplica(error)
      if (why === undefined) {
        hooks?.onRead?.('replica')
        throw error
      }
      // Until the next probe: requests must not wait for a server that is away.
      if (why === 'broken') this.trouble = (error as Error).message
      return onPrimary(why)
    }
    hooks?.onRead?.('replica')
    return answer
  }

  /** How far the primary is: what the answer to a write says. */
  async position(): Promise<string> {
    try {
      const { rows } = await this.deps.primary.query<{ position: string }>(`select ${POSITION} as position`)
      return rows[0]!.position
    } catch {
      return PRIMARY_ONLY
    }
  }

  health(): HealthCheck {
    return {
      name: 'replica',
      ok: this.trouble === undefined,
      detail:
        this.trouble === undefined
          ? `answers reads, ${this.lagMs < 1000 ? 'less than a second' : `${Math.round(this.lagMs / 1000)} s`} behind the primary`
          : `the primary answers all reads: ${this.trouble}`,
    }
  }

  async stop(): Promise<void> {
    await this.probes.stop()
  }

  /** The position that the replica must have replayed; undefined: only the primary can answer. Another timeline than its own is from before a failover. */
  private neededLsn(after: string | undefined): bigint | undefined {
    if (after === undefined) return 0n
    const [, timeline, lsn] = /^([0-9A-F]{8})\/([0-9A-F]{1,8}\/[0-9A-F]{1,8})$/.exec(after) ?? []
    return lsn === undefined || timeline !== this.timeline ? undefined : parseLsn(lsn)
  }

  private async untilReplayed(client: Client, needed: bigint): Promise<void> {
    const deadline = performance.now() + MAX_WAIT_MS
    while (this.replayed < needed) {
      const { rows } = await client.query<{ lsn: string | null }>(
        'select pg_last_wal_replay_lsn()::text as lsn',
      )
      const { lsn } = rows[0]!
      if (lsn === null) throw new Behind()
      this.replayed = max(this.replayed, parseLsn(lsn))
      if (this.replayed >= needed) return
      if (performance.now() >= deadline) throw new Behind()
      await sleep(POLL_MS)
    }
  }

  private async probe(): Promise<void> {
    const { pool, primary, hooks } = this.deps
    try {
      // The replica first: it cannot have more than the primary has a moment later.
      const replica = (await pool.query<Probed>(PROBE)).rows[0]!
      const primaryNow = await primary.query<{ position: string }>(`select ${POSITION} as position`)
      const { position } = primaryNow.rows[0]!
      const timeline = position.slice(0, 8)
      const now = { at: performance.now(), lsn: parseLsn(position.slice(9)) }
      if (timeline !== this.timeline) {
        this.passed = []
        this.replayed = 0n
        this.isSameSystem = undefined
      }
      this.timeline = timeline
      this.isSameSystem ??= (await systemIdentifier(pool)) === (await systemIdentifier(primary))
      this.passed = [...this.passed.filter(({ at }) => now.at - at < 2 * MAX_LAG_MS), now]
      this.trouble = this.troubleOf(replica, now.lsn)
    } catch (error) {
      this.trouble = (error as Error).message || 'the replica does not answer'
      // Another server may answer at that address next.
      this.isSameSystem = undefined
      this.replayed = 0n
    }
    hooks?.onLag?.(this.lagMs)
  }

  private troubleOf(replica: Probed, primaryLsn: bigint): string | undefined {
    if (replica.login !== 'stagedoor_api')
      return `DATABASE_READ_URL logs in as ${replica.login}, not as stagedoor_api`
    if (!replica.is_standby || replica.lsn === null) return 'DATABASE_READ_URL does not lead to a standby'
    const lsn = parseLsn(replica.lsn)
    if (!this.isSameSystem || lsn > primaryLsn)
      return 'DATABASE_READ_URL leads to the replica of another database, or of another history of this one'
    const reached = this.passed.findLast((one) => one.lsn <= lsn)
    this.lagMs = performance.now() - (reached ?? this.passed[0]!).at
    // The lag is not known before the replica has reached a position of the primary that was read here.
    return reached === undefined || this.lagMs > MAX_LAG_MS
      ? `the replica is ${Math.round(this.lagMs / 1000)} s behind or more`
      : undefined
  }
}

class Behind extends Error {}

interface Probed {
  readonly is_standby: boolean
  readonly lsn: string | null
  readonly login: string
}

const PROBE =
  'select pg_is_in_recovery() as is_standby, pg_last_wal_replay_lsn()::text as lsn, session_user::text as login'
/** `<timeline>/<lsn>`. A commit that was answered is flushed, unless commits are asynchronous. */
const POSITION = `left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '/' ||
  case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end`

/** Why the replica did not answer; undefined: the primary would fail in the same way. */
function whyNotReplica(error: unknown): ReadAnswer | undefined {
  const states = [error, (error as { cause?: unknown })?.cause].map((one) => (one as { code?: string })?.code)
  // The statement writes, or locks what a standby cannot lock.
  if (states.some((state) => state === '25006' || state === '55000')) return 'refused'
  // The replay of the log cancelled it.
  if (states.some((state) => state === '40001' || state === '40P01')) return 'behind'
  if (!(error instanceof StagedoorError)) return undefined
  return ['database_unreachable', 'pool_exhausted', 'migrations_pending'].includes(error.code)
    ? 'broken'
    : undefined
}

/** `0/3A4B5C8` is two halves of 32 bits. */
function parseLsn(text: string): bigint {
  const [high, low] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

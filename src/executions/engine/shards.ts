/**
 * The lease of an engine, and the shards under it with the epoch of each. A shard that is lost is dropped at once; when the lease
 * itself is lost, all are, and the engine registers again. A refusal by the database ends the lease under which the statement
 * was sent, never a later one.
 */
import pg from 'pg'
import type { Logger } from 'pino'
import type { DedicatedConnection, Pool } from '../../kernel/postgres/connection.ts'
import { type Instant, instant, LeaseKeeper } from '../../runtime/lease.ts'
import { retryWhileUnavailable } from '../../runtime/retry.ts'
import { DATABASE_TIME, type DatabaseClock } from './database-clock.ts'

interface EngineRegistration {
  readonly name: string
  readonly drives: boolean
  readonly runs: boolean
  /** The handlers that it can run. */
  readonly handlers: readonly string[]
  readonly leaseMs: number
  /** False: no heartbeat is ever sent, as by a process that was frozen. For tests. */
  readonly sendsHeartbeats: boolean
}

/** The lease under which a statement is sent. The sender keeps it until the answer comes: by then the engine may have another. */
export interface EngineLease {
  readonly engine: string
  /** It has ended: an answer that comes now says nothing about what the engine holds. */
  readonly over: boolean
  /** False: the lease has passed by the clock, and nothing may begin under it. */
  readonly mayBegin: boolean
  lose(reason: string): void
}

interface ShardsDeps {
  readonly pool: Pool
  /** The heartbeat's own session. */
  readonly connection: DedicatedConnection
  readonly terms: EngineRegistration
  /** Set by each answer. */
  readonly clock: DatabaseClock
  readonly log: Logger
  onTaken(shard: number, lastEventId: string): void
  onLost(shard: number): void
  /** Other engines have joined, and the shard is theirs: `release` it when nothing runs in it any more. */
  onSurplus(shard: number): void
  /** A heartbeat was answered. */
  onHeartbeat(): void
  onLeaseLost(reason: string): void
}

interface ShardRow extends pg.QueryResultRow {
  readonly shard_id: number
  readonly epoch: string
  readonly last_event_id: string
  /** Other engines have joined, and it is theirs. */
  readonly surplus: boolean
  readonly database_time: number
}

export class Shards implements EngineLease {
  readonly engine: string
  /** Part of every id that this engine makes. Null: it only runs commands, and makes none. */
  readonly node: number | null
  private readonly deps: ShardsDeps
  private readonly keeper: LeaseKeeper<readonly ShardRow[]>
  /** The epoch of each shard that this engine owns. */
  private readonly epochs = new Map<number, string>()
  private readonly leaving = new Set<number>()
  /** Released: the answer to a heartbeat that was under way then does not make the shard ours again. */
  private readonly released = new Set<number>()

  /** Registers, and takes the shards that are free. */
  static async take(deps: ShardsDeps): Promise<Shards> {
    const sentAt = instant()
    const { name, drives, runs, handlers, leaseMs } = deps.terms
    // On the heartbeat's session, which gives up on a server that is silent: a registration without end would be a dead engine.
    const [row] = await deps.connection.query<{
      engine_id: string
      node_number: number | null
      database_time: number
    }>(
      `select engine_id, node_number, ${DATABASE_TIME}
         from noetl.fn_engine_register($1, $2, $3, $4 * interval '1 millisecond', $5)`,
      [name, drives, runs, leaseMs, handlers],
    )
    deps.clock.observe(row!.database_time, sentAt.monotonic)
    return new Shards(row!.engine_id, row!.node_number, deps, sentAt)
  }

  private constructor(engine: string, node: number | null, deps: ShardsDeps, sentAt: Instant) {
    this.engine = engine
    this.node = node
    this.deps = deps
    this.keeper = new LeaseKeeper({
      leaseMs: deps.terms.leaseMs,
      sendsHeartbeats: deps.terms.sendsHeartbeats,
      sentAt,
      log: deps.log,
      sendHeartbeat: () => this.sendHeartbeat(),
      onHeartbeat: (rows) => {
        this.compare(rows)
        deps.onHeartbeat()
      },
      isRefused: isFenced,
      onLost: (reason) => this.dropEverything(reason),
    })
  }

  get over(): boolean {
    return this.keeper.over
  }

  get mayBegin(): boolean {
    return this.keeper.mayBegin('a command')
  }

  get size(): number {
    return this.epochs.size
  }

  epochOf(shard: number): string | undefined {
    return this.epochs.get(shard)
  }

  /** Asks the database now which shards are ours; throws when no answer comes. */
  heartbeat(): Promise<void> {
    return this.keeper.heartbeat()
  }

  /** Throws when the first heartbeat gets no answer. */
  async start(): Promise<void> {
    await this.keeper.heartbeat()
    this.keeper.start()
  }

  /** As `start`, and a first heartbeat without an answer is sent again until the lease has passed. */
  async startRetrying(): Promise<void> {
    if (this.deps.terms.sendsHeartbeats) await this.keeper.keep()
    else await this.start()
  }

  /**
   * Gives the shard to another engine. Until the database has the release, the shard is not taken again: under the same epoch,
   * appends that were on their way would count beside what is loaded again, and a row of the inbox could be consumed by a state
   * that does not know them. If the release does not come through, the lease ends, and with it the epoch.
   */
  async release(shard: number): Promise<void> {
    this.leaving.delete(shard)
    if (this.over || !this.epochs.delete(shard)) return
    this.released.add(shard)
    try {
      await retryWhileUnavailable(
        () =>
          this.deps.pool.query('select noetl.fn_engine_release_shards($1, $2::smallint[])', [
            this.engine,
            [shard],
          ]),
        () => !this.over,
      )
      await this.keeper.heartbeatInFlight?.catch(() => {})
    } catch (error) {
      this.lose('a shard could not be released')
      throw error
    } finally {
      this.released.delete(shard)
    }
  }

  lose(reason: string): void {
    this.keeper.lose(reason)
  }

  /**
   * Gives all shards back; where the database does not answer the lease passes by itself. `crashed`: the commands that a crash
   * is charged to.
   */
  async leave(crashed: readonly string[] = []): Promise<void> {
    if (this.over) return
    this.keeper.end()
    this.epochs.clear()
    await this.deps.pool.query('select noetl.fn_engine_leave($1, $2)', [this.engine, crashed]).catch(() => {})
  }

  private async sendHeartbeat(): Promise<readonly ShardRow[]> {
    const { clock, connection } = this.deps
    const sentAt = performance.now()
    const rows = await connection.query<ShardRow>(
      `select shard_id, epoch, last_event_id, surplus, ${DATABASE_TIME} from noetl.fn_engine_heartbeat($1)`,
      [this.engine],
      'stagedoor_engine_heartbeat',
    )
    // Before a shard is taken whose executions follow the clock.
    if (rows[0] !== undefined) clock.observe(rows[0].database_time, sentAt)
    return rows
  }

  private dropEverything(reason: string): void {
    this.deps.log.warn({ engine: this.engine, reason }, 'lease lost; its executions go on elsewhere')
    for (const shard of [...this.epochs.keys()]) this.drop(shard)
    this.deps.onLeaseLost(reason)
  }

  private drop(shard: number): void {
    this.epochs.delete(shard)
    this.leaving.delete(shard)
    this.deps.onLost(shard)
  }

  private compare(rows: readonly ShardRow[]): void {
    const now = new Map(rows.map((row) => [row.shard_id, row]))
    for (const [shard, epoch] of [...this.epochs]) if (now.get(shard)?.epoch !== epoch) this.drop(shard)
    for (const [shard, row] of now) {
      if (this.epochs.has(shard) || this.released.has(shard)) continue
      this.epochs.set(shard, row.epoch)
      this.deps.onTaken(shard, row.last_event_id)
    }
    for (const { shard_id, surplus } of rows) {
      if (!surplus || this.leaving.has(shard_id) || !this.epochs.has(shard_id)) continue
      this.leaving.add(shard_id)
      this.deps.onSurplus(shard_id)
    }
  }
}

/** The database says that the shard, or the engine's whole lease, belongs to another engine now. */
export function isFenced(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'SD805'
}

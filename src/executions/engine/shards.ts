/**
 * An engine's lease while it is held: heartbeats, and the shards under it with the epoch of each. A shard that is lost is
 * dropped at once; when the lease itself passes, all are, and the engine registers again. A refusal by the database ends the
 * lease under which the statement was sent, never a later one.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import type { KeptConnection } from '../../db/kept-connection.ts'
import { type Instant, instant, LeaseClock } from '../../db/lease-clock.ts'
import { isFenced } from './fenced.ts'

export interface EngineTerms {
  readonly name: string
  readonly drives: boolean
  readonly runs: boolean
  /** That it runs commands with. */
  readonly handlers: readonly string[]
  readonly leaseMs: number
  /** False: no heartbeat is ever sent, as by a process that was frozen. For tests. */
  readonly beats: boolean
}

/** What a statement is sent under. Whoever sends one keeps hold of it until the answer: by then the engine may have another. */
export interface EngineLease {
  readonly engine: string
  /** It has ended: an answer that comes now says nothing about what the engine holds. */
  readonly over: boolean
  /** False: the lease has passed by the clock, and nothing may begin under it. */
  readonly mayBegin: boolean
  lose(reason: string): void
}

/** The reason of a lease that a statement was refused under. */
export const REFUSED = 'the database says so'

export interface ShardKeeping {
  readonly pool: Pool
  /** The heartbeat's own session. */
  readonly kept: KeptConnection
  readonly terms: EngineTerms
  readonly log: Logger
  taken(shard: number, lastEventId: string): void
  lost(shard: number): void
  /** Others have joined, and it is theirs: `give` it when nothing runs in it any more. */
  surplus(shard: number): void
  /** A heartbeat came through. */
  beat(): void
  over(reason: string): void
}

interface HeldShard extends pg.QueryResultRow {
  readonly shard_id: number
  readonly epoch: string
  readonly last_event_id: string
  /** Others have joined, and it is theirs. */
  readonly surplus: boolean
}

const BEATS_PER_LEASE = 3
const RETRY_MS = 250

export class Shards implements EngineLease {
  readonly engine: string
  /** Part of every id that this engine makes. */
  readonly node: number
  private readonly keeping: ShardKeeping
  private readonly held = new Map<number, string>()
  private readonly leaving = new Set<number>()
  /** Given away: an answer that was under way then does not make it ours again. */
  private readonly given = new Set<number>()
  private ended = false
  private beatTimer: NodeJS.Timeout | undefined
  private deadlineTimer: NodeJS.Timeout | undefined
  private readonly clock: LeaseClock
  private beating: Promise<void> | undefined

  /** Registers, and takes the shards that are free. */
  static async take(keeping: ShardKeeping): Promise<Shards> {
    const askedAt = instant()
    const { name, drives, runs, handlers, leaseMs } = keeping.terms
    // On the heartbeat's session, which gives up on a server that is silent: a registration without end would be a dead engine.
    const [row] = await keeping.kept.query<{ engine_id: string; node_number: number }>(
      `select engine_id, node_number from noetl.fn_engine_register($1, $2, $3, $4 * interval '1 millisecond', $5)`,
      [name, drives, runs, leaseMs, handlers],
    )
    return new Shards(row!.engine_id, row!.node_number, keeping, askedAt)
  }

  private constructor(engine: string, node: number, keeping: ShardKeeping, askedAt: Instant) {
    this.engine = engine
    this.node = node
    this.keeping = keeping
    this.clock = new LeaseClock(keeping.terms.leaseMs, askedAt)
    this.confirm(askedAt)
  }

  get over(): boolean {
    return this.ended
  }

  /** Asked before a command begins: an engine that was frozen past its lease must not begin what others have by now. */
  get mayBegin(): boolean {
    if (!this.ended && this.keeping.terms.beats && this.clock.hasPassed)
      this.lose('it had passed when a command was to begin')
    return !this.ended
  }

  get size(): number {
    return this.held.size
  }

  epochOf(shard: number): string | undefined {
    return this.held.get(shard)
  }

  /** Asks now; throws when no answer comes. While one is under way it is that one. */
  look(): Promise<void> {
    this.beating ??= this.ask().finally(() => {
      this.beating = undefined
    })
    return this.beating
  }

  /** Throws when the first heartbeat has no answer. */
  async start(): Promise<void> {
    await this.look()
    if (this.keeping.terms.beats) this.beatLater(this.keeping.terms.leaseMs / BEATS_PER_LEASE)
  }

  /** As `start`, and a first heartbeat without an answer is sent again until the lease has passed. */
  async startRetrying(): Promise<void> {
    if (this.keeping.terms.beats) await this.beat()
    else await this.start()
  }

  /** Nothing of ours is under way in it: another engine may have it at once. */
  async give(shard: number): Promise<void> {
    this.leaving.delete(shard)
    if (this.ended || !this.held.delete(shard)) return
    this.given.add(shard)
    try {
      await this.keeping.pool.query('select noetl.fn_engine_give($1, $2::smallint[])', [this.engine, [shard]])
      await this.beating?.catch(() => {})
    } finally {
      this.given.delete(shard)
    }
  }

  lose(reason: string): void {
    if (this.ended) return
    this.end()
    this.keeping.log.warn({ engine: this.engine, reason }, 'lease lost; what it drove goes on elsewhere')
    for (const shard of [...this.held.keys()]) this.drop(shard)
    this.keeping.over(reason)
  }

  /** Gives everything back. What cannot be said now is found out when the lease passes. `crashed`: the commands that a crash is charged to. */
  async leave(crashed: readonly string[] = []): Promise<void> {
    if (this.ended) return
    this.end()
    this.held.clear()
    await this.keeping.pool
      .query('select noetl.fn_engine_leave($1, $2)', [this.engine, crashed])
      .catch(() => {})
  }

  private end(): void {
    this.ended = true
    clearTimeout(this.beatTimer)
    clearTimeout(this.deadlineTimer)
  }

  private drop(shard: number): void {
    this.held.delete(shard)
    this.leaving.delete(shard)
    this.keeping.lost(shard)
  }

  private async ask(): Promise<void> {
    const sentAt = instant()
    let rows: HeldShard[]
    try {
      rows = await this.keeping.kept.query<HeldShard>(
        'select shard_id, epoch, last_event_id, surplus from noetl.fn_engine_heartbeat($1)',
        [this.engine],
        'stagedoor_engine_heartbeat',
      )
    } catch (error) {
      if (isFenced(error)) this.lose(REFUSED)
      throw error
    }
    if (this.ended) return
    this.confirm(sentAt)
    this.compare(rows)
    this.keeping.beat()
  }

  private compare(rows: readonly HeldShard[]): void {
    const now = new Map(rows.map((row) => [row.shard_id, row]))
    for (const [shard, epoch] of [...this.held]) if (now.get(shard)?.epoch !== epoch) this.drop(shard)
    for (const [shard, row] of now) {
      if (this.held.has(shard) || this.given.has(shard)) continue
      this.held.set(shard, row.epoch)
      this.keeping.taken(shard, row.last_event_id)
    }
    for (const { shard_id, surplus } of rows) {
      if (!surplus || this.leaving.has(shard_id) || !this.held.has(shard_id)) continue
      this.leaving.add(shard_id)
      this.keeping.surplus(shard_id)
    }
  }

  private beatLater(ms: number): void {
    if (!this.ended) this.beatTimer = setTimeout(() => void this.beat(), Math.max(0, ms))
  }

  private async beat(): Promise<void> {
    const sentAt = performance.now()
    try {
      await this.look()
      this.beatLater(this.keeping.terms.leaseMs / BEATS_PER_LEASE - (performance.now() - sentAt))
    } catch (error) {
      this.keeping.log.debug({ err: error }, 'a heartbeat did not come through')
      this.beatLater(RETRY_MS)
    }
  }

  /** From when it was sent, not answered: so our end of the lease is never later than the database's. */
  private confirm(sentAt: Instant): void {
    clearTimeout(this.deadlineTimer)
    this.clock.confirm(sentAt)
    if (!this.keeping.terms.beats) return
    this.deadlineTimer = setTimeout(
      () => this.lose('no heartbeat came through for as long as it lasts'),
      Math.max(0, this.clock.leftMs),
    )
  }
}

/** Keeps the projection close behind the log: what was flushed is folded soon after, all of it in one statement. */
import type { Logger } from 'pino'
import type { Pool } from '../../db/connection.ts'
import { Wake } from '../../db/wake.ts'
import { isFenced } from './fenced.ts'

export interface Projecting {
  readonly pool: Pool
  readonly log: Logger
  engine(): string
  epochOf(shard: number): string | undefined
  /** Which of our shards are another's is asked of the database. */
  fenced(): Promise<void>
  projected?(executions: readonly string[], events: number, lagMs: number, ms: number): void
}

interface Behind {
  readonly shard: number
  readonly since: number
}

const NONE: ReadonlyMap<string, Behind> = new Map()

/**
 * Between two: what is flushed meanwhile is folded together. Longer where one takes long: a projection costs 4 ms and then 70 µs
 * for an execution, and it shall not take the database away from the log.
 */
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 300
const PAUSES = 4
const MOST = 2000
const RETRY_MS = 250

export class Projector {
  private readonly around: Projecting
  /** Executions whose log is ahead, the longest first. */
  private behind = new Map<string, Behind>()
  private projecting: ReadonlyMap<string, Behind> = NONE
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private stopping = false
  private pauseMs = SHORTEST_PAUSE_MS

  constructor(around: Projecting) {
    this.around = around
    this.loop = this.projectUntilStopped()
  }

  /** For how long the one that waits longest has been behind its log; it grows while nothing can be projected. */
  get lagMs(): number {
    const [oldest] = this.projecting.size > 0 ? this.projecting.values() : this.behind.values()
    return oldest === undefined ? 0 : Math.round(performance.now() - oldest.since)
  }

  add(execution: string, shard: number): void {
    const since = this.behind.get(execution)?.since ?? performance.now()
    this.behind.set(execution, { shard, since })
    if (this.behind.size === 1) this.wake.now()
  }

  /** Folds the rest, if the database lets it. */
  async stop(): Promise<void> {
    this.stopping = true
    this.wake.now()
    await this.loop
    if (this.behind.size > 0) await this.project().catch(() => {})
  }

  private async projectUntilStopped(): Promise<void> {
    while (!this.stopping) {
      if (this.behind.size === 0) await this.wake.wait()
      if (this.stopping) return
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs))
      const began = performance.now()
      try {
        await this.project()
        const restMs = PAUSES * (performance.now() - began)
        this.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, restMs))
      } catch (error) {
        if (isFenced(error)) await this.around.fenced().catch(() => {})
        this.around.log.warn({ err: error }, 'the projection could not be brought up to date; trying again')
        if (!this.stopping) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  private async project(): Promise<void> {
    const taken = this.take()
    if (taken.size === 0) return
    this.projecting = taken
    const shards = new Map<number, string>()
    for (const { shard } of taken.values()) shards.set(shard, this.around.epochOf(shard)!)
    const executions = [...taken.keys()]
    const began = performance.now()
    try {
      const { rows } = await this.around.pool.query<{ events: string; lag_ms: number }>({
        name: 'stagedoor_project',
        text: 'select events, lag_ms from noetl.fn_execution_project($1, $2, $3, $4)',
        values: [this.around.engine(), [...shards.keys()], [...shards.values()], executions],
      })
      const { events, lag_ms } = rows[0]!
      this.around.projected?.(executions, Number(events), lag_ms, performance.now() - began)
    } catch (error) {
      // First in line again, and behind since then, whatever was flushed meanwhile.
      this.behind = new Map([...taken, ...this.behind, ...taken])
      throw error
    } finally {
      this.projecting = NONE
    }
  }

  /** What belongs to others now is theirs to fold. */
  private take(): Map<string, Behind> {
    const taken = new Map<string, Behind>()
    for (const [execution, one] of this.behind) {
      if (taken.size === MOST) break
      this.behind.delete(execution)
      if (this.around.epochOf(one.shard) !== undefined) taken.set(execution, one)
    }
    return taken
  }
}

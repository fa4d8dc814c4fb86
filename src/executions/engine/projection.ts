/**
 * Keeps the projection close behind the log: what was flushed is folded soon after, all of it in one statement. Below it the
 * projection from the log alone: compared with the rows that are there, or rebuilt.
 */
import type { Logger } from 'pino'
import type { Pool, Queryable } from '../../kernel/postgres/connection.ts'
import { Wake } from '../../runtime/wake.ts'
import { rebuildExecution } from '../control.ts'
import { isFenced } from './shards.ts'

interface ProjectorDeps {
  readonly pool: Pool
  readonly log: Logger
  engine(): string
  epochOf(shard: number): string | undefined
  /** Which of our shards are another's is asked of the database. */
  onFenced(): Promise<void>
  onProject?(executions: readonly string[], events: number, lagMs: number, ms: number): void
}

interface LaggingExecution {
  readonly shard: number
  readonly since: number
}

const NONE: ReadonlyMap<string, LaggingExecution> = new Map()

/**
 * Between two: what is flushed meanwhile is folded together. Longer where one takes long: a projection costs 4 ms and then 70 µs
 * for an execution, and it shall not take the database away from the log.
 */
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 300
const PAUSE_FACTOR = 4
const MAX_EXECUTIONS_PER_PROJECTION = 2000
const RETRY_MS = 250

export class Projector {
  private readonly deps: ProjectorDeps
  /** Executions whose log is ahead, the longest first. */
  private pending = new Map<string, LaggingExecution>()
  private projecting: ReadonlyMap<string, LaggingExecution> = NONE
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private stopping = false
  private pauseMs = MIN_PAUSE_MS

  constructor(deps: ProjectorDeps) {
    this.deps = deps
    this.loop = this.projectUntilStopped()
  }

  /** For how long the one that waits longest has been behind its log; it grows while nothing can be projected. */
  get lagMs(): number {
    const [oldest] = this.projecting.size > 0 ? this.projecting.values() : this.pending.values()
    return oldest === undefined ? 0 : Math.round(performance.now() - oldest.since)
  }

  add(execution: string, shard: number): void {
    const since = this.pending.get(execution)?.since ?? performance.now()
    this.pending.set(execution, { shard, since })
    if (this.pending.size === 1) this.wake.now()
  }

  /** Folds the rest, if the database lets it. */
  async stop(): Promise<void> {
    this.stopping = true
    this.wake.now()
    await this.loop
    if (this.pending.size > 0) await this.project().catch(() => {})
  }

  private async projectUntilStopped(): Promise<void> {
    while (!this.stopping) {
      if (this.pending.size === 0) await this.wake.wait()
      if (this.stopping) return
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs))
      const began = performance.now()
      try {
        await this.project()
        const pauseMs = PAUSE_FACTOR * (performance.now() - began)
        this.pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pauseMs))
      } catch (error) {
        if (isFenced(error)) await this.deps.onFenced().catch(() => {})
        this.deps.log.warn({ err: error }, 'updating the projection failed; will be retried')
        if (!this.stopping) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  private async project(): Promise<void> {
    const taken = this.take()
    if (taken.size === 0) return
    this.projecting = taken
    const shards = new Map<number, string>()
    for (const { shard } of taken.values()) shards.set(shard, this.deps.epochOf(shard)!)
    const executions = [...taken.keys()]
    const began = performance.now()
    try {
      const { rows } = await this.deps.pool.query<{ events: string; lag_ms: number }>({
        name: 'stagedoor_project',
        text: 'select events, lag_ms from noetl.fn_execution_project($1, $2, $3, $4)',
        values: [this.deps.engine(), [...shards.keys()], [...shards.values()], executions],
      })
      const { events, lag_ms } = rows[0]!
      this.deps.onProject?.(executions, Number(events), lag_ms, performance.now() - began)
    } catch (error) {
      // First in line again, and behind since then, whatever was flushed meanwhile.
      this.pending = new Map([...taken, ...this.pending, ...taken])
      throw error
    } finally {
      this.projecting = NONE
    }
  }

  /** What belongs to others now is theirs to fold. */
  private take(): Map<string, LaggingExecution> {
    const taken = new Map<string, LaggingExecution>()
    for (const [execution, one] of this.pending) {
      if (taken.size === MAX_EXECUTIONS_PER_PROJECTION) break
      this.pending.delete(execution)
      if (this.deps.epochOf(one.shard) !== undefined) taken.set(execution, one)
    }
    return taken
  }
}

export interface ProjectionDifference {
  readonly execution_id: string
  readonly difference: string
}

const EXECUTIONS_PER_PAGE = 500

/** Every row that is not what its log says. */
export async function* projectionDifferences(db: Queryable): AsyncGenerator<ProjectionDifference> {
  for (let after = '0'; ; ) {
    const { rows } = await db.query<{ execution_id: string; difference: string }>(
      'select execution_id, difference from noetl.fn_projection_differences($1, $2)',
      [after, EXECUTIONS_PER_PAGE],
    )
    yield* rows
    if (rows.length < EXECUTIONS_PER_PAGE) return
    after = rows.at(-1)!.execution_id
  }
}

/** One execution a transaction: an engine that projects meanwhile waits a moment. Returns how many; a row without a log goes. */
export async function rebuildProjection(db: Queryable): Promise<number> {
  let rebuilt = 0
  for (let after = '0'; ; ) {
    const { rows } = await db.query<{ id: string }>(KNOWN_EXECUTIONS, [after, EXECUTIONS_PER_PAGE])
    for (const { id } of rows) await rebuildExecution(db, id)
    rebuilt += rows.length
    if (rows.length < EXECUTIONS_PER_PAGE) return rebuilt
    after = rows.at(-1)!.id
  }
}

/** How many executions there are to compare: those with a log, a row or both. */
export async function countExecutions(db: Queryable): Promise<number> {
  let count = 0
  for (let after = '0'; ; ) {
    const { rows } = await db.query<{ id: string }>(KNOWN_EXECUTIONS, [after, EXECUTIONS_PER_PAGE])
    count += rows.length
    if (rows.length < EXECUTIONS_PER_PAGE) return count
    after = rows.at(-1)!.id
  }
}

/** Every execution that has a log, a row or both; by steps through the log's index, not through its events. */
const KNOWN_EXECUTIONS = `
  with recursive logged as (
    select (select min(execution_id) from noetl.event where execution_id > $1) as id, 1 as n
    union all
    select (select min(e.execution_id) from noetl.event e where e.execution_id > l.id), l.n + 1
      from logged l where l.id is not null and l.n < $2
  )
  select id from (
    select id from logged where id is not null
    union
    (select execution_id from noetl.execution where execution_id > $1 order by 1 limit $2)) as known
   order by id limit $2`

/**
 * Writes the logs of all executions that this process owns: one flush in flight, everything that arrives meanwhile rides the
 * next. Nothing counts before it is durable. An answer that was lost is made up for by the ids of the events; what the
 * database refuses is narrowed down to its execution, and the others go on.
 */
import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { KeptConnection } from '../../db/kept-connection.ts'
import { isConnectionError, isTransient } from '../../db/transient.ts'
import { Wake } from '../../db/wake.ts'
import { isFenced } from './fenced.ts'
import { type Append, batchOf, eventsInLog, flush } from './flush.ts'

/** The database will not take what follows from this input, whatever is tried. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent'
}
/** It came after one that was refused, or follows from a state that is not the log's: its execution is read again first. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
}
/** Its shard is another engine's. */
export class ShardLost extends Error {
  override readonly name = 'ShardLost'
}

export interface LogWriting {
  /** The flush's own session. */
  readonly connection: KeptConnection
  engine(): string
  /** The epoch under which this engine holds the shard. */
  epochOf(shard: number): string | undefined
  /** The database says that a shard is not ours: finds out which are. */
  fenced(): Promise<void>
  readonly log: Logger
  /** They are durable; those that are waited for hear of it next. */
  flushed(appends: readonly Append[], ms: number): void
}

/** Never so much that a flush is not over in some milliseconds; one append may be larger. */
const MOST_EVENTS = 1000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 1000

export class LogWriter {
  private readonly to: LogWriting
  private queue: Append[] = []
  private flushing: Promise<void> | undefined
  private readonly retry = new Wake()
  private troubled: string | undefined

  constructor(to: LogWriting) {
    this.to = to
  }

  /** Why nothing can be written just now. */
  get trouble(): string | undefined {
    return this.troubled
  }

  append(append: Append): void {
    this.queue.push(append)
    this.flushing ??= this.flush()
  }

  /** Everything that was appended is durable or was refused. */
  async settled(): Promise<void> {
    while (this.flushing) await this.flushing
  }

  /** A shard was lost: what waits for the database must look again whether it still counts. */
  hurry(): void {
    this.retry.now()
  }

  private async flush(): Promise<void> {
    // What follows in the same turn of the loop goes together.
    await setImmediate()
    try {
      while (this.queue.length > 0) await this.write(this.take())
    } finally {
      // In the same breath as the last look at the queue: what is appended a moment later begins a flush of its own.
      this.flushing = undefined
    }
  }

  private take(): Append[] {
    let events = 0
    let count = 0
    while (count < this.queue.length && events < MOST_EVENTS) events += this.queue[count++]!.events.length
    return this.queue.splice(0, count)
  }

  private async write(appends: readonly Append[]): Promise<void> {
    let left = appends
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)) {
      left = this.stillOurs(left)
      if (left.length === 0) return
      const batch = this.serialised(left)
      if (batch instanceof Error) return this.divide(left, batch)
      try {
        const began = performance.now()
        await flush(this.to.connection, this.to.engine(), left, batch)
        this.troubled = undefined
        return this.arrived(left, performance.now() - began)
      } catch (error) {
        if (isFenced(error)) {
          const before = left.length
          left = await this.to.fenced().then(
            () => this.stillOurs(left),
            () => left,
          )
          // It may be ours again by the time we ask: no reason to ask without a pause.
          if (left.length === before) await this.retry.wait(delayMs)
        } else if (isTransient(error)) {
          this.troubled = (error as Error).message
          this.to.log.warn({ err: error }, 'the log cannot be written just now; trying again')
          await this.retry.wait(delayMs * (0.5 + Math.random()))
          if (isConnectionError(error)) left = await this.withoutThoseInLog(left).catch(() => left)
        } else {
          const rest = await this.withoutThoseInLog(left).catch(() => left)
          if (rest.length === left.length) return this.divide(left, error as Error)
          left = rest
        }
      }
    }
  }

  private arrived(appends: readonly Append[], ms: number): void {
    this.to.flushed(appends, ms)
    for (const append of appends) {
      try {
        append.durable()
      } catch (error) {
        // A mistake of ours in one execution: it is read again, and nobody else notices.
        this.to.log.error(
          { err: error, execution_id: append.execution_id },
          'what follows from an event threw',
        )
        append.refused(new Superseded('what follows from it threw', { cause: error }))
      }
    }
  }

  /** What is no JSON is its own execution's fault, as anything that the database refuses. */
  private serialised(appends: readonly Append[]): string | Error {
    try {
      return batchOf(appends)
    } catch (error) {
      return error as Error
    }
  }

  /** What was flushed and never answered is durable, now that it is found. A flush counts as a whole. */
  private async withoutThoseInLog(appends: readonly Append[]): Promise<readonly Append[]> {
    const lasts = appends.flatMap(({ events }) => events.slice(-1))
    if (lasts.length === 0) return appends
    const found = await eventsInLog(this.to.connection, lasts)
    if (found.size === 0) return appends
    this.to.log.info({ events: found.size }, 'a flush without an answer had counted')
    const isThere = (append: Append): boolean =>
      append.events.length === 0 || found.has(append.events.at(-1)!.event_id)
    this.arrived(appends.filter(isThere), 0)
    return appends.filter((append) => !isThere(append))
  }

  /** One that the database refuses must not keep the others from being written. */
  private async divide(appends: readonly Append[], error: Error): Promise<void> {
    if (appends.length === 1) return this.refuse(appends[0]!, error)
    const half = appends.length >> 1
    const refusedFirst = await this.writeHalf(appends.slice(0, half), new Set())
    await this.writeHalf(appends.slice(half), refusedFirst)
  }

  /** What follows on something refused is refused with it. Returns the executions of which something was. */
  private async writeHalf(appends: readonly Append[], refused: ReadonlySet<string>): Promise<Set<string>> {
    const executions = new Set(refused)
    const watched = appends.map((append) => ({
      ...append,
      refused: (error: Error) => {
        executions.add(append.execution_id)
        append.refused(error)
      },
    }))
    for (const append of watched)
      if (refused.has(append.execution_id)) append.refused(new Superseded('an earlier input was refused'))
    await this.write(watched.filter((append) => !refused.has(append.execution_id)))
    return executions
  }

  private refuse(append: Append, error: Error): void {
    this.to.log.error({ err: error, execution_id: append.execution_id }, 'an event was refused')
    const refusal = isStale(error)
      ? new Superseded('its state is behind the log', { cause: error })
      : new PoisonEvent(error.message, { cause: error })
    const followers = this.queue.filter((queued) => queued.execution_id === append.execution_id)
    this.queue = this.queue.filter((queued) => queued.execution_id !== append.execution_id)
    append.refused(refusal)
    for (const follower of followers) follower.refused(new Superseded('an earlier input was refused'))
  }

  private stillOurs(appends: readonly Append[]): readonly Append[] {
    const isOurs = (append: Append): boolean => this.to.epochOf(append.shard_id) === append.epoch
    if (appends.every(isOurs)) return appends
    for (const append of appends) if (!isOurs(append)) append.refused(new ShardLost('its shard was lost'))
    return appends.filter(isOurs)
  }
}

/** Its place in the log is taken, or its command is out already: not the event is wrong, what it was decided on is. */
function isStale(error: Error): boolean {
  const { code, constraint = '' } = error as pg.DatabaseError
  return code === '23505' && (/_execution_id_seq_key\d*$/.test(constraint) || constraint === 'command_pkey')
}

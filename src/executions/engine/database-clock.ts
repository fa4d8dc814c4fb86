/**
 * What time it is by the clock of the database, without asking it each time. Ids, timers and retries of executions follow it, because waits
 * and retries are due by that clock, and the clock of a host may be wrong or be set. Between two heartbeats the monotonic clock of the
 * process carries it on.
 */
export class DatabaseClock {
  /** From the monotonic clock to that of the database, in milliseconds. */
  private offset = Date.now() - performance.now()
  private isKnown = false

  /** In milliseconds since 1970. */
  now(): number {
    return performance.now() + this.offset
  }

  /** The database said that it was `time`, somewhen between `sentAt` and `answeredAt` (performance.now()). */
  observe(time: number, sentAt: number, answeredAt = performance.now()): void {
    const [lowest, highest] = [time - answeredAt, time - sentAt]
    // An answer that took long says little: what fits into its limits stays, so that the clock does not jump with the network.
    this.offset = this.isKnown ? Math.min(highest, Math.max(lowest, this.offset)) : lowest
    this.isKnown = true
  }
}

/** A column of a statement that is observed. */
export const DATABASE_TIME = `(extract(epoch from clock_timestamp()) * 1000)::float8 as database_time`

/** Which handlers the engines have that run commands just now. */
import type { Pool } from '../../db/connection.ts'
import { patiently } from './patience.ts'

const FRESH_MS = 1000

export class LiveHandlers {
  private readonly pool: Pool
  private engines: readonly ReadonlySet<string>[] = []
  private askedAt = Number.NEGATIVE_INFINITY
  private asking: Promise<void> | undefined

  constructor(pool: Pool) {
    this.pool = pool
  }

  /**
   * Whether one of them has all of these. A yes may be as old as a second: what it is handed over to then waits for the
   * next that has them. A no is never older than the question, because a process may have come with its execution.
   */
  async include(needs: readonly string[]): Promise<boolean> {
    const now = performance.now()
    if (this.askedAt > now - FRESH_MS && this.known(needs)) return true
    while (this.askedAt < now) {
      this.asking ??= this.ask().finally(() => {
        this.asking = undefined
      })
      await this.asking
    }
    return this.known(needs)
  }

  private known(needs: readonly string[]): boolean {
    return this.engines.some((handlers) => needs.every((name) => handlers.has(name)))
  }

  private async ask(): Promise<void> {
    const { askedAt, handlers } = await patiently(async () => {
      const askedAt = performance.now()
      const { rows } = await this.pool.query<{ handlers: string[] }>(
        'select distinct handlers from noetl.engine where runs and leased_until > clock_timestamp()',
      )
      return { askedAt, handlers: rows }
    })
    this.engines = handlers.map((row) => new Set(row.handlers))
    this.askedAt = askedAt
  }
}

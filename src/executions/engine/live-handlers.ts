/** Which handlers the engines have that run commands just now. */
import type { Pool } from '../../db/connection.ts'
import { patiently } from './patience.ts'

export class LiveHandlers {
  private readonly pool: Pool
  private engines: readonly ReadonlySet<string>[] = []
  private askedAt = Number.NEGATIVE_INFINITY
  private asking: Promise<void> | undefined

  constructor(pool: Pool) {
    this.pool = pool
  }

  /**
   * Whether one of them has all of these. Never from an answer that is older than the question: a process may have come
   * with its execution, or have left just before it. Those who ask meanwhile share the next answer.
   */
  async include(needs: readonly string[]): Promise<boolean> {
    const now = performance.now()
    while (this.askedAt < now) {
      this.asking ??= this.ask().finally(() => {
        this.asking = undefined
      })
      await this.asking
    }
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

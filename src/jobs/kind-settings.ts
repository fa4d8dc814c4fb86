/** What a worker must know of its kinds, as it was a moment ago. */
import type { Queryable } from '../db/connection.ts'

export class KindSettingsInUse {
  private readonly db: Queryable
  private readonly kinds: readonly string[]
  private timeouts = new Map<string, number>()
  private hasLimits = false
  private strict = new Set<string>()

  constructor(db: Queryable, kinds: readonly string[]) {
    this.db = db
    this.kinds = kinds
  }

  /** The end of one job may be the turn of the next: then it is claimed at once. */
  get limited(): boolean {
    return this.hasLimits
  }

  /** One crash makes a dead letter of it: it is never told as begun before its turn. */
  isStrict(kind: string): boolean {
    return this.strict.has(kind)
  }

  get hasStrict(): boolean {
    return this.strict.size > 0
  }

  timeoutOf(kind: string): number | undefined {
    return this.timeouts.get(kind)
  }

  async read(): Promise<void> {
    const { rows } = await this.db.query<{
      job_kind: string
      timeout_ms: number | null
      limited: boolean
      strict: boolean
    }>(
      `select job_kind, (extract(epoch from timeout) * 1000)::double precision as timeout_ms, limited, max_crashes = 1 as strict
         from iu_core.job_kind where job_kind = any ($1)`,
      [this.kinds],
    )
    this.hasLimits = rows.some((row) => row.limited)
    this.strict = new Set(rows.flatMap(({ job_kind, strict }) => (strict ? [job_kind] : [])))
    this.timeouts = new Map(
      rows.flatMap(({ job_kind, timeout_ms }) => (timeout_ms === null ? [] : [[job_kind, timeout_ms]])),
    )
  }
}

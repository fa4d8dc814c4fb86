/** Between a worker and what may be away. Open, it lets nothing through; after a while one try may show that it is back. */

const FIRST_MS = 5000
const LAST_MS = 60_000

export type Passage = 'open' | 'trial' | 'closed'

export interface BreakerOptions {
  readonly firstMs?: number
  readonly lastMs?: number
  readonly now?: () => number
}

export class Breaker {
  private readonly firstMs: number
  private readonly lastMs: number
  private readonly now: () => number
  private restMs = 0
  private until = 0
  private trying = false
  /** Why it is closed to us, in the words of what is away. */
  reason: string | undefined

  constructor({ firstMs = FIRST_MS, lastMs = LAST_MS, now = () => performance.now() }: BreakerOptions = {}) {
    this.firstMs = firstMs
    this.lastMs = lastMs
    this.now = now
  }

  /** `trial`: whoever got this answer tries one thing, and says how it went. */
  ask(): Passage {
    if (this.reason === undefined) return 'open'
    if (this.trying || this.now() < this.until) return 'closed'
    this.trying = true
    return 'trial'
  }

  /** How long it is no use to ask again. */
  get remainingMs(): number {
    return this.reason === undefined ? 0 : Math.max(0, this.until - this.now())
  }

  succeeded(): void {
    this.reason = undefined
    this.restMs = 0
    this.trying = false
  }

  failed(reason: string, retryAfterMs = 0): void {
    const trips = this.reason === undefined || this.trying
    this.reason = reason
    this.trying = false
    // What was under way when it tripped says nothing new.
    if (trips) this.restMs = Math.min(this.lastMs, this.restMs === 0 ? this.firstMs : 2 * this.restMs)
    this.until = Math.max(this.until, this.now() + Math.max(this.restMs, retryAfterMs))
  }

  /** The try came to nothing that says whether it is back. */
  undecided(): void {
    this.trying = false
  }
}

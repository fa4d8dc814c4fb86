/** A circuit breaker in front of a service that may be down. Tripped, it blocks; after a while one trial shows whether it is back. */

const MIN_BLOCK_MS = 5000
const MAX_BLOCK_MS = 60_000

type BreakerAnswer = 'allowed' | 'trial' | 'blocked'

export interface BreakerOptions {
  readonly minBlockMs?: number
  readonly maxBlockMs?: number
  readonly now?: () => number
}

export class Breaker {
  private readonly minBlockMs: number
  private readonly maxBlockMs: number
  private readonly now: () => number
  private blockMs = 0
  private blockedUntil = 0
  private trying = false
  /** Why it blocks, in the words of the service. */
  reason: string | undefined

  constructor(options: BreakerOptions = {}) {
    const { minBlockMs = MIN_BLOCK_MS, maxBlockMs = MAX_BLOCK_MS, now = () => performance.now() } = options
    this.minBlockMs = minBlockMs
    this.maxBlockMs = maxBlockMs
    this.now = now
  }

  /** `trial`: the caller tries one request, and reports how it went. */
  check(): BreakerAnswer {
    if (this.reason === undefined) return 'allowed'
    if (this.trying || this.now() < this.blockedUntil) return 'blocked'
    this.trying = true
    return 'trial'
  }

  /** For how long it blocks. */
  get remainingMs(): number {
    return this.reason === undefined ? 0 : Math.max(0, this.blockedUntil - this.now())
  }

  recordSuccess(): void {
    this.reason = undefined
    this.blockMs = 0
    this.trying = false
  }

  recordFailure(reason: string, retryAfterMs = 0): void {
    const trips = this.reason === undefined || this.trying
    this.reason = reason
    this.trying = false
    // A request that was under way when it tripped says nothing new.
    if (trips)
      this.blockMs = Math.min(this.maxBlockMs, this.blockMs === 0 ? this.minBlockMs : 2 * this.blockMs)
    this.blockedUntil = Math.max(this.blockedUntil, this.now() + Math.max(this.blockMs, retryAfterMs))
  }

  /** The trial does not show whether the service is back. */
  endTrial(): void {
    this.trying = false
  }
}

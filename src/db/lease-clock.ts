/**
 * Until when a lease lasts, by the clocks of this process. Timers tell too late: in a process that was frozen (SIGSTOP, a paused
 * machine, a blocked event loop) the handlers' own timers fire first. Two clocks, because performance.now() may stand still while
 * the machine sleeps, and Date.now() may be set back. The lease has passed as soon as either says so.
 */
export interface Instant {
  readonly monotonic: number
  readonly wall: number
}

export function instant(): Instant {
  return { monotonic: performance.now(), wall: Date.now() }
}

/** A timer on a busy machine fires late; ours must still be before the database's. */
const MARGIN = 0.05

export class LeaseClock {
  private readonly leaseMs: number
  private confirmed: Instant

  /** `sentAt`: when the statement that keeps it was sent, so that our end of the lease is never later than the database's. */
  constructor(leaseMs: number, sentAt: Instant) {
    this.leaseMs = leaseMs * (1 - MARGIN)
    this.confirmed = sentAt
  }

  confirm(sentAt: Instant): void {
    this.confirmed = sentAt
  }

  get leftMs(): number {
    const now = instant()
    const { monotonic, wall } = this.confirmed
    return this.leaseMs - Math.max(now.monotonic - monotonic, now.wall - wall)
  }

  get hasPassed(): boolean {
    return this.leftMs <= 0
  }
}

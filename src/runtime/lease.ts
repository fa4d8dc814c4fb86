/**
 * A lease that a worker or an engine holds: heartbeats keep it, and when it ends everything under it must stop at once. The
 * lease ends when the database says so, when no heartbeat gets an answer in time, or when the clock says that it has passed.
 */
import type { Logger } from 'pino'

export const DEFAULT_LEASE_MS = 6000
/** Why a lease ended under which the database refused a statement. */
export const LEASE_REFUSED = 'the database says so'
const HEARTBEATS_PER_LEASE = 3
const HEARTBEAT_RETRY_MS = 250

export interface LeaseKeeperDeps<Answer> {
  readonly leaseMs: number
  /** When the statement that began the lease was sent. */
  readonly sentAt: Instant
  readonly log: Logger
  /** False: no heartbeat is sent and no deadline applies, as in a frozen process. For tests. */
  readonly sendsHeartbeats?: boolean
  sendHeartbeat(): Promise<Answer>
  /** The answer to a heartbeat, while the lease lasts. */
  onHeartbeat(answer: Answer): void
  /** The error says that the lease is over. */
  isRefused(error: unknown): boolean
  /** The lease is lost. Called once, and never after `end`. */
  onLost(reason: string): void
}

export class LeaseKeeper<Answer> {
  private readonly deps: LeaseKeeperDeps<Answer>
  private readonly sendsHeartbeats: boolean
  private readonly clock: LeaseClock
  private ended = false
  private heartbeatTimer: NodeJS.Timeout | undefined
  private deadlineTimer: NodeJS.Timeout | undefined
  private inFlight: Promise<void> | undefined

  constructor(deps: LeaseKeeperDeps<Answer>) {
    this.deps = deps
    this.sendsHeartbeats = deps.sendsHeartbeats ?? true
    this.clock = new LeaseClock(deps.leaseMs, deps.sentAt)
    this.confirm(deps.sentAt)
  }

  get over(): boolean {
    return this.ended
  }

  /** The heartbeat that is under way. */
  get heartbeatInFlight(): Promise<void> | undefined {
    return this.inFlight
  }

  /**
   * Asked before anything begins under the lease: a process that was frozen past its lease must not begin what others have by
   * now. `what` names it in the reason of the loss.
   */
  mayBegin(what: string): boolean {
    if (!this.ended && this.sendsHeartbeats && this.clock.hasPassed)
      this.lose(`it had passed when ${what} was to begin`)
    return !this.ended
  }

  /** Sends heartbeats from now on. */
  start(): void {
    if (this.sendsHeartbeats) this.schedule(this.deps.leaseMs / HEARTBEATS_PER_LEASE)
  }

  /** Sends one heartbeat now, or waits for the one under way. Throws when it gets no answer. */
  heartbeat(): Promise<void> {
    this.inFlight ??= this.send().finally(() => {
      this.inFlight = undefined
    })
    return this.inFlight
  }

  /** Sends a heartbeat now and others later; one without an answer is sent again until the lease has passed. */
  async keep(): Promise<void> {
    const sentAt = performance.now()
    try {
      await this.heartbeat()
      this.schedule(this.deps.leaseMs / HEARTBEATS_PER_LEASE - (performance.now() - sentAt))
    } catch (error) {
      if (this.ended) return
      this.deps.log.debug({ err: error }, 'heartbeat failed; will be retried')
      this.schedule(HEARTBEAT_RETRY_MS)
    }
  }

  lose(reason: string): void {
    if (this.ended) return
    this.end()
    this.deps.onLost(reason)
  }

  /** Ends it without a loss: the holder gives the lease back. */
  end(): void {
    this.ended = true
    clearTimeout(this.heartbeatTimer)
    clearTimeout(this.deadlineTimer)
  }

  private schedule(ms: number): void {
    if (!this.ended && this.sendsHeartbeats)
      this.heartbeatTimer = setTimeout(() => void this.keep(), Math.max(0, ms))
  }

  private async send(): Promise<void> {
    const sentAt = instant()
    let answer: Answer
    try {
      answer = await this.deps.sendHeartbeat()
    } catch (error) {
      if (this.deps.isRefused(error)) this.lose(LEASE_REFUSED)
      throw error
    }
    if (this.ended) return
    this.confirm(sentAt)
    this.deps.onHeartbeat(answer)
  }

  /** Counted from when the heartbeat was sent, not answered: our end of the lease is never later than the database's. */
  private confirm(sentAt: Instant): void {
    clearTimeout(this.deadlineTimer)
    this.clock.confirm(sentAt)
    if (!this.sendsHeartbeats) return
    this.deadlineTimer = setTimeout(
      () => this.lose('no heartbeat came through for as long as it lasts'),
      Math.max(0, this.clock.leftMs),
    )
  }
}

/** A moment on both clocks of this process. */
export interface Instant {
  readonly monotonic: number
  readonly wall: number
}

export function instant(): Instant {
  return { monotonic: performance.now(), wall: Date.now() }
}

/** A timer on a busy machine fires late; ours must still fire before the database's. */
const MARGIN = 0.05

/**
 * Until when a lease lasts, by the clocks of this process. Timers tell too late: in a process that was frozen (SIGSTOP, a paused
 * machine, a blocked event loop) the handlers' own timers fire first. Two clocks, because performance.now() may stop while
 * the machine sleeps, and Date.now() may be set back. The lease has passed as soon as either says so.
 */
export class LeaseClock {
  private readonly leaseMs: number
  private confirmed: Instant

  /** `sentAt`: when the statement that keeps the lease was sent. */
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

/** By then a server that lost its connection to us has noticed, and no claim of ours is still under way. */
const SECOND_CHECK_MS = 5000

/**
 * Claims whose answer was lost. Such a claim may have counted: then its rows are leased by us and nobody runs them. So the holder
 * asks the database for rows that it does not track, at once and again a little later.
 */
export class UnansweredClaims {
  private checksAt: number[] = []

  /** A claim failed without an answer. */
  add(): void {
    this.checksAt = [0, performance.now() + SECOND_CHECK_MS]
  }

  /** Another lease began: nothing of the former one is ours. */
  reset(): void {
    this.checksAt = []
  }

  /** A check is due, or will be. */
  get hasChecks(): boolean {
    return this.checksAt.length > 0
  }

  /** Calls `findUntracked` when a check is due; one that throws is made again. */
  async check(findUntracked: () => Promise<void>): Promise<void> {
    const checks = this.checksAt
    if (checks.length === 0 || checks[0]! > performance.now()) return
    await findUntracked()
    checks.shift()
  }
}

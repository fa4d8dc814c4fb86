/** How much work to claim before it can run. Each policy answers one question of a worker. */

/** Claimed jobs that have not begun after this long would have begun sooner elsewhere. */
export const MAX_PREFETCH_WAIT_MS = 1000

/**
 * How many jobs to hold beyond those that run. Short jobs need many, or their handlers wait for the next claim; long ones need
 * none, or another worker stands idle while ours sit on them. So it grows while handlers lack work and shrinks while jobs wait.
 */
export class Prefetch {
  private readonly max: number
  private current: number

  constructor(initial: number, max: number) {
    this.max = max
    this.current = Math.min(initial, max)
  }

  get jobs(): number {
    return this.current
  }

  /** Handlers were idle although the last claim was full. */
  grow(): void {
    this.growTo(Math.max(1, this.current * 2))
  }

  /** So many begin within a moment. */
  growTo(jobs: number): void {
    if (jobs > this.current) this.current = Math.min(this.max, jobs)
  }

  /** Claimed jobs waited too long. */
  shrink(): void {
    this.current = Math.floor(this.current / 4)
  }
}

/** A crash may be charged also to jobs that would have begun within this time. */
const MAX_EARLY_MS = 10

/**
 * How many jobs may be reported to the database as begun before they begin. Short ones must be, or each would wait for an answer of
 * the database. Longer ones are not: they wait for the answer, which takes little time compared to theirs.
 */
export class BeginAhead {
  private readonly concurrency: number
  private readonly max: number
  private readonly duration = new AverageDuration()

  constructor(concurrency: number, max: number) {
    this.concurrency = concurrency
    this.max = max
  }

  get jobs(): number {
    const { ms } = this.duration
    if (ms === undefined || ms > MAX_EARLY_MS) return 0
    return Math.min(this.max, Math.floor((this.concurrency * MAX_EARLY_MS) / Math.max(ms, 0.001)))
  }

  took(ms: number): void {
    this.duration.add(ms)
  }
}

const MAX_CLAIM = 500
/** Work for this long is claimed ahead. */
const PREFETCH_MS = 100
/** Between these bounds ends wait for a part of the time in which what waits here will have begun. */
const MIN_LINGER_MS = 4
const MAX_LINGER_MS = 12
const LINGER_SHARE = 0.25

/**
 * How many commands to claim. Short ones are claimed by the hundred, so that each bears little of the claim's cost; slow ones only
 * as many as can begin at once, so that none waits here while another engine has room.
 */
export class ClaimSize {
  private readonly concurrency: () => number
  private readonly claimsAhead: boolean
  private readonly duration = new AverageDuration()

  /** `claimsAhead` false: what is claimed can begin at once, because those who run it come and go. */
  constructor(
    concurrency: number | (() => number),
    { claimsAhead = true }: { readonly claimsAhead?: boolean } = {},
  ) {
    this.concurrency = typeof concurrency === 'number' ? () => concurrency : concurrency
    this.claimsAhead = claimsAhead
  }

  took(ms: number): void {
    this.duration.add(ms)
  }

  /** How many to claim now while so many run and wait to run here. 0: not before half of what waits has begun. */
  next(running: number, waiting: number): number {
    const concurrency = this.concurrency()
    const free = concurrency - running
    if (!this.claimsAhead) return Math.min(MAX_CLAIM, Math.max(0, free - waiting))
    const { ms } = this.duration
    const ahead = ms === undefined ? 0 : (concurrency * PREFETCH_MS) / Math.max(ms, 0.01)
    const max = Math.min(MAX_CLAIM, Math.max(free, Math.floor(ahead)))
    const room = max - waiting
    return room >= Math.max(1, max / 2) || (waiting === 0 && free > 0) ? Math.max(room, 1) : 0
  }

  /**
   * How long the statement that reports ends waits for more of them while so many commands wait here. The slots are free already; only the
   * execution learns later of its ends, and must not run out of work meanwhile. 0 while nothing waits: somebody may wait for this one end.
   */
  lingerMs(waiting: number): number {
    if (waiting === 0) return 0
    const untilBegunMs = (waiting / Math.max(1, this.concurrency())) * (this.duration.ms ?? 0)
    return Math.min(MAX_LINGER_MS, Math.max(MIN_LINGER_MS, untilBegunMs * LINGER_SHARE))
  }
}

const AVERAGE_WEIGHT = 0.1

/** A moving average; undefined before the first. */
class AverageDuration {
  ms: number | undefined

  add(ms: number): void {
    this.ms = this.ms === undefined ? ms : this.ms + AVERAGE_WEIGHT * (ms - this.ms)
  }
}

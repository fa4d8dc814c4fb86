/**
 * How many jobs to hold beyond those that run. Short jobs need many, or their handlers wait for the next claim; long ones need
 * none, or another worker stands idle while ours sit on them. So it grows while handlers starve and shrinks while jobs wait.
 */

/** Claimed jobs that have not begun after this long would have begun sooner elsewhere. */
export const PATIENCE_MS = 1000

export class ClaimAhead {
  private readonly most: number
  private now: number

  constructor(first: number, most: number) {
    this.most = most
    this.now = Math.min(first, most)
  }

  get jobs(): number {
    return this.now
  }

  /** The last claim was full and there is nothing left to begin. */
  starved(): void {
    this.now = Math.min(this.most, Math.max(1, this.now * 2))
  }

  waited(): void {
    this.now = Math.floor(this.now / 4)
  }
}

/**
 * How many jobs may be told to the database as begun before their turn. Short ones must be, or each would wait for an answer of
 * the database; and then a crash is charged also to those that would have begun within MAX_EARLY_MS. Longer ones are not: they
 * wait for the answer, which is little beside what they take.
 */
const MAX_EARLY_MS = 10
const WEIGHT = 0.1

export class BeginAhead {
  private readonly lanes: number
  private readonly most: number
  private averageMs: number | undefined

  /** `lanes`: how many jobs run at once. */
  constructor(lanes: number, most: number) {
    this.lanes = lanes
    this.most = most
  }

  get jobs(): number {
    if (this.averageMs === undefined || this.averageMs > MAX_EARLY_MS) return 0
    return Math.min(this.most, Math.floor((this.lanes * MAX_EARLY_MS) / Math.max(this.averageMs, 0.001)))
  }

  /** A call took so long. */
  took(ms: number): void {
    this.averageMs = this.averageMs === undefined ? ms : this.averageMs + WEIGHT * (ms - this.averageMs)
  }
}

/**
 * How many commands to claim: those that take a moment by the hundred, so that a claim costs each of them nothing; slow ones as
 * many as can begin at once, so that none waits here while another engine has room.
 */
const MOST = 500
/** What is claimed ahead is worth so much work. */
const AHEAD_MS = 100
const WEIGHT = 0.1

export class ClaimSize {
  private readonly concurrency: number
  private itemMs: number | undefined

  constructor(concurrency: number) {
    this.concurrency = concurrency
  }

  took(ms: number): void {
    this.itemMs = this.itemMs === undefined ? ms : this.itemMs + WEIGHT * (ms - this.itemMs)
  }

  /** Running, and waiting here to run. 0: when half of what waits has begun. */
  next(running: number, waiting: number): number {
    const ahead = this.itemMs === undefined ? 0 : (this.concurrency * AHEAD_MS) / Math.max(this.itemMs, 0.01)
    const free = this.concurrency - running
    const most = Math.min(MOST, Math.max(free, Math.floor(ahead)))
    const room = most - waiting
    return room >= Math.max(1, most / 2) || (waiting === 0 && free > 0) ? Math.max(room, 1) : 0
  }
}

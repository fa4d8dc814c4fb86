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

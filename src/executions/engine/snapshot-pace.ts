/**
 * When a snapshot of a state is worth its bytes: after so many events that it adds little to what they cost themselves (an
 * event some 40 µs, a snapshot 0.1 µs for each byte), and the larger the state is, the rarer. So a step costs the same at the
 * end of a long execution as at its start; and whoever reads the execution folds no more than this.
 */
const FEWEST_EVENTS = 500
const MOST_EVENTS = 20_000
const BYTES_AN_EVENT = 20

export class SnapshotPace {
  /** Of the last snapshot. */
  seq: number
  private after = FEWEST_EVENTS

  constructor(seq: number) {
    this.seq = seq
  }

  isDue(seq: number): boolean {
    return seq - this.seq >= this.after
  }

  written(seq: number, bytes: number): void {
    this.seq = seq
    this.after = Math.min(MOST_EVENTS, Math.max(FEWEST_EVENTS, bytes / BYTES_AN_EVENT))
  }
}

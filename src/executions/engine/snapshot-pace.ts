/**
 * When a snapshot of a state is worth its bytes: after so many events that it adds little to what they cost themselves (an
 * event some 40 µs, a snapshot 0.1 µs for each byte), and the larger the state is, the rarer. So a step costs the same at the
 * end of a long execution as at its start; and whoever reads the execution folds no more than this.
 */
import type { Decision } from '../machine/decision.ts'
import { type ExecutionState, FOLD_VERSION } from '../machine/state.ts'
import type { Checkpoint } from './flush.ts'

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

  /** What is written with a decision: with the first one at least that there is such an execution. */
  checkpointWith({ state, ended }: Decision, isFirst: boolean): Checkpoint | undefined {
    if (state === undefined) return undefined
    const isDue = !ended && state.seq - this.seq >= this.after
    if (!isDue) return isFirst ? checkpointOf(state, null) : undefined
    const text = JSON.stringify(state)
    this.written(state.seq, text.length)
    return checkpointOf(state, text)
  }

  written(seq: number, bytes: number): void {
    this.seq = seq
    this.after = Math.min(MOST_EVENTS, Math.max(FEWEST_EVENTS, bytes / BYTES_AN_EVENT))
  }
}

export function checkpointOf({ seq, last_event_id }: ExecutionState, state: string | null): Checkpoint {
  return { last_event_id, last_seq: seq, fold_version: FOLD_VERSION, state }
}

/** What a rerun begins with: how things stood when the step was last entered. */
import type { ExecutionEvent } from '../event.ts'
import type { Seed } from './decision.ts'
import { fold } from './fold.ts'
import type { ExecutionState } from './state.ts'

/** Takes the events of the old log one by one, so that a long one need not be in memory. */
export class SeedFinder {
  readonly #step: string
  #state: ExecutionState | undefined
  #seed: Seed | undefined

  constructor(from_step: string) {
    this.#step = from_step
  }

  add(event: ExecutionEvent): void {
    const before = this.#state?.entries[this.#step] ?? 0
    const steps = this.#state?.steps[this.#step]
    this.#state = fold(this.#state, event)
    if (event.node_name !== this.#step || event.node_id === undefined) return
    if ((this.#state.entries[this.#step] ?? 0) === before) return
    this.#seed = {
      steps: { ...this.#state.steps },
      entries: { ...this.#state.entries, [this.#step]: before },
    }
    // It may have ended by the same event, for want of its inputs.
    if (steps === undefined) delete this.#seed.steps[this.#step]
    else this.#seed.steps[this.#step] = steps
  }

  /** undefined: it was never entered. */
  get seed(): Seed | undefined {
    return this.#seed
  }
}

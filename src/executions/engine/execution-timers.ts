/** The times at which something of an execution is tried again, while its owner has it in memory. */
import type { Timer } from '../machine/decision.ts'

/** Node's timers take no more. */
const LONGEST_MS = 2 ** 31 - 1

export class ExecutionTimers {
  private readonly due: (timer: Timer) => void
  private readonly running = new Map<string, NodeJS.Timeout>()

  constructor(due: (timer: Timer) => void) {
    this.due = due
  }

  get size(): number {
    return this.running.size
  }

  arm(timer: Timer): void {
    const key = `${timer.node_id}:${timer.index ?? ''}`
    const leftMs = Date.parse(timer.at) - Date.now()
    clearTimeout(this.running.get(key))
    const running = setTimeout(
      () => {
        this.running.delete(key)
        if (leftMs > LONGEST_MS) this.arm(timer)
        else this.due(timer)
      },
      Math.min(LONGEST_MS, Math.max(0, leftMs)),
    )
    this.running.set(key, running)
  }

  clear(): void {
    for (const running of this.running.values()) clearTimeout(running)
    this.running.clear()
  }
}

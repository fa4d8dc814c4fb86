/** Small errands that come round again while a worker or an engine runs. */
import type { Logger } from 'pino'

export class Repeating {
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly log: Logger
  private stopped = false

  constructor(log: Logger) {
    this.log = log
  }

  /** With some chance in it: processes that started together do not ask together for ever. */
  every(ms: number, errand: () => Promise<unknown>): void {
    if (this.stopped) return
    const timer = setTimeout(
      async () => {
        this.timers.delete(timer)
        await errand().catch((error) => this.log.debug({ err: error }, 'tried again in a moment'))
        this.every(ms, errand)
      },
      ms * (0.8 + 0.4 * Math.random()),
    )
    this.timers.add(timer)
  }

  stop(): void {
    this.stopped = true
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
  }
}

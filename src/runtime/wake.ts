/** A loop waits for whichever comes first: a wake-up or the time. A wake-up while it does not wait counts for the next wait. */
export class Wake {
  private pending = false
  private resolve: (() => void) | undefined

  now(): void {
    this.pending = true
    this.resolve?.()
  }

  /** Without `maxMs` it waits for a wake-up only. */
  async wait(maxMs?: number): Promise<void> {
    if (!this.pending) {
      await new Promise<void>((resolve) => {
        const timer = maxMs === undefined ? undefined : setTimeout(resolve, maxMs)
        this.resolve = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.resolve = undefined
    }
    this.pending = false
  }
}

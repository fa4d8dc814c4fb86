/** A loop waits for whatever comes first: a reason to go on, or the time. */
export class Wake {
  private pending = false
  private resolve: (() => void) | undefined

  /** The loop goes on now, or does not wait the next time. */
  now(): void {
    this.pending = true
    this.resolve?.()
  }

  async wait(mostMs?: number): Promise<void> {
    if (!this.pending) {
      await new Promise<void>((resolve) => {
        const timer = mostMs === undefined ? undefined : setTimeout(resolve, mostMs)
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

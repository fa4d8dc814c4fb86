/** Counts what runs, and says when nothing does. */
export class InFlight {
  private running = 0
  private idle: (() => void) | undefined

  get size(): number {
    return this.running
  }

  begin(): void {
    this.running++
  }

  end(): void {
    this.running--
    if (this.running === 0) this.idle?.()
  }

  /** Resolves when nothing runs any more, or after `ms`. Returns whether nothing runs. */
  async idleWithin(ms: number): Promise<boolean> {
    if (this.running === 0) return true
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.idle = resolve
      timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
    this.idle = undefined
    return this.running === 0
  }
}

/** A few places for work that needs much memory: who finds none waits for his turn. */

export class Places {
  private free: number
  private readonly queue = new Set<() => void>()

  constructor(count: number) {
    this.free = count
  }

  /** Rejects with the signal's reason when it is aborted while it waits. */
  async within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.enter(signal)
    try {
      return await work()
    } finally {
      this.free++
      this.admit()
    }
  }

  private async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.queue.delete(enter)
        reject(signal.reason)
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.queue.add(enter)
      this.admit()
    })
  }

  private admit(): void {
    for (const enter of this.queue) {
      if (this.free === 0) return
      this.free--
      this.queue.delete(enter)
      enter()
    }
  }
}

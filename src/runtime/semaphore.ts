/** Lets a few run at once, for work that needs much memory or time. The others wait in their order. */

interface SemaphoreOptions {
  /** How many places one key may have at once; default: all. */
  readonly perKey?: number
}

interface AcquireOptions {
  /** Aborted while it waits: the wait rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Whose place it is, for `perKey`. */
  readonly key?: string | undefined
}

interface Waiter {
  readonly key: string | undefined
  enter(): void
}

export class Semaphore {
  private free: number
  private readonly perKey: number
  private readonly held = new Map<string, number>()
  private readonly queue = new Set<Waiter>()

  constructor(count: number, { perKey = count }: SemaphoreOptions = {}) {
    this.free = count
    this.perKey = perKey
  }

  async within<T>(options: AcquireOptions, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(options)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Resolves with how to give the place back. */
  async acquire({ signal, key }: AcquireOptions = {}): Promise<() => void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.queue.delete(waiter)
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        key,
        enter: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.queue.add(waiter)
      this.admit()
    })
    let released = false
    return () => {
      if (released) return
      released = true
      this.free++
      if (key !== undefined) this.count(key, -1)
      this.admit()
    }
  }

  private admit(): void {
    for (const waiter of this.queue) {
      if (this.free === 0) return
      const { key } = waiter
      if (key !== undefined && (this.held.get(key) ?? 0) >= this.perKey) continue
      this.free--
      if (key !== undefined) this.count(key, 1)
      this.queue.delete(waiter)
      waiter.enter()
    }
  }

  private count(key: string, change: number): void {
    const held = (this.held.get(key) ?? 0) + change
    if (held === 0) this.held.delete(key)
    else this.held.set(key, held)
  }
}

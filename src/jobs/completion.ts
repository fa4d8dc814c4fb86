/**
 * What handlers ended with, on its way to the database: one write in flight, everything that arrives meanwhile rides the next.
 * Alone it leaves at once, so latency is that of one statement; under load each statement carries hundreds.
 */
import { setImmediate } from 'node:timers/promises'
import { isTransient } from '../db/transient.ts'
import { Wake } from '../db/wake.ts'
import { isLeaseLost } from './lease-lost.ts'

export interface Writing<Item> {
  /** One statement. May be called again with the same items when its answer was lost: it must count once. */
  write(items: readonly Item[]): Promise<void>
  /** The database will not take this one, whatever is tried. */
  refused(item: Item, error: unknown): void
  leaseLost(error: unknown): void
  /** It cannot be written just now. */
  delayed(error: unknown): void
}

const MOST = 1000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 1000

export class BatchedWrites<Item> {
  private readonly to: Writing<Item>
  private buffer: Item[] = []
  private flushing: Promise<void> | undefined
  private dropped = false
  private readonly retry = new Wake()

  constructor(to: Writing<Item>) {
    this.to = to
  }

  /** Not yet in the database. */
  get pending(): boolean {
    return this.flushing !== undefined
  }

  add(item: Item): void {
    if (this.dropped) return
    this.buffer.push(item)
    this.flushing ??= this.flush()
  }

  /** Resolves when everything added so far is written or was dropped. */
  async settled(): Promise<void> {
    while (this.flushing) await this.flushing
  }

  /** The lease has passed: none of it would count. */
  drop(): void {
    this.dropped = true
    this.buffer = []
    this.retry.now()
  }

  private async flush(): Promise<void> {
    try {
      // What ends in the same turn of the loop goes together.
      await setImmediate()
      while (this.buffer.length > 0) await this.write(this.buffer.splice(0, MOST))
    } finally {
      // In the same breath as the last look at the buffer: what is added a moment later begins a flush of its own.
      this.flushing = undefined
    }
  }

  private async write(items: readonly Item[]): Promise<void> {
    for (let delayMs = FIRST_RETRY_MS; !this.dropped; delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)) {
      try {
        return await this.to.write(items)
      } catch (error) {
        if (isLeaseLost(error)) return this.to.leaseLost(error)
        if (!isTransient(error)) return await this.divide(items, error)
        this.to.delayed(error)
        await this.retry.wait(delayMs)
      }
    }
  }

  /** One that the database refuses must not keep the others from being written. */
  private async divide(items: readonly Item[], error: unknown): Promise<void> {
    if (items.length === 1) return this.to.refused(items[0]!, error)
    const half = items.length >> 1
    await this.write(items.slice(0, half))
    await this.write(items.slice(half))
  }
}

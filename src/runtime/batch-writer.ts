/**
 * Writes items in batches: one statement is in flight, and everything added meanwhile goes with the next one. A single item is
 * sent at once, so its latency is that of one statement; under load each statement carries hundreds. An item that the database
 * refuses is found by halving, so it does not keep the others from being written.
 */
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { isTransient } from '../kernel/postgres/errors.ts'
import { Wake } from './wake.ts'

interface BatchWriterDeps<Item> {
  /** Sends one statement, all or nothing. It may get the same items again after a lost answer: they must count once. */
  write(items: readonly Item[]): Promise<void>
  /** The database does not take this item, whatever is tried. */
  onRefused(item: Item, error: Error): void
  /**
   * Decides what to write after a failed attempt: these items again, none, or halves of them because one of them is refused.
   * `pause` waits for the backoff. Default: `retryWhenTransient`.
   */
  onFailure?(
    error: unknown,
    items: readonly Item[],
    pause: () => Promise<void>,
  ): NextAttempt<Item> | Promise<NextAttempt<Item>>
  /** Called before each attempt: the items that still count. It has reported to the callers of the others. */
  stillCounting?(items: readonly Item[]): readonly Item[]
  /** How much an item counts towards `maxBatch`; default 1. */
  sizeOf?(item: Item): number
  /** A batch ends with the item that reaches it; default 1000. */
  readonly maxBatch?: number
  /** How long the next statement waits for more items; default 0. Nobody must be waiting for the first of them. */
  lingerMs?(): number
}

export type NextAttempt<Item> = readonly Item[] | 'divide'

const MAX_BATCH = 1000
const MIN_RETRY_MS = 50
const MAX_RETRY_MS = 1000

export class BatchWriter<Item> {
  private readonly deps: BatchWriterDeps<Item>
  private queue: Item[] = []
  /** Parts of the current batch that are not written yet, in order. */
  private parts: (readonly Item[])[] = []
  private flushing: Promise<void> | undefined
  /** Each drop begins a new one: batches of an earlier generation are not written again. */
  private generation = 0
  private readonly backoff = new Wake()

  constructor(deps: BatchWriterDeps<Item>) {
    this.deps = deps
  }

  add(item: Item): void {
    this.queue.push(item)
    this.flushing ??= this.flush()
  }

  /** Resolves when every item is written, refused or dropped. */
  async drain(): Promise<void> {
    while (this.flushing) await this.flushing
  }

  /** Forgets every item added so far. Those of a statement in flight are not sent again. Later items are written. */
  drop(): void {
    this.generation++
    this.queue = []
    this.parts.length = 0
    this.backoff.now()
  }

  /** Takes waiting items out, in order. Those of the statement in flight stay. */
  remove(isRemoved: (item: Item) => boolean): Item[] {
    const removed = [...this.parts.flat(), ...this.queue].filter(isRemoved)
    if (removed.length === 0) return removed
    this.parts.forEach((part, place) => {
      this.parts[place] = part.filter((item) => !isRemoved(item))
    })
    this.queue = this.queue.filter((item) => !isRemoved(item))
    return removed
  }

  /** Ends the current backoff: a batch that waits is tried at once. */
  retryNow(): void {
    this.backoff.now()
  }

  private async flush(): Promise<void> {
    try {
      // Items added in the same turn of the event loop go together.
      await setImmediate()
      while (this.queue.length > 0) {
        const lingerMs = this.deps.lingerMs?.() ?? 0
        if (lingerMs > 0) await delay(lingerMs)
        const { generation } = this
        this.parts = [this.nextBatch()]
        await writeInHalves(this.parts, {
          attempt: (items) => this.attempt(items, generation),
          onRefused: (item, error) => this.deps.onRefused(item, error),
        })
      }
    } finally {
      // Synchronous with the last look at the queue: an item that is added a moment later begins a flush of its own.
      this.flushing = undefined
    }
  }

  private nextBatch(): Item[] {
    const { sizeOf, maxBatch = MAX_BATCH } = this.deps
    if (sizeOf === undefined) return this.queue.splice(0, maxBatch)
    let size = 0
    let count = 0
    while (count < this.queue.length && size < maxBatch) size += sizeOf(this.queue[count++]!)
    return this.queue.splice(0, count)
  }

  /** Tries until the items are written, given up or refused as they are. */
  private async attempt(items: readonly Item[], generation: number): Promise<Refusal<Item> | undefined> {
    let left = items
    let delayMs = MIN_RETRY_MS
    const pause = async (): Promise<void> => {
      await this.backoff.wait(delayMs * (0.5 + Math.random()))
      delayMs = Math.min(delayMs * 2, MAX_RETRY_MS)
    }
    while (generation === this.generation) {
      left = this.deps.stillCounting?.(left) ?? left
      if (left.length === 0) return undefined
      try {
        await this.deps.write(left)
        return undefined
      } catch (error) {
        if (generation !== this.generation) return undefined
        const next = await (this.deps.onFailure ?? retryWhenTransient)(error, left, pause)
        if (next !== 'divide') left = next
        else if (generation === this.generation) return { items: left, error: error as Error }
      }
    }
    return undefined
  }
}

/** Tries again what goes away by itself; everything else is the fault of an item. */
export async function retryWhenTransient<Item>(
  error: unknown,
  items: readonly Item[],
  pause: () => Promise<void>,
): Promise<NextAttempt<Item>> {
  if (!isTransient(error)) return 'divide'
  await pause()
  return items
}

export interface Refusal<Item> {
  /** What was not written: one of these is the cause. */
  readonly items: readonly Item[]
  readonly error: Error
}

/**
 * Writes the parts in order. A part that is refused is halved until the item at fault is alone. `parts` holds what is still to
 * be written, also while an attempt is under way: its owner may take items out.
 */
export async function writeInHalves<Item>(
  parts: (readonly Item[])[],
  deps: {
    /** Resolves with undefined when nothing is left to do about these items. */
    attempt(items: readonly Item[]): Promise<Refusal<Item> | undefined>
    onRefused(item: Item, error: Error): void
  },
): Promise<void> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part.length === 0) continue
    const refusal = await deps.attempt(part)
    if (refusal === undefined) continue
    const { items, error } = refusal
    if (items.length === 1) {
      deps.onRefused(items[0]!, error)
      continue
    }
    const half = items.length >> 1
    parts.unshift(items.slice(0, half), items.slice(half))
  }
}

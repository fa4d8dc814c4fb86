/** The best few of many, without sorting the many. Equal scores are in the order of ids, so that an answer is always the same. */
import type { Near } from './stores/store.ts'

export class Best {
  private readonly limit: number
  /** A heap: the worst is first, and is what the next must beat. */
  private readonly heap: Near[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  /** Below this nothing is taken. */
  get least(): number {
    return this.heap.length < this.limit
      ? Number.NEGATIVE_INFINITY
      : (this.heap[0]?.score ?? Number.POSITIVE_INFINITY)
  }

  offer(id: string, score: number): void {
    const near = { id, score }
    if (this.heap.length < this.limit) {
      this.heap.push(near)
      this.rise(this.heap.length - 1)
    } else if (this.limit > 0 && isWorse(this.heap[0]!, near)) {
      this.heap[0] = near
      this.sink()
    }
  }

  ranked(): Near[] {
    return [...this.heap].sort((a, b) => (isWorse(a, b) ? 1 : -1))
  }

  private rise(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1
      if (!isWorse(this.heap[at]!, this.heap[above]!)) return
      this.swap(at, above)
      at = above
    }
  }

  private sink(): void {
    for (let at = 0; ; ) {
      let worst = at
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < this.heap.length && isWorse(this.heap[below]!, this.heap[worst]!)) worst = below
      }
      if (worst === at) return
      this.swap(at, worst)
      at = worst
    }
  }

  private swap(a: number, b: number): void {
    const held = this.heap[a]!
    this.heap[a] = this.heap[b]!
    this.heap[b] = held
  }
}

function isWorse(a: Near, b: Near): boolean {
  return a.score < b.score || (a.score === b.score && a.id > b.id)
}

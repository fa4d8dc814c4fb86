/**
 * The slots of one pool for two lease holders, jobs and items: each sees the slots that the other does not use. When a slot becomes free both
 * may claim for it; the call that comes second waits in the gateway for the next one, or goes back.
 */
import type { RemoteCall, RemoteCalls, RemoteOutcome } from './calls.ts'

type What = RemoteCall['what']

interface Use {
  /** Calls that have not ended. */
  running: number
  /** Those of them that want a worker for themselves: `slots` of the pool leaves them out. */
  alone: number
}

export class SharedSlots {
  private readonly pool: RemoteCalls
  private readonly uses: Readonly<Record<What, Use>> = {
    job: { running: 0, alone: 0 },
    item: { running: 0, alone: 0 },
  }
  private readonly views = new Map<What, SharedCalls>()

  constructor(pool: RemoteCalls) {
    this.pool = pool
  }

  of(what: What): SharedCalls {
    const view = this.views.get(what) ?? new SharedCalls(what, this, this.pool)
    this.views.set(what, view)
    return view
  }

  slotsFor(what: What): number {
    const other = this.uses[what === 'job' ? 'item' : 'job']
    const mine = this.uses[what]
    // Jobs that want a worker for themselves have a lease holder of their own; items have not.
    const ownAlone = what === 'item' ? mine.alone : 0
    return Math.max(0, this.pool.slots - (other.running - other.alone)) + ownAlone
  }

  runningOf(what: What): number {
    return this.uses[what].running
  }

  async count(call: RemoteCall, begin: () => Promise<RemoteOutcome>): Promise<RemoteOutcome> {
    const use = this.uses[call.what]
    const alone = call.alone ? 1 : 0
    use.running++
    use.alone += alone
    try {
      return await begin()
    } finally {
      use.running--
      use.alone -= alone
      for (const view of this.views.values()) view.check()
    }
  }
}

export class SharedCalls implements RemoteCalls {
  private readonly what: What
  private readonly shared: SharedSlots
  private readonly pool: RemoteCalls
  private readonly listeners = new Set<() => void>()
  private wasFull = true

  constructor(what: What, shared: SharedSlots, pool: RemoteCalls) {
    this.what = what
    this.shared = shared
    this.pool = pool
  }

  get slots(): number {
    const slots = this.shared.slotsFor(this.what)
    if (slots <= this.shared.runningOf(this.what)) this.wasFull = true
    return slots
  }

  get workers(): number {
    return this.pool.workers ?? 1
  }

  onSlots(listener: () => void): () => void {
    this.listeners.add(listener)
    const undo = this.pool.onSlots(listener)
    return () => {
      this.listeners.delete(listener)
      undo()
    }
  }

  run(call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> {
    return this.shared.count(call, () => this.pool.run(call, signal))
  }

  settle(call: string, counted: boolean): void {
    this.pool.settle(call, counted)
  }

  /** A call has ended: whoever found no room may have some now. Others ask again by themselves. */
  check(): void {
    if (!this.wasFull || this.shared.slotsFor(this.what) <= this.shared.runningOf(this.what)) return
    this.wasFull = false
    for (const listener of this.listeners) listener()
  }
}

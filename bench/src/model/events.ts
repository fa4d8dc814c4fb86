/** Discrete events: a clock, what happens at which time, cores that tasks share, and chance from a seed. All times are milliseconds. */

interface Event {
  readonly at: number
  readonly order: number
  readonly happen: () => void
}

export class Simulation {
  now = 0
  private readonly events = new Heap<Event>((a, b) => a.at - b.at || a.order - b.order)
  private order = 0
  private state: number

  constructor(seed = 1) {
    this.state = seed >>> 0
  }

  after(ms: number, happen: () => void): void {
    this.events.push({ at: this.now + Math.max(0, ms), order: this.order++, happen })
  }

  /** Until nothing happens any more, or `isOver` says so. */
  run(isOver: () => boolean = () => false): void {
    while (!isOver()) {
      const event = this.events.pop()
      if (event === undefined) return
      this.now = event.at
      event.happen()
    }
  }

  /** From 0 to 1 (mulberry32). */
  random(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let t = this.state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  exponential(mean: number): number {
    return mean === 0 ? 0 : -mean * Math.log(1 - this.random())
  }
}

interface SharedTask {
  readonly doneAt: number
  readonly order: number
  readonly done: () => void
}

/** So many cores that all tasks share equally; none runs on more than one. */
export class Cores {
  /** Milliseconds of all cores so far. */
  usedMs = 0
  private readonly sim: Simulation
  private readonly count: number
  private readonly tasks = new Heap<SharedTask>((a, b) => a.doneAt - b.doneAt || a.order - b.order)
  /** What each task has had since the beginning of time. */
  private share = 0
  private since = 0
  private order = 0
  private version = 0

  constructor(sim: Simulation, count: number) {
    this.sim = sim
    this.count = count
  }

  use(demandMs: number, done: () => void): void {
    this.usedMs += demandMs
    if (this.count === Number.POSITIVE_INFINITY) {
      this.sim.after(demandMs, done)
      return
    }
    this.settle()
    this.tasks.push({ doneAt: this.share + demandMs, order: this.order++, done })
    this.schedule()
  }

  private get rate(): number {
    return Math.min(1, this.count / this.tasks.size)
  }

  private settle(): void {
    if (this.tasks.size > 0) this.share += (this.sim.now - this.since) * this.rate
    this.since = this.sim.now
  }

  private schedule(): void {
    const next = this.tasks.peek()
    if (next === undefined) return
    const version = ++this.version
    this.sim.after((next.doneAt - this.share) / this.rate, () => {
      if (version !== this.version) return
      this.settle()
      this.tasks.pop()
      this.schedule()
      next.done()
    })
  }
}

/** A process that does one thing at a time. */
export class Thread {
  usedMs = 0
  private readonly sim: Simulation
  private readonly cores: Cores
  private readonly slowdown: (idleMs: number) => number
  private idleSince = 0
  private readonly queue: { readonly demandMs: number; readonly done: () => void }[] = []
  private head = 0
  private busy = false

  /** `slowdown`: how many times as long the first thing takes after it was idle. */
  constructor(sim: Simulation, cores: Cores, slowdown: (idleMs: number) => number = () => 1) {
    this.sim = sim
    this.cores = cores
    this.slowdown = slowdown
  }

  /** 0 while it has something to do. */
  get idleMs(): number {
    return this.busy ? 0 : this.sim.now - this.idleSince
  }

  use(demandMs: number, done: () => void): void {
    const ms = this.busy ? demandMs : demandMs * this.slowdown(this.idleMs)
    this.usedMs += ms
    this.queue.push({ demandMs: ms, done })
    if (!this.busy) this.next()
  }

  private next(): void {
    const task = this.queue[this.head]
    if (task === undefined) {
      this.queue.length = 0
      this.head = 0
      this.busy = false
      this.idleSince = this.sim.now
      return
    }
    this.head++
    this.busy = true
    this.cores.use(task.demandMs, () => {
      task.done()
      this.next()
    })
  }
}

export class Heap<Item> {
  private readonly items: Item[] = []
  private readonly compare: (a: Item, b: Item) => number

  constructor(compare: (a: Item, b: Item) => number) {
    this.compare = compare
  }

  get size(): number {
    return this.items.length
  }

  peek(): Item | undefined {
    return this.items[0]
  }

  push(item: Item): void {
    const { items } = this
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.compare(items[parent]!, item) <= 0) break
      items[at] = items[parent]!
      at = parent
    }
    items[at] = item
  }

  pop(): Item | undefined {
    const { items } = this
    const first = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return first
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= items.length) break
      if (child + 1 < items.length && this.compare(items[child + 1]!, items[child]!) < 0) child++
      if (this.compare(items[child]!, last) >= 0) break
      items[at] = items[child]!
      at = child
    }
    items[at] = last
    return first
  }
}

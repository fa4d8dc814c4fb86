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

interface Task {
  readonly demandMs: number
  readonly done: () => void
}

/** So long idle the caches of the cores are those of others, and then so long each thing that a process does is the first of its kind. */
const COLD_AFTER_MS = 2
const COLD_FOR_MS = 3

/**
 * A Node process: one thing at a time, in turns of its event loop. A turn does all that has arrived by then, then what that left for the end
 * of the turn (setImmediate). What arrives meanwhile is for the next turn.
 */
export class Thread {
  usedMs = 0
  private readonly sim: Simulation
  private readonly cores: Cores
  private readonly slowdown: (idleMs: number) => number
  private idleSince = 0
  private coldUntil = 0
  private factor = 1
  private arrived: Task[] = []
  private turn: Task[] = []
  private place = 0
  private following = 0
  private later: Task[] = []
  private busy = false

  /** `slowdown`: how many times as long things take after it was idle for so long. */
  constructor(sim: Simulation, cores: Cores, slowdown: (idleMs: number) => number = () => 1) {
    this.sim = sim
    this.cores = cores
    this.slowdown = slowdown
  }

  /** 0 while it has something to do. */
  get idleMs(): number {
    return this.busy ? 0 : this.sim.now - this.idleSince
  }

  /** Something came: an answer, a message, a timer. */
  use(demandMs: number, done: () => void): void {
    this.arrived.push({ demandMs, done })
    if (this.busy) return
    if (this.idleMs >= COLD_AFTER_MS) {
      this.factor = this.slowdown(this.idleMs)
      this.coldUntil = this.sim.now + COLD_FOR_MS
    }
    this.busy = true
    // With whatever else comes at this moment.
    this.sim.after(0, () => this.next())
  }

  /** What follows at once from what it does now, before anything else. */
  continue(demandMs: number, done: () => void): void {
    if (this.busy) this.turn.splice(this.place + this.following++, 0, { demandMs, done })
    else this.use(demandMs, done)
  }

  /** At the end of the turn. */
  endOfTurn(demandMs: number, done: () => void): void {
    if (this.busy) this.later.push({ demandMs, done })
    else this.use(demandMs, done)
  }

  private next(): void {
    if (this.place === this.turn.length) {
      this.place = 0
      this.turn = this.later.length > 0 ? this.later : this.arrived
      if (this.later.length > 0) this.later = []
      else this.arrived = []
    }
    const task = this.turn[this.place]
    if (task === undefined) {
      this.busy = false
      this.idleSince = this.sim.now
      return
    }
    this.place++
    const ms = task.demandMs * (this.sim.now < this.coldUntil ? this.factor : 1)
    this.usedMs += ms
    this.cores.use(ms, () => {
      this.following = 0
      task.done()
      this.next()
    })
  }
}

/**
 * The timers of a Node process: by a clock of whole milliseconds, and looked at when the process wakes, which is somewhere in a millisecond.
 * What began within one millisecond of that clock ends together; what began a moment later, a millisecond after it.
 */
export class Timers {
  private readonly sim: Simulation
  private readonly lateMs: number
  private readonly phase: number
  private readonly due = new Map<number, (() => void)[]>()

  constructor(sim: Simulation, lateMs: number) {
    this.sim = sim
    this.lateMs = lateMs
    this.phase = sim.random()
  }

  /** `wakes`: once for all that happen together. */
  after(ms: number, wakes: () => void, happen: () => void): void {
    const clock = Math.floor(this.sim.now + this.phase) + Math.ceil(ms)
    const waiting = this.due.get(clock)
    if (waiting) {
      waiting.push(happen)
      return
    }
    const all = [happen]
    this.due.set(clock, all)
    this.sim.after(clock - this.phase + this.sim.random() + this.lateMs - this.sim.now, () => {
      this.due.delete(clock)
      for (const one of all) one()
      wakes()
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

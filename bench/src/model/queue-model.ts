/**
 * The queue as the model sees it: Postgres with so many cores, one group commit and NOTIFY as a lock over it; worker processes that claim,
 * begin and complete as src/jobs does (worker.ts, executor.ts, prefetch.ts, batch-writer.ts); and, with a gateway, workers behind NATS.
 */
import { Cores, Simulation, Thread, Timers } from './events.ts'
import { coldFactor, contentionUs, type Parameters, type StatementCost } from './parameters.ts'

export type Mode = 'direct' | 'wake-ups' | 'gateway'

export interface World {
  readonly mode: Mode
  /** Worker processes; behind gateways they have no database. */
  readonly processes: number
  readonly gateways?: number
  /** Handler calls at once in a process. */
  readonly slots: number
  readonly batch?: number
  readonly handlerMs: number
  /** Of the handler's time that is spread exponentially; the rest is fixed. Default 0. */
  readonly handlerSpread?: number
  /** Cores of the server, and of the machine if everything runs on it. */
  readonly cores: number
  /** Everything on one machine, as in a benchmark; else only Postgres shares those cores. */
  readonly sameMachine?: boolean
  readonly load: Backlog | Arrivals
  readonly seed?: number
}

/** Jobs that are there from the start. */
export interface Backlog {
  readonly jobs: number
  /** What is counted begins when so many of them have ended; default 0. */
  readonly warmUpJobs?: number
}

/** Jobs that are enqueued at random times, `together` in one statement (default 1), by so many sessions in turn (default 1). */
export interface Arrivals {
  readonly perSecond: number
  readonly seconds: number
  readonly together?: number
  readonly sessions?: number
  /** What is counted begins after so many of the seconds; default 0. */
  readonly warmUpSeconds?: number
  /** Between two enqueues, instead of random times: as in a real run with the same ones. */
  readonly gapsMs?: readonly number[]
}

export interface Prediction {
  readonly jobs_per_s: number
  /** Of the jobs that came meanwhile, how many were claimed: below 1 they pile up. */
  readonly claimed_share: number
  /** CPU of Postgres for each job, for claim, begin, completion and idle work (not for the enqueue). */
  readonly postgres_us_per_job: number
  /** Of the seconds that the run took, with autovacuum. */
  readonly postgres_cores: number
  readonly latency_p50_ms: number
  readonly latency_p95_ms: number
  readonly commits_per_s: number
  readonly messages_per_s: number
  readonly wal_mb_per_s: number
  readonly jobs_per_claim: number
  /** Also those that find nothing. */
  readonly claims_per_job: number
  readonly begins_per_job: number
  readonly jobs_per_completion: number
  /** Of the busiest process that claims: a core is all it can use. */
  readonly claimer_cores: number
  /** Share of the time in which some commit held the lock of NOTIFY. */
  readonly notify_share: number
}

export function predict(parameters: Parameters, world: World): Prediction {
  return new QueueModel(parameters, world).run()
}

const US = 1 / 1000
/** Places of the worker whose handlers waited when the costs of Node were measured. */
const MEASURED_SLOTS = 10

type Counters = ReturnType<QueueModel['counters']>

class QueueModel {
  readonly sim: Simulation
  readonly world: World
  readonly parameters: Parameters
  readonly database: Database
  readonly machine: Cores
  /** When each waiting job was enqueued, in order. */
  private readonly waiting: number[] = []
  private taken = 0
  private readonly latencies: number[] = []
  private readonly claimers: JobWorker[] = []
  private total = 0
  private completed = 0
  private lastCompletedAt = 0
  messages = 0

  constructor(parameters: Parameters, world: World) {
    this.parameters = parameters
    this.world = world
    this.sim = new Simulation(world.seed ?? 1)
    const cores = new Cores(this.sim, world.cores)
    this.machine = world.sameMachine ? cores : new Cores(this.sim, Number.POSITIVE_INFINITY)
    this.database = new Database(this.sim, cores, parameters)
    if (world.mode === 'gateway' && parameters.nats === undefined)
      throw new Error('gateways need figures of NATS')
    const claimers = world.mode === 'gateway' ? (world.gateways ?? 1) : world.processes
    for (let n = 0; n < claimers; n++) {
      const slots =
        world.mode === 'gateway' ? Math.ceil((world.processes * world.slots) / claimers) : world.slots
      this.claimers.push(new JobWorker(this, slots, world.mode === 'gateway'))
    }
  }

  /** As with sessions of the database, what a process has not used for a while is not in the caches of the cores. */
  newThread(): Thread {
    const { cold } = this.parameters.node
    return new Thread(this.sim, this.machine, (idleMs) => coldFactor(cold, idleMs))
  }

  /** By timers, after so long: what it costs comes after the next handlers have begun, and after what ended was sent. */
  woke(thread: Thread): void {
    thread.endOfTurn(0, () => thread.use(this.wakeMs, () => {}))
  }

  newTimers(): Timers {
    return new Timers(this.sim, this.parameters.node.timer_late_ms)
  }

  /** Of one call. */
  handlerTime(): number {
    const { handlerMs, handlerSpread = 0 } = this.world
    return handlerMs * (1 - handlerSpread) + this.sim.exponential(handlerMs * handlerSpread)
  }

  /** Of Node, to begin a handler call. All that can begin do so in one turn of the event loop. */
  get beginMs(): number {
    return this.parameters.node.job_us * 0.3 * US
  }

  /**
   * What a process pays when timers wake it, in the turn in which their handlers end: measured as what calls that waited cost more, ten of them at
   * a time. It was as cold as it is after that wait.
   */
  get wakeMs(): number {
    const { job_us, call_us, wait_ms } = this.parameters.node
    const warmUs = ((call_us - job_us) * MEASURED_SLOTS) / coldFactor(this.parameters.node.cold, wait_ms)
    return Math.max(0, warmUs) * US
  }

  get queued(): number {
    return this.waiting.length - this.taken
  }

  take(count: number): number {
    const got = Math.min(count, this.queued)
    this.taken += got
    return got
  }

  /** Of a message of NATS, `idleMs` after the receiver did anything. */
  hopMs(idleMs: number): number {
    const { hop_ms, idle_hop_ms } = this.parameters.nats!
    return idleMs < IDLE_MS ? hop_ms : oneOf(idle_hop_ms, this.sim)
  }

  /** Jobs begin in the order in which they were enqueued. */
  private begun = 0
  began(): void {
    const enqueuedAt = this.waiting[this.begun++]!
    this.latencies.push(this.sim.now - enqueuedAt)
  }

  completedNow(count: number): void {
    this.completed += count
    this.lastCompletedAt = this.sim.now
  }

  run(): Prediction {
    const { load } = this.world
    if ('jobs' in load) {
      this.total = load.jobs
      for (let n = 0; n < load.jobs; n++) this.waiting.push(0)
      for (const claimer of this.claimers) claimer.wake()
    } else this.arrive(load)
    const isDone = (): boolean => this.total > 0 && this.completed >= this.total
    if ('jobs' in load || load.gapsMs !== undefined) {
      const { warmUpJobs = 0 } = 'jobs' in load ? load : {}
      this.sim.run(() => this.completed >= warmUpJobs)
      const before = warmUpJobs === 0 ? this.nothing : this.counters()
      this.sim.run(isDone)
      return this.between(before, this.counters(this.lastCompletedAt))
    }
    // To the end of the arrivals: what is unfinished then would only show how the last ones end.
    const isAt = (ms: number) => (): boolean => isDone() || this.sim.now >= ms
    const warmUpMs = (load.warmUpSeconds ?? 0) * 1000
    this.sim.run(isAt(warmUpMs))
    const before = this.counters()
    this.latencies.length = 0
    this.sim.run(isAt(load.seconds * 1000))
    return this.between(before, this.counters())
  }

  /** Everything so far. */
  private counters(at = this.sim.now) {
    const { database } = this
    return {
      at,
      completed: this.completed,
      arrived: this.waiting.length,
      claimed: this.taken,
      postgresMs: database.usedMs,
      enqueueMs: database.enqueueMs,
      commits: database.commits,
      walBytes: database.walBytes,
      notifyMs: database.notifyMs,
      claims: database.counts.claim,
      emptyClaims: database.counts.emptyClaim,
      begins: database.counts.begin,
      completions: database.counts.complete,
      messages: this.messages,
      claimerMs: Math.max(...this.claimers.map((claimer) => claimer.usedMs)),
    }
  }

  private readonly nothing: Counters = {
    at: 0,
    completed: 0,
    arrived: 0,
    claimed: 0,
    postgresMs: 0,
    enqueueMs: 0,
    commits: 0,
    walBytes: 0,
    notifyMs: 0,
    claims: 0,
    emptyClaims: 0,
    begins: 0,
    completions: 0,
    messages: 0,
    claimerMs: 0,
  }

  private between(before: Counters, after: Counters): Prediction {
    const { postgres } = this.parameters
    const by = (name: keyof Counters): number => after[name] - before[name]
    const ms = Math.max(0.001, by('at'))
    const jobs = Math.max(1, by('completed'))
    const sorted = this.latencies.sort((a, b) => a - b)
    const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
    const idleMs = this.claimers.length * postgres.idle.cpu_percent * 0.01 * ms
    const cpuMs = by('postgresMs') * postgres.background_factor + idleMs
    return {
      jobs_per_s: (by('completed') / ms) * 1000,
      claimed_share: by('claimed') / Math.max(1, by('arrived')),
      postgres_us_per_job: ((cpuMs - by('enqueueMs')) / jobs) * 1000,
      postgres_cores: (cpuMs + jobs * postgres.vacuum_us * US) / ms,
      latency_p50_ms: at(0.5),
      latency_p95_ms: at(0.95),
      commits_per_s: (by('commits') / ms) * 1000 + this.claimers.length * postgres.idle.commits_per_s,
      messages_per_s: (by('messages') / ms) * 1000,
      wal_mb_per_s: by('walBytes') / ms / 1000,
      jobs_per_claim: jobs / Math.max(1, by('claims')),
      claims_per_job: (by('claims') + by('emptyClaims')) / jobs,
      begins_per_job: by('begins') / jobs,
      jobs_per_completion: jobs / Math.max(1, by('completions')),
      claimer_cores: by('claimerMs') / ms,
      notify_share: by('notifyMs') / ms,
    }
  }

  /**
   * Clients that enqueue. The statement notifies: every process that listens, or with NATS the one that forwards it to the others. A single
   * job is named, and whoever is idle claims it by its id.
   */
  private arrive({ perSecond, seconds, together = 1, sessions = 1, gapsMs }: Arrivals): void {
    const { nats, node, idle_round_trip_ms } = this.parameters
    const times = gapsMs?.length ?? Math.max(1, Math.round((perSecond * seconds) / together))
    this.total = times * together
    const clients = Array.from({ length: sessions }, () => ({
      thread: this.newThread(),
      session: this.database.open(),
    }))
    const forwards = this.world.mode === 'direct' || nats === undefined ? undefined : nats
    const forwarder = this.newThread()
    const wakeAll = (): void => {
      for (const claimer of this.claimers) if (claimer.isIdle) claimer.hear(together === 1)
    }
    const next = (sent: number): void => {
      if (sent === times) return
      const gapMs = gapsMs?.[sent] ?? this.sim.exponential((1000 * together) / perSecond)
      this.sim.after(gapMs + (gapsMs === undefined ? 0 : node.timer_late_ms), () => send(sent))
    }
    const send = (sent: number): void => {
      next(sent + 1)
      const sentAt = this.sim.now
      const { thread, session } = clients[sent % sessions]!
      thread.use((node.statement_us * 0.5 + together * node.job_us * 0.2) * US, () =>
        this.database.enqueue(session, together, forwards === undefined ? this.claimers.length : 1, () => {
          for (let n = 0; n < together; n++) this.waiting.push(sentAt)
          // A notification is half a round trip, to a session and a process that were idle.
          this.sim.after(oneOf(idle_round_trip_ms, this.sim) / 2, () => {
            if (forwards === undefined) return wakeAll()
            this.messages += this.claimers.length
            forwarder.use(forwards.wake_up.node_us * US, () => this.sim.after(this.hopMs(IDLE_MS), wakeAll))
          })
        }),
      )
    }
    next(0)
  }
}

interface Session {
  idleSince: number
  /** It has not made plans yet, and what it needs of the catalogue is not in its memory. */
  isNew: boolean
}

/** After so long the system has to wake a process. */
const IDLE_MS = 2

/** A statement so soon after another one finds in the caches what sessions have in common. */
const BEHIND_MS = 0.5

function oneOf(values: readonly number[], sim: Simulation): number {
  return values[Math.floor(sim.random() * values.length)]!
}

/** No two statements take the same time. */
const SPREAD = 0.4

class Database {
  usedMs = 0
  enqueueMs = 0
  commits = 0
  walBytes = 0
  notifyMs = 0
  readonly counts = { claim: 0, emptyClaim: 0, begin: 0, complete: 0 }
  private readonly sim: Simulation
  private readonly cores: Cores
  private readonly costs: Parameters['postgres']
  private readonly roundTripMs: number
  private readonly idleRoundTripMs: readonly number[]
  private claiming = 0
  private flushing = false
  private unflushed: { readonly bytes: number; readonly done: () => void }[] = []
  private readonly notifying: { readonly bytes: number; readonly done: () => void }[] = []
  private notifyLocked = false
  /** The last statement of any session. */
  private ranAt = 0

  constructor(sim: Simulation, cores: Cores, { postgres, round_trip_ms, idle_round_trip_ms }: Parameters) {
    this.sim = sim
    this.cores = cores
    this.costs = postgres
    this.roundTripMs = round_trip_ms
    this.idleRoundTripMs = idle_round_trip_ms
  }

  open(): Session {
    return { idleSince: 0, isNew: true }
  }

  /** Each row costs more by the sessions that scan the queue at that time. */
  claim(session: Session, rows: number, done: () => void): void {
    const { claim, contention, empty_claim_us } = this.costs
    const us =
      rows === 0 ? empty_claim_us : costOf(claim, rows) + contentionUs(contention, this.claiming, rows)
    if (rows > 0) this.counts.claim++
    else this.counts.emptyClaim++
    this.claiming++
    this.statement(session, us, rows, rows > 0, () => {
      this.claiming--
      done()
    })
  }

  /** Of one job that a notification named. */
  claimById(session: Session, found: number, done: () => void): void {
    const { hit_us, miss_us } = this.costs.claim_by_id
    if (found > 0) this.counts.claim++
    else this.counts.emptyClaim++
    this.statement(session, found > 0 ? hit_us : miss_us, found, found > 0, done)
  }

  begin(session: Session, rows: number, done: () => void): void {
    this.counts.begin++
    this.statement(session, costOf(this.costs.begin, rows), 0, true, done)
  }

  complete(session: Session, rows: number, done: () => void): void {
    this.counts.complete++
    this.statement(session, costOf(this.costs.complete, rows), 0, true, done)
  }

  /** `listeners`: NOTIFY within the commit, heard by so many. */
  enqueue(session: Session, rows: number, listeners: number | undefined, done: () => void): void {
    const { enqueue, notify_us, listener_us } = this.costs
    const us = costOf(enqueue, rows) + (listeners === undefined ? 0 : notify_us + listeners * listener_us)
    const before = this.usedMs
    this.statement(session, us, rows, true, done, listeners !== undefined)
    this.enqueueMs += this.usedMs - before
  }

  private statement(
    session: Session,
    us: number,
    rows: number,
    writes: boolean,
    done: () => void,
    notifies = false,
  ): void {
    const chance = 1 + SPREAD * (2 * this.sim.random() - 1)
    const idleMs = this.sim.now - session.idleSince
    const startUs = session.isNew ? this.costs.session_us : 0
    session.isNew = false
    const isBehind = this.sim.now - this.ranAt < BEHIND_MS
    const cold = coldFactor(isBehind ? this.costs.cold_behind : this.costs.cold, idleMs)
    const ms = (us * cold + startUs) * US * chance
    this.ranAt = this.sim.now + ms
    const roundTripMs = idleMs < IDLE_MS ? this.roundTripMs : oneOf(this.idleRoundTripMs, this.sim)
    this.usedMs += ms
    const bytes = writes ? this.costs.wal.statement_bytes + rows * this.costs.wal.job_bytes : 0
    if (writes) this.commits++
    this.walBytes += bytes
    const end = (): void => {
      session.idleSince = this.sim.now
      this.sim.after(roundTripMs / 2, done)
    }
    this.sim.after(roundTripMs / 2, () =>
      this.cores.use(ms, () => {
        if (!writes) end()
        else if (notifies) this.commitUnderLock(bytes, end)
        else this.commit(bytes, end)
      }),
    )
  }

  /** One flush at a time; whoever comes meanwhile goes with the next. */
  private commit(bytes: number, done: () => void): void {
    this.unflushed.push({ bytes, done })
    if (!this.flushing) this.flush()
  }

  private flush(): void {
    const flushed = this.unflushed
    this.unflushed = []
    this.flushing = flushed.length > 0
    if (!this.flushing) return
    const megabytes = flushed.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6
    this.sim.after(
      oneOf(this.costs.commit_times_ms, this.sim) + megabytes * this.costs.flush_ms_per_mb,
      () => {
        for (const { done } of flushed) done()
        this.flush()
      },
    )
  }

  /** NOTIFY: one of all commits that notify at a time. */
  private commitUnderLock(bytes: number, done: () => void): void {
    this.notifying.push({ bytes, done })
    if (!this.notifyLocked) this.nextUnderLock()
  }

  private nextUnderLock(): void {
    const next = this.notifying.shift()
    this.notifyLocked = next !== undefined
    if (next === undefined) return
    const since = this.sim.now
    this.commit(next.bytes, () => {
      this.notifyMs += this.sim.now - since
      next.done()
      this.nextUnderLock()
    })
  }
}

const costOf = ({ base_us, row_us }: StatementCost, rows: number): number => base_us + row_us * rows

/** A remote worker, as its gateway sees it. */
interface RemoteLink {
  readonly thread: Thread
  readonly timers: Timers
  free: number
  /** A pull waits for an answer. */
  pulls: boolean
  /** When the calls began whose ends are not sent yet. */
  readonly ended: number[]
  reports: boolean
}

const MAX_EARLY_MS = 10
const AVERAGE_WEIGHT = 0.1
const RESCAN_MS = 1000
const MAX_WRITE = 1000
const LINGER_MS = 4

class ClaimUnderWay {
  readonly limit: number
  /** So many of its jobs begin without a report of their own. */
  readonly begin: number
  private found: number | undefined
  private listener: ((found: number) => void) | undefined

  constructor(limit: number, begin: number) {
    this.limit = limit
    this.begin = begin
  }

  answer(found: number): void {
    this.found = found
    this.listener?.(found)
  }

  whenAnswered(listener: (found: number) => void): void {
    if (this.found === undefined) this.listener = listener
    else listener(this.found)
  }
}

/** A worker of src/jobs, step by step: what it holds, when it claims, what it reports and how much of it together. */
class JobWorker {
  isIdle = true
  private readonly model: QueueModel
  private readonly slots: number
  private readonly batch: number
  private readonly remote: boolean
  private readonly thread: Thread
  private readonly sessions: { claim: Session; begin: Session; complete: Session }
  private running = 0
  private ready = 0
  private prefetched = 0
  /** Claimed and not completed. */
  private held = 0
  private unwritten = 0
  private prefetch: number
  private averageMs: number | undefined
  private wasFull = false
  private hasMore = false
  private claims = false
  /** A claim after the one under way, sent before that was answered. */
  private nextClaim: ClaimUnderWay | undefined
  private woken = false
  private begins = false
  private writes = false
  private cursorSince: number | undefined
  private readonly timers: Timers
  /** Of a gateway: its workers, and calls that none of them has yet. */
  private readonly links: RemoteLink[] = []
  private unoffered = 0
  private handsOut = false

  constructor(model: QueueModel, slots: number, remote: boolean) {
    this.model = model
    this.slots = slots
    this.batch = model.world.batch ?? 100
    this.remote = remote
    this.prefetch = remote ? 0 : Math.min(slots, this.batch)
    this.thread = model.newThread()
    this.timers = model.newTimers()
    if (remote) {
      const workers = Math.max(1, Math.round(slots / model.world.slots))
      for (let n = 0; n < workers; n++)
        this.links.push({
          thread: model.newThread(),
          timers: model.newTimers(),
          free: Math.round(slots / workers),
          pulls: true,
          ended: [],
          reports: false,
        })
    }
    const { database } = model
    this.sessions = { claim: database.open(), begin: database.open(), complete: database.open() }
  }

  get usedMs(): number {
    return this.thread.usedMs
  }

  wake(): void {
    this.woken = true
    if (!this.claims) this.claim()
  }

  /** Of jobs that came; `isNamed`: of one, by its id. */
  hear(isNamed: boolean): void {
    if (isNamed && !this.claims && this.free > this.backlog) this.claimNamed()
    else this.wake()
  }

  private claimNamed(): void {
    this.claims = true
    const { model } = this
    const { statement_us, job_us } = model.parameters.node
    this.thread.continue(statement_us * US * 0.5, () => {
      const found = model.take(1)
      model.database.claimById(this.sessions.claim, found, () =>
        this.thread.use((statement_us * 0.5 + found * job_us * 0.4) * US, () => {
          this.claims = false
          this.held += found
          this.ready += found
          this.fill()
          if (this.woken) this.claim()
        }),
      )
    })
  }

  private get free(): number {
    return this.slots - this.running
  }

  private get backlog(): number {
    return this.ready + this.prefetched
  }

  private get room(): number {
    const left = this.slots + 2 * this.batch - this.held
    if (left < this.batch / 2) return 0
    const waiting = this.backlog - this.free
    if (waiting > this.prefetch / 2) return 0
    return Math.max(0, Math.min(this.batch, this.prefetch - waiting, left))
  }

  private get beginAhead(): number {
    if (this.remote || this.averageMs === undefined || this.averageMs > MAX_EARLY_MS) return 0
    return Math.min(2 * this.batch, Math.floor((this.slots * MAX_EARLY_MS) / Math.max(this.averageMs, 0.001)))
  }

  private get beginnable(): number {
    return Math.max(0, this.free + this.beginAhead - this.ready)
  }

  /** After whatever the process has to do already: handlers that end at once have ended then. */
  private claim(): void {
    this.claims = true
    this.thread.endOfTurn(0, () => {
      if (this.lingers) this.model.sim.after(LINGER_MS, () => this.claimNow())
      else this.claimNow()
    })
  }

  /** A gateway with a backlog claims for few slots a little later. */
  private get lingers(): boolean {
    const { room } = this
    return this.remote && this.hasMore && room > 0 && room < this.slots / 4
  }

  private claimNow(): void {
    this.woken = false
    const { room } = this
    if (room === 0) {
      this.claims = false
      this.hasMore = true
      return
    }
    this.isIdle = false
    const isAlone = this.held === 0
    const claim = this.sendClaim(room, Math.max(0, this.beginnable - this.prefetched))
    this.await(claim, isAlone)
  }

  /** Where jobs are so short that those of a claim have begun before it is answered, the next one is sent at once. */
  private await(claim: ClaimUnderWay, isAlone: boolean): void {
    this.nextClaim = this.hasMore && !isAlone ? this.sendNextClaim(claim) : undefined
    claim.whenAnswered((found) => this.claimed(claim, found))
  }

  private sendNextClaim({ limit, begin: before }: ClaimUnderWay): ClaimUnderWay | undefined {
    if (this.beginAhead < this.batch || this.slots + 2 * this.batch - this.held < limit || before < limit)
      return undefined
    return this.sendClaim(this.batch, Math.max(0, this.beginnable - this.prefetched - limit))
  }

  private sendClaim(limit: number, begin: number): ClaimUnderWay {
    const { model } = this
    const { statement_us, job_us } = model.parameters.node
    const claim = new ClaimUnderWay(limit, begin)
    this.thread.continue(statement_us * US * 0.5, () => {
      const found = model.take(limit)
      const rescans = found < limit && this.cursorSince !== undefined
      const answer = (): void => {
        // Jobs that came meanwhile are found by the second look.
        const more = rescans ? model.take(limit - found) : 0
        const all = found + more
        this.cursorSince = all > 0 ? (this.cursorSince ?? model.sim.now) : undefined
        if (rescans) this.cursorSince = undefined
        this.thread.use((statement_us * 0.5 + all * job_us * 0.4) * US, () => claim.answer(all))
      }
      if (this.cursorSince !== undefined && model.sim.now - this.cursorSince > RESCAN_MS)
        this.cursorSince = undefined
      model.database.claim(this.sessions.claim, found, () => {
        if (rescans) model.database.claim(this.sessions.claim, 0, answer)
        else answer()
      })
    })
    return claim
  }

  private claimed({ limit, begin }: ClaimUnderWay, found: number): void {
    const { model } = this
    this.claims = false
    this.hasMore = found === limit
    if (this.wasFull && this.free > this.backlog && !this.remote)
      this.prefetch = Math.min(this.batch, Math.max(1, this.prefetch * 2))
    this.wasFull = found === limit
    this.held += found
    const begun = Math.min(found, begin)
    this.ready += begun
    this.prefetched += found - begun
    this.fill()
    const { nextClaim } = this
    if (nextClaim !== undefined) {
      this.claims = true
      this.await(nextClaim, false)
    } else if (this.woken || (this.hasMore && this.room > 0)) this.claim()
    else if (!this.hasMore) {
      this.isIdle = true
      // As a worker looks once more after it has said that it waits.
      if (model.queued > 0) this.claim()
    }
  }

  private fill(): void {
    if (this.model.world.handlerMs === 0 && !this.remote) this.runAllReady()
    while (this.free > 0 && this.ready > 0) {
      this.ready--
      this.running++
      if (this.remote) this.offer()
      else this.thread.continue(this.model.beginMs, () => this.runOne())
    }
    if (this.prefetched > 0) this.reportBeginning()
  }

  /** Handlers that take no time run one after the other, before the process does anything else. */
  private runAllReady(): void {
    const { model } = this
    const count = this.ready
    if (count === 0) return
    this.ready = 0
    this.running = this.slots
    for (let n = 0; n < count; n++) model.began()
    this.thread.continue(count * model.parameters.node.job_us * US * 0.6, () => {
      this.averageMs = 0.01
      this.running = 0
      this.unwritten += count
      this.write()
      if (this.hasMore && this.room > 0) this.wake()
      if (this.prefetched > 0) this.reportBeginning()
    })
  }

  private reportBeginning(): void {
    if (this.begins) return
    if (this.free === 0 && this.ready * 2 > this.beginAhead) return
    if (Math.min(this.prefetched, this.beginnable) === 0) return
    this.begins = true
    const { model } = this
    const { statement_us } = model.parameters.node
    // What ends in the same turn goes together.
    this.thread.endOfTurn(0, () => {
      const count = Math.min(this.prefetched, this.beginnable)
      if (count === 0) {
        this.begins = false
        return
      }
      this.thread.continue(statement_us * US * 0.5, () =>
        model.database.begin(this.sessions.begin, count, () =>
          this.thread.use(statement_us * US * 0.5, () => {
            this.begins = false
            this.prefetched -= count
            this.ready += count
            this.fill()
          }),
        ),
      )
    })
  }

  private readonly wakes = (): void => this.model.woke(this.thread)

  private runOne(): void {
    const { model } = this
    const beganAt = model.sim.now
    model.began()
    if (model.world.handlerMs === 0) this.ended(beganAt)
    else this.timers.after(model.handlerTime(), this.wakes, () => this.ended(beganAt))
  }

  private ended(beganAt: number): void {
    const { model } = this
    const ms = this.remote ? 2 * model.beginMs : model.beginMs
    const ended = (): void => {
      const took = model.sim.now - beganAt
      this.averageMs =
        this.averageMs === undefined ? took : this.averageMs + AVERAGE_WEIGHT * (took - this.averageMs)
      if (this.wasFull && !this.remote)
        this.prefetch = Math.max(this.prefetch, Math.min(this.batch, this.beginAhead))
      this.running--
      this.unwritten++
      this.write()
      this.fill()
      if (this.hasMore && this.room > 0) this.wake()
    }
    // Of a remote worker with others in one message; else by a timer.
    if (this.remote) this.thread.continue(ms, ended)
    else this.thread.use(ms, ended)
  }

  // Remote: calls that come together go together, to the worker with most free slots whose pull waits.

  private offer(): void {
    this.unoffered++
    this.handOutSoon()
  }

  private handOutSoon(): void {
    if (this.handsOut || this.unoffered === 0) return
    this.handsOut = true
    this.thread.endOfTurn(0, () => {
      this.handsOut = false
      this.handOut()
    })
  }

  private handOut(): void {
    const offers = new Map<RemoteLink, number>()
    while (this.unoffered > 0) {
      let best: RemoteLink | undefined
      for (const link of this.links) if (link.pulls && link.free > (best?.free ?? 0)) best = link
      if (best === undefined) break
      best.free--
      this.unoffered--
      offers.set(best, (offers.get(best) ?? 0) + 1)
    }
    for (const [link, calls] of offers) this.send(link, calls)
  }

  /** What a message with so many calls costs at each end; never less, where it wakes its receiver, than one that does for a single call. */
  private messageCosts(
    calls: number,
    isWoken: boolean,
  ): Readonly<Record<'gateway' | 'worker' | 'server', number>> {
    const { node, nats } = this.model.parameters
    const { relay, relay_alone_us } = nats!
    const halfMs = (who: 'gateway' | 'worker' | 'server'): number => {
      const us = Math.max(costOf(relay[who], calls), isWoken ? relay_alone_us[who] : 0)
      // What the gateway does with a job as any worker does is counted there.
      const countedUs = who === 'gateway' ? calls * Math.min(relay.gateway.row_us, node.job_us) : 0
      return ((us - countedUs) / 2) * US
    }
    return { gateway: halfMs('gateway'), worker: halfMs('worker'), server: halfMs('server') }
  }

  private send(link: RemoteLink, calls: number): void {
    const { model } = this
    const { sim, machine } = model
    const costs = this.messageCosts(calls, link.thread.idleMs > IDLE_MS)
    const beginMs = (model.parameters.nats!.relay.worker.row_us / 4) * US
    const wakes = (): void => model.woke(link.thread)
    link.pulls = false
    model.messages += 2
    this.thread.continue(costs.gateway, () =>
      machine.use(costs.server, () =>
        sim.after(model.hopMs(link.thread.idleMs), () =>
          link.thread.use(costs.worker - calls * beginMs, () => {
            // The next pull is on its way before any of them begins.
            sim.after(model.hopMs(0), () => {
              this.thread.use(0, () => {
                link.pulls = true
                this.handOutSoon()
              })
            })
            for (let n = 0; n < calls; n++)
              link.thread.continue(beginMs, () => {
                const beganAt = sim.now
                model.began()
                if (model.world.handlerMs === 0) this.endedThere(link, beganAt)
                else link.timers.after(model.handlerTime(), wakes, () => this.endedThere(link, beganAt))
              })
          }),
        ),
      ),
    )
  }

  private endedThere(link: RemoteLink, beganAt: number): void {
    // Its part in the messages is counted there.
    link.thread.use(0, () => {
      link.ended.push(beganAt)
      this.report(link)
    })
  }

  private report(link: RemoteLink): void {
    if (link.reports) return
    link.reports = true
    const { model } = this
    // What ends in the same turn goes together.
    link.thread.endOfTurn(0, () => {
      link.reports = false
      const ended = link.ended.splice(0)
      const costs = this.messageCosts(ended.length, this.thread.idleMs > IDLE_MS)
      model.messages += 2
      link.thread.continue(costs.worker, () =>
        model.machine.use(costs.server, () =>
          model.sim.after(model.hopMs(this.thread.idleMs), () =>
            this.thread.use(costs.gateway, () => {
              link.free += ended.length
              for (const at of ended) this.ended(at)
              this.handOutSoon()
            }),
          ),
        ),
      )
    })
  }

  private write(): void {
    if (this.writes || this.unwritten === 0) return
    this.writes = true
    const { model } = this
    const { statement_us } = model.parameters.node
    // What ends in the same turn goes together.
    this.thread.endOfTurn(0, () => {
      const count = Math.min(MAX_WRITE, this.unwritten)
      this.unwritten -= count
      this.thread.continue(statement_us * US * 0.5, () =>
        model.database.complete(this.sessions.complete, count, () =>
          this.thread.use(statement_us * US * 0.5, () => {
            this.writes = false
            this.held -= count
            model.completedNow(count)
            if (this.hasMore && !this.claims) this.claim()
            this.write()
          }),
        ),
      )
    })
  }
}

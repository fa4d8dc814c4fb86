/**
 * The gateway's side of remote workers: their sessions, and which call is where. It holds no lease and writes nothing; whoever calls
 * `run` does. Nothing is queued here for long: a lease holder claims for free slots (`slots`), and a call without a free slot goes back.
 *
 * A call is queued → offered (sent in the answer to a pull) → held (confirmed by the next pull or beat) → ended → settled (committed).
 * Offered and not confirmed, it is offered to another worker. Its session silent, it is gone. Clocks of sessions and offers stand still
 * while this process is not connected to NATS or does not run: then nobody else is to blame.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setImmediate as setImmediately } from 'node:timers/promises'
import type { Logger } from 'pino'
import { asStagedoorError } from '../../kernel/errors.ts'
import type { JsonObject } from '../../kernel/json.ts'
import type { HealthCheck } from '../../kernel/postgres/health.ts'
import { storableText } from '../../kernel/text.ts'
import type { Nats, NatsMessage } from '../nats.ts'
import {
  adoptableCall,
  CallMoved,
  type RemoteCall,
  type RemoteCalls,
  type RemoteOutcome,
  type ResumeCall,
  WorkerGone,
} from './calls.ts'
import {
  type Alive,
  type Answers,
  BEAT_MS,
  type Drop,
  type HeldCall,
  MESSAGE_SHARE,
  OFFER_MS,
  type OfferedHandler,
  type Problem,
  PULL_MS,
  pack,
  plainText,
  type Requests,
  readAlive,
  readRequest,
  SESSION_MS,
  VERBS,
  type Verb,
} from './protocol.ts'

/** The workers that offer the same handlers for the same executor. */
export interface RemotePool extends RemoteCalls {
  /** Short, and the same in every gateway. */
  readonly key: string
  readonly executor: string
  readonly handlers: readonly OfferedHandler[]
  readonly workers: number
}

export interface RemoteGatewayDeps {
  readonly nats: Nats
  readonly log: Logger
  readonly version: string
  /** A short digest of the database that its calls come from. */
  readonly database: string
  /** A pool has its first worker: from now on calls may be run there. */
  openPool(pool: RemotePool): void
  /** It has had no worker for a while. */
  closePool(pool: RemotePool): void
  /**
   * Moves the leases of these calls to this process. Of those that are its own now it calls `resume`, before it returns; the others are
   * void. Throws where it cannot say: the worker asks again.
   */
  adopt(pool: RemotePool, held: readonly HeldCall[], resume: ResumeCall): Promise<void>
  enqueue(call: RemoteCall, from: string, job: JsonObject): Promise<string>
  readonly hooks?: GatewayHooks
}

/** For metrics. */
export interface GatewayHooks {
  onAdopted?(calls: number): void
  onReoffered?(calls: number): void
  onGarbage?(): void
  /** Sessions ended under this many calls that had begun. */
  onCrashed?(calls: number): void
}

/** What a gateway has now. */
export interface GatewayState {
  readonly attached: number
  readonly free: number
  readonly offered: number
  readonly held: number
  readonly endsWaiting: number
  readonly workers: readonly AttachedWorker[]
}

/** Names as in iu_core.remote_worker. */
export interface AttachedWorker {
  readonly session: string
  readonly name: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly pool: string
  readonly concurrency: number
  readonly held: number
  readonly oldest_call_at: string | null
  readonly attached_at: string
}

const TICK_MS = 250
const ALIVE_MS = 1000
/** A call that finds no free slot for so long goes back into the queue of the database. */
const MAX_QUEUED_MS = 2000
/** So long a worker may take to end a call after it was told to. */
const ABORT_MS = 5000
/** Other calls of a worker get so long to end before a call that wants it for itself runs beside them. */
const MAX_ALONE_WAIT_MS = 5000
/** After so long a call no longer keeps its worker from others. As with jobs under a direct worker. */
const ALONE_MS = 10_000
const ENDED_ANSWER_MS = 1500
const SETTLED_MEMORY = 20_000
const MAX_SETTLE_MS = 60_000
const EMPTY_POOL_MS = 30_000
/** Each has lease holders with sessions of their own in PostgreSQL. */
const MAX_POOLS = 16
const MAX_HANDLERS = 200
const MAX_HANDLERS_BYTES = 20_000
/** Requests of one session that use the database, at once. */
const MAX_REQUESTS = 4
/** A worker runs no more calls than it has slots, beside those that were taken from it and go on. */
const MAX_ZOMBIES = 1000
const MAX_SESSIONS = 10_000
/** After so many sessions of a host that died within a minute it waits before it attaches again. */
const MAX_DEATHS = 3
const DEATHS_MS = 60_000
const MIN_PAUSE_MS = 5000
const MAX_PAUSE_MS = 60_000
/** A gateway of another database counts for so long after it was heard. */
const OTHER_MS = 5000
/** The part of the largest message that drops may fill. What does not fit is said with the next answer. */
const DROPS_SHARE = 0.15

interface Session {
  readonly id: string
  readonly about: Requests['attach']
  readonly pool: Pool
  readonly attachedAt: Date
  /** Milliseconds without a word from it. */
  silentMs: number
  /** Calls that were sent to it and have not ended. */
  readonly calls: Set<CallState>
  /** What it still runs and what does not count here any more: it takes a slot. */
  zombies: Set<string>
  /** It has not said yet which calls of another gateway it brings. */
  adopts: boolean
  adopting: Promise<Answers['adopt']> | undefined
  /** An adoption of the session of the same process before this one, whose answer it did not get. */
  adoptedBefore: Promise<unknown> | undefined
  /** Requests that wait for the database. */
  requests: number
  leaving: boolean
  seq: number
  /** A pull that waits for an answer. */
  pull: { readonly respond: NatsMessage['respond']; readonly at: number } | undefined
  /** Sent with the last answer. */
  lastOffer: CallState[]
  drops: Drop[]
  /** It takes no other call than this one. */
  reserved: CallState | undefined
}

interface CallState {
  readonly call: RemoteCall
  readonly pool: Pool
  readonly bytes: number
  state: 'queued' | 'offered' | 'held' | 'ended'
  session: Session | undefined
  /** In this state, by the clock that stands still without NATS. */
  ageMs: number
  offeredAt: Date | undefined
  /** Beats that did not name it. */
  missing: number
  aborted: { readonly drop: Drop; readonly reason: unknown } | undefined
  /** It was adopted from this lease; a worker that did not get the answer names it again. */
  formerLease: string | undefined
  readonly responders: EndedAnswer[]
  resolve(outcome: RemoteOutcome): void
  reject(error: unknown): void
}

/** An answer to `ended` that waits for commits. */
class EndedAnswer {
  private readonly waiting = new Set<string>()
  private readonly written: string[] = []
  private readonly void: string[] = []
  private readonly respond: NatsMessage['respond']
  private readonly timer: NodeJS.Timeout
  private answered = false

  constructor(respond: NatsMessage['respond']) {
    this.respond = respond
    // What is not settled by then is asked for again.
    this.timer = setTimeout(() => this.answer(), ENDED_ANSWER_MS)
  }

  wait(call: string): void {
    this.waiting.add(call)
  }

  settle(call: string, counted: boolean): void {
    ;(counted ? this.written : this.void).push(call)
    this.waiting.delete(call)
  }

  answerIfDone(): void {
    if (this.waiting.size === 0) this.answer()
  }

  private answer(): void {
    if (this.answered) return
    this.answered = true
    clearTimeout(this.timer)
    this.respond(pack({ written: this.written, void: this.void }))
  }
}

class Pool implements RemotePool {
  readonly key: string
  readonly executor: string
  readonly handlers: readonly OfferedHandler[]
  readonly sessions = new Set<Session>()
  readonly queue: CallState[] = []
  readonly listeners = new Set<() => void>()
  emptyMs = 0
  flushing = false
  private readonly gateway: RemoteGateway
  private knownSlots = 0

  constructor(gateway: RemoteGateway, key: string, { executor, handlers }: Requests['attach']) {
    this.gateway = gateway
    this.key = key
    this.executor = executor
    this.handlers = handlers
  }

  get workers(): number {
    return this.sessions.size
  }

  get slots(): number {
    let slots = 0
    for (const session of this.sessions) slots += slotsOf(session, this.gateway.handsOut)
    return slots
  }

  onSlots(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  run(call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> {
    return this.gateway.run(this, call, signal)
  }

  settle(call: string, counted: boolean): void {
    this.gateway.settle(call, counted)
  }

  /** To be called when something happened that may change `slots`. */
  check(): void {
    const { slots } = this
    if (slots === this.knownSlots) return
    this.knownSlots = slots
    for (const listener of this.listeners) listener()
  }
}

/**
 * Calls that a session takes at once for the lease holder of its pool. Calls that want a worker for themselves are of another one. Where
 * nothing is handed out these are the calls that it has: a lease holder that claimed more would keep them from direct workers.
 */
function slotsOf(session: Session, handsOut: boolean): number {
  const { about, calls, zombies, leaving, reserved, adopts } = session
  let alone = 0
  for (const { call } of calls) if (call.alone) alone++
  if (!handsOut || leaving || reserved !== undefined || adopts) return calls.size - alone
  return Math.max(0, about.concurrency - zombies.size - alone)
}

function freeOf({ about, calls, zombies }: Session): number {
  return about.concurrency - calls.size - zombies.size
}

/** Handlers in one order and with one text, so that every gateway gives the pool the same key. */
function poolKey({ executor, handlers }: Requests['attach']): string {
  const names = handlers.map(({ what, name, batch }) => `${what} ${name} ${batch}`).sort()
  return JSON.stringify([executor, names])
}

export class RemoteGateway {
  /** A token of a subject. */
  readonly id = randomBytes(8).toString('hex')
  private readonly deps: RemoteGatewayDeps
  private readonly since = Date.now()
  private readonly sessions = new Map<string, Session>()
  private readonly pools = new Map<string, Pool>()
  private readonly calls = new Map<string, CallState>()
  /** The last ones: a worker asks again where an answer was lost. */
  private readonly settled = new Map<string, boolean>()
  private readonly deaths = new Map<string, number[]>()
  /** Gateways of this cell that work on another database. */
  private readonly others = new Map<string, { readonly alive: Alive; heardAt: number }>()
  private readonly undo: (() => void)[] = []
  private readonly timers: NodeJS.Timeout[] = []
  private tickedAt = performance.now()
  private draining = false
  private isShared = false

  constructor(deps: RemoteGatewayDeps) {
    this.deps = deps
    const { nats } = deps
    this.undo.push(
      nats.subscribe(nats.subject('gw', this.id, '*'), (message) => this.receive(message)),
      nats.subscribe(nats.subject('gw', 'alive'), (message) => this.hearOther(message)),
      nats.onChange(() => this.natsChanged()),
    )
    this.timers.push(
      setInterval(() => this.tick(), TICK_MS),
      setInterval(() => this.sayAlive(), ALIVE_MS),
    )
    this.sayAlive()
  }

  get state(): GatewayState {
    const count = (state: CallState['state']) =>
      [...this.calls.values()].filter((call) => call.state === state).length
    const sessions = [...this.sessions.values()]
    return {
      attached: sessions.reduce((sum, { about }) => sum + about.concurrency, 0),
      free: sessions.reduce((sum, session) => sum + Math.max(0, freeOf(session)), 0),
      offered: count('offered'),
      held: count('held'),
      endsWaiting: count('ended'),
      workers: sessions.map((session) => ({
        session: session.id,
        name: session.about.name,
        host: session.about.host,
        pid: session.about.pid,
        version: session.about.version,
        pool: session.pool.key,
        concurrency: session.about.concurrency,
        held: session.calls.size,
        oldest_call_at: oldestOf(session),
        attached_at: session.attachedAt.toISOString(),
      })),
    }
  }

  health(): HealthCheck {
    if (this.isShared)
      return {
        name: 'gateway',
        ok: false,
        detail:
          'another installation uses the same subjects (cell_shared): give each its own STAGEDOOR_CELL. This gateway hands out nothing',
      }
    const { attached, held } = this.state
    const workers = this.sessions.size
    return {
      name: 'gateway',
      // Without NATS the server goes on serving; that NATS is away is a warning of its own.
      ok: !this.draining,
      detail: !this.deps.nats.connected
        ? 'NATS is away: remote workers go on with what they run, and get nothing new'
        : this.draining
          ? 'stopping'
          : `${workers} remote ${workers === 1 ? 'worker' : 'workers'} with ${attached} slots, ${held} calls`,
    }
  }

  /** Asks its workers to go to another gateway, and takes no new ones. What they hold stays until they have. */
  drain(): void {
    if (this.draining) return
    this.draining = true
    this.sayAlive()
    for (const session of this.sessions.values()) this.answer(session, [])
    this.checkPools()
  }

  /** Whoever holds leases has stopped before. */
  stop(): void {
    this.drain()
    for (const timer of this.timers) clearInterval(timer)
    for (const undo of this.undo.splice(0)) undo()
    for (const state of this.calls.values()) state.reject(new WorkerGone('the gateway stopped', true))
    this.calls.clear()
  }

  run(pool: Pool, call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> {
    return new Promise((resolve, reject) => {
      const state = this.createState(pool, call, signal, resolve, reject)
      if (state === undefined) return
      pool.queue.push(state)
      if (call.alone) this.reserve(state)
      this.dispatch(pool)
    })
  }

  settle(call: string, counted: boolean): void {
    const state = this.calls.get(call)
    if (state?.state !== 'ended') return
    this.calls.delete(call)
    this.settled.set(call, counted)
    if (this.settled.size > SETTLED_MEMORY) this.settled.delete(this.settled.keys().next().value!)
    for (const responder of state.responders.splice(0)) {
      responder.settle(call, counted)
      responder.answerIfDone()
    }
  }

  /** False while NATS is away, while this gateway stops, and while its subjects are those of another installation. */
  get handsOut(): boolean {
    return this.deps.nats.connected && !this.asksToLeave
  }

  private natsChanged(): void {
    this.sayAlive()
    this.checkPools()
  }

  private checkPools(): void {
    for (const pool of this.pools.values()) {
      pool.check()
      this.dispatch(pool)
    }
  }

  private createState(
    pool: Pool,
    call: RemoteCall,
    signal: AbortSignal,
    resolve: (outcome: RemoteOutcome) => void,
    reject: (error: unknown) => void,
  ): CallState | undefined {
    if (signal.aborted) {
      reject(signal.reason)
      return undefined
    }
    if (this.calls.has(call.call)) {
      reject(new Error(`the call ${call.call} is running already`))
      return undefined
    }
    const onAbort = () => this.abort(state, signal.reason)
    const end = (): void => signal.removeEventListener('abort', onAbort)
    const state: CallState = {
      call,
      pool,
      bytes: Buffer.byteLength(JSON.stringify(call)),
      state: 'queued',
      session: undefined,
      ageMs: 0,
      offeredAt: undefined,
      missing: 0,
      aborted: undefined,
      formerLease: undefined,
      responders: [],
      resolve(outcome) {
        end()
        resolve(outcome)
      },
      reject(error) {
        end()
        reject(error)
      },
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.calls.set(call.call, state)
    return state
  }

  /** The lease holder does not want it any more: because of its time, of a person, or of a lease that is lost. */
  private abort(state: CallState, reason: unknown): void {
    if (state.state === 'ended') return
    if (state.state === 'queued') {
      this.fail(state, reason)
      return
    }
    const { why, message } = (reason ?? {}) as { why?: unknown; message?: unknown }
    const drop: Drop = {
      call: state.call.call,
      why: why === 'lease_lost' ? 'void' : why === 'timed_out' || why === 'stopping' ? why : 'cancelled',
      message: typeof message === 'string' && message !== '' ? message.slice(0, 2000) : 'aborted',
    }
    const session = state.session!
    this.tell(session, drop)
    if (drop.why === 'void') {
      this.fail(state, reason)
      return
    }
    state.aborted = { drop, reason }
    state.ageMs = 0
  }

  private tell(session: Session, drop: Drop): void {
    session.drops.push(drop)
    if (session.pull) this.answer(session, [])
  }

  /** It ends here without an end from its worker, which may still run it. */
  private fail(state: CallState, error: unknown): void {
    this.remove(state, true)
    state.reject(error)
  }

  /** Takes it from its worker and from its queue. */
  private remove(state: CallState, stillRuns: boolean): void {
    const { session, pool, call } = state
    this.calls.delete(call.call)
    const place = pool.queue.indexOf(state)
    if (place >= 0) pool.queue.splice(place, 1)
    if (session) {
      session.calls.delete(state)
      if (stillRuns) session.zombies.add(call.call)
      if (session.reserved === state) session.reserved = undefined
    }
    for (const other of pool.sessions) if (other.reserved === state) other.reserved = undefined
    pool.check()
    this.dispatch(pool)
  }

  // Messages.

  private receive(message: NatsMessage): void {
    const verb = message.subject.slice(message.subject.lastIndexOf('.') + 1) as Verb
    try {
      if (!VERBS.includes(verb)) {
        this.garbage()
        return
      }
      const request = readRequest(verb, message.body)
      if (request === 'garbage') {
        this.garbage()
        return
      }
      if (request === 'newer') {
        this.garbage()
        message.respond(
          problem('version', `this gateway is of version ${this.deps.version} and does not understand it`),
        )
        return
      }
      if (verb === 'attach') {
        message.respond(this.attach(aboutOf(request as Requests['attach'])))
        return
      }
      const session = this.sessions.get((request as { session: string }).session)
      if (session === undefined) {
        message.respond(problem('session', 'the session is unknown or over'))
        return
      }
      session.silentMs = 0
      this.handle(verb, session, request, message.respond)
    } catch (error) {
      this.deps.log.error({ err: error, verb }, 'a message of a remote worker could not be handled')
    }
  }

  private handle(
    verb: Verb,
    session: Session,
    request: Requests[Verb],
    respond: NatsMessage['respond'],
  ): void {
    switch (verb) {
      case 'beat':
        if ((request as Requests['beat']).held.length > 2 * session.about.concurrency + MAX_ZOMBIES)
          this.garbage()
        else respond(this.beat(session, request as Requests['beat']))
        break
      case 'pull':
        this.pull(session, request as Requests['pull'], respond)
        break
      case 'ended':
        this.ended(session, request as Requests['ended'], respond)
        break
      case 'adopt':
        void this.limited(session, respond, () => this.adopt(session, request as Requests['adopt'], respond))
        break
      case 'enqueue':
        void this.limited(session, respond, () =>
          this.enqueue(session, request as Requests['enqueue'], respond),
        )
        break
    }
  }

  private async limited(
    session: Session,
    respond: NatsMessage['respond'],
    work: () => Promise<void>,
  ): Promise<void> {
    if (session.requests >= MAX_REQUESTS) {
      respond(problem('later', `the worker has ${MAX_REQUESTS} such requests already`))
      return
    }
    session.requests++
    await work()
    session.requests--
  }

  private garbage(): void {
    this.deps.hooks?.onGarbage?.()
  }

  private attach(about: Requests['attach']): object {
    if (this.isShared)
      return problem('shared', 'another installation uses the same subjects (STAGEDOOR_CELL)')
    if (this.draining) return problem('draining', 'this gateway stops')
    if (about.handlers.length === 0) return problem('refused', 'it offers no handler')
    if (about.handlers.length > MAX_HANDLERS || JSON.stringify(about.handlers).length > MAX_HANDLERS_BYTES)
      return problem(
        'refused',
        `it offers more than ${MAX_HANDLERS} handlers, or their names have more than ${MAX_HANDLERS_BYTES / 1000} KB`,
      )
    const waitMs = this.isAlive(about) ? 0 : this.pauseOf(about.host)
    if (waitMs > 0) return problem('pause', `${MAX_DEATHS} workers of this host died within a minute`, waitMs)
    if (this.sessions.size >= MAX_SESSIONS) return problem('later', 'it has too many workers')
    const key = poolKey(about)
    let pool = this.pools.get(key)
    if (pool === undefined) {
      if (this.pools.size >= MAX_POOLS) return problem('later', 'it has too many sets of handlers')
      pool = new Pool(this, createHash('sha256').update(key).digest('hex').slice(0, 12), about)
      this.pools.set(key, pool)
      this.deps.openPool(pool)
    }
    const session: Session = {
      id: randomUUID(),
      about,
      pool,
      attachedAt: new Date(),
      silentMs: 0,
      calls: new Set(),
      zombies: new Set(),
      adopts: about.adopts,
      adopting: undefined,
      adoptedBefore: undefined,
      requests: 0,
      leaving: about.leaving ?? false,
      seq: 0,
      pull: undefined,
      lastOffer: [],
      drops: [],
      reserved: undefined,
    }
    this.supersede(session)
    this.sessions.set(session.id, session)
    pool.sessions.add(session)
    pool.check()
    return pack({ session: session.id })
  }

  /** The same process has a session already, whose answers it does not get: what it holds goes on in the new one. */
  private supersede(session: Session): void {
    for (const old of this.sessions.values()) {
      if (old.about.worker !== session.about.worker || old.pool !== session.pool) continue
      for (const state of [...old.calls]) {
        old.calls.delete(state)
        if (state.state === 'held') {
          state.session = session
          session.calls.add(state)
          if (old.reserved === state) session.reserved = state
        } else this.requeue(state)
      }
      session.adoptedBefore ??= old.adopting ?? old.adoptedBefore
      this.forget(old)
    }
  }

  /** The session of the same process now. */
  private currentOf(session: Session): Session | undefined {
    if (this.sessions.has(session.id)) return session
    return [...session.pool.sessions].find(({ about }) => about.worker === session.about.worker)
  }

  private beat(
    session: Session,
    { held, ending, leaving, moved, gone }: Requests['beat'],
  ): Answers['beat'] & object {
    const runs = new Set(held)
    const ends = new Set(ending)
    for (const call of moved) {
      const state = this.calls.get(call)
      if (state?.session === session && state.state !== 'ended') this.move(state)
    }
    const drop: Drop[] = session.drops.splice(0)
    const dropped = new Set(drop.map(({ call }) => call))
    const add = (one: Drop): void => {
      if (!dropped.has(one.call)) drop.push(one)
      dropped.add(one.call)
    }
    const mine = new Map([...session.calls].map((state) => [state.call.call, state]))
    for (const state of mine.values()) {
      const { call } = state.call
      if (runs.has(call) || ends.has(call)) {
        state.missing = 0
        if (state.state === 'offered') this.confirm(state)
        if (state.aborted) add(state.aborted.drop)
      } else if (state.state === 'held' && ++state.missing >= 2) {
        // It confirmed the call and does not know it any more.
        this.lose(
          state,
          new WorkerGone(`the remote worker ${session.about.name} does not know it any more`, true),
        )
      }
    }
    const zombies = held.filter((call) => !mine.has(call) && this.calls.get(call)?.session !== session)
    session.zombies = new Set(zombies)
    for (const call of [...zombies, ...ending.filter((one) => this.isUnknown(one, session))])
      add({ call, why: 'void', message: 'the call does not count any more' })
    session.leaving ||= leaving
    // The process is alive and says goodbye: what it did not end is free, and charged to nobody.
    if (gone) this.end(session, `the remote worker ${session.about.name} left`, false)
    else {
      session.pool.check()
      this.dispatch(session.pool)
    }
    // What does not fit is found again with the next beat.
    return pack({ drop: this.fitting(drop), leave: this.asksToLeave })
  }

  private isUnknown(call: string, session: Session): boolean {
    const state = this.calls.get(call)
    return state === undefined ? !this.settled.has(call) : state.session !== session
  }

  private get asksToLeave(): boolean {
    return this.draining || this.isShared
  }

  private confirm(state: CallState): void {
    state.state = 'held'
    state.ageMs = 0
  }

  private pull(session: Session, { seq }: Requests['pull'], respond: NatsMessage['respond']): void {
    const isRepeated = seq === session.seq
    if (!isRepeated) {
      // It has the answer before, so it has the calls in it.
      for (const state of session.lastOffer)
        if (state.state === 'offered' && state.session === session) this.confirm(state)
      session.lastOffer = []
      session.seq = seq
    }
    session.pull = { respond, at: performance.now() }
    const again = session.lastOffer.filter((state) => state.state === 'offered' && state.session === session)
    if (again.length > 0 || session.drops.length > 0 || this.asksToLeave) this.answer(session, again)
    else this.dispatch(session.pool)
  }

  private answer(session: Session, states: readonly CallState[]): void {
    const { pull } = session
    if (pull === undefined) return
    session.pull = undefined
    for (const state of states) {
      if (state.state === 'queued') {
        state.state = 'offered'
        state.session = session
        state.offeredAt = new Date()
        session.calls.add(state)
      }
      state.ageMs = 0
    }
    session.lastOffer = [...states]
    const drop = this.fitting(session.drops)
    session.drops.splice(0, drop.length)
    const answer: Answers['pull'] = {
      seq: session.seq,
      calls: states.map(({ call }) => call),
      drop,
      waitedMs: Math.round(performance.now() - pull.at),
      leave: this.asksToLeave,
    }
    if (pull.respond(pack(answer))) return
    // Not sent: nobody has it.
    session.lastOffer = []
    session.drops.unshift(...drop)
    for (const state of states) this.requeue(state)
  }

  /** As many as one message takes. */
  private fitting(drops: readonly Drop[]): Drop[] {
    let left = this.deps.nats.maxBytes * DROPS_SHARE
    const end = drops.findIndex((drop, place) => {
      left -= Buffer.byteLength(JSON.stringify(drop))
      return left < 0 && place > 0
    })
    return end < 0 ? [...drops] : drops.slice(0, end)
  }

  private ended(session: Session, { ends }: Requests['ended'], respond: NatsMessage['respond']): void {
    const answer = new EndedAnswer(respond)
    for (const { call, outcome } of ends) {
      const state = this.calls.get(call)
      if (state !== undefined && state.session === session) {
        answer.wait(call)
        state.responders.push(answer)
        if (state.state !== 'ended') this.endCall(session, state, outcome)
      } else {
        session.zombies.delete(call)
        answer.settle(call, this.settled.get(call) ?? false)
      }
    }
    answer.answerIfDone()
    session.pool.check()
    this.dispatch(session.pool)
  }

  private endCall(session: Session, state: CallState, outcome: RemoteOutcome): void {
    state.state = 'ended'
    state.ageMs = 0
    session.calls.delete(state)
    if (session.reserved === state) session.reserved = undefined
    state.resolve({ ...outcomeOf(outcome), worker: session.about.name })
  }

  private async adopt(
    session: Session,
    { held }: Requests['adopt'],
    respond: NatsMessage['respond'],
  ): Promise<void> {
    try {
      session.adopting ??= this.adoptCalls(session, held)
      respond(pack(await session.adopting))
    } catch (error) {
      this.deps.log.warn({ err: error, worker: session.about.name }, 'calls could not be adopted')
      respond(problem('later', 'the calls could not be adopted just now'))
    } finally {
      session.adopting = undefined
    }
  }

  private async adoptCalls(session: Session, held: readonly HeldCall[]): Promise<Answers['adopt']> {
    const { pool } = session
    // Two adoptions of the same calls at once would each find them under the lease of the other.
    await session.adoptedBefore?.catch(() => {})
    session.adoptedBefore = undefined
    const isMine = ({ call }: HeldCall) => this.calls.get(call)?.session === session
    // Their lease holder has heard of it before it is asked to adopt them.
    if (this.forgetMoved(session, held)) await setImmediately()
    const unknown = held.filter(({ call }) => !this.calls.has(call) && !this.settled.has(call))
    const foreign = this.withoutInvented(session, unknown)
    let adopted = 0
    if (foreign.length > 0) {
      const known = new Map(foreign.map((one) => [one.call, one]))
      await this.deps.adopt(pool, foreign, (call, signal) => {
        const from = known.get(call.call)
        if (from === undefined) throw new Error(`${call.call} is not among the calls to be adopted`)
        known.delete(call.call)
        adopted++
        return this.resume(session, call, from.lease, signal)
      })
    }
    session.adopts = false
    pool.check()
    if (adopted > 0) {
      this.deps.hooks?.onAdopted?.(adopted)
      this.deps.log.info({ worker: session.about.name, calls: adopted }, 'calls of another gateway adopted')
    }
    const yours = held.filter(isMine).map(({ call }) => call)
    const leases = yours.flatMap((call) => {
      const lease = this.calls.get(call)?.call.lease
      return lease === undefined ? [] : [[call, lease] as const]
    })
    return {
      yours,
      void: held.filter((one) => !isMine(one)).map(({ call }) => call),
      leases: Object.fromEntries(leases),
    }
  }

  /** Another gateway had adopted these meanwhile, while this one was cut off: here they are under a lease that they have no more. */
  private forgetMoved(session: Session, held: readonly HeldCall[]): boolean {
    const moved = held.flatMap(({ call, lease }) => {
      const state = this.calls.get(call)
      if (state?.session !== session || state.state === 'ended') return []
      const { lease: known } = state.call
      return known === undefined || lease === known || lease === state.formerLease ? [] : [state]
    })
    for (const state of moved) this.move(state)
    return moved.length > 0
  }

  private move(state: CallState): void {
    this.remove(state, false)
    state.reject(new CallMoved('another gateway has adopted it'))
  }

  /** A worker may bring only what it runs: calls under their own names, of jobs and commands that no other worker runs here. */
  private withoutInvented(session: Session, held: readonly HeldCall[]): HeldCall[] {
    const refKey = ({ what }: Pick<RemoteCall, 'what'>, id: string) => `${what} ${id}`
    const taken = new Set<string>()
    for (const state of this.calls.values())
      if (state.session?.about.worker !== session.about.worker)
        for (const { id } of state.call.refs ?? []) taken.add(refKey(state.call, id))
    return held.filter((one) => {
      const [first] = one.refs
      return (
        first !== undefined &&
        one.call === adoptableCall(one.what, first) &&
        one.refs.every(({ id }) => !taken.has(refKey(one, id)))
      )
    })
  }

  private resume(
    session: Session,
    call: RemoteCall,
    formerLease: string,
    signal: AbortSignal,
  ): Promise<RemoteOutcome> {
    return new Promise((resolve, reject) => {
      const state = this.createState(session.pool, call, signal, resolve, reject)
      if (state === undefined) return
      // It may have attached again while the database was slow.
      const current = this.currentOf(session)
      if (current === undefined) {
        this.fail(state, new WorkerGone(silent(session), true))
        return
      }
      state.state = 'held'
      state.formerLease = formerLease
      state.session = current
      state.offeredAt = new Date()
      current.calls.add(state)
    })
  }

  private async enqueue(
    session: Session,
    { call, from, job }: Requests['enqueue'],
    respond: NatsMessage['respond'],
  ): Promise<void> {
    const state = this.calls.get(call)
    if (state === undefined || state.session !== session || state.state === 'ended') {
      respond(problem('refused', 'the call does not count any more'))
      return
    }
    try {
      respond(pack({ jobId: await this.deps.enqueue(state.call, from, job) }))
    } catch (error) {
      const known = asStagedoorError(error)
      respond(problem(known.retryable ? 'later' : 'refused', known.message.slice(0, 2000)))
    }
  }

  // Handing out.

  /** In the next turn of the event loop: calls that come together go together. */
  private dispatch(pool: Pool): void {
    if (pool.flushing || pool.queue.length === 0) return
    pool.flushing = true
    setImmediate(() => {
      pool.flushing = false
      this.handOut(pool)
    })
  }

  private handOut(pool: Pool): void {
    if (!this.handsOut) return
    const offers = new Map<Session, { states: CallState[]; bytes: number }>()
    const maxBytes = this.deps.nats.maxBytes * MESSAGE_SHARE
    for (const state of [...pool.queue]) {
      if (state.bytes > maxBytes) {
        this.refuseLarge(state)
        continue
      }
      const session = this.choose(pool, state, offers, maxBytes)
      if (session === undefined) continue
      const offer = offers.get(session) ?? { states: [], bytes: 0 }
      offer.states.push(state)
      offer.bytes += state.bytes
      offers.set(session, offer)
      pool.queue.splice(pool.queue.indexOf(state), 1)
    }
    for (const [session, { states }] of offers) this.answer(session, states)
  }

  /** No message carries it, to whichever worker. */
  private refuseLarge(state: CallState): void {
    this.remove(state, false)
    const kib = (bytes: number) => Math.ceil(bytes / 1024)
    state.resolve({
      status: 'failed',
      error: `The call has ${kib(state.bytes)} KiB. The NATS server takes messages of ${kib(this.deps.nats.maxBytes)} KiB: raise its max_payload`,
      retryable: false,
    })
  }

  /** The one with most free slots of those that wait for calls. */
  private choose(
    pool: Pool,
    state: CallState,
    offers: ReadonlyMap<Session, { states: CallState[]; bytes: number }>,
    maxBytes: number,
  ): Session | undefined {
    let best: Session | undefined
    let most = 0
    for (const session of pool.sessions) {
      const offer = offers.get(session)
      const free = freeOf(session) - (offer?.states.length ?? 0)
      if (free <= most || session.pull === undefined || session.leaving || session.adopts) continue
      if (offer !== undefined && offer.bytes + state.bytes > maxBytes) continue
      if (state.call.alone ? !this.mayTakeAlone(session, state) : session.reserved !== undefined) continue
      best = session
      most = free
    }
    return best
  }

  private mayTakeAlone(session: Session, state: CallState): boolean {
    if (session.reserved !== state) return false
    return (session.calls.size === 0 && session.zombies.size === 0) || state.ageMs > MAX_ALONE_WAIT_MS
  }

  /** The worker with the fewest calls gets no others until this one has been there for a while. */
  private reserve(state: CallState): void {
    let best: Session | undefined
    for (const session of state.pool.sessions) {
      if (session.leaving || session.reserved !== undefined) continue
      if (best === undefined || session.calls.size < best.calls.size) best = session
    }
    if (best === undefined) return
    best.reserved = state
    state.pool.check()
  }

  private requeue(state: CallState): void {
    if (state.aborted) {
      this.calls.delete(state.call.call)
      state.reject(state.aborted.reason)
      return
    }
    const { session, pool } = state
    session?.calls.delete(state)
    if (session?.reserved === state) session.reserved = undefined
    state.state = 'queued'
    state.session = undefined
    state.ageMs = 0
    pool.queue.unshift(state)
    this.deps.hooks?.onReoffered?.(1)
    if (state.call.alone) this.reserve(state)
    pool.check()
    this.dispatch(pool)
  }

  // Clocks.

  private tick(): void {
    const now = performance.now()
    // A process that was frozen must not take the silence of that time for the silence of others.
    const elapsedMs = Math.min(now - this.tickedAt, 2 * TICK_MS)
    this.tickedAt = now
    const { nats } = this.deps
    const standsStill = !nats.connected || now - nats.since < BEAT_MS
    for (const session of [...this.sessions.values()]) {
      if (!standsStill) session.silentMs += elapsedMs
      if (session.silentMs > SESSION_MS) this.expire(session)
      else if (session.pull && now - session.pull.at > PULL_MS) this.answer(session, [])
    }
    for (const state of [...this.calls.values()]) this.age(state, elapsedMs, standsStill)
    for (const [key, pool] of this.pools) this.agePool(key, pool, elapsedMs)
    for (const [host, deaths] of this.deaths) if (now - deaths.at(-1)! > DEATHS_MS) this.deaths.delete(host)
    this.checkShared(now)
  }

  private age(state: CallState, elapsedMs: number, standsStill: boolean): void {
    // What waits here for a slot is leased and runs nowhere, with or without NATS.
    if (!standsStill || state.state === 'queued' || state.state === 'ended') state.ageMs += elapsedMs
    if (state.aborted) {
      if (state.ageMs > ABORT_MS && state.state !== 'ended') this.fail(state, state.aborted.reason)
    } else if (state.state === 'queued') {
      const limitMs = state.call.alone ? 2 * MAX_ALONE_WAIT_MS : MAX_QUEUED_MS
      if (state.ageMs > limitMs) this.fail(state, new WorkerGone('no remote worker had a free slot', false))
      else if (state.call.alone) this.dispatch(state.pool)
    } else if (state.state === 'offered') {
      if (state.ageMs > OFFER_MS) this.requeue(state)
    } else if (state.state === 'held') {
      if (state.session?.reserved === state && state.ageMs > ALONE_MS) {
        state.session.reserved = undefined
        state.pool.check()
      }
    } else if (state.ageMs > MAX_SETTLE_MS) this.settle(state.call.call, false)
  }

  private agePool(key: string, pool: Pool, elapsedMs: number): void {
    pool.emptyMs = pool.sessions.size > 0 ? 0 : pool.emptyMs + elapsedMs
    if (pool.emptyMs < EMPTY_POOL_MS || pool.queue.length > 0) return
    this.pools.delete(key)
    this.deps.closePool(pool)
  }

  private expire(session: Session): void {
    const held = [...session.calls].filter((state) => state.state === 'held')
    this.deps.log.warn(
      { worker: session.about.name, host: session.about.host, calls: held.length },
      'a remote worker is silent; its calls run elsewhere',
    )
    if (held.length > 0) {
      const deaths = this.deaths.get(session.about.host) ?? []
      this.deaths.set(session.about.host, [...deaths.slice(-20), performance.now()])
      this.deps.hooks?.onCrashed?.(held.length)
    }
    this.end(session, silent(session), true)
  }

  private end(session: Session, reason: string, crashed: boolean): void {
    this.forget(session)
    for (const state of [...session.calls])
      if (state.state === 'offered') this.requeue(state)
      else this.lose(state, new WorkerGone(reason, crashed))
  }

  private lose(state: CallState, error: WorkerGone): void {
    this.remove(state, false)
    state.reject(state.aborted?.reason ?? error)
  }

  private forget(session: Session): void {
    this.sessions.delete(session.id)
    session.pool.sessions.delete(session)
    const { reserved } = session
    session.reserved = undefined
    if (reserved?.state === 'queued') this.reserve(reserved)
    session.pool.check()
  }

  /** It has not died: it runs calls, or has a session. A pause would end these, which is one more death. */
  private isAlive({ worker, adopts }: Requests['attach']): boolean {
    return adopts || [...this.sessions.values()].some(({ about }) => about.worker === worker)
  }

  private pauseOf(host: string): number {
    const now = performance.now()
    const recent = (this.deaths.get(host) ?? []).filter((at) => now - at < DEATHS_MS)
    if (recent.length < MAX_DEATHS) return 0
    const pauseMs = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (recent.length - MAX_DEATHS))
    return Math.max(0, Math.ceil(recent.at(-1)! + pauseMs - now))
  }

  // Other gateways.

  private sayAlive(): void {
    const { nats, version, database } = this.deps
    const { attached, free: room } = this.totals
    const alive: Alive = {
      gateway: this.id,
      version,
      database,
      since: this.since,
      room,
      attached,
      draining: this.asksToLeave,
    }
    nats.publish(nats.subject('gw', 'alive'), pack(alive))
  }

  private get totals(): { attached: number; free: number } {
    let attached = 0
    let free = 0
    for (const session of this.sessions.values()) {
      attached += session.about.concurrency
      free += Math.max(0, freeOf(session))
    }
    return { attached, free }
  }

  private hearOther(message: NatsMessage): void {
    const alive = readAlive(message.body)
    if (typeof alive === 'string') {
      this.garbage()
      return
    }
    if (alive.gateway === this.id || alive.database === this.deps.database) return
    this.others.set(alive.gateway, { alive, heardAt: performance.now() })
    this.checkShared(performance.now())
  }

  /** Two installations on the same subjects: the one that started later hands out nothing. */
  private checkShared(now: number): void {
    for (const [id, { heardAt }] of this.others) if (now - heardAt > OTHER_MS) this.others.delete(id)
    const first = [...this.others.values()].find(
      ({ alive }) => alive.since < this.since || (alive.since === this.since && alive.gateway < this.id),
    )
    const isShared = first !== undefined
    if (isShared === this.isShared) return
    this.isShared = isShared
    if (isShared)
      this.deps.log.error(
        { code: 'cell_shared', other: first.alive.gateway },
        'another installation uses the same subjects; this gateway hands out nothing until STAGEDOOR_CELL differs',
      )
    else this.deps.log.info('no other installation uses the same subjects any more')
    for (const session of this.sessions.values()) this.answer(session, [])
    this.checkPools()
  }
}

function silent({ about }: Session): string {
  return `the remote worker ${about.name} is silent`
}

function oldestOf(session: Session): string | null {
  let oldest: Date | undefined
  for (const { offeredAt } of session.calls)
    if (offeredAt !== undefined && (oldest === undefined || offeredAt < oldest)) oldest = offeredAt
  return oldest?.toISOString() ?? null
}

/** What a worker says of itself is kept, and written to the database: known members only, and plain. */
function aboutOf(request: Requests['attach']): Requests['attach'] {
  const {
    worker,
    name,
    host,
    pid,
    version,
    executor,
    concurrency,
    handlers,
    adopts,
    leaving = false,
  } = request
  return {
    ...{ worker, pid, executor, concurrency, adopts, leaving },
    ...{ name: plainText(name), host: plainText(host), version: plainText(version) },
    handlers: handlers.map(({ what, name, batch }) => ({ what, name, batch })),
  }
}

function outcomeOf(outcome: RemoteOutcome): RemoteOutcome {
  const { status } = outcome
  if (status === 'failed') return { status, error: storableText(outcome.error), retryable: outcome.retryable }
  return status === 'completed' && 'result' in outcome ? { status, result: outcome.result } : { status }
}

function problem(what: Problem['problem'], detail: string, waitMs?: number): object {
  return pack({ problem: what, detail, ...(waitMs !== undefined && { waitMs }) })
}

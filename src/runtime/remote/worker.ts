/**
 * The side of a worker that has no database: it attaches to a gateway, pulls calls, runs them, and reports how they ended until the gateway
 * says that it is committed. When its gateway is silent it goes to another and takes along what it runs. It knows no room: `run` does.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StagedoorError } from '../../kernel/errors.ts'
import type { JsonObject } from '../../kernel/json.ts'
import type { HealthCheck } from '../../kernel/postgres/health.ts'
import type { Nats } from '../nats.ts'
import { Semaphore } from '../semaphore.ts'
import { Wake } from '../wake.ts'
import { MAX_CALL_BYTES, type RemoteCall, type RemoteOutcome } from './calls.ts'
import {
  type Alive,
  type Answers,
  BEAT_MS,
  type CallEnd,
  type Drop,
  GATEWAY_SILENT_MS,
  type HeldCall,
  isProblem,
  LATE_MS,
  MESSAGE_SHARE,
  type OfferedHandler,
  type Problem,
  PULL_MS,
  pack,
  type Requests,
  readAlive,
  readAnswer,
  type Verb,
} from './protocol.ts'

export interface RemoteWorkerOptions {
  readonly nats: Nats
  readonly log: Logger
  readonly version: string
  /** Shown to people. */
  readonly name: string
  readonly host: string
  readonly executor: string
  /** Calls at once. */
  readonly concurrency: number
  readonly handlers: readonly OfferedHandler[]
  /** Runs a call. What it throws is a failure that may be retried. */
  run(call: RemoteCall, context: CallContext): Promise<RemoteOutcome>
  /** How long running calls may take to end when the worker stops; default 30 s. */
  readonly shutdownMs?: number
  /** It has another gateway, or none. */
  readonly onGateway?: (gateway: string | undefined) => void
}

export interface CallContext {
  /** Aborted with a CallDropped. */
  readonly signal: AbortSignal
  /** `from` is the job that the new one follows from; with its idempotency key, because it may be sent twice. */
  enqueue(from: string, job: JsonObject): Promise<string>
}

/** Why a call must stop. */
export class CallDropped extends Error {
  override readonly name = 'CallDropped'
  readonly why: Drop['why']

  constructor({ why, message }: Pick<Drop, 'why' | 'message'>) {
    super(message)
    this.why = why
  }
}

export interface RemoteWorker {
  /** Of the gateway that it is attached to. */
  readonly gateway: string | undefined
  readonly running: number
  health(): HealthCheck
  /** Takes no more calls, lets those that run end, gives back the others and leaves. */
  stop(): Promise<void>
}

const TICK_MS = 250
const ATTACH_MS = 2000
const ADOPT_MS = 2500
const BEAT_ANSWER_MS = 1500
const ENDED_MS = 4000
const ENQUEUE_MS = 5000
/** A gateway takes no more of one worker at once. */
const MAX_ENQUEUES = 4
const RETRY_MS = 250
/** A gateway that was heard longer ago is not chosen. */
const GATEWAY_HEARD_MS = 3000
const AVOID_MS = 5000
/** So long a gateway that did not answer an adoption is asked again before others are. */
const ADOPTER_MS = 10_000
const OTHER_VERSION_MS = 30_000
/** So long no gateway may be heard before the log says so. Gateways speak every second. */
const NO_GATEWAY_MS = 5000
const MAX_ENDED_REQUESTS = 4
const MAX_ENDED_BYTES = 400_000
const MAX_ENDED_CALLS = 500
const ABORT_MS = 5000
/** Rooms have lower limits of their own, and say so in their words. */
const MAX_OUTCOME_BYTES = 2 * MAX_CALL_BYTES
const FAREWELL_MS = 5000

interface KnownGateway {
  alive: Alive
  heardAt: number
  /** It refused this worker: not to be tried before. */
  refusedUntil: number
  /** It did not answer: others are tried first. */
  avoidedUntil: number
}

/** An attachment to one gateway. */
interface Link {
  readonly gateway: string
  readonly database: string
  readonly session: string
  seq: number
  silentMs: number
  beatAt: number
  lost: boolean
  leaves: boolean
  readonly over: Promise<void>
  end(): void
}

interface RunningCall {
  /** With the lease that it is under now. */
  call: RemoteCall
  readonly controller: AbortController
  /** Its end counts for nothing and is not reported. */
  isVoid: boolean
}

export function startRemoteWorker(options: RemoteWorkerOptions): RemoteWorker {
  return new AttachingWorker(options)
}

class AttachingWorker implements RemoteWorker {
  private readonly options: RemoteWorkerOptions
  private readonly log: Logger
  private readonly nats: Nats
  private readonly id = randomUUID()
  private readonly gateways = new Map<string, KnownGateway>()
  private readonly held = new Map<string, RunningCall>()
  /** How calls ended; until a gateway says that it is written. */
  private readonly ends = new Map<string, { call: RemoteCall; readonly outcome: RemoteOutcome }>()
  private readonly sending = new Set<string>()
  private endedRequests = 0
  private sendsSoon = false
  private readonly enqueues = new Semaphore(MAX_ENQUEUES)
  private readonly wake = new Wake()
  private readonly changed = new Wake()
  private readonly undo: (() => void)[] = []
  private readonly ticker: NodeJS.Timeout
  private readonly loop: Promise<void>
  private tickedAt = performance.now()
  private link: Link | undefined
  /** The last attachment, whose calls are to be adopted by the next gateway. */
  private previous: Link | undefined
  /** A gateway that may have adopted its calls and did not say so in time: another one could not tell. */
  private adopter: { readonly gateway: string; readonly until: number } | undefined
  private leaving = false
  private closed = false
  private trouble = 'looking for a gateway'
  /** Without a gateway since then (performance.now()). */
  private aloneAt = performance.now()
  private saidAlone = false
  private stopped: Promise<void> | undefined

  constructor(options: RemoteWorkerOptions) {
    this.options = options
    this.nats = options.nats
    this.log = options.log
    const { nats } = this
    this.undo.push(
      nats.subscribe(nats.subject('gw', 'alive'), ({ body }) => this.hear(body)),
      nats.onChange(() => this.natsChanged()),
    )
    this.ticker = setInterval(() => this.tick(), TICK_MS)
    this.loop = this.keepAttached()
  }

  get gateway(): string | undefined {
    return this.link?.gateway
  }

  get running(): number {
    return this.held.size
  }

  health(): HealthCheck {
    const { link } = this
    const detail = link ? `attached to gateway ${link.gateway}, ${this.held.size} running` : this.trouble
    return { name: 'remote', ok: link !== undefined && this.nats.connected, detail }
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  private async shutDown(): Promise<void> {
    this.leaving = true
    if (this.link) void this.beat(this.link)
    await this.until(() => this.held.size === 0, this.options.shutdownMs ?? 30_000)
    for (const running of this.held.values())
      running.controller.abort(new CallDropped({ why: 'stopping', message: 'The worker is stopping' }))
    await this.until(() => this.held.size === 0, ABORT_MS)
    // Their handlers do not listen: others run them again.
    for (const running of this.held.values()) {
      if (running.isVoid) continue
      running.isVoid = true
      this.ends.set(running.call.call, { call: running.call, outcome: { status: 'released' } })
    }
    this.held.clear()
    this.sendEnds()
    await this.until(() => this.ends.size === 0, FAREWELL_MS)
    if (this.link)
      await this.request('beat', this.link.gateway, this.beatOf(this.link, true), BEAT_ANSWER_MS).catch(
        () => {},
      )
    this.closed = true
    clearInterval(this.ticker)
    for (const undo of this.undo.splice(0)) undo()
    if (this.link) this.lose(this.link, 'stopped')
    this.wake.now()
    await this.loop
  }

  private async until(isDone: () => boolean, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!isDone() && performance.now() < deadline)
      await this.changed.wait(Math.min(TICK_MS, deadline - performance.now()))
  }

  // Gateways.

  private hear(body: unknown): void {
    const alive = readAlive(body)
    if (typeof alive === 'string') return
    const heardAt = performance.now()
    const known = this.gateways.get(alive.gateway)
    if (known) Object.assign(known, { alive, heardAt })
    else this.gateways.set(alive.gateway, { alive, heardAt, refusedUntil: 0, avoidedUntil: 0 })
    if (this.link === undefined) this.wake.now()
  }

  private natsChanged(): void {
    if (this.nats.connected && this.link) {
      this.link.silentMs = 0
      void this.beat(this.link)
    }
    this.wake.now()
  }

  /** Of two at random the one with fewer workers. Calls that it runs can be adopted only by a gateway of the same database. */
  private choose(): Alive | undefined {
    const now = performance.now()
    const database = this.holdsSomething ? this.previous?.database : undefined
    const usable = [...this.gateways.values()].filter(
      ({ alive, heardAt, refusedUntil }) =>
        now - heardAt < GATEWAY_HEARD_MS &&
        now >= refusedUntil &&
        !alive.draining &&
        (database === undefined || alive.database === database),
    )
    for (const [id, { heardAt }] of this.gateways) if (now - heardAt > 60_000) this.gateways.delete(id)
    const { adopter } = this
    if (adopter !== undefined && now < adopter.until) {
      const known = usable.find(({ alive }) => alive.gateway === adopter.gateway)
      if (known) return known.alive
    }
    const preferred = usable.filter(({ avoidedUntil }) => now >= avoidedUntil)
    const some = preferred.length > 0 ? preferred : usable
    const pick = () => some[Math.floor(Math.random() * some.length)]?.alive
    const [one, other] = [pick(), pick()]
    return one && other && other.attached < one.attached ? other : one
  }

  private get holdsSomething(): boolean {
    return this.held.size > 0 || this.ends.size > 0
  }

  private async keepAttached(): Promise<void> {
    while (!this.closed) {
      const link = await this.attach().catch((error: unknown) => {
        this.log.debug({ err: error }, 'could not attach to a gateway')
        return undefined
      })
      if (link === undefined) {
        this.sayAlone()
        if (!this.closed) await this.wake.wait(RETRY_MS)
        continue
      }
      this.saidAlone = false
      this.link = link
      this.options.onGateway?.(link.gateway)
      void this.pullUntilLost(link)
      this.sendEnds()
      await link.over
      this.previous = link
      this.link = undefined
      this.aloneAt = performance.now()
      this.options.onGateway?.(undefined)
    }
  }

  /** Once: whoever started it may have forgotten the gateways, or they are of another cell. One that refuses has said why. */
  private sayAlone(): void {
    const now = performance.now()
    const heard = [...this.gateways.values()].some(({ heardAt }) => now - heardAt < NO_GATEWAY_MS)
    const waitedMs = now - Math.max(this.aloneAt, this.nats.since)
    if (this.saidAlone || this.closed || heard || !this.nats.connected || waitedMs < NO_GATEWAY_MS) return
    this.saidAlone = true
    this.log.warn(
      { subject: this.nats.subject('gw', 'alive') },
      'no gateway is there: run `stagedoor start` with the same NATS_URL and STAGEDOOR_CELL as this worker',
    )
  }

  private async attach(): Promise<Link | undefined> {
    if (!this.nats.connected) {
      this.trouble = 'NATS is away'
      return undefined
    }
    const alive = this.choose()
    if (alive === undefined) {
      this.trouble = 'no gateway is there'
      return undefined
    }
    const { gateway, database } = alive
    const known = this.gateways.get(gateway)!
    const { name, host, version, executor, concurrency, handlers } = this.options
    const adopts = this.holdsSomething
    const about: Requests['attach'] = {
      worker: this.id,
      name,
      host,
      pid: process.pid,
      version,
      executor,
      concurrency,
      handlers,
      adopts,
      leaving: this.leaving,
    }
    known.avoidedUntil = performance.now() + AVOID_MS
    const answer = await this.request('attach', gateway, about, ATTACH_MS)
    if (isProblem(answer)) {
      this.refused(known, answer)
      return undefined
    }
    const link = createLink(gateway, database, answer.session)
    if (adopts && !(await this.adopt(link))) return undefined
    known.avoidedUntil = 0
    this.log.info({ gateway, version: alive.version, concurrency }, 'attached to a gateway')
    return link
  }

  private refused(known: KnownGateway, { problem, detail, waitMs }: Problem): void {
    const { gateway, version } = known.alive
    const isNew = this.trouble !== detail
    this.trouble = detail
    const pauseMs = problem === 'version' ? OTHER_VERSION_MS : (waitMs ?? AVOID_MS)
    known.refusedUntil = performance.now() + pauseMs
    if (isNew)
      this.log[problem === 'version' || problem === 'shared' ? 'error' : 'warn'](
        { gateway, gateway_version: version, version: this.options.version, problem, wait_ms: pauseMs },
        `the gateway refused this worker: ${detail}`,
      )
  }

  /** Takes along what it runs and what it could not report. What is not adopted runs elsewhere by now. */
  private async adopt(link: Link): Promise<boolean> {
    const { previous } = this
    const mine = [...[...this.held.values()].filter(({ isVoid }) => !isVoid), ...this.ends.values()]
    const held = mine.map(
      ({ call }): HeldCall => ({
        call: call.call,
        what: call.what,
        name: call.name,
        lease: call.lease ?? '-',
        refs: call.refs ?? [],
        alone: call.alone ?? false,
      }),
    )
    const { gateway } = link
    if (this.adopter?.gateway !== gateway) this.adopter = { gateway, until: performance.now() + ADOPTER_MS }
    const answer = await this.request('adopt', gateway, { session: link.session, held }, ADOPT_MS)
    this.adopter = undefined
    if (isProblem(answer)) return false
    for (const [call, lease] of Object.entries(answer.leases ?? {})) {
      const mine = this.held.get(call) ?? this.ends.get(call)
      if (mine) mine.call = { ...mine.call, lease }
    }
    for (const call of answer.void)
      this.drop({ call, why: 'void', message: 'the call runs elsewhere or has ended' })
    if (held.length > 0)
      this.log.info(
        { gateway: link.gateway, adopted: answer.yours.length, void: answer.void.length },
        'calls taken along to another gateway',
      )
    if (previous && previous.gateway !== link.gateway) this.sayMoved(previous, answer.yours)
    return true
  }

  /** Where the former gateway is still there it need not wait for this worker. */
  private sayMoved({ gateway, session }: Link, moved: readonly string[]): void {
    const beat: Requests['beat'] = { session, held: [], ending: [], leaving: true, moved, gone: true }
    this.nats.publish(this.nats.subject('gw', gateway, 'beat'), pack(beat))
  }

  private lose(link: Link, why: string, avoidMs = 0): void {
    if (link.lost) return
    link.lost = true
    const known = this.gateways.get(link.gateway)
    if (known) known.avoidedUntil = performance.now() + avoidMs
    if (!this.closed) {
      this.trouble = why
      this.log.warn({ gateway: link.gateway, reason: why, running: this.held.size }, 'left the gateway')
    }
    link.end()
  }

  private tick(): void {
    const now = performance.now()
    // Frozen, or without NATS: the gateway is not to blame.
    const elapsedMs = this.nats.connected ? Math.min(now - this.tickedAt, 2 * TICK_MS) : 0
    this.tickedAt = now
    const { link } = this
    if (link === undefined) return
    link.silentMs += elapsedMs
    if (link.silentMs > GATEWAY_SILENT_MS) {
      this.lose(link, `the gateway does not answer for ${GATEWAY_SILENT_MS / 1000} s`, AVOID_MS)
      return
    }
    if (link.leaves) this.moveOn(link)
    else if (now - link.beatAt >= BEAT_MS) void this.beat(link)
  }

  /** The gateway stops: to another one, if there is one for what runs here. */
  private moveOn(link: Link): void {
    this.previous = link
    const isThere = [...this.gateways.values()].some(
      ({ alive, heardAt }) =>
        alive.gateway !== link.gateway &&
        !alive.draining &&
        performance.now() - heardAt < GATEWAY_HEARD_MS &&
        (alive.database === link.database || !this.holdsSomething),
    )
    if (isThere || !this.holdsSomething) this.lose(link, 'the gateway stops', AVOID_MS)
    else if (performance.now() - link.beatAt >= BEAT_MS) void this.beat(link)
  }

  private async beat(link: Link, ids: readonly string[] = []): Promise<Answers['beat'] | undefined> {
    link.beatAt = performance.now()
    const beat = this.beatOf(link, false)
    const answer = await this.ask('beat', link, { ...beat, held: [...beat.held, ...ids] }, BEAT_ANSWER_MS)
    if (answer === undefined || link.lost) return undefined
    for (const drop of answer.drop) this.drop(drop)
    if (answer.leave) link.leaves = true
    return answer
  }

  private beatOf({ session }: Link, gone: boolean): Requests['beat'] {
    return {
      session,
      held: [...this.held.keys()],
      ending: [...this.ends.keys()],
      leaving: this.leaving,
      moved: [],
      gone,
    }
  }

  // Calls.

  /**
   * The next pull, which confirms the calls of this answer, is on its way before any of them begins: a call that kills this process at once
   * must be charged with it. The client writes at the end of this turn of the event loop, and what is written outlives the process.
   */
  private async pullUntilLost(link: Link): Promise<void> {
    // What it must stop comes with the beats, too.
    if (this.leaving) return
    let pulling = this.pull(link)
    while (!link.lost) {
      const pulled = await pulling
      // The answer to a former session: its calls were given to others.
      if (link.lost) return
      if (pulled === undefined) {
        if (this.leaving) return
        pulling = this.pull(link)
        continue
      }
      const { answer, isLate } = pulled
      link.seq = answer.seq
      const calls = isLate && answer.calls.length > 0 ? await this.confirm(link, answer.calls) : answer.calls
      if (link.lost) return
      for (const drop of answer.drop) this.drop(drop)
      if (answer.leave) {
        link.leaves = true
        await sleep(TICK_MS)
      }
      if (this.leaving) {
        for (const call of calls) this.giveBack(call)
        return
      }
      pulling = this.pull(link)
      if (calls.length > 0) await setImmediate()
      for (const call of calls) this.begin(call)
    }
  }

  private async pull(link: Link): Promise<{ answer: Answers['pull']; isLate: boolean } | undefined> {
    const sent = { monotonic: performance.now(), wall: Date.now() }
    const request = { session: link.session, seq: link.seq + 1 }
    const answer = await this.ask('pull', link, request, PULL_MS + 1500)
    if (answer === undefined) return undefined
    const passedMs = Math.max(performance.now() - sent.monotonic, Date.now() - sent.wall)
    return { answer, isLate: passedMs - answer.waitedMs > LATE_MS }
  }

  /** The gateway may have given them to others by now. */
  private async confirm(link: Link, calls: readonly RemoteCall[]): Promise<readonly RemoteCall[]> {
    const ids = calls.map(({ call }) => call)
    let answer: Answers['beat'] | undefined
    while (answer === undefined && !link.lost) answer = await this.beat(link, ids)
    const isVoid = ({ why }: Drop) => why === 'void'
    const dropped = new Set(answer?.drop.filter(isVoid).map(({ call }) => call))
    return calls.filter(({ call }) => !dropped.has(call))
  }

  private begin(call: RemoteCall): void {
    // Sent again, because the gateway did not know that the answer came.
    if (this.held.has(call.call) || this.ends.has(call.call)) return
    const running: RunningCall = { call, controller: new AbortController(), isVoid: false }
    this.held.set(call.call, running)
    void this.perform(running)
  }

  /** It came when this worker had begun to stop. */
  private giveBack(call: RemoteCall): void {
    if (this.held.has(call.call) || this.ends.has(call.call)) return
    this.ends.set(call.call, { call, outcome: { status: 'released' } })
    this.sendEnds()
  }

  private async perform(running: RunningCall): Promise<void> {
    const { call, controller } = running
    let outcome: RemoteOutcome
    try {
      outcome = await this.options.run(call, {
        signal: controller.signal,
        enqueue: (from, job) => this.enqueue(call, from, job),
      })
    } catch (error) {
      outcome = { status: 'failed', error: String(error).slice(0, 2000), retryable: true }
    }
    const maxBytes = Math.min(MAX_OUTCOME_BYTES, this.nats.maxBytes * MESSAGE_SHARE)
    if (Buffer.byteLength(JSON.stringify(outcome)) > maxBytes)
      outcome = {
        status: 'failed',
        error: `What the handler returned has more than ${Math.floor(maxBytes / 1024)} KiB, which no message carries`,
        retryable: false,
      }
    if (this.held.get(call.call) === running) this.held.delete(call.call)
    if (!running.isVoid) {
      this.ends.set(call.call, { call: running.call, outcome })
      this.sendEnds()
    }
    this.changed.now()
  }

  private drop(drop: Drop): void {
    if (drop.why === 'void') this.ends.delete(drop.call)
    const running = this.held.get(drop.call)
    if (running === undefined) return
    if (drop.why === 'void') running.isVoid = true
    running.controller.abort(new CallDropped(drop))
  }

  /** In the next turn of the event loop: ends that come together go together. */
  private sendEnds(): void {
    if (this.sendsSoon) return
    this.sendsSoon = true
    void setImmediate().then(() => {
      this.sendsSoon = false
      this.sendEndsNow()
    })
  }

  /** All that is not under way, in a few requests at once: one end that the database is slow to take does not hold up the others. */
  private sendEndsNow(): void {
    const { link } = this
    while (link && !link.lost && this.endedRequests < MAX_ENDED_REQUESTS) {
      const ends = this.nextEnds()
      if (ends.length === 0) return
      void this.sendEnded(link, ends)
    }
  }

  private nextEnds(): CallEnd[] {
    const ends: CallEnd[] = []
    const maxBytes = Math.min(MAX_ENDED_BYTES, this.nats.maxBytes * MESSAGE_SHARE)
    let bytes = 0
    for (const [call, { outcome }] of this.ends) {
      if (this.sending.has(call)) continue
      const size = Buffer.byteLength(JSON.stringify(outcome))
      if (ends.length > 0 && (bytes + size > maxBytes || ends.length >= MAX_ENDED_CALLS)) break
      ends.push({ call, outcome })
      bytes += size
    }
    return ends
  }

  private async sendEnded(link: Link, ends: readonly CallEnd[]): Promise<void> {
    this.endedRequests++
    for (const { call } of ends) this.sending.add(call)
    const answer = await this.ask('ended', link, { session: link.session, ends }, ENDED_MS)
    for (const call of answer?.written ?? []) this.ends.delete(call)
    // A gateway that was left does not know what another has adopted meanwhile.
    if (!link.lost) for (const call of answer?.void ?? []) this.ends.delete(call)
    // The gateway answers when it has waited long enough: then it is not to be asked in a loop.
    if (ends.some(({ call }) => this.ends.has(call))) await sleep(answer === undefined ? RETRY_MS : TICK_MS)
    for (const { call } of ends) this.sending.delete(call)
    this.endedRequests--
    this.changed.now()
    this.sendEnds()
  }

  private async enqueue(call: RemoteCall, from: string, job: JsonObject): Promise<string> {
    for (;;) {
      const { link } = this
      if (this.held.get(call.call)?.isVoid !== false) throw new Error('the call does not count any more')
      if (link && this.nats.connected) {
        const request = { session: link.session, call: call.call, from, job }
        const answer = await this.enqueues
          .within({}, () => this.request('enqueue', link.gateway, request, ENQUEUE_MS))
          .catch(() => undefined)
        if (answer !== undefined && !isProblem(answer)) return answer.jobId
        if (answer?.problem === 'refused') throw new Error(answer.detail)
      }
      await sleep(RETRY_MS)
    }
  }

  // Requests.

  /** Undefined: no answer, or one that ended the session. */
  private async ask<V extends Verb>(
    verb: V,
    link: Link,
    body: Requests[V],
    timeoutMs: number,
  ): Promise<Answers[V] | undefined> {
    try {
      const answer = await this.request(verb, link.gateway, body, timeoutMs)
      if (!isProblem(answer)) {
        link.silentMs = 0
        return answer
      }
      if (answer.problem === 'session') this.lose(link, answer.detail)
      else if (answer.problem === 'version') this.lose(link, answer.detail, OTHER_VERSION_MS)
    } catch (error) {
      // Its process has ended: nobody needs to wait until it is silent for long.
      if (/no responders/i.test((error as Error).message)) link.silentMs += GATEWAY_SILENT_MS / 2
      if (!link.lost) await sleep(RETRY_MS)
    }
    return undefined
  }

  private async request<V extends Verb>(
    verb: V,
    gateway: string,
    body: Requests[V],
    timeoutMs: number,
  ): Promise<Answers[V] | Problem> {
    const subject = this.nats.subject('gw', gateway, verb)
    const answer = readAnswer(verb, await this.nats.request(subject, pack(body), timeoutMs))
    if (answer === 'newer')
      return { problem: 'version', detail: `gateway ${gateway} speaks a newer version of the protocol` }
    if (answer === 'garbage')
      throw new StagedoorError('nats_unreachable', {
        server: subject,
        reason: 'the answer has no known shape',
      })
    return answer
  }
}

function createLink(gateway: string, database: string, session: string): Link {
  let end!: () => void
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  return {
    gateway,
    database,
    session,
    seq: 0,
    silentMs: 0,
    beatAt: performance.now(),
    lost: false,
    leaves: false,
    over,
    end,
  }
}

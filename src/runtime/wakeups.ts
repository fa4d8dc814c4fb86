/**
 * Wake-ups of a process: one bus for everything that runs in it and uses the same database, over one kept session. Who writes tells
 * after the commit: in this process at once, in others by one NOTIFY that carries whatever was told meanwhile. Functions that many
 * processes call all the time do not notify by themselves, because NOTIFY takes a lock of the whole server at commit (decision 0020).
 *
 * A wake-up may be lost. The net is one poll a process: every two seconds a single statement keeps leaderships (leader.ts) and asks
 * all questions of those who wait: is there anything, or when will there be. Where wake-ups do not work (`works`), those who wait poll for
 * themselves, as without a listening address.
 */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Logger } from 'pino'
import { KeptSession } from '../kernel/postgres/kept-session.ts'
import { LEADER_LEASE_MS, type Lead, Leadership } from './leader.ts'
import { instant } from './lease.ts'
import { Wake } from './wake.ts'

/** `jobs` by kind, `inbox` by shards (1,2,3), `commands` by lists of handlers as JSON, `search`, `waits`, `shards`. An empty key: any. */
export type Topic = 'jobs' | 'inbox' | 'commands' | 'waits' | 'shards' | 'search'

/** What the poll asks for somebody who waits. */
export interface Question {
  /** An SQL expression with ? for each value: milliseconds until there is something to do, 0 for now, null for nothing in sight. */
  readonly sql: string
  /** Undefined: not now. */
  values(): unknown[] | undefined
  /** Asked only while this process leads it. */
  readonly lead?: string
  onDue(): void
  /** Nothing is due now. */
  onIdle?(): void
}

/** The bus, as one part of the process uses it. */
export interface Wakeups {
  /** Wake-ups of other processes arrive, and the poll is answered. */
  readonly works: boolean
  /** To be called after the commit of what it is about. */
  tell(topic: Topic, key?: string): void
  on(topic: Topic, listener: (key: string) => void): void
  /** Wake-ups may have been missed, or are missed from now on: whoever waits looks for itself. */
  onChange(listener: () => void): void
  ask(question: Question): void
  /** The poll comes within a fraction of a second: somebody wants to know when the next thing is due. */
  pollSoon(): void
  /** Without a working bus everybody is the leader. */
  lead(name: string, onGain: () => void): Lead
  /** For tests: so large a share of all wake-ups gets lost. */
  injectLoss(share: number): void
  close(): Promise<void>
}

const CHANNEL = 'stagedoor'
const POLL_MS = 2000
/** Of a process that leads: times that others have set come to it by its poll. */
const LEADER_POLL_MS = 1000
/** However often somebody wants it sooner. */
const MIN_POLL_GAP_MS = 500
const MIN_DUE_MS = 10
/** Once more after the first look: others may not have heard of this process when they told. */
const SECOND_LOOK_MS = 1000
const MAX_KEY_BYTES = 7000

interface SharedBus {
  readonly bus: WakeupBus
  users: number
}

const buses = new Map<string, SharedBus>()

/** All parts of a process that use the same database share the bus. The last one that closes it ends its session. */
export function openWakeups(url: string, log: Logger): Wakeups {
  const shared = buses.get(url) ?? { bus: new WakeupBus(url, log), users: 0 }
  buses.set(url, shared)
  shared.users += 1
  const { bus } = shared
  const undo: (() => unknown)[] = []
  let closed: Promise<void> | undefined
  return {
    get works() {
      return bus.works
    },
    tell: (topic, key = '') => bus.tell(topic, key),
    on: (topic, listener) => void undo.push(bus.on(topic, listener)),
    onChange: (listener) => void undo.push(bus.onChange(listener)),
    ask: (question) => void undo.push(bus.ask(question)),
    pollSoon: () => bus.pollSoon(),
    lead(name, onGain) {
      undo.push(bus.lead(name, onGain))
      return {
        get mine() {
          return bus.leads(name)
        },
      }
    },
    injectLoss: (share) => bus.injectLoss(share),
    close() {
      closed ??= (async () => {
        for (const one of undo) one()
        shared.users -= 1
        if (shared.users > 0) return
        if (buses.get(url) === shared) buses.delete(url)
        await bus.stop()
      })()
      return closed
    },
  }
}

interface PollRow extends pg.QueryResultRow {
  readonly leads: string[]
  /** Nobody else listens. */
  readonly alone: boolean
}

class WakeupBus {
  private readonly log: Logger
  private readonly session: KeptSession
  private readonly listeners = new Map<Topic, Set<(key: string) => void>>()
  private readonly changes = new Set<() => void>()
  private readonly questions = new Set<Question>()
  private readonly leadership = new Leadership()
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  /** To be told to other processes, as payloads. */
  private untold = new Set<string>()
  private telling: Promise<void> | undefined
  private alone = false
  private hellos = 0
  /** The last poll was answered. */
  private answered = false
  private polledAt = 0
  private soon: NodeJS.Timeout | undefined
  private secondLook: NodeJS.Timeout | undefined
  private lossShare = 0
  private stopping = false

  constructor(url: string, log: Logger) {
    this.log = log
    this.session = new KeptSession({
      url,
      role: 'dot_executor',
      channel: CHANNEL,
      log,
      onNotify: (payload) => this.hear(payload),
      onOpen: () => this.open(),
      onLost: () => this.fail(),
    })
    this.loop = this.pollUntilStopped()
  }

  get works(): boolean {
    return this.session.connected && this.answered
  }

  leads(name: string): boolean {
    return !this.works || this.leadership.leads(name)
  }

  on(topic: Topic, listener: (key: string) => void): () => void {
    const listeners = this.listeners.get(topic) ?? new Set()
    this.listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  onChange(listener: () => void): () => void {
    this.changes.add(listener)
    return () => this.changes.delete(listener)
  }

  ask(question: Question): () => void {
    this.questions.add(question)
    return () => this.questions.delete(question)
  }

  lead(name: string, onGain: () => void): () => void {
    const end = this.leadership.want(name, onGain)
    this.pollSoon()
    return () => {
      if (!end() || !this.leadership.leads(name)) return
      void this.leave([name])
    }
  }

  tell(topic: Topic, key: string): void {
    this.deliver(topic, key)
    if (this.alone || !this.session.connected) return
    this.untold.add(`${topic} ${Buffer.byteLength(key) > MAX_KEY_BYTES ? '' : key}`)
    this.telling ??= this.tellOthers()
  }

  pollSoon(): void {
    if (this.soon !== undefined || this.stopping) return
    const ms = Math.max(0, this.polledAt + MIN_POLL_GAP_MS - performance.now())
    this.soon = setTimeout(() => {
      this.soon = undefined
      this.wake.now()
    }, ms)
  }

  injectLoss(share: number): void {
    this.lossShare = share
  }

  async stop(): Promise<void> {
    this.stopping = true
    clearTimeout(this.soon)
    clearTimeout(this.secondLook)
    this.wake.now()
    await this.loop
    await this.telling
    if (this.session.connected && this.leadership.size > 0) await this.leave(null)
    await this.session.stop()
  }

  /** Others take it over at once instead of with their next poll. */
  private async leave(names: readonly string[] | null): Promise<void> {
    await this.session
      .query(`select iu_core.fn_leader_leave($1, $2), pg_notify($3, 'leader ')`, [
        this.leadership.holder,
        names,
        CHANNEL,
      ])
      .catch(() => {})
  }

  private async open(): Promise<void> {
    this.leadership.lose()
    this.alone = false
    this.untold.clear()
    // Leaderships are in an unlogged table, and a lost notification is only a lost wake-up.
    await this.session.query('set synchronous_commit = off')
    await this.session.query(
      `select pg_advisory_lock_shared(hashtextextended('stagedoor.wakeups', 0)), pg_advisory_lock(iu_core.fn_leader_lock($1)),
              pg_notify($2, 'hello ')`,
      [this.leadership.holder, CHANNEL],
    )
    await this.poll()
    clearTimeout(this.secondLook)
    this.secondLook = setTimeout(() => this.changed(), SECOND_LOOK_MS)
  }

  private fail(): void {
    this.answered = false
    this.leadership.lose()
    this.changed()
  }

  private changed(): void {
    if (!this.stopping) for (const listener of this.changes) listener()
    this.wake.now()
  }

  private hear(payload: string): void {
    const space = payload.indexOf(' ')
    const topic = payload.slice(0, space)
    if (topic === 'hello') {
      this.hellos += 1
      this.alone = false
    } else if (topic === 'leader') this.pollSoon()
    else this.deliver(topic as Topic, payload.slice(space + 1))
  }

  private deliver(topic: Topic, key: string): void {
    if (this.lossShare > 0 && Math.random() < this.lossShare) return
    for (const listener of this.listeners.get(topic) ?? []) listener(key)
  }

  /** One statement in flight: what is told meanwhile goes with the next. */
  private async tellOthers(): Promise<void> {
    try {
      while (this.untold.size > 0) {
        const payloads = [...this.untold]
        this.untold = new Set()
        await this.session.query(
          'select pg_notify($1, p) from unnest($2::text[]) p',
          [CHANNEL, payloads],
          'stagedoor_tell',
        )
      }
    } catch (error) {
      this.log.debug({ err: error }, 'wake-ups could not be sent; others find the work by their polls')
    } finally {
      this.telling = undefined
    }
  }

  private async pollUntilStopped(): Promise<void> {
    while (!this.stopping) {
      if (!this.session?.connected) {
        await this.wake.wait()
        continue
      }
      let nextMs = Number.POSITIVE_INFINITY
      try {
        nextMs = await this.poll()
      } catch (error) {
        this.log.debug({ err: error }, 'the poll failed; will be retried')
        if (this.answered) this.fail()
      }
      if (this.stopping) return
      const usualMs = (this.leadership.size > 0 ? LEADER_POLL_MS : POLL_MS) * (0.8 + 0.4 * Math.random())
      await this.wake.wait(Math.max(MIN_DUE_MS, Math.min(usualMs, nextMs)))
    }
  }

  /** Returns how many milliseconds are left until the next thing is due. */
  private async poll(): Promise<number> {
    const { leadership } = this
    const values: unknown[] = [leadership.holder, leadership.process, leadership.names, LEADER_LEASE_MS]
    const asked: Question[] = []
    const columns: string[] = []
    for (const question of this.questions) {
      if (question.lead !== undefined && !leadership.leads(question.lead)) continue
      const own = question.values()
      if (own === undefined) continue
      let next = values.length
      columns.push(`, ${question.sql.replaceAll('?', () => `$${++next}`)} as "${asked.length}"`)
      values.push(...own)
      asked.push(question)
    }
    const text = `select iu_core.fn_leader_keep($1, $2, $3, $4 * interval '1 millisecond') as leads,
      pg_try_advisory_xact_lock(hashtextextended('stagedoor.wakeups', 0)) as alone${columns.join('')}`
    const sentAt = instant()
    const { hellos } = this
    this.polledAt = performance.now()
    const [row] = await this.session.query<PollRow>(text, values, nameOf(text))
    const recovered = !this.answered
    this.answered = true
    this.alone = row!.alone && hellos === this.hellos
    leadership.keep(row!.leads, sentAt)
    // Not before the session counts as connected.
    if (recovered) setImmediate(() => this.changed())
    let nextMs = Number.POSITIVE_INFINITY
    asked.forEach((question, index) => {
      const ms = (row as Record<string, unknown>)[String(index)] as number | null
      if (ms === 0) question.onDue()
      else {
        question.onIdle?.()
        nextMs = Math.min(nextMs, ms ?? Number.POSITIVE_INFINITY)
      }
    })
    return nextMs
  }
}

const names = new Map<string, string>()

/** One of few: parts of a process come and go, questions are asked or not. */
function nameOf(text: string): string {
  const known =
    names.get(text) ?? `stagedoor_poll_${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
  names.set(text, known)
  return known
}

/**
 * Wake-ups of a process: one bus for everything that runs in it and uses the same database, over one dedicated session. Whoever writes
 * calls `tell` after the commit: listeners of this process are called at once, other processes get one message with all wake-ups that are
 * waiting to be sent. Functions that many processes call all the time do not notify by themselves, because NOTIFY takes a lock of the whole
 * server at commit (decision 0020).
 *
 * With NATS the message is published there, and a process neither listens to the database nor makes others notify. One of these
 * processes leads `wakeups`: it forwards notifications (plain SQL, processes without NATS) to NATS, and messages of NATS to NOTIFY while
 * a process listens to nothing else. While NATS is away, and without it, the message is a NOTIFY.
 *
 * A wake-up may be lost. Therefore each process polls: every two seconds a single statement renews its leaderships (leader.ts) and asks the
 * questions of all parts that wait: is there anything to do, or when will there be. Where wake-ups do not work (`works`), each part polls
 * for itself, as it does without a listening address.
 */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Logger } from 'pino'
import { DedicatedSession } from '../kernel/postgres/dedicated-session.ts'
import { LEADER_LEASE_MS, type Lead, Leadership } from './leader.ts'
import { instant } from './lease.ts'
import type { Nats } from './nats.ts'
import { NatsWakeups, type WakeupHooks } from './nats-wakeups.ts'
import { Wake } from './wake.ts'

/**
 * `jobs` by kind, perhaps with the id of one (kind id), `inbox` by shards (1,2,3), `commands` by lists of handlers as JSON, `approvals` by
 * record, `search`, `waits`, `shards`. An empty key: any.
 */
export type Topic = (typeof TOPICS)[number]
const TOPICS = ['jobs', 'inbox', 'commands', 'waits', 'shards', 'search', 'approvals'] as const

/** What the poll asks for a part of the process that waits. */
export interface Question {
  /** An SQL expression with ? for each value: milliseconds until there is something to do, 0 for now, null if nothing is known. */
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
  /** How this process hears of others: by NOTIFY, by NATS, or by both while it forwards one to the other. */
  readonly hears: Hears
  /** Wakes listeners here and in other processes. Called after the commit of what the wake-up is about. */
  tell(topic: Topic, key?: string): void
  on(topic: Topic, listener: (key: string) => void): void
  /** Wake-ups may have been missed, or are missed from now on: each listener looks for work itself. */
  onChange(listener: () => void): void
  ask(question: Question): void
  /** Polls within half a second: somebody wants to know when the next thing is due. */
  pollSoon(): void
  /** Without a working bus everybody is the leader. */
  lead(name: string, onGain: () => void): Lead
  /** For tests: the share of all wake-ups that is dropped. */
  injectLoss(share: number): void
  close(): Promise<void>
}

export type Hears = 'notify' | 'nats' | 'both'

const CHANNEL = 'stagedoor'
/** Of the process that forwards between NATS and NOTIFY. */
const FORWARD_LEAD = 'wakeups'
/** A leadership is free: to be told like a topic. */
const LEADER = 'leader'
/** What is held, in shared mode, by whoever hears this way: whoever could take it exclusively knows that nobody does. */
const LOCKS: Readonly<Record<Hears, string | undefined>> = {
  notify: `hashtextextended('stagedoor.wakeups', 0)`,
  both: `hashtextextended('stagedoor.wakeups.forward', 0)`,
  nats: undefined,
}
/** Nobody needs a notification of this process. */
const ALONE: Readonly<Record<Hears, string>> = {
  notify: `pg_try_advisory_xact_lock(${LOCKS.notify}) and pg_try_advisory_xact_lock(${LOCKS.both})`,
  both: `pg_try_advisory_xact_lock(${LOCKS.notify})`,
  nats: 'true',
}
const POLL_MS = 2000
/** Of a process that leads: its poll finds the times that other processes have set. */
const LEADER_POLL_MS = 1000
/** Between two polls, however often `pollSoon` is called. */
const MIN_POLL_GAP_MS = 500
const MIN_DUE_MS = 10
/** After the session is opened, listeners look twice: others may not have known of this process when they sent a wake-up. */
const SECOND_LOOK_MS = 1000
const MAX_KEY_BYTES = 7000

interface SharedBus {
  readonly bus: WakeupBus
  users: number
}

const buses = new Map<string, SharedBus>()

interface WakeupOptions {
  /** For the whole bus, until this handle is closed. */
  readonly nats?: Nats | undefined
  readonly hooks?: WakeupHooks | undefined
}

/** All parts of a process that use the same database share the bus. The last one that closes it ends its session. */
export function openWakeups(url: string, log: Logger, { nats, hooks }: WakeupOptions = {}): Wakeups {
  const shared = buses.get(url) ?? { bus: new WakeupBus(url, log), users: 0 }
  buses.set(url, shared)
  shared.users += 1
  const { bus } = shared
  const undo: (() => unknown)[] = []
  if (hooks) undo.push(bus.count(hooks))
  if (nats) undo.push(bus.connect(nats))
  let closed: Promise<void> | undefined
  return {
    get works() {
      return bus.works
    },
    get hears() {
      return bus.hears
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
  /** Nobody needs a notification. */
  readonly alone: boolean
}

class WakeupBus {
  private readonly log: Logger
  private readonly session: DedicatedSession
  private readonly listeners = new Map<Topic, Set<(key: string) => void>>()
  private readonly changes = new Set<() => void>()
  private readonly questions = new Set<Question>()
  private readonly leadership = new Leadership()
  private readonly wake = new Wake()
  private readonly loop: Promise<void>
  private readonly hooks = new Set<WakeupHooks>()
  /** The first one is used. */
  private readonly links: Nats[] = []
  private nats: NatsWakeups | undefined
  private endForwardLead: (() => void) | undefined
  /** Of this session; undefined: of none yet. */
  private hearing: Hears | undefined
  private switching: Promise<void> | undefined
  /** Payloads for other processes that are not sent by NOTIFY yet. */
  private unsent = new Set<string>()
  private sending: Promise<void> | undefined
  /** Nobody needs a notification. */
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
    this.session = new DedicatedSession({
      url,
      role: 'dot_executor',
      log,
      onNotify: (payload) => this.hearNotification(payload),
      onOpen: () => this.open(),
      onLost: () => this.fail(),
    })
    this.loop = this.pollUntilStopped()
  }

  get works(): boolean {
    return this.session.connected && this.answered
  }

  get hears(): Hears {
    return this.hearing ?? this.wantedHearing
  }

  count(hooks: WakeupHooks): () => void {
    this.hooks.add(hooks)
    return () => this.hooks.delete(hooks)
  }

  connect(nats: Nats): () => void {
    this.links.push(nats)
    this.useFirstLink()
    return () => {
      this.links.splice(this.links.indexOf(nats), 1)
      this.useFirstLink()
    }
  }

  leads(name: string): boolean {
    return !this.works || this.leadership.leads(name)
  }

  on(topic: Topic, listener: (key: string) => void): () => void {
    const listeners = this.listeners.get(topic) ?? new Set()
    this.listeners.set(topic, listeners.add(listener))
    this.listenOnNats()
    return () => {
      listeners.delete(listener)
      this.listenOnNats()
    }
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
    this.deliver(topic, key, 'process')
    this.tellOthers(topic, key)
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
    await this.sending
    await this.switching
    if (this.session.connected && this.leadership.size > 0) await this.leave(null)
    this.nats?.stop()
    await this.session.stop()
  }

  /** Another process takes these leaderships over at once, instead of with its next poll. */
  private async leave(names: readonly string[] | null): Promise<void> {
    await this.session
      .query(`select iu_core.fn_leader_leave($1, $2), pg_notify($3, '${LEADER} ')`, [
        this.leadership.holder,
        names,
        CHANNEL,
      ])
      .catch(() => {})
    this.nats?.tell(LEADER, '')
  }

  private async open(): Promise<void> {
    this.leadership.lose()
    await this.switching?.catch(() => {})
    this.hearing = undefined
    this.unsent.clear()
    // Leaderships are in an unlogged table, and a lost notification is only a lost wake-up.
    await this.session.query('set synchronous_commit = off')
    await this.session.query('select pg_advisory_lock(iu_core.fn_leader_lock($1))', [this.leadership.holder])
    await this.hearAsWanted()
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

  private useFirstLink(): void {
    this.nats?.stop()
    const [nats] = this.links
    const each = (call: (hooks: WakeupHooks) => void): void => this.hooks.forEach(call)
    this.nats =
      nats &&
      new NatsWakeups({
        nats,
        onWakeup: (topic, keys, forwarded) => this.hearMessage(topic, keys, forwarded),
        onGarbage: () => each((hooks) => hooks.onGarbage?.()),
        onEcho: (ms) => each((hooks) => hooks.onEcho?.(ms)),
        onUnsent: (topic, keys) => {
          for (const key of keys) this.notify(topic, key)
        },
        onChange: () => this.natsChanged(),
      })
    this.natsChanged()
  }

  private natsChanged(): void {
    if (this.nats?.works)
      this.endForwardLead ??= this.lead(FORWARD_LEAD, () => void this.hearAsWanted().catch(() => {}))
    else {
      this.endForwardLead?.()
      this.endForwardLead = undefined
    }
    this.listenOnNats()
    this.hearAsWanted().catch((error: unknown) =>
      this.log.debug({ err: error }, 'the way of wake-ups could not be changed; will be retried'),
    )
  }

  /** Only what somebody here waits for, so that many processes do not hear everything. */
  private listenOnNats(): void {
    const topics = TOPICS.filter((topic) => this.hearing === 'both' || this.listeners.get(topic)?.size)
    this.nats?.listen([LEADER, ...topics])
  }

  private get wantedHearing(): Hears {
    if (!this.nats?.works) return 'notify'
    return this.leadership.leads(FORWARD_LEAD) ? 'both' : 'nats'
  }

  /** Does nothing while there is no session: a new one begins with it. */
  private hearAsWanted(): Promise<void> {
    this.switching ??= this.switchHearing().finally(() => {
      this.switching = undefined
    })
    return this.switching
  }

  private async switchHearing(): Promise<void> {
    while (!this.stopping && this.session.isUsable && this.hearing !== this.wantedHearing) {
      const [before, wanted] = [this.hearing, this.wantedHearing]
      await this.session.query(switchSql(before, wanted))
      this.hearing = wanted
      this.alone = false
      this.listenOnNats()
      if (wanted !== 'nats' && this.unsent.size > 0) this.sending ??= this.notifyOthers()
      // What others told over NATS while it was away.
      if (before === 'nats' && wanted === 'notify') this.changed()
    }
  }

  private hearNotification(payload: string): void {
    const space = payload.indexOf(' ')
    const [topic, key] = [payload.slice(0, space), payload.slice(space + 1)]
    if (topic === 'hello') {
      this.hellos += 1
      this.alone = false
      return
    }
    try {
      this.hear(topic, key, 'notify')
      if (this.hearing === 'both') this.nats?.tell(topic, key, { forwarded: true })
    } catch {
      for (const hooks of this.hooks) hooks.onGarbage?.()
    }
  }

  private hearMessage(topic: string, keys: readonly string[], forwarded: boolean): void {
    for (const key of keys) {
      this.hear(topic, key, 'nats')
      if (this.hearing === 'both' && !forwarded && topic !== LEADER) this.notify(topic, key)
    }
  }

  private hear(topic: string, key: string, carrier: 'notify' | 'nats'): void {
    if (topic === LEADER) this.pollSoon()
    else if (isTopic(topic)) this.deliver(topic, key, carrier)
    else throw new Error(`there are no wake-ups of ${topic}`)
  }

  private deliver(topic: Topic, key: string, carrier: 'process' | 'notify' | 'nats'): void {
    for (const hooks of this.hooks) hooks.onWakeup?.(carrier)
    if (this.lossShare > 0 && Math.random() < this.lossShare) return
    for (const listener of this.listeners.get(topic) ?? []) listener(key)
  }

  private tellOthers(topic: Topic, longKey: string): void {
    const key = Buffer.byteLength(longKey) > MAX_KEY_BYTES ? '' : longKey
    const published = this.nats?.works === true
    if (published) this.nats!.tell(topic, key)
    if (!published || this.hearing !== 'nats') this.notify(topic, key)
  }

  /** One statement at a time: payloads that are added meanwhile go with the next. Those of a moment in which NATS is lost wait for the switch. */
  private notify(topic: string, key: string): void {
    if (this.alone || !this.session.connected) return
    this.unsent.add(`${topic} ${key}`)
    if (this.hearing !== 'nats') this.sending ??= this.notifyOthers()
  }

  private async notifyOthers(): Promise<void> {
    try {
      while (this.unsent.size > 0) {
        const payloads = [...this.unsent]
        this.unsent = new Set()
        await this.session.query(
          'select pg_notify($1, p) from unnest($2::text[]) p',
          [CHANNEL, payloads],
          'stagedoor_notify',
        )
      }
    } catch (error) {
      this.log.debug({ err: error }, 'wake-ups could not be sent; others find the work by their polls')
    } finally {
      this.sending = undefined
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
    // The order in which parts were started is no part of the text, which is prepared once.
    const questions = [...this.questions].sort((a, b) => (a.sql < b.sql ? -1 : a.sql > b.sql ? 1 : 0))
    for (const question of questions) {
      if (question.lead !== undefined && !leadership.leads(question.lead)) continue
      const own = question.values()
      if (own === undefined) continue
      let next = values.length
      columns.push(`, ${question.sql.replaceAll('?', () => `$${++next}`)} as "${asked.length}"`)
      values.push(...own)
      asked.push(question)
    }
    const text = `select iu_core.fn_leader_keep($1, $2, $3, $4 * interval '1 millisecond') as leads,
      ${ALONE[this.hears]} as alone${columns.join('')}`
    const sentAt = instant()
    const { hellos, hearing } = this
    this.polledAt = performance.now()
    const [row] = await this.session.query<PollRow>(text, values, nameOf(text))
    const recovered = !this.answered
    this.answered = true
    this.alone = row!.alone && hellos === this.hellos && hearing === this.hearing && hearing !== 'nats'
    leadership.keep(row!.leads, sentAt)
    this.nats?.check()
    await this.hearAsWanted()
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

/** Simple statements in one transaction: who listens is known as listening from when it says hello. */
function switchSql(before: Hears | undefined, wanted: Hears): string {
  const listened = before === 'notify' || before === 'both'
  return [
    ...(wanted !== 'nats' && !listened ? [`listen ${CHANNEL}`] : []),
    ...(LOCKS[wanted] ? [`select pg_advisory_lock_shared(${LOCKS[wanted]})`] : []),
    ...(before && LOCKS[before] ? [`select pg_advisory_unlock_shared(${LOCKS[before]})`] : []),
    wanted === 'nats' ? `unlisten ${CHANNEL}` : `notify ${CHANNEL}, 'hello '`,
  ].join('; ')
}

function isTopic(topic: string): topic is Topic {
  return (TOPICS as readonly string[]).includes(topic)
}

const names = new Map<string, string>()

const MAX_NAMES = 100

/** The name of the prepared statement: one for each set of questions that is asked together. Undefined: there are too many sets. */
function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MAX_NAMES) return known
  const name = `stagedoor_poll_${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
  names.set(text, name)
  return name
}

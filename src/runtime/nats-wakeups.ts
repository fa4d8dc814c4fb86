/**
 * Wake-ups over NATS: `sd.<cell>.wake.<topic>` carries keys, never content. Messages may get lost, come twice, or be anything: what is
 * no wake-up is counted and ignored. Whether they arrive a process finds out by sending itself one with each poll.
 */
import { randomUUID } from 'node:crypto'
import type { Nats, NatsMessage } from './nats.ts'

export type WakeupCarrier = 'process' | 'notify' | 'nats'

/** What a process counts about its wake-ups. */
export interface WakeupHooks {
  /** A wake-up arrived: told in this process, by NOTIFY, or by NATS. */
  onWakeup?(carrier: WakeupCarrier): void
  /** A message on a subject of wake-ups was none. */
  onGarbage?(): void
  /** How long a message of this process to itself took over NATS. */
  onEcho?(ms: number): void
}

interface NatsWakeupsDeps {
  readonly nats: Nats
  /** `forwarded`: a notification that the forwarding process put on NATS. Throws if it is no wake-up. */
  onWakeup(topic: string, keys: readonly string[], forwarded: boolean): void
  onGarbage(): void
  onEcho(ms: number): void
  /** NATS was away when these were to be sent. */
  onUnsent(topic: string, keys: readonly string[]): void
  /** `works` has changed. */
  onChange(): void
}

const VERSION = 1
const MIN_ECHO_GAP_MS = 1000
/** Without its echo for so long NATS counts as away though connected: frozen, half-open, or it refuses these subjects. */
const MAX_ECHO_MS = 1500
const MAX_KEYS = 10_000
/** Keys of so many characters go with one message; instead of more the message says "any". */
const MAX_KEYS_LENGTH = 60_000

export class NatsWakeups {
  private readonly deps: NatsWakeupsDeps
  private readonly id: string = randomUUID()
  private readonly subscriptions = new Map<string, () => void>()
  private readonly ends: (() => void)[]
  /** Keys by topic. */
  private readonly untold = { own: new Map<string, Set<string>>(), forwarded: new Map<string, Set<string>>() }
  private sending: NodeJS.Immediate | undefined
  private arrive = false
  private echo = { number: 0, sentAt: Number.NEGATIVE_INFINITY, isOpen: false }

  constructor(deps: NatsWakeupsDeps) {
    this.deps = deps
    const { nats } = deps
    this.ends = [
      nats.subscribe(nats.subject('wake', 'echo', this.id), (message) => this.hearEcho(message)),
      nats.onChange(() => this.connectionChanged()),
    ]
    this.sendEcho()
  }

  /** Messages arrive. */
  get works(): boolean {
    return this.arrive && this.deps.nats.connected
  }

  /** Hears these topics from now on, and no others. */
  listen(topics: Iterable<string>): void {
    const { nats } = this.deps
    const wanted = new Set(topics)
    for (const [topic, end] of this.subscriptions)
      if (!wanted.has(topic)) {
        end()
        this.subscriptions.delete(topic)
      }
    for (const topic of wanted)
      if (!this.subscriptions.has(topic))
        this.subscriptions.set(
          topic,
          nats.subscribe(nats.subject('wake', topic), (message) => this.hear(topic, message)),
        )
  }

  /** What is told before the message is sent goes with it. */
  tell(topic: string, key: string, { forwarded = false } = {}): void {
    const untold = forwarded ? this.untold.forwarded : this.untold.own
    const keys = untold.get(topic) ?? new Set()
    untold.set(topic, keys.add(key))
    this.sending ??= setImmediate(() => this.send())
  }

  /** To be called with each poll: a message that does not come back means that none arrive. */
  check(): void {
    const { isOpen, sentAt } = this.echo
    const ms = performance.now() - sentAt
    if (isOpen && ms > MAX_ECHO_MS) this.setArrive(false)
    if (!isOpen || ms > MAX_ECHO_MS) this.sendEcho()
  }

  stop(): void {
    if (this.sending !== undefined) this.send()
    this.listen([])
    for (const end of this.ends) end()
  }

  private send(): void {
    const { nats, onUnsent } = this.deps
    clearImmediate(this.sending)
    this.sending = undefined
    for (const [kind, untold] of Object.entries(this.untold)) {
      for (const [topic, told] of untold) {
        const keys = keysToSend(told)
        const body = { v: VERSION, from: this.id, keys, ...(kind === 'forwarded' && { forwarded: true }) }
        if (!nats.publish(nats.subject('wake', topic), body)) onUnsent(topic, keys)
      }
      untold.clear()
    }
  }

  private hear(topic: string, { body }: NatsMessage): void {
    const { onWakeup, onGarbage } = this.deps
    if (!isWakeup(body)) onGarbage()
    else if (body.from !== this.id)
      try {
        onWakeup(topic, body.keys, body.forwarded === true)
      } catch {
        onGarbage()
      }
  }

  private connectionChanged(): void {
    this.echo.isOpen = false
    this.echo.sentAt = Number.NEGATIVE_INFINITY
    if (this.deps.nats.connected) this.sendEcho()
    else this.setArrive(false)
  }

  private sendEcho(): void {
    const { nats } = this.deps
    const now = performance.now()
    if (!nats.connected || now - this.echo.sentAt < MIN_ECHO_GAP_MS) return
    this.echo = { number: this.echo.number + 1, sentAt: now, isOpen: true }
    nats.publish(nats.subject('wake', 'echo', this.id), { v: VERSION, number: this.echo.number })
  }

  private hearEcho({ body }: NatsMessage): void {
    const { number } = (body ?? {}) as { number?: unknown }
    if (number !== this.echo.number || !this.echo.isOpen) return
    this.echo.isOpen = false
    this.deps.onEcho(performance.now() - this.echo.sentAt)
    this.setArrive(true)
  }

  private setArrive(arrive: boolean): void {
    if (arrive === this.arrive) return
    this.arrive = arrive
    this.deps.onChange()
  }
}

function keysToSend(told: ReadonlySet<string>): string[] {
  const keys = [...told]
  const isTooMuch = keys.length > MAX_KEYS || keys.reduce((sum, key) => sum + key.length, 0) > MAX_KEYS_LENGTH
  return told.has('') || isTooMuch ? [''] : keys
}

interface WakeupMessage {
  readonly from: string
  readonly keys: readonly string[]
  readonly forwarded?: unknown
}

function isWakeup(body: unknown): body is WakeupMessage {
  if (typeof body !== 'object' || body === null) return false
  const { v, from, keys } = body as Record<string, unknown>
  return (
    v === VERSION &&
    typeof from === 'string' &&
    Array.isArray(keys) &&
    keys.length <= MAX_KEYS &&
    keys.every((key) => typeof key === 'string')
  )
}

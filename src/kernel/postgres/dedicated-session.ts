/**
 * One session that a process keeps open: notifications arrive on it, and short statements go over it one after the other. It is opened
 * again whenever it breaks, or when a statement gets no answer in time.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StagedoorError } from '../errors.ts'
import { withClient } from './connection.ts'
import { isConnectionError } from './errors.ts'

const MIN_RETRY_MS = 100
const MAX_RETRY_MS = 5000
/** Statements here take milliseconds: without an answer for so long the session is taken as broken. */
const STATEMENT_MS = 3000

interface DedicatedSessionOptions {
  /** A direct connection: a transaction pooler delivers notifications to whichever client holds the session. */
  readonly url: string
  readonly role: string
  /** Called with every notification of other sessions; those that this session sends are left out. */
  onNotify(payload: string): void
  /** Called on every new session before it counts as connected; whoever wants notifications listens here. */
  onOpen(): Promise<void>
  /** The session is gone: notifications are missed from now on. */
  onLost(): void
  readonly log: Logger
}

export class DedicatedSession {
  private readonly options: DedicatedSessionOptions
  private readonly stopping = new AbortController()
  private readonly loop: Promise<void>
  private client: pg.Client | undefined
  private isOpen = false
  private last: Promise<void> = Promise.resolve()

  constructor(options: DedicatedSessionOptions) {
    this.options = options
    this.loop = this.keepOpen()
  }

  get connected(): boolean {
    return this.isOpen
  }

  /** Statements can be sent: also while `onOpen` runs. */
  get isUsable(): boolean {
    return this.client !== undefined
  }

  /** Throws `database_unreachable` while there is no session. With `name` the statement is prepared once a session. */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
    name?: string,
  ): Promise<Row[]> {
    const { client } = this
    if (client === undefined)
      throw new StagedoorError('database_unreachable', {
        target: 'the database',
        reason: 'its session is being opened',
      })
    // One after the other: the driver is about to refuse a second statement under way.
    const before = this.last
    const answer = (async () => {
      await before
      return this.send<Row>(client, text, values, name)
    })()
    this.last = answer.then(
      () => {},
      () => {},
    )
    return answer
  }

  private async send<Row extends pg.QueryResultRow>(
    client: pg.Client,
    text: string,
    values: unknown[],
    name?: string,
  ): Promise<Row[]> {
    try {
      // biome-ignore lint/suspicious/noExplicitAny: query_timeout of a single statement is not in the driver's types
      const config: any = { text, values, query_timeout: STATEMENT_MS, ...(name && { name }) }
      return (await client.query<Row>(config)).rows
    } catch (error) {
      // A half-open connection would otherwise stay for as long as TCP waits.
      if (isConnectionError(error)) breakOff(client)
      throw error
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.loop
  }

  private async keepOpen(): Promise<void> {
    const { log } = this.options
    const { signal } = this.stopping
    for (let delayMs = MIN_RETRY_MS; !signal.aborted; ) {
      try {
        await this.session()
        delayMs = MIN_RETRY_MS
      } catch (error) {
        log.debug({ err: error }, 'wake-ups do not arrive; polling continues')
        delayMs = Math.min(delayMs * 2, MAX_RETRY_MS)
      }
      this.client = undefined
      if (this.isOpen) {
        this.isOpen = false
        this.options.onLost()
      }
      await delay(delayMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    }
  }

  private session(): Promise<void> {
    const { url, role, onNotify, onOpen } = this.options
    return withClient(
      url,
      async (client) => {
        const ended = once(client, 'end', { signal: this.stopping.signal }).catch(() => {})
        const own = (client as unknown as { processID: number }).processID
        client.on('notification', ({ payload, processId }) => {
          if (processId !== own) onNotify(payload ?? '')
        })
        this.client = client
        await onOpen()
        this.isOpen = true
        await ended
      },
      { role, purpose: 'notifications' },
    )
  }
}

function breakOff(client: pg.Client): void {
  ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
}

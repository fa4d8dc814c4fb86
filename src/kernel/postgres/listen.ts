/** LISTEN on a dedicated session that reconnects whenever it breaks. Callers poll as well, so a lost notification only costs time. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { withClient } from './connection.ts'

const MIN_RETRY_MS = 100
const MAX_RETRY_MS = 5000

export interface Listener {
  /** Whether notifications arrive now. */
  readonly connected: boolean
  stop(): Promise<void>
}

interface ListenOptions {
  /** A direct connection: a transaction pooler delivers notifications to whichever client holds the session. */
  readonly url: string
  readonly channels: readonly string[]
  onNotify(payload: string, channel: string): void
  /** Called after every connect: earlier notifications may have been missed. */
  onConnect(): void
  readonly log: Logger
}

export function listen({ url, channels, onNotify, onConnect, log }: ListenOptions): Listener {
  const stop = new AbortController()
  const listener = { connected: false, stop: stopped }

  const session = (): Promise<void> =>
    withClient(
      url,
      async (client) => {
        const ended = once(client, 'end', { signal: stop.signal }).catch(() => {})
        client.on('notification', ({ payload, channel }) => onNotify(payload ?? '', channel))
        for (const channel of channels) await client.query(`listen ${channel}`)
        listener.connected = true
        onConnect()
        await ended
      },
      { purpose: 'notifications' },
    )

  const loop = (async () => {
    for (let delayMs = MIN_RETRY_MS; !stop.signal.aborted; ) {
      try {
        await session()
        delayMs = MIN_RETRY_MS
      } catch (error) {
        log.debug({ err: error, channels }, 'notifications do not arrive; polling continues')
        delayMs = Math.min(delayMs * 2, MAX_RETRY_MS)
      }
      listener.connected = false
      await delay(delayMs * (0.5 + Math.random()), undefined, { signal: stop.signal }).catch(() => {})
    }
  })()

  async function stopped(): Promise<void> {
    stop.abort()
    await loop
  }
  return listener
}

/** Hears notices on a session of its own, which is opened again whenever it breaks. Polling is the net. */
import { once } from 'node:events'
import type { Logger } from 'pino'
import { withClient } from './connection.ts'
import { Wake } from './wake.ts'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

export interface Listener {
  /** Notices arrive just now. */
  readonly connected: boolean
  stop(): Promise<void>
}

export interface Listening {
  /** A direct connection: a transaction pooler hands notices to whoever holds the session at that moment. */
  readonly url: string
  readonly channels: readonly string[]
  heard(payload: string, channel: string): void
  /** After every connect: what was said meanwhile was missed. */
  connected(): void
  readonly log: Logger
}

export function listen({ url, channels, heard, connected, log }: Listening): Listener {
  const stop = new AbortController()
  const retry = new Wake()
  const listener = { connected: false, stop: stopped }

  const session = (): Promise<void> =>
    withClient(
      url,
      async (client) => {
        const ended = once(client, 'end', { signal: stop.signal }).catch(() => {})
        client.on('notification', ({ payload, channel }) => heard(payload ?? '', channel))
        for (const channel of channels) await client.query(`listen ${channel}`)
        listener.connected = true
        connected()
        await ended
      },
      { purpose: 'notices' },
    )

  const loop = (async () => {
    for (let delayMs = FIRST_RETRY_MS; !stop.signal.aborted; ) {
      try {
        await session()
        delayMs = FIRST_RETRY_MS
      } catch (error) {
        log.debug({ err: error, channels }, 'notices do not arrive; polling goes on')
        delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)
      }
      listener.connected = false
      if (!stop.signal.aborted) await retry.wait(delayMs * (0.5 + Math.random()))
    }
  })()

  async function stopped(): Promise<void> {
    stop.abort()
    retry.now()
    await loop
  }
  return listener
}

import { readEventStream } from './event-stream.ts'
import { keepLastWrite } from './request.ts'

/** What GET /live sends: once that it follows, then the names of the rooms that changed. */
export interface LiveListener {
  /** The id of the last message of the stream before, whichever server sent it. */
  readonly lastEventId: string | undefined
  /** With `resumed` what was missed since that message is told. */
  begun(resumed: boolean): void
  changed(rooms: readonly string[]): void
  seen(id: string): void
  /** The server stops: connect again in so many milliseconds. */
  retryIn(ms: number): void
}

export function readLive(
  token: string | undefined,
  listener: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  return readEventStream(
    '/live',
    token,
    ({ event, data, id, retryMs }) => {
      if (event === 'begun') listener.begun(JSON.parse(data).resumed === true)
      if (event === 'changed') {
        const { rooms, after } = JSON.parse(data)
        keepLastWrite(after)
        listener.changed(rooms)
      }
      if (id !== undefined) listener.seen(id)
      if (retryMs !== undefined) listener.retryIn(retryMs)
    },
    signal,
    listener.lastEventId,
  )
}

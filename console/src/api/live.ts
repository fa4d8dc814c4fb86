import { readEventStream } from './event-stream.ts'

/** What GET /live sends: once that it follows, then the names of the rooms that changed. */
export interface LiveListener {
  begun(): void
  changed(rooms: readonly string[]): void
}

export function readLive(
  token: string | undefined,
  listener: LiveListener,
  signal: AbortSignal,
): Promise<void> {
  return readEventStream(
    '/live',
    token,
    ({ event, data }) => {
      if (event === 'begun') listener.begun()
      if (event === 'changed') listener.changed(JSON.parse(data).rooms)
    },
    signal,
  )
}

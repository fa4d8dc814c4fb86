import { readEventStream } from './event-stream.ts'
import type { Progress } from './upload-types.ts'

export type ReceivedProgress = Progress

export function readProgress(
  id: string,
  token: string | undefined,
  onProgress: (progress: ReceivedProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  return readEventStream(
    `/uploads/${id}/progress`,
    token,
    ({ event, data }) => {
      if (event === 'progress' && data !== '') onProgress(JSON.parse(data))
      return event === 'done'
    },
    signal,
  )
}

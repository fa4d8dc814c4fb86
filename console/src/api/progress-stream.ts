import { NoAnswer } from './failure.ts'
import { addressOf, authorization, readAnswer } from './request.ts'
import type { Progress } from './upload-types.ts'

export type ReceivedProgress = Progress

/** By fetch and not by EventSource, which cannot say why a request was refused. */
export async function readProgress(
  id: string,
  token: string | undefined,
  onProgress: (progress: ReceivedProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(addressOf(`/uploads/${id}/progress`), {
    headers: { accept: 'text/event-stream', ...authorization(token) },
    cache: 'no-store',
    credentials: 'same-origin',
    signal,
  }).catch((cause) => {
    throw new NoAnswer('No answer from the server.', cause)
  })
  if (!response.ok || response.body === null) {
    readAnswer(response.status, response.headers.get('content-type'), await response.text())
    return
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read().catch((cause) => {
      throw new NoAnswer('The connection broke.', cause)
    })
    if (done) return
    text += value
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) {
      const { event, data } = parseMessage(message)
      if (event === 'done') {
        await reader.cancel()
        return
      }
      if (event === 'progress' && data !== '') onProgress(JSON.parse(data))
    }
  }
}

function parseMessage(message: string): { event: string; data: string } {
  const lines = message.split('\n')
  const after = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim())
  return { event: after('event')[0] ?? 'message', data: after('data').join('\n') }
}

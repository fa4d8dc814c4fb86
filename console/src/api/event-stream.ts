import { NoAnswer } from './failure.ts'
import { addressOf, authorization, readAnswer } from './request.ts'

export interface StreamMessage {
  readonly event: string
  readonly data: string
}

/**
 * Server-sent events, until the server ends them or `onMessage` answers true. By fetch and not by EventSource: the token goes in a
 * header, which EventSource cannot send.
 */
export async function readEventStream(
  path: string,
  token: string | undefined,
  onMessage: (message: StreamMessage) => unknown,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(addressOf(path), {
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
      if (onMessage(parseMessage(message)) === true) {
        await reader.cancel()
        return
      }
    }
  }
}

function parseMessage(message: string): StreamMessage {
  const lines = message.split('\n')
  const after = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim())
  return { event: after('event')[0] ?? 'message', data: after('data').join('\n') }
}

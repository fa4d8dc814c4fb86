import { NoAnswer } from './failure.ts'
import { addressOf, authorization, readAnswer } from './request.ts'

interface StreamMessage {
  readonly event: string
  readonly data: string
  /** What to name as the last one when the stream is followed again. */
  readonly id: string | undefined
  /** In how many milliseconds to connect again; from a server that stops. */
  readonly retryMs: number | undefined
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
  lastEventId?: string | undefined,
): Promise<void> {
  const response = await fetch(addressOf(path), {
    headers: {
      accept: 'text/event-stream',
      ...authorization(token),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
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
  const [retry] = after('retry')
  return {
    event: after('event')[0] ?? 'message',
    data: after('data').join('\n'),
    id: after('id')[0],
    retryMs: retry === undefined ? undefined : Number(retry),
  }
}

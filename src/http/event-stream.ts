/** Server-sent events: how a stream is sent, how long it may be silent, and how many one caller may hold. */
import { finished, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { StagedoorError } from '../kernel/errors.ts'
import { Text } from '../kernel/schema.ts'

/** Silence between us and the caller may be taken for a dead connection. */
export const HEARTBEAT_MS = 15_000
export const HEARTBEAT = ': still here\n\n'

/** The answer of such a route in OpenAPI. */
export const EVENT_STREAM = {
  response: {
    200: { description: 'server-sent events', content: { 'text/event-stream': { schema: Text } } },
  },
}

/** With `id` a client that connects again, to this server or another, says what it has seen (Last-Event-ID). */
export function serverSentEvent(name: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** The last thing of a stream whose server stops: connect again soon, but not all followers at once. */
export function reconnectHint(): string {
  return `retry: ${200 + Math.floor(Math.random() * 1_300)}\n\n`
}

/** `follow` gets a signal that aborts when the caller is gone; `left` is called then, too. */
export function sendEvents(
  reply: FastifyReply,
  follow: (gone: AbortSignal) => AsyncGenerator<string>,
  left: () => void,
): FastifyReply {
  const gone = new AbortController()
  finished(reply.raw, () => {
    left()
    gone.abort()
  })
  return reply
    .type('text/event-stream; charset=utf-8')
    .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    .send(Readable.from(follow(gone.signal)) as never)
}

/** Counts the streams of each caller; `enter` returns the way to leave. */
export function limitStreams(max: number, what: string): { enter(caller: string): () => void } {
  const streams = new Map<string, number>()
  return {
    enter(caller) {
      const open = streams.get(caller) ?? 0
      if (open >= max) {
        const message = `You follow ${max} ${what} already`
        throw new StagedoorError(
          'rate_limited',
          { seconds: 1 },
          { message, hint: 'Close one of them first.' },
        )
      }
      streams.set(caller, open + 1)
      return () => {
        const left = streams.get(caller)! - 1
        if (left === 0) streams.delete(caller)
        else streams.set(caller, left)
      }
    },
  }
}

/** Requests on their way. One that stalls or trickles is cut off, and so are all of them when the server closes. */
import { finished } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const STALL_MS = 60_000
/** A body has this long altogether, and a second more for every 32 KiB that came. */
const TOTAL_MS = 120_000
const BYTES_PER_MS = 32.768
/** How long a close waits for answers that are on their way out. */
const CLOSE_MS = 10_000

/** How long the headers may take, and how often Node looks: by its own defaults they may trickle for 90 s. */
export const HEADER_TIMES = { headersTimeout: 20_000, connectionsCheckingInterval: 5_000 }

export interface ArrivalTimes {
  /** How long a body may be silent; default a minute. */
  readonly stallMs?: number | undefined
  /** How long a body may take that is hardly more than silent; default two minutes. */
  readonly totalMs?: number | undefined
}

export function watchArrivals(
  app: FastifyInstance,
  { stallMs = STALL_MS, totalMs = TOTAL_MS }: ArrivalTimes = {},
): void {
  const arriving = new Set<FastifyRequest['raw']>()
  // From the first, and until the body has come or the connection has gone: what was refused may still trickle in, and a close does not
  // wait for what is asked before the body is read.
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (raw.complete) return
    arriving.add(raw)
    const watches = hasBody(raw)
      ? [watch(raw, cutWhenStalled(raw), stallMs / 2), watch(raw, cutWhenLate(raw, totalMs), totalMs / 8)]
      : []
    finished(reply.raw, () => {
      arriving.delete(raw)
      if (raw.complete) for (const timer of watches) clearInterval(timer)
    })
  })
  app.addHook('preClose', async () => {
    for (const raw of arriving) {
      if (!raw.complete) raw.destroy()
    }
    setTimeout(() => app.server.closeAllConnections(), CLOSE_MS).unref()
  })
}

function watch(raw: FastifyRequest['raw'], look: () => void, everyMs: number): NodeJS.Timeout {
  const timer = setInterval(() => {
    if (raw.complete || raw.socket.destroyed) clearInterval(timer)
    else look()
  }, everyMs)
  return timer.unref()
}

function hasBody({ headers }: FastifyRequest['raw']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Not a byte came between two looks, although somebody here was reading. */
function cutWhenStalled(raw: FastifyRequest['raw']): () => void {
  let seen = -1
  return () => {
    const reading = isRead(raw)
    if (reading && raw.socket.bytesRead === seen) raw.destroy()
    seen = reading ? raw.socket.bytesRead : -1
  }
}

/** By the time that somebody here was reading: who waits for a place is not late. */
function cutWhenLate(raw: FastifyRequest['raw'], totalMs: number): () => void {
  const before = raw.socket.bytesRead
  let looked = performance.now()
  let took = 0
  return () => {
    const now = performance.now()
    if (isRead(raw)) took += now - looked
    looked = now
    if (!raw.complete && took > totalMs + (raw.socket.bytesRead - before) / BYTES_PER_MS) raw.destroy()
  }
}

function isRead(raw: FastifyRequest['raw']): boolean {
  // Whoever reads it chunk by chunk takes what is there and waits for more: not flowing, and nothing in hand.
  return (
    !raw.complete &&
    (raw.readableFlowing === true || (raw.listenerCount('readable') > 0 && raw.readableLength === 0))
  )
}

/** Smaller ones are read faster than the database is asked. One that does not say its length may be of any. */
const LARGE_BODY = 16 * 1024

export function hasLargeBody({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  const isChunked = headers['transfer-encoding'] !== undefined
  return isChunked || Number(headers['content-length'] ?? 0) > LARGE_BODY
}

/** Requests on their way. One that stalls or trickles is cut off, and so are all of them when the server closes. */
import { finished, type Readable, Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, StagedoorError } from '../kernel/errors.ts'
import { Semaphore } from '../runtime/semaphore.ts'
import { JsonLimits } from '../staging/json-limits.ts'

const STALL_MS = 60_000
/** A body has this long altogether, and a second more for every 32 KiB that came. */
const TOTAL_MS = 120_000
const BYTES_PER_MS = 32.768
/** How long a close waits for answers that are on their way out. */
const CLOSE_MS = 10_000

/** How long the headers may take, and how often Node looks: by its own defaults they may trickle for 90 s. */
export const HEADER_TIMEOUTS = { headersTimeout: 20_000, connectionsCheckingInterval: 5_000 }

interface RequestTimeouts {
  /** How long a body may be silent; default a minute. */
  readonly stallMs?: number | undefined
  /** How long a body may take that is hardly more than silent; default two minutes. */
  readonly totalMs?: number | undefined
}

export function abortStalledRequests(
  app: FastifyInstance,
  { stallMs = STALL_MS, totalMs = TOTAL_MS }: RequestTimeouts = {},
): void {
  const arriving = new Set<FastifyRequest['raw']>()
  // From the first, and until the body has come or the connection has gone: what was refused may still trickle in, and a close does not
  // wait for what is asked before the body is read.
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (raw.complete) return
    arriving.add(raw)
    const watches = hasBody(raw)
      ? [watch(raw, abortWhenStalled(raw), stallMs / 2), watch(raw, abortWhenLate(raw, totalMs), totalMs / 8)]
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
function abortWhenStalled(raw: FastifyRequest['raw']): () => void {
  let seen = -1
  return () => {
    const reading = isRead(raw)
    if (reading && raw.socket.bytesRead === seen) raw.destroy()
    seen = reading ? raw.socket.bytesRead : -1
  }
}

/** By the time that somebody here was reading: who waits for a place is not late. */
function abortWhenLate(raw: FastifyRequest['raw'], totalMs: number): () => void {
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

/**
 * Each server counts for itself, so each allows its share: a load balancer spreads the requests of a caller over all of them. Never
 * less than one.
 */
export function shareOfRateLimit({
  config,
  servers,
}: {
  readonly config: { readonly rateLimit: number }
  readonly servers?: () => number
}): () => number {
  return () => Math.ceil(config.rateLimit / (servers?.() ?? 1))
}

/** A text of 1 MiB whose every character is escaped; a longer body is refused before it is read. */
export const TEXT_LIMIT = 7 * 1024 ** 2

/** Smaller ones are read faster than the database is asked. One that does not say its length may be of any. */
const LARGE_BODY = 16 * 1024

export function hasLargeBody({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  const isChunked = headers['transfer-encoding'] !== undefined
  return isChunked || Number(headers['content-length'] ?? 0) > LARGE_BODY
}

/** A JSON body, refused where it stands when it grows too long or too costly: what is still on its way is not waited for. */
export async function readJsonBody(
  request: FastifyRequest,
  payload: Readable,
  code?: ErrorCode,
): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit ?? 0
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  const limits = new JsonLimits(code)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limit) throw tooLarge(limit)
    limits.write(chunk)
    chunks.push(chunk)
  }
  limits.end()
  return Buffer.concat(chunks, length)
}

function tooLarge(limit: number): StagedoorError {
  return new StagedoorError('body_too_large', { limit })
}

// A few places for work that needs much at once. A caller has one at most, or `each`, so nobody takes them all.

type Slots = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Resolves when there is a place. The place is free again when the request has been answered or its client has gone away. */
export function createSlots(count: number, each = 1): Slots {
  const semaphore = new Semaphore(count, { perKey: each })
  return async (request, reply) => {
    const answered = new AbortController()
    finished(reply.raw, () =>
      answered.abort(
        new StagedoorError('request_invalid', { reason: 'the request went away while it waited' }),
      ),
    )
    const { signal } = answered
    const release = await semaphore.acquire({ signal, key: request.principal?.subject ?? request.ip })
    if (signal.aborted) release()
    else signal.addEventListener('abort', release, { once: true })
  }
}

function interruption(cause?: unknown): StagedoorError {
  const reason = 'the upload ended before it was complete'
  return new StagedoorError('request_invalid', { reason }, { cause })
}

/**
 * The bytes of `source`, which is not destroyed with them: that would cut the connection before the answer is out.
 * If it breaks off, so do they, and so do they where `change` throws.
 */
export function uncut(source: Readable, change: (chunk: Buffer) => Buffer = (chunk) => chunk): Readable {
  const bytes = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        done(null, change(chunk))
      } catch (error) {
        done(error as Error)
      }
    },
    destroy(error, done) {
      source.unpipe(bytes)
      source.resume()
      done(error)
    },
  })
  // Whoever stores them listens only once a file is open; until then an error must not end the process.
  bytes.on('error', () => {})
  const broken = (): void => {
    if (!source.readableEnded) bytes.destroy(interruption())
  }
  source.once('error', broken).once('close', broken)
  if (source.destroyed) broken()
  return source.pipe(bytes)
}

export function invalidForm(reason: string): StagedoorError {
  return new StagedoorError('request_invalid', { reason: `the form cannot be read: ${reason}` })
}

/** What is wrong with a form is an error of the request; other errors stay what they are. */
export function formError(error: unknown): unknown {
  if (error instanceof StagedoorError) return error
  const { code, message } = error as { code?: string; message: string }
  if (code === 'FST_MP_PREMATURE_CLOSE') return interruption(error)
  // The parser throws plain errors for what is wrong with a form.
  const parsing = code === undefined ? (error as object).constructor === Error : code.startsWith('FST_')
  return parsing ? invalidForm(message) : error
}

import { ApiProblem, NoAnswer } from './failure.ts'
import type { Problem } from './types.ts'

/** Time limit of a read: longer than any healthy response takes, short enough that people notice an outage. */
const READ_TIMEOUT_MS = 8_000
/** Time limit of a change: a plan or a promotion of a large file takes minutes. */
const WRITE_TIMEOUT_MS = 15 * 60_000

interface Asked {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly body?: object
  /** Statuses that are answers, too. */
  readonly alsoGood?: readonly number[]
}

export type Request = <T>(path: string, asked?: Asked) => Promise<T>

export function createRequest(token: string | undefined): Request {
  return async <T>(path: string, asked: Asked = {}) => {
    const { response, body } = await answer(path, token, asked)
    return readAnswer<T>(response.status, response.headers.get('content-type'), body, asked.alsoGood)
  }
}

/** The body of a good answer; everything else is thrown as what it is. */
export function readAnswer<T>(
  status: number,
  contentType: string | null,
  body: string,
  alsoGood: readonly number[] = [],
): T {
  // Done, and nothing to say about it.
  if (status === 204) return undefined as T
  const json = parse(body)
  const ok = status >= 200 && status < 300
  const isProblem = contentType?.startsWith('application/problem+json') === true
  if (json !== undefined && !isProblem && (ok || alsoGood.includes(status))) return json as T
  if (isProblem && json !== undefined) {
    const problem = new ApiProblem(json as Partial<Problem>, status)
    // Another tab signed in again: what this page shows may be somebody else's by now.
    if (problem.code === 'csrf_failed') dispatchEvent(new Event(SESSION_CHANGED))
    throw problem
  }
  // A proxy's error page, or a page where data should be: Stagedoor itself explains every refusal.
  if (ok || status >= 500) throw new NoAnswer(`Something answered ${status} in place of Stagedoor.`)
  throw new ApiProblem({}, status)
}

/** A text that is not JSON, or not to be read as such. */
export async function readText(
  path: string,
  token: string | undefined,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(addressOf(path), {
    headers: { ...authorization(token), ...headers },
    signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    cache: 'no-store',
    credentials: 'same-origin',
  }).catch((cause) => {
    throw new NoAnswer('No answer from the server.', cause)
  })
  const body = await response.text()
  if (!response.ok) readAnswer(response.status, response.headers.get('content-type'), body)
  return body
}

/** Every path but the two probes, which have no version, is below this one. */
const API = '/api/v1'

export function addressOf(path: string): string {
  return path.startsWith('/api/') ? path : `${API}${path}`
}

/** The session of this browser has changed, here or in another tab. */
export const SESSION_CHANGED = 'stagedoor:session'

/** The session is in a cookie that the browser sends by itself; this proves that a page of ours sends the request. */
let csrf: string | undefined

export function setCsrf(token: string | undefined): void {
  csrf = token
}

export function authorization(token: string | undefined): Record<string, string> {
  const after = lastWrite()
  const place = after === null ? {} : { [AFTER_HEADER]: after }
  if (token !== undefined) return { authorization: `Bearer ${token}`, ...place }
  return csrf === undefined ? place : { 'x-stagedoor-csrf': csrf, ...place }
}

/**
 * Where a replica answers reads, the answer to a write says how far the log of the database was. Sent back, it makes the replica answer
 * only when it has that write. Kept for all tabs: a link that opens another one shows the write, too.
 */
export const AFTER_HEADER = 'stagedoor-after'
const AFTER_KEY = 'stagedoor:after'

export function keepLastWrite(after: string | null | undefined): void {
  if (after == null) return
  try {
    if (isLater(after, lastWrite())) localStorage.setItem(AFTER_KEY, after)
  } catch {
    // A browser that keeps nothing reads what the replica has.
  }
}

function lastWrite(): string | null {
  try {
    return localStorage.getItem(AFTER_KEY)
  } catch {
    return null
  }
}

/** `<timeline>/<high>/<low>`, all of it hexadecimal. Another timeline is that after a failover. */
function isLater(after: string, known: string | null): boolean {
  const [timeline, high, low] = after.split('/')
  const [knownTimeline, knownHigh, knownLow] = (known ?? '').split('/')
  if (timeline !== knownTimeline) return true
  const place = (a = '', b = '') => a.padStart(8, '0') + b.padStart(8, '0')
  return place(high, low) > place(knownHigh, knownLow)
}

async function answer(path: string, token: string | undefined, { method = 'GET', body }: Asked) {
  const timeoutMs = method === 'GET' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS
  try {
    const response = await fetch(addressOf(path), {
      method,
      headers: {
        accept: 'application/json',
        ...authorization(token),
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
      cache: 'no-store',
      credentials: 'same-origin',
    })
    keepLastWrite(response.headers.get(AFTER_HEADER))
    return { response, body: await response.text() }
  } catch (cause) {
    const late = cause instanceof DOMException && cause.name === 'TimeoutError'
    throw new NoAnswer(late ? `No answer within ${timeoutMs / 1000} s.` : 'No answer from the server.', cause)
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

import { ApiProblem, NoAnswer } from './failure.ts'
import type { Problem } from './types.ts'

/** Longer than any healthy answer takes, shorter than a person's patience with a number that stands still. */
const PATIENCE_MS = 8_000
/** A plan or a promotion of a large file works for minutes, and whoever started it wants the answer. */
const PATIENCE_OF_WORK_MS = 15 * 60_000

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT'
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
  const json = parse(body)
  const ok = status >= 200 && status < 300
  const isProblem = contentType?.startsWith('application/problem+json') === true
  if (json !== undefined && !isProblem && (ok || alsoGood.includes(status))) return json as T
  if (isProblem && json !== undefined) throw new ApiProblem(json as Partial<Problem>, status)
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
  const response = await fetch(`/api${path}`, {
    headers: { ...authorization(token), ...headers },
    signal: AbortSignal.timeout(PATIENCE_MS),
    cache: 'no-store',
    credentials: 'omit',
  }).catch((cause) => {
    throw new NoAnswer('No answer from the server.', cause)
  })
  const body = await response.text()
  if (!response.ok) readAnswer(response.status, response.headers.get('content-type'), body)
  return body
}

export function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

async function answer(path: string, token: string | undefined, { method = 'GET', body }: Asked) {
  const patience = method === 'GET' ? PATIENCE_MS : PATIENCE_OF_WORK_MS
  try {
    const response = await fetch(`/api${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...authorization(token),
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(patience),
      cache: 'no-store',
      credentials: 'omit',
    })
    return { response, body: await response.text() }
  } catch (cause) {
    const late = cause instanceof DOMException && cause.name === 'TimeoutError'
    throw new NoAnswer(late ? `No answer within ${patience / 1000} s.` : 'No answer from the server.', cause)
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

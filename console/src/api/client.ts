import { ApiProblem, NoAnswer } from './failure.ts'
import type { EventPage, Gates, Health, Me, Problem, Ready } from './types.ts'

/** Longer than any healthy answer takes, shorter than a person's patience with a number that stands still. */
const PATIENCE_MS = 8_000

export interface Api {
  health(): Promise<Health>
  ready(): Promise<Ready>
  me(): Promise<Me>
  gates(): Promise<Gates>
  events(page: { limit: number; after?: string }): Promise<EventPage>
}

export function createApi(token?: string): Api {
  const get = <T>(path: string, alsoGood: readonly number[] = []) => request<T>(path, token, alsoGood)
  return {
    health: () => get('/health'),
    // Not being ready is an answer, not a failure.
    ready: () => get('/ready', [503]),
    me: () => get('/me'),
    gates: () => get('/gates'),
    events: (page) => get(`/events?${new URLSearchParams({ ...page, limit: String(page.limit) })}`),
  }
}

async function request<T>(path: string, token: string | undefined, alsoGood: readonly number[]): Promise<T> {
  const { response, body } = await answer(path, token)
  const json = parse(body)
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true
  if (json !== undefined && !isProblem && (response.ok || alsoGood.includes(response.status)))
    return json as T
  if (isProblem && json !== undefined) throw new ApiProblem(json as Partial<Problem>, response.status)
  // A proxy's error page, or a page where data should be: Stagedoor itself explains every refusal.
  if (response.ok || response.status >= 500) {
    throw new NoAnswer(`Something answered ${response.status} in place of Stagedoor.`)
  }
  throw new ApiProblem({}, response.status)
}

async function answer(
  path: string,
  token: string | undefined,
): Promise<{ response: Response; body: string }> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const response = await fetch(`/api${path}`, { headers, signal, cache: 'no-store', credentials: 'omit' })
    return { response, body: await response.text() }
  } catch (cause) {
    const late = cause instanceof DOMException && cause.name === 'TimeoutError'
    throw new NoAnswer(
      late ? `No answer within ${PATIENCE_MS / 1000} s.` : 'No answer from the server.',
      cause,
    )
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

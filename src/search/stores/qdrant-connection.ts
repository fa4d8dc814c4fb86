/** A Qdrant server through its official client, which is loaded when it is first asked. */
import type { QdrantClient } from '@qdrant/js-client-rest'
import { StagedoorError } from '../../errors.ts'
import { StoreUnavailable } from './store.ts'

const TIMEOUT_MS = 10_000

export interface QdrantAddress {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly timeoutMs?: number
}

/** Asks, and says in our words what went wrong. `missing` is the answer where the collection is not there. */
export type AskQdrant = <T>(
  question: (client: QdrantClient) => Promise<T>,
  options?: { missing?: T; signal?: AbortSignal | undefined },
) => Promise<T>

export function connectQdrant(address: QdrantAddress): AskQdrant {
  let client: Promise<QdrantClient> | undefined
  return async (question, { signal, ...missing } = {}) => {
    signal?.throwIfAborted()
    client ??= connect(address)
    const asked = client.then(question)
    try {
      return await (signal ? Promise.race([asked, aborted(signal)]) : asked)
    } catch (error) {
      signal?.throwIfAborted()
      if (statusOf(error) === 404 && 'missing' in missing) return missing.missing as never
      throw translated(error, new URL(address.url).host)
    }
  }
}

async function connect({ url, apiKey, timeoutMs = TIMEOUT_MS }: QdrantAddress): Promise<QdrantClient> {
  const { QdrantClient } = await import('@qdrant/js-client-rest')
  const { origin, pathname } = new URL(url)
  return new QdrantClient({
    url: origin,
    // The client forgets the path of a URL.
    ...(pathname !== '/' && { prefix: pathname.replace(/\/$/, '') }),
    // As a header, because given as a key it writes a warning about http to the console.
    ...(apiKey !== undefined && { headers: { 'api-key': apiKey } }),
    timeout: timeoutMs,
    checkCompatibility: false,
  })
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

export function statusOf(error: unknown): number | undefined {
  return (error as { status?: number }).status
}

/** What the server says is not repeated: it may quote what it was given. */
function translated(error: unknown, host: string): Error {
  const status = statusOf(error)
  if (status === 400 || status === 413 || status === 422) {
    return new StagedoorError('argument_invalid', {
      reason: `Qdrant at ${host} refused the points (${status})`,
    })
  }
  if (status === 404) return new StoreUnavailable(`Qdrant at ${host} does not have the collection`)
  return new StoreUnavailable(
    status === undefined ? `Qdrant at ${host} does not answer` : `Qdrant at ${host} answered ${status}`,
  )
}

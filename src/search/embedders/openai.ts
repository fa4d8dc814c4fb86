/**
 * Any endpoint that speaks OpenAI's embeddings API: one POST per batch of texts, sent once. The worker's breaker decides whether
 * and when to retry, because it knows about all rows. Errors never repeat the endpoint's own words: those may quote texts or keys.
 */
import { StagedoorError } from '../../kernel/errors.ts'
import { type Embedder, EmbedderRefused, EmbedderUnavailable, normalise } from './embedder.ts'

const MAX_CONCURRENT_REQUESTS = 2
const TIMEOUT_MS = 30_000
/** The endpoint works, but does not accept this input. */
const REFUSAL_STATUSES = new Set([400, 413, 422])
const TOO_MANY_REQUESTS = 429

interface OpenAiOptions {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly model: string
  readonly dimension: number
  readonly timeoutMs?: number
  /** Called with the tokens that each answered request cost. */
  readonly onTokensSpent?: (tokens: number) => Promise<void>
}

export function createOpenAiEmbedder(options: OpenAiOptions): Embedder {
  const { url, model, dimension } = options
  const { host, username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw new StagedoorError('embedder_not_configured', {
      embedder: 'openai',
      reason: 'EMBEDDINGS_URL holds a name or password; a key goes into EMBEDDINGS_API_KEY',
    })
  }

  const embedBatch = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const body = await postEmbeddings(options, texts, signal)
    // The vectors are paid for: a cost that could not be recorded is no reason to pay again.
    await options.onTokensSpent?.(tokensOf(body, texts)).catch(() => {})
    return vectorsOf(body, texts.length, dimension, host)
  }

  return {
    name: 'openai',
    model,
    dimension,
    fingerprint: `openai/${model}/${dimension} text`,
    async embed(texts, _use, signal) {
      signal?.throwIfAborted()
      const batches = splitIntoBatches(texts)
      const answers: Float32Array[][] = []
      const stop = new AbortController()
      const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
      let next = 0
      const runBatches = async (): Promise<void> => {
        for (let at = next++; at < batches.length; at = next++)
          answers[at] = await embedBatch(batches[at]!, either)
      }
      try {
        await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, runBatches))
      } finally {
        // If one batch failed, the vectors of the others are not used: abort them, so that nobody pays for them.
        stop.abort()
      }
      return answers.flat()
    },
  }
}

interface EmbeddingsBody {
  readonly data?: unknown
  readonly usage?: { readonly total_tokens?: unknown; readonly prompt_tokens?: unknown }
}

/** The body of a successful response; undefined if it is not JSON. The timeout covers headers and body. */
async function postEmbeddings(
  { url, apiKey, model, dimension, timeoutMs = TIMEOUT_MS }: OpenAiOptions,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<EmbeddingsBody | undefined> {
  const { host } = new URL(url)
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        input: texts,
        encoding_format: 'float',
        // Only OpenAI's third generation knows this parameter; other servers reject it.
        ...(model.startsWith('text-embedding-3') && { dimensions: dimension }),
      }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const text = await response.text()
    if (!response.ok) throw statusError(response, text, host)
    return isJson(response) && text !== '' ? JSON.parse(text) : undefined
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof EmbedderRefused || error instanceof EmbedderUnavailable) throw error
    throw connectionError(error, host)
  }
}

function isJson({ headers }: Response): boolean {
  return /^application\/(.+\+)?json\b/i.test(headers.get('content-type') ?? '')
}

function statusError({ status, headers }: Response, text: string, host: string): Error {
  const code = errorCodeOf(text)
  const message = `The embedder at ${host} answered ${status}${isWord(code) ? ` (${code})` : ''}`
  if (REFUSAL_STATUSES.has(status)) return new EmbedderRefused(message)
  const retryAfterMs = retryAfter(headers)
  return new EmbedderUnavailable(message, {
    retryAfterMs,
    answered: status !== TOO_MANY_REQUESTS && retryAfterMs === undefined,
  })
}

/** `error.code` of the body, as OpenAI sends it. */
function errorCodeOf(text: string): unknown {
  try {
    return JSON.parse(text)?.error?.code
  } catch {
    return undefined
  }
}

interface FetchFailure {
  readonly name?: unknown
  readonly cause?: { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
}

function connectionError(error: unknown, host: string): EmbedderUnavailable {
  const { name, cause } = error as FetchFailure
  const why = [cause?.cause?.code, cause?.code, name].find(isWord)
  return new EmbedderUnavailable(`The embedder at ${host} does not answer (${why ?? 'no reason given'})`)
}

/** A code, not a sentence: sentences may quote anything. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z_]{0,60}$/.test(value)
}

/** In seconds, or a date. */
function retryAfter(headers: Headers): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const given = headers.get('retry-after')
  if (!given) return undefined
  const seconds = Number(given)
  const milliseconds = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000
  return Number.isNaN(milliseconds) ? undefined : Math.max(milliseconds, 0)
}

function tokensOf(body: EmbeddingsBody | undefined, texts: readonly string[]): number {
  const reported = body?.usage?.total_tokens ?? body?.usage?.prompt_tokens
  if (typeof reported === 'number' && Number.isSafeInteger(reported) && reported >= 0) return reported
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
}

/** All vectors or none: if one of them cannot be right, the others are not trusted either. */
function vectorsOf(
  body: EmbeddingsBody | undefined,
  count: number,
  dimension: number,
  host: string,
): Float32Array[] {
  const wrong = (what: string) => new EmbedderRefused(`The embedder at ${host} answered ${what}`)
  const data = body?.data
  if (!Array.isArray(data)) throw wrong('without vectors')
  if (data.length !== count) throw wrong(`with ${data.length} vectors for ${count} texts`)
  const vectors = new Array<Float32Array | undefined>(count)
  data.forEach((entry: { index?: number; embedding?: unknown } | null, place) => {
    const index = entry?.index ?? place
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index] !== undefined) {
      throw wrong('with duplicate or invalid indexes')
    }
    vectors[index] = vectorOf(entry?.embedding, dimension, wrong)
  })
  return vectors as Float32Array[]
}

function vectorOf(given: unknown, dimension: number, wrong: (what: string) => Error): Float32Array {
  if (!Array.isArray(given)) throw wrong('without vectors')
  if (given.length !== dimension)
    throw wrong(`with ${given.length} numbers in a vector instead of ${dimension}`)
  const vector = new Float32Array(dimension)
  for (let at = 0; at < dimension; at++) {
    const value: unknown = given[at]
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value)))
      throw wrong('with a value that is not a number')
    vector[at] = value
  }
  if (!normalise(vector)) throw wrong('with a vector of zeros')
  return vector
}

const MAX_TEXTS_PER_BATCH = 256
/** OpenAI accepts 300,000 per request. Our count is an estimate, and other servers accept less. */
const MAX_TOKENS_PER_BATCH = 100_000
/** A low estimate: English has more bytes per token, Vietnamese about this many, CJK one token per three-byte character. */
const BYTES_PER_TOKEN = 3

/** Requests that an endpoint accepts: not too many texts, and not too many tokens. */
function splitIntoBatches(texts: readonly string[]): string[][] {
  const batches: string[][] = []
  let batch: string[] = []
  let tokens = 0
  for (const text of texts) {
    const more = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
    if (batch.length === MAX_TEXTS_PER_BATCH || (batch.length > 0 && tokens + more > MAX_TOKENS_PER_BATCH)) {
      batches.push(batch)
      batch = []
      tokens = 0
    }
    batch.push(text)
    tokens += more
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}

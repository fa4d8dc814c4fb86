/**
 * Any endpoint that speaks OpenAI's embeddings. The client tries once: whether and when to try again is for the breaker of
 * the worker, which knows about all rows. What an endpoint says is not repeated in errors: it may quote texts or keys.
 */
import type OpenAI from 'openai'
import { StagedoorError } from '../../errors.ts'
import { batchesOf } from './batches.ts'
import { type Embedder, EmbedderRefused, EmbedderUnavailable } from './embedder.ts'
import { normalise } from './vectors.ts'

const AT_ONCE = 2
const TIMEOUT_MS = 30_000
/** Nothing is wrong with the endpoint, but with what it was given. */
const REFUSALS = new Set([400, 413, 422])
const TOO_MANY = 429

export interface OpenAiOptions {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly model: string
  readonly dimension: number
  readonly timeoutMs?: number
  /** Hears what every answered request cost, in tokens. */
  readonly spent?: (tokens: number) => Promise<void>
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
  let client: Promise<OpenAI> | undefined

  const ask = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    client ??= connect(options)
    const { embeddings } = await client
    const answer = await embeddings
      .create(
        {
          model,
          input: texts as string[],
          encoding_format: 'float',
          // Others do not know the parameter.
          ...(model.startsWith('text-embedding-3') && { dimensions: dimension }),
        },
        { signal },
      )
      .catch((error) => {
        signal.throwIfAborted()
        throw translated(error, host)
      })
    // The vectors are paid for: that the price could not be written down is no reason to pay again.
    await options.spent?.(tokensOf(answer, texts)).catch(() => {})
    return checked(answer, texts.length, dimension, host)
  }

  return {
    name: 'openai',
    model,
    dimension,
    fingerprint: `openai/${model}/${dimension} text`,
    async embed(texts, _use, signal) {
      signal?.throwIfAborted()
      const batches = batchesOf(texts)
      const answers: Float32Array[][] = []
      const stop = new AbortController()
      const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
      let next = 0
      const lane = async (): Promise<void> => {
        for (let at = next++; at < batches.length; at = next++) answers[at] = await ask(batches[at]!, either)
      }
      try {
        await Promise.all(Array.from({ length: AT_ONCE }, lane))
      } finally {
        // One batch failed: what the others would bring is thrown away, so nobody should pay for it.
        stop.abort()
      }
      return answers.flat()
    },
  }
}

/** Loaded when first needed: it costs a start more than most processes ever use it. */
async function connect({ url, apiKey, timeoutMs = TIMEOUT_MS }: OpenAiOptions): Promise<OpenAI> {
  const { OpenAI } = await import('openai')
  return new OpenAI({
    baseURL: url,
    apiKey: apiKey ?? 'none',
    ...(apiKey === undefined && { defaultHeaders: { Authorization: null } }),
    // Otherwise it looks for them in the environment.
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: timeoutMs,
  })
}

interface ApiFailure {
  readonly name?: string
  readonly status?: number
  readonly headers?: Headers
  readonly code?: unknown
  readonly cause?: { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
}

function translated(error: unknown, host: string): Error {
  const { status, headers, code, cause } = error as ApiFailure
  if (status === undefined) {
    const why = [cause?.cause?.code, cause?.code, (error as Error).constructor.name].find(isWord)
    return new EmbedderUnavailable(`The embedder at ${host} does not answer (${why ?? 'no reason given'})`)
  }
  const words = `The embedder at ${host} answered ${status}${isWord(code) ? ` (${code})` : ''}`
  if (REFUSALS.has(status)) return new EmbedderRefused(words)
  const retryAfterMs = retryAfter(headers)
  return new EmbedderUnavailable(words, {
    retryAfterMs,
    answered: status !== TOO_MANY && retryAfterMs === undefined,
  })
}

/** A code, not a sentence: sentences may quote anything. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z_]{0,60}$/.test(value)
}

/** In seconds, or a date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const given = headers?.get('retry-after')
  if (!given) return undefined
  const seconds = Number(given)
  const milliseconds = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000
  return Number.isNaN(milliseconds) ? undefined : Math.max(milliseconds, 0)
}

type Answer = OpenAI.CreateEmbeddingResponse

function tokensOf(answer: Answer, texts: readonly string[]): number {
  const said = answer?.usage?.total_tokens ?? answer?.usage?.prompt_tokens
  if (Number.isSafeInteger(said) && said >= 0) return said
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
}

/** All of it or nothing: an answer of which one vector cannot be right is not believed in the others. */
function checked(answer: Answer, count: number, dimension: number, host: string): Float32Array[] {
  const wrong = (what: string) => new EmbedderRefused(`The embedder at ${host} answered ${what}`)
  const data: unknown = answer?.data
  if (!Array.isArray(data)) throw wrong('without vectors')
  if (data.length !== count) throw wrong(`with ${data.length} vectors for ${count} texts`)
  const vectors = new Array<Float32Array | undefined>(count)
  data.forEach((entry: { index?: number; embedding?: unknown } | null, place) => {
    const index = entry?.index ?? place
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index] !== undefined) {
      throw wrong('with vectors that cannot be told apart')
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
      throw wrong('with something that is no number')
    vector[at] = value
  }
  if (!normalise(vector)) throw wrong('with a vector of zeros')
  return vector
}

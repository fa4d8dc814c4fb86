/**
 * Any endpoint that speaks the rerank API of Cohere, Jina, vLLM (`model`, `documents`) or Text Embeddings Inference (no model, `texts`):
 * one POST with the question and the texts of the best hits, all of which the caller may read. Errors never repeat the endpoint's own
 * words: those may quote texts or keys.
 */
import { StagedoorError } from '../kernel/errors.ts'
import { EmbedderRefused, EmbedderUnavailable } from './embedders/embedder.ts'

/** Hits that are sent; the others keep their places behind them. */
export const MAX_RERANKED = 50
/** Of a text, as rerankers read no more. */
export const MAX_RERANKED_CHARACTERS = 2000
const MAX_QUESTION_CHARACTERS = 2000

export interface RerankerOptions {
  readonly url: string
  readonly apiKey?: string | undefined
  /** Unset: the endpoint serves one model. */
  readonly model?: string | undefined
}

export interface RerankedText {
  readonly id: string
  readonly text: string
}

/** The ids, best first. */
export async function rerank(
  { url, apiKey, model }: RerankerOptions,
  question: string,
  hits: readonly RerankedText[],
  signal: AbortSignal,
): Promise<string[]> {
  const { host, username, password } = new URL(url)
  if (username !== '' || password !== '')
    throw new StagedoorError('embedder_not_configured', {
      embedder: 'rerank',
      reason: 'RERANK_URL holds a name or password; a key goes into RERANK_API_KEY',
    })
  const query = question.slice(0, MAX_QUESTION_CHARACTERS)
  const texts = hits.map(({ text }) => text.slice(0, MAX_RERANKED_CHARACTERS))
  const body = await post(url, apiKey, signal, {
    query,
    ...(model === undefined ? { texts, truncate: true } : { model, documents: texts, top_n: texts.length }),
  })
  const scores = scoresOf(body, hits.length)
  if (scores === undefined)
    throw new EmbedderRefused(`The reranker at ${host} did not return a score for each text`)
  return hits
    .map(({ id }, index) => ({ id, score: scores[index]! }))
    .sort((a, b) => b.score - a.score)
    .map(({ id }) => id)
}

async function post(
  url: string,
  apiKey: string | undefined,
  signal: AbortSignal,
  body: object,
): Promise<unknown> {
  const { host } = new URL(url)
  const path = url.replace(/\/+$/, '')
  let answer: { status: number; text: string }
  try {
    const response = await fetch(path.endsWith('/rerank') ? path : `${path}/rerank`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
    })
    answer = { status: response.status, text: await response.text() }
  } catch (error) {
    signal.throwIfAborted()
    throw new EmbedderUnavailable(`The reranker at ${host} is unreachable`, { cause: error })
  }
  if ([400, 413, 422].includes(answer.status))
    throw new EmbedderRefused(`The reranker at ${host} answered ${answer.status}`)
  if (answer.status < 200 || answer.status >= 300)
    throw new EmbedderUnavailable(`The reranker at ${host} answered ${answer.status}`)
  try {
    return JSON.parse(answer.text)
  } catch {
    return undefined
  }
}

/** By the place of the text; undefined if one is missing or is no number. */
function scoresOf(body: unknown, count: number): number[] | undefined {
  const results: unknown = Array.isArray(body) ? body : (body as { results?: unknown } | undefined)?.results
  if (!Array.isArray(results)) return undefined
  const scores = new Array<number | undefined>(count).fill(undefined)
  for (const one of results as ({ index?: unknown; relevance_score?: unknown; score?: unknown } | null)[]) {
    const score = one?.relevance_score ?? one?.score
    const index = one?.index
    if (typeof index !== 'number' || typeof score !== 'number' || !Number.isFinite(score)) return undefined
    if (!Number.isInteger(index) || index < 0 || index >= count) return undefined
    scores[index] = score
  }
  return scores.includes(undefined) ? undefined : (scores as number[])
}

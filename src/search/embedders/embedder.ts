/** Texts become vectors. One model behind one interface: every implementation passes the same suite. */

export type EmbeddingUse = 'passage' | 'query'

export interface Embedder {
  /** As search_collection.embedder names it. */
  readonly name: 'hashed' | 'lsa' | 'openai'
  readonly model: string
  readonly dimension: number
  /** Of model and template: vectors of two fingerprints mean nothing to each other. */
  readonly fingerprint: string
  /** Normalised, one for each text, in their order. */
  embed(texts: readonly string[], use: EmbeddingUse, signal?: AbortSignal): Promise<Float32Array[]>
}

/** An outage or a rate limit: nothing is wrong with the texts, and trying again later is all there is to do. */
export class EmbedderUnavailable extends Error {
  readonly retryAfterMs: number | undefined
  /** It did answer, and did not ask for patience: after all it may be the text (Ollama says 500 to one that is too long). */
  readonly answered: boolean

  constructor(
    message: string,
    options: { retryAfterMs?: number | undefined; answered?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'EmbedderUnavailable'
    this.retryAfterMs = options.retryAfterMs
    this.answered = options.answered ?? false
  }
}

/** This input, or an answer that cannot be right: another dimension, NaN, another count. */
export class EmbedderRefused extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'EmbedderRefused'
  }
}

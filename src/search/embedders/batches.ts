/** Divides texts into requests that an endpoint takes: not too many, and not too long together. */

const MOST_TEXTS = 256
/** OpenAI takes 300,000 in a request; ours is an estimate, and others take less. */
const MOST_TOKENS = 100_000
/** English has more, Vietnamese about this, and scripts of three bytes a letter have a token a letter. */
const BYTES_PER_TOKEN = 3

export function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = []
  let batch: string[] = []
  let tokens = 0
  for (const text of texts) {
    const more = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
    if (batch.length === MOST_TEXTS || (batch.length > 0 && tokens + more > MOST_TOKENS)) {
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

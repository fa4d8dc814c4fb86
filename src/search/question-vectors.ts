/** The vectors of one question. Two legs with the same model need the same one, and it is paid for once. */
import type { Embedder } from './embedders/embedder.ts'

/** What an embedder takes of a long question. */
const LONGEST_TEXT = 8000

export class QuestionVectors {
  private readonly made = new Map<string, Promise<Float32Array | undefined>>()
  private readonly text: string

  constructor(text: string) {
    this.text = text.slice(0, LONGEST_TEXT)
  }

  by(embedder: Embedder, signal: AbortSignal): Promise<Float32Array | undefined> {
    const { fingerprint } = embedder
    const vector =
      this.made.get(fingerprint) ?? embedder.embed([this.text], 'query', signal).then(([one]) => one)
    this.made.set(fingerprint, vector)
    return vector
  }
}

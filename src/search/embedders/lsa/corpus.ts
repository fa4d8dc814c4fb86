/** Which words are in which texts, as numbers: what a thread is handed must not be a million strings. */

export interface Corpus {
  readonly words: readonly string[]
  /** The words of text t are from starts[t] to starts[t + 1], each a place in `words`. */
  readonly starts: Int32Array
  readonly places: Int32Array
  readonly counts: Int32Array
}

export class CorpusBuilder {
  private readonly known = new Map<string, number>()
  private readonly starts: number[] = [0]
  private readonly places: number[] = []
  private readonly counts: number[] = []

  add(lexemes: Iterable<string>, counts: Iterable<number>): void {
    for (const lexeme of lexemes) {
      let place = this.known.get(lexeme)
      if (place === undefined) {
        place = this.known.size
        this.known.set(lexeme, place)
      }
      this.places.push(place)
    }
    for (const count of counts) this.counts.push(count)
    this.starts.push(this.places.length)
  }

  build(): Corpus {
    return {
      words: [...this.known.keys()],
      starts: Int32Array.from(this.starts),
      places: Int32Array.from(this.places),
      counts: Int32Array.from(this.counts),
    }
  }
}

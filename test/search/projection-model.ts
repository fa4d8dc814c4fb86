/** What people and workers do in the property of the projection: any order, any death, any outage. */
import fc from 'fast-check'

export type Step =
  | { readonly do: 'edit' | 'delete' | 'restore' | 'retire'; readonly unit: number; readonly words: number }
  /** A worker takes what is due. */
  | { readonly do: 'claim'; readonly worker: number }
  /** It goes on to the next place where it could die, or to the end; it dies; its lease passes and it does not know. */
  | { readonly do: 'advance' | 'finish' | 'crash' | 'late'; readonly worker: number }
  | { readonly do: 'embedder' | 'store'; readonly away: boolean }

const worker = fc.nat({ max: 1 })

/** Few units and few texts, so that what happens meets: deaths of one unit's workers, and texts that come back. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('edit', 'edit', 'delete', 'delete', 'restore', 'restore', 'restore'),
      unit: fc.nat({ max: 1 }),
      words: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('retire'), unit: fc.constant(2), words: fc.constant(0) }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('claim'), worker }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constantFrom('advance', 'advance', 'advance', 'advance', 'finish', 'crash', 'late', 'late'),
      worker,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('embedder', 'store'), away: fc.boolean() }),
  },
)

/** One to three chunks, of few different texts: so that chunks come back, and are the same in two units. */
export function bodyOf(words: number): string {
  const paragraph = (word: string) => `${`${word} `.repeat(300).trim()}.`
  const all = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']
  return Array.from({ length: (words % 3) + 1 }, (_, n) => paragraph(all[(words + n) % all.length]!)).join(
    '\n\n',
  )
}

/** A worker that stops at every place where it could die, until the test continues it. */
export class Steerable {
  private go: (() => void) | undefined
  private waits: (() => void) | undefined
  private running: Promise<unknown> | undefined
  ended = true

  readonly boundary = (): Promise<void> =>
    new Promise((resolve) => {
      this.go = resolve
      this.waits?.()
    })

  /** Begins, and comes to the first place, or to the end. */
  async begin(work: () => Promise<unknown>): Promise<void> {
    this.ended = false
    await this.untilNext(() => {
      this.running = work().then(
        () => this.finish(),
        () => this.finish(),
      )
    })
  }

  async advance(): Promise<void> {
    const { go } = this
    if (this.ended || !go) return
    this.go = undefined
    await this.untilNext(go)
  }

  async toEnd(): Promise<void> {
    while (!this.ended) await this.advance()
    await this.running
  }

  private finish(): void {
    this.ended = true
    this.waits?.()
  }

  private async untilNext(start: () => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.waits = resolve
      start()
    })
    this.waits = undefined
  }
}

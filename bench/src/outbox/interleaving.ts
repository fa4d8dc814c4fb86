/**
 * Makes transactions commit in another order than they began: a writer that holds waits until others have
 * committed. At most half of those still at work hold, so there is always one who can go on.
 */
const OTHERS = 5

interface Holder {
  readonly until: number
  readonly release: () => void
}

export class Interleaving {
  /** Transactions that committed. */
  commits = 0
  /** Those among them that a younger one had overtaken: the ones that "greater than my last id" would lose. */
  overtaken = 0
  #writers: number
  #youngest = 0n
  #holders: Holder[] = []

  constructor(writers: number) {
    this.#writers = writers
  }

  hold(): Promise<void> {
    if (this.#holders.length + 1 > this.#writers / 2) return Promise.resolve()
    return new Promise((release) => {
      this.#holders.push({ until: this.commits + OTHERS, release })
    })
  }

  committed(tx: bigint): void {
    this.commits++
    if (tx < this.#youngest) this.overtaken++
    else this.#youngest = tx
    this.#releaseWhere((holder) => holder.until <= this.commits)
  }

  /** A writer has nothing more to write: nobody waits for it any more. */
  finished(): void {
    this.#writers--
    if (this.#holders.length > this.#writers / 2) this.#releaseWhere(() => true)
  }

  #releaseWhere(due: (holder: Holder) => boolean): void {
    const released = this.#holders.filter(due)
    this.#holders = this.#holders.filter((holder) => !released.includes(holder))
    for (const { release } of released) release()
  }
}

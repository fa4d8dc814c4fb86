/** Which piece of a document is which of the cut before: so that it keeps its address, wherever it went and whatever it is called. */
import { likenesses } from './similarity.ts'

/** A piece of the document as it was cut before. */
export interface PreviousPiece {
  readonly address: string
  readonly hash: string
  readonly title: string
  readonly kind: string
  readonly parent: string | null
  /** To recognise it when it has changed. */
  readonly text?: string
  /** An earlier cut dropped it: its address stays its own, and it is known again when it is back. */
  readonly dropped?: boolean
}

/** A piece of the document as it is now, before it has an address. */
export interface FoundPiece {
  readonly hash: string
  readonly title: string
  readonly kind: string
  readonly text: string
  /** Which of the pieces contains it. */
  readonly parent: number | undefined
  /** The address that its title would give it, without a number, and with one. */
  readonly base: string
  readonly proposed: string
}

const THRESHOLD = 0.5
/** Of two pieces of the same name less likeness is enough. */
const NAMESAKES = 0.2

/** For each piece the number of the previous one that it is. */
export function recognise(
  found: readonly FoundPiece[],
  previous: readonly PreviousPiece[],
): (number | undefined)[] {
  const matching = new Matching(found, previous)
  matching.byHash()
  matching.awayFromStrangers()
  matching.byAddress()
  matching.byTitleAndParent()
  matching.byChildren()
  matching.byText()
  matching.addDropped()
  matching.byHash()
  matching.byText()
  return matching.taken
}

interface Candidates {
  readonly now: number[]
  readonly before: number[]
}

class Matching {
  readonly #found: readonly FoundPiece[]
  readonly #previous: readonly PreviousPiece[]
  readonly #numbers: ReadonlyMap<string, number>
  readonly #bases: ReadonlySet<string>
  readonly taken: (number | undefined)[]
  readonly #free: Set<number>

  constructor(found: readonly FoundPiece[], previous: readonly PreviousPiece[]) {
    this.#found = found
    this.#previous = previous
    this.#numbers = new Map(previous.map(({ address }, number) => [address, number]))
    this.#bases = new Set(found.map(({ base }) => base))
    this.taken = found.map(() => undefined)
    this.#free = new Set([...previous.keys()].filter((number) => !previous[number]!.dropped))
  }

  /** After those that were there until now. */
  addDropped(): void {
    this.#previous.forEach(({ dropped }, number) => {
      if (dropped) this.#free.add(number)
    })
  }

  /** The same text. Of several, those between the same neighbours or in the same section first. */
  byHash(): void {
    const twins = this.#candidates(
      ({ hash }) => hash,
      ({ hash }) => hash,
    )
    for (const { now, before } of twins)
      if (now.length === 1 && before.length === 1) this.#take(now[0]!, before[0]!)
    for (const twin of twins) this.#takeNeighbours(twin)
    for (const twin of twins) this.#takeOfSameParent(twin)
    for (const twin of twins) this.#takeProposed(twin)
    for (const twin of twins) this.#takeInOrder(twin)
  }

  /**
   * A piece that has another name now, where what has its name has none of its words: the text says who it is. Only of those: a
   * section that was written anew keeps its address, unless its text is elsewhere.
   */
  awayFromStrangers(): void {
    const groups = this.#candidates(({ base }) => base, this.#baseOf)
    if (groups.length === 0) return
    const left = [...this.#found.keys()].filter((one) => this.taken[one] === undefined)
    const free = [...this.#free]
    const alike = likenesses(
      free.map((other) => this.#previous[other]!.text ?? this.#previous[other]!.title),
      left.map((one) => this.#found[one]!.text),
      NAMESAKES,
    ).map(({ before, now, score }) => ({ other: free[before]!, one: left[now]!, score }))
    const groupNow = new Map(groups.flatMap((group) => group.now.map((one) => [one, group] as const)))
    const groupBefore = new Map(groups.flatMap((group) => group.before.map((one) => [one, group] as const)))
    // Whoever is like a namesake has found its like.
    const known = new Set<number>()
    const recognised = new Set<number>()
    for (const { other, one } of alike) {
      const group = groupBefore.get(other)
      if (group === undefined || group !== groupNow.get(one)) continue
      known.add(one)
      recognised.add(other)
    }
    for (const { other, one, score } of alike) {
      if (score < THRESHOLD || !groupBefore.has(other) || recognised.has(other) || known.has(one)) continue
      this.#take(one, other)
    }
  }

  /** Under the address that it would get anyway. Where several would, the text says which is which. */
  byAddress(): void {
    for (const namesakes of this.#candidates(({ base }) => base, this.#baseOf)) {
      const { now, before } = namesakes
      if (now.length > 1 || before.length > 1) this.#takeAlike(now, before, NAMESAKES)
      this.#takeProposed(namesakes)
      this.#takeInOrder(namesakes)
    }
  }

  byTitleAndParent(): void {
    for (const namesakes of this.#candidates(
      ({ title, kind }) => `${kind} ${title}`,
      ({ title, kind }) => `${kind} ${title}`,
    )) {
      this.#takeOfSameParent(namesakes)
    }
  }

  /** A section of another name with the same pieces in it. */
  byChildren(): void {
    this.#found.forEach(({ parent }, child) => {
      const before = this.taken[child]
      if (parent === undefined || before === undefined || this.taken[parent] !== undefined) return
      const container = this.#numbers.get(this.#previous[before]!.parent ?? '')
      if (container !== undefined && this.#free.has(container)) this.#take(parent, container)
    })
  }

  byText(): void {
    this.#takeAlike([...this.#found.keys()], [...this.#previous.keys()], THRESHOLD)
  }

  #takeAlike(now: readonly number[], before: readonly number[], threshold: number): void {
    const left = now.filter((one) => this.taken[one] === undefined)
    const free = before.filter((other) => this.#free.has(other))
    const alike = likenesses(
      free.map((other) => this.#previous[other]!.text ?? this.#previous[other]!.title),
      left.map((one) => this.#found[one]!.text),
      threshold,
    )
    for (const pair of alike) this.#take(left[pair.now]!, free[pair.before]!)
  }

  #take(one: number, other: number): void {
    if (this.taken[one] !== undefined || !this.#free.delete(other)) return
    this.taken[one] = other
  }

  /** Those beside which a neighbour of theirs was. */
  #takeNeighbours({ now, before }: Candidates): void {
    const members = new Set(before)
    for (const one of now) {
      const last = one > 0 ? this.taken[one - 1] : undefined
      const next = this.taken[one + 1]
      const beside = [last === undefined ? -1 : last + 1, next === undefined ? -1 : next - 1]
      const other = beside
        .sort((a, b) => a - b)
        .find((number) => members.has(number) && this.#free.has(number))
      if (other !== undefined) this.#take(one, other)
    }
  }

  #takeOfSameParent({ now, before }: Candidates): void {
    const waiting = this.#waiting(before, (other) => {
      const container = this.#previous[other]!.parent
      return container === null ? null : this.#numbers.get(container)
    })
    for (const one of now) {
      const { parent } = this.#found[one]!
      waiting(one, parent === undefined ? null : this.taken[parent])
    }
  }

  #takeProposed({ now, before }: Candidates): void {
    const waiting = this.#waiting(before, (other) => this.#previous[other]!.address)
    for (const one of now) waiting(one, this.#found[one]!.proposed)
  }

  #takeInOrder({ now, before }: Candidates): void {
    const waiting = this.#waiting(before, () => null)
    for (const one of now) waiting(one, null)
  }

  /**
   * Takes for a piece the first that is free of those with a key. Each is looked at once, however many ask: ten thousand equal
   * sections are no more work than others.
   */
  #waiting<Key>(before: readonly number[], keyOf: (other: number) => Key): (one: number, key: Key) => void {
    const queues = new Map<Key, number[]>()
    for (const other of before.toReversed()) {
      const queue = queues.get(keyOf(other))
      if (queue) queue.push(other)
      else queues.set(keyOf(other), [other])
    }
    return (one, key) => {
      const queue = queues.get(key)
      while (queue && queue.length > 0 && this.taken[one] === undefined) this.#take(one, queue.pop()!)
    }
  }

  #candidates(
    keyNow: (piece: FoundPiece) => string,
    keyBefore: (piece: PreviousPiece) => string,
  ): Candidates[] {
    const groups = new Map<string, Candidates>()
    for (const other of this.#free) {
      const key = keyBefore.call(this, this.#previous[other]!)
      const group = groups.get(key) ?? { now: [], before: [] }
      group.before.push(other)
      groups.set(key, group)
    }
    this.#found.forEach((piece, one) => {
      if (this.taken[one] === undefined) groups.get(keyNow(piece))?.now.push(one)
    })
    return [...groups.values()].filter(({ now }) => now.length > 0)
  }

  /** `covid-19` may be a title, or the nineteenth `covid`. */
  #baseOf({ address }: PreviousPiece): string {
    return this.#bases.has(address) ? address : address.replace(/-\d+$/, '')
  }
}

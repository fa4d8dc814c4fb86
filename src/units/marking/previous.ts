/**
 * Matches the pieces of a document with those of its last cut, so that a piece keeps its address when it was moved, renamed or edited.
 * Then the report: what a marking would change, piece by piece.
 */
import type { ManifestPiece } from '../manifest.ts'

/** A piece of the document as it was cut before. */
export interface PreviousPiece {
  readonly address: string
  readonly hash: string
  readonly title: string
  readonly kind: string
  readonly parent: string | null
  /** To recognise it when it has changed. */
  readonly text?: string
  /** An earlier cut dropped it. Its address stays reserved, and it is matched again if it comes back. */
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

const MIN_SIMILARITY = 0.5
/** For two pieces of the same name a lower similarity is enough. */
const MIN_SIMILARITY_OF_SAME_NAME = 0.2

/** For each piece the index of the previous piece that it matches. The surest criteria come first. */
export function matchPrevious(
  found: readonly FoundPiece[],
  previous: readonly PreviousPiece[],
): (number | undefined)[] {
  const matching = new Matching(found, previous)
  matching.byHash()
  matching.byTextOfRenamed()
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

  /** Adds the dropped pieces as candidates, after those of the last cut. */
  addDropped(): void {
    this.#previous.forEach(({ dropped }, number) => {
      if (dropped) this.#free.add(number)
    })
  }

  /** By equal text. Of several candidates, those with the same neighbours or in the same section come first. */
  byHash(): void {
    const groups = this.#candidates(
      ({ hash }) => hash,
      ({ hash }) => hash,
    )
    for (const { now, before } of groups)
      if (now.length === 1 && before.length === 1) this.#take(now[0]!, before[0]!)
    for (const group of groups) this.#takeNeighbours(group)
    for (const group of groups) this.#takeOfSameParent(group)
    for (const group of groups) this.#takeProposed(group)
    for (const group of groups) this.#takeInOrder(group)
  }

  /**
   * By similar text, for a renamed piece whose old name now belongs to a piece with another text. Not for others: a section that was
   * rewritten keeps its address, unless its old text is elsewhere.
   */
  byTextOfRenamed(): void {
    const groups = this.#candidates(({ base }) => base, this.#baseOf)
    if (groups.length === 0) return
    const left = [...this.#found.keys()].filter((one) => this.taken[one] === undefined)
    const free = [...this.#free]
    const similar = similarPairs(
      free.map((other) => this.#previous[other]!.text ?? this.#previous[other]!.title),
      left.map((one) => this.#found[one]!.text),
      MIN_SIMILARITY_OF_SAME_NAME,
    ).map(({ before, now, score }) => ({ other: free[before]!, one: left[now]!, score }))
    const groupNow = new Map(groups.flatMap((group) => group.now.map((one) => [one, group] as const)))
    const groupBefore = new Map(groups.flatMap((group) => group.before.map((one) => [one, group] as const)))
    // Pieces that are similar to one of the same name are left to byAddress.
    const known = new Set<number>()
    const recognised = new Set<number>()
    for (const { other, one } of similar) {
      const group = groupBefore.get(other)
      if (group === undefined || group !== groupNow.get(one)) continue
      known.add(one)
      recognised.add(other)
    }
    for (const { other, one, score } of similar) {
      if (score < MIN_SIMILARITY || !groupBefore.has(other) || recognised.has(other) || known.has(one))
        continue
      this.#take(one, other)
    }
  }

  /** By the address that the title gives. If several pieces have it, by similar text first. */
  byAddress(): void {
    for (const group of this.#candidates(({ base }) => base, this.#baseOf)) {
      const { now, before } = group
      if (now.length > 1 || before.length > 1) this.#takeSimilar(now, before, MIN_SIMILARITY_OF_SAME_NAME)
      this.#takeProposed(group)
      this.#takeInOrder(group)
    }
  }

  byTitleAndParent(): void {
    for (const group of this.#candidates(
      ({ title, kind }) => `${kind} ${title}`,
      ({ title, kind }) => `${kind} ${title}`,
    )) {
      this.#takeOfSameParent(group)
    }
  }

  /** By content: a renamed section that contains the same pieces. */
  byChildren(): void {
    this.#found.forEach(({ parent }, child) => {
      const before = this.taken[child]
      if (parent === undefined || before === undefined || this.taken[parent] !== undefined) return
      const container = this.#numbers.get(this.#previous[before]!.parent ?? '')
      if (container !== undefined && this.#free.has(container)) this.#take(parent, container)
    })
  }

  byText(): void {
    this.#takeSimilar([...this.#found.keys()], [...this.#previous.keys()], MIN_SIMILARITY)
  }

  #takeSimilar(now: readonly number[], before: readonly number[], threshold: number): void {
    const left = now.filter((one) => this.taken[one] === undefined)
    const free = before.filter((other) => this.#free.has(other))
    const similar = similarPairs(
      free.map((other) => this.#previous[other]!.text ?? this.#previous[other]!.title),
      left.map((one) => this.#found[one]!.text),
      threshold,
    )
    for (const pair of similar) this.#take(left[pair.now]!, free[pair.before]!)
  }

  #take(one: number, other: number): void {
    if (this.taken[one] !== undefined || !this.#free.delete(other)) return
    this.taken[one] = other
  }

  /** Matches candidates whose neighbour before or after is matched with their old neighbour. */
  #takeNeighbours({ now, before }: Candidates): void {
    const members = new Set(before)
    for (const one of now) {
      const last = one > 0 ? this.taken[one - 1] : undefined
      const next = this.taken[one + 1]
      const neighbours = [last === undefined ? -1 : last + 1, next === undefined ? -1 : next - 1]
      const other = neighbours
        .sort((a, b) => a - b)
        .find((number) => members.has(number) && this.#free.has(number))
      if (other !== undefined) this.#take(one, other)
    }
  }

  #takeOfSameParent({ now, before }: Candidates): void {
    const takeFirst = this.#byKey(before, (other) => {
      const container = this.#previous[other]!.parent
      return container === null ? null : this.#numbers.get(container)
    })
    for (const one of now) {
      const { parent } = this.#found[one]!
      takeFirst(one, parent === undefined ? null : this.taken[parent])
    }
  }

  #takeProposed({ now, before }: Candidates): void {
    const takeFirst = this.#byKey(before, (other) => this.#previous[other]!.address)
    for (const one of now) takeFirst(one, this.#found[one]!.proposed)
  }

  #takeInOrder({ now, before }: Candidates): void {
    const takeFirst = this.#byKey(before, () => null)
    for (const one of now) takeFirst(one, null)
  }

  /**
   * Returns a function that matches a piece with the first free candidate of a key. Each candidate is visited once, so that ten
   * thousand equal sections take linear time.
   */
  #byKey<Key>(before: readonly number[], keyOf: (other: number) => Key): (one: number, key: Key) => void {
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

// Similarity of texts, by the pairs of adjacent words that they share.

interface SimilarPair {
  readonly before: number
  readonly now: number
  /** 1: the same words in the same order. */
  readonly score: number
}

/** A pair of words that occurs in more texts than this is ignored: it does not distinguish them. */
const MAX_TEXTS_OF_PAIR = 40

/** Pairs of texts with at least this similarity (Dice coefficient), the most similar first. */
function similarPairs(before: readonly string[], now: readonly string[], threshold: number): SimilarPair[] {
  const holders = new Map<string, number[]>()
  const sizes = before.map((text, index) => {
    const pairs = pairsOf(text)
    for (const pair of pairs) {
      const those = holders.get(pair)
      if (those) those.push(index)
      else holders.set(pair, [index])
    }
    return pairs.size
  })
  const found: SimilarPair[] = []
  now.forEach((text, index) => {
    const pairs = pairsOf(text)
    const shared = new Map<number, number>()
    for (const pair of pairs) {
      const those = holders.get(pair)
      if (those === undefined || those.length > MAX_TEXTS_OF_PAIR) continue
      for (const one of those) shared.set(one, (shared.get(one) ?? 0) + 1)
    }
    for (const [one, count] of shared) {
      const score = (2 * count) / (sizes[one]! + pairs.size)
      if (score >= threshold) found.push({ before: one, now: index, score })
    }
  })
  return found.sort((a, b) => b.score - a.score || a.before - b.before || a.now - b.now)
}

/** Returns a function for the share of another text's word pairs that occur in this one, from 0 to 1. */
function shareOf(whole: string): (text: string) => number {
  const there = pairsOf(whole)
  return (text) => {
    const pairs = [...pairsOf(text)]
    return pairs.length === 0 ? 0 : pairs.filter((pair) => there.has(pair)).length / pairs.length
  }
}

/** Pairs of adjacent words, or of characters in scripts without spaces. A text of one word has that word. */
function pairsOf(text: string): Set<string> {
  const words =
    text.toLowerCase().match(/\p{sc=Han}|\p{sc=Hiragana}|\p{sc=Katakana}|\p{sc=Thai}|[\p{L}\p{N}\p{M}]+/gu) ??
    []
  if (words.length < 2) return new Set(words)
  return new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`))
}

// The report of a marking.

export type PieceChange = 'new' | 'changed' | 'moved' | 'same'

/** The piece that contains it (null: the document), and the piece before it there (null: it is first). */
export interface PiecePlace {
  readonly parent: string | null
  readonly after: string | null
}

export interface MarkedPiece {
  readonly address: string
  readonly title: string
  readonly kind: string
  readonly bytes: number
  readonly change: PieceChange
  /** Its old and its new place, if it moved, also if its text changed as well. */
  readonly moved?: { readonly from: PiecePlace; readonly to: PiecePlace }
}

export interface RemovedPiece {
  readonly address: string
  readonly title: string
  readonly kind: string
  /** Whether its text was removed from the document, or the manifest leaves it out, or has it in another piece. */
  readonly text_is: 'removed' | 'in_no_piece' | 'in_another_piece'
}

export interface MarkReport {
  readonly pieces: readonly MarkedPiece[]
  /** Pieces of the last cut that are no longer in the manifest. */
  readonly removed: readonly RemovedPiece[]
}

export function reportOf(
  pieces: readonly ManifestPiece[],
  previous: readonly PreviousPiece[],
  source: string,
): MarkReport {
  const cut = previous.filter(({ dropped }) => !dropped)
  const before = new Map(cut.map((piece, number) => [piece.address, { ...piece, number }]))
  const inOrder = longestIncreasing(pieces.map(({ address }) => before.get(address)?.number))
  const placesBefore = placesOf(cut)
  const placesNow = placesOf(pieces)
  const marked = pieces.map(({ address, title, kind, from, to, hash, parent }, index) => {
    const was = before.get(address)
    before.delete(address)
    const isMoved = was !== undefined && (was.parent !== parent || !inOrder.has(index))
    const change: PieceChange =
      was === undefined ? 'new' : was.hash !== hash ? 'changed' : isMoved ? 'moved' : 'same'
    const moved = { from: placesBefore.get(address)!, to: placesNow.get(address)! }
    return { address, title, kind, bytes: to - from, change, ...(isMoved && { moved }) }
  })
  const removed = [...before.values()]
  return { pieces: marked, removed: removed.length === 0 ? [] : locateRemoved(removed, pieces, source) }
}

function placesOf(
  pieces: readonly { readonly address: string; readonly parent: string | null }[],
): Map<string, PiecePlace> {
  const last = new Map<string | null, string>()
  return new Map(
    pieces.map(({ address, parent }) => {
      const after = last.get(parent) ?? null
      last.set(parent, address)
      return [address, { parent, after }]
    }),
  )
}

/** Share of a removed piece's words in the text outside of all pieces from which on it counts as left out: it may have been edited. */
const MIN_SHARE = 0.5

function locateRemoved(
  removed: readonly PreviousPiece[],
  pieces: readonly ManifestPiece[],
  source: string,
): RemovedPiece[] {
  const bytes = Buffer.from(source)
  const starts = [...pieces.map(({ from }) => from), bytes.length]
  const leftOut = starts.map((start, index) => bytes.toString('utf8', pieces[index - 1]?.to ?? 0, start))
  const share = shareOf(leftOut.join('\n'))
  return removed.map(({ address, title, kind, text = '' }) => {
    const isLeftOut = share(text) >= MIN_SHARE
    const isThere = text !== '' && source.includes(text)
    return {
      address,
      title,
      kind,
      text_is: isLeftOut ? 'in_no_piece' : isThere ? 'in_another_piece' : 'removed',
    }
  })
}

/** Indexes of a longest increasing subsequence: the most pieces that are still in their old order, so that the fewest count as moved. */
function longestIncreasing(numbers: readonly (number | undefined)[]): Set<number> {
  const ends: number[] = []
  const before: (number | undefined)[] = []
  numbers.forEach((number, index) => {
    if (number === undefined) return
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (numbers[ends[middle]!]! < number) low = middle + 1
      else high = middle
    }
    before[index] = ends[low - 1]
    ends[low] = index
  })
  const increasing = new Set<number>()
  for (let at = ends.at(-1); at !== undefined; at = before[at]) increasing.add(at)
  return increasing
}

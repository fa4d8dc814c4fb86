/** What a marking would change, piece by piece. */
import type { ManifestPiece } from '../manifest.ts'
import type { PreviousPiece } from './previous.ts'

export type PieceChange = 'new' | 'changed' | 'moved' | 'same'

export interface MarkedPiece {
  readonly address: string
  readonly title: string
  readonly kind: string
  readonly bytes: number
  readonly change: PieceChange
}

export interface MarkReport {
  readonly pieces: readonly MarkedPiece[]
  /** Of the cut before, and no longer in the document. */
  readonly gone: readonly { readonly address: string; readonly title: string; readonly kind: string }[]
}

export function reportOf(pieces: readonly ManifestPiece[], previous: readonly PreviousPiece[]): MarkReport {
  const before = new Map(
    previous.filter(({ dropped }) => !dropped).map((piece, number) => [piece.address, { ...piece, number }]),
  )
  const inOrder = longestRise(pieces.map(({ address }) => before.get(address)?.number))
  const marked = pieces.map(({ address, title, kind, from, to, hash, parent }, index) => {
    const was = before.get(address)
    before.delete(address)
    let change: PieceChange = 'same'
    if (was === undefined) change = 'new'
    else if (was.hash !== hash) change = 'changed'
    else if (was.parent !== parent || !inOrder.has(index)) change = 'moved'
    return { address, title, kind, bytes: to - from, change }
  })
  return {
    pieces: marked,
    gone: [...before.values()].map(({ address, title, kind }) => ({ address, title, kind })),
  }
}

/** Which of them are in their old order: as many as possible, so that as few as possible have moved. */
function longestRise(numbers: readonly (number | undefined)[]): Set<number> {
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
  const rise = new Set<number>()
  for (let at = ends.at(-1); at !== undefined; at = before[at]) rise.add(at)
  return rise
}

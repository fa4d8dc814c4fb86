/** What a marking would change, piece by piece. */
import type { ManifestPiece } from '../manifest.ts'
import type { PreviousPiece } from './previous.ts'
import { shareOf } from './similarity.ts'

export type PieceChange = 'new' | 'changed' | 'moved' | 'same'

/** In which piece, null: the document; and behind which one there, null: first. */
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
  /** Where the document had it when it was cut last, and has it now: of those that moved, also of changed ones. */
  readonly moved?: { readonly from: PiecePlace; readonly to: PiecePlace }
}

export interface GonePiece {
  readonly address: string
  readonly title: string
  readonly kind: string
  /** Whether the document has lost it, or the manifest leaves it out, or has it in another piece. */
  readonly text_is: 'gone' | 'in_no_piece' | 'in_another_piece'
}

export interface MarkReport {
  readonly pieces: readonly MarkedPiece[]
  /** Pieces of the cut before that are none any more. */
  readonly gone: readonly GonePiece[]
}

export function reportOf(
  pieces: readonly ManifestPiece[],
  previous: readonly PreviousPiece[],
  source: string,
): MarkReport {
  const cut = previous.filter(({ dropped }) => !dropped)
  const before = new Map(cut.map((piece, number) => [piece.address, { ...piece, number }]))
  const inOrder = longestRise(pieces.map(({ address }) => before.get(address)?.number))
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
  const gone = [...before.values()]
  return { pieces: marked, gone: gone.length === 0 ? [] : whereTheyAre(gone, pieces, source) }
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

/** Of what is in no piece the most of its words are enough: it may have changed, too. */
const MOST = 0.5

function whereTheyAre(
  gone: readonly PreviousPiece[],
  pieces: readonly ManifestPiece[],
  source: string,
): GonePiece[] {
  const bytes = Buffer.from(source)
  const starts = [...pieces.map(({ from }) => from), bytes.length]
  const leftOut = starts.map((start, index) => bytes.toString('utf8', pieces[index - 1]?.to ?? 0, start))
  const share = shareOf(leftOut.join('\n'))
  return gone.map(({ address, title, kind, text = '' }) => {
    const isLeftOut = share(text) >= MOST
    const isThere = text !== '' && source.includes(text)
    return {
      address,
      title,
      kind,
      text_is: isLeftOut ? 'in_no_piece' : isThere ? 'in_another_piece' : 'gone',
    }
  })
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

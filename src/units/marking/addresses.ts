/** Addresses of pieces: the path of their titles, kept from the cut before where a piece was there. */
import { createHash } from 'node:crypto'
import { type FoundPiece, type PreviousPiece, recognise } from './previous.ts'
import type { Piece } from './sections.ts'

const LONGEST = 360

/** An address for each. */
export function nameThem(
  pieces: readonly (Piece & { text: string; hash: string })[],
  root: string,
  previous: readonly PreviousPiece[],
): string[] {
  const recognised = recognise(foundPieces(pieces, root), previous).map((number) =>
    number === undefined ? undefined : previous[number],
  )
  // Also those that are gone: an address is for good.
  const numbering = new Numbering(previous.map(({ address }) => address))
  const addresses: string[] = []
  pieces.forEach(({ parent, segment, hash }, index) => {
    const kept = recognised[index]?.address
    const path = `${parent === undefined ? root : addresses[parent]!}/${segment}`
    addresses.push(kept ?? numbering.firstFree(shortEnough(path, root, hash)))
  })
  return addresses
}

/** As if the document had never been cut. */
function foundPieces(
  pieces: readonly (Piece & { text: string; hash: string })[],
  root: string,
): FoundPiece[] {
  const numbering = new Numbering()
  const found: FoundPiece[] = []
  for (const { parent, segment, title, kind, text, hash } of pieces) {
    const path = `${parent === undefined ? root : found[parent]!.proposed}/${segment}`
    const proposed = numbering.firstFree(shortEnough(path, root, hash))
    const base = kind === 'section' ? path : path.replace(/-\d+$/, '')
    found.push({ hash, title, kind, text, parent, base, proposed })
  }
  return found
}

function shortEnough(path: string, root: string, hash: string): string {
  if (path.length <= LONGEST) return path
  return `${root}/${createHash('sha256').update(`${path} ${hash}`).digest('hex').slice(0, 16)}`
}

/** Numbers from 2 for those who come later. */
class Numbering {
  readonly #used: Set<string>
  readonly #last = new Map<string, number>()

  constructor(used: Iterable<string> = []) {
    this.#used = new Set(used)
  }

  firstFree(path: string): string {
    let address = path
    let number = this.#last.get(path) ?? 1
    while (this.#used.has(address)) {
      number += 1
      address = `${path}-${number}`
    }
    this.#last.set(path, number)
    this.#used.add(address)
    return address
  }
}

/** Addresses of pieces: the path of their titles, or the address of the last cut if the piece existed then. */
import { createHash } from 'node:crypto'
import type { Piece } from './mark.ts'
import { type FoundPiece, matchPrevious, type PreviousPiece } from './previous.ts'

const MAX_ADDRESS_LENGTH = 360

/** One address per piece. */
export function assignAddresses(
  pieces: readonly (Piece & { text: string; hash: string })[],
  root: string,
  previous: readonly PreviousPiece[],
): string[] {
  const recognised = matchPrevious(foundPieces(pieces, root), previous).map((number) =>
    number === undefined ? undefined : previous[number],
  )
  // Also the addresses of removed pieces: an address is never reused.
  const numbering = new Numbering(previous.map(({ address }) => address))
  const addresses: string[] = []
  pieces.forEach(({ parent, segment, hash }, index) => {
    const kept = recognised[index]?.address
    const path = `${parent === undefined ? root : addresses[parent]!}/${segment}`
    addresses.push(kept ?? numbering.firstFree(shortEnough(path, root, hash)))
  })
  return addresses
}

/** The addresses that the pieces would have if the document had never been cut. */
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
  if (path.length <= MAX_ADDRESS_LENGTH) return path
  return `${root}/${createHash('sha256').update(`${path} ${hash}`).digest('hex').slice(0, 16)}`
}

/** Adds a number, from 2 on, if the address is taken. */
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

// Address segments from titles in any language: readable for Latin letters, and different for titles that differ only in letters of
// other scripts.

/** Letters that Unicode does not decompose into a Latin letter and a mark. */
const LATIN: Readonly<Record<string, string>> = {
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ı: 'i',
}
const MAX_SLUG_LENGTH = 48

/** Letters of other scripts are replaced by a hash of the title. */
export function slugOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[đðłøßæœþı]/g, (letter) => LATIN[letter]!)
    .replace(/['’]/g, '')
  const words = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/-$/, '')
  if (!/[\p{L}\p{N}]/u.test(plain.replace(/[a-z0-9]+/g, ''))) return words || 'section'
  const hash = createHash('sha256').update(title.normalize('NFKC').toLowerCase()).digest('hex').slice(0, 8)
  return words ? `${words.slice(0, MAX_SLUG_LENGTH - 9).replace(/-$/, '')}-${hash}` : `h-${hash}`
}

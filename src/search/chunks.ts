/**
 * Where a text is divided for search. A unit is a piece already, so it stays whole where it fits; else it is divided where it
 * divides itself: between paragraphs, lines, sentences, words, in this order. Positions count characters as Postgres does.
 */
export interface Chunk {
  /** Half-open, in code points. */
  readonly from: number
  readonly to: number
  readonly text: string
}

export interface ChunkOptions {
  /** Characters that a chunk may have. */
  readonly size?: number
  /** Characters that two windows share; only where the text is not asked for its own divisions. */
  readonly overlap?: number
  /** False: windows of equal size, wherever they fall. */
  readonly aware?: boolean
}

/** nDCG@10 of the words on Cranfield: 0.507 with 800, 0.512 with 1,200, 0.516 with 2,000, 0.518 with 3,000. */
export const CHUNK_SIZE = 2000
/** As the old knowledge base has it. */
const LEGACY = { size: 4000, overlap: 400, aware: false }

/** Of chunker and options: whoever divides otherwise makes other vectors. */
export const CHUNKER = `chunks 1, ${CHUNK_SIZE}`

/** Divisions are those of punctuation, which is the same in all languages that we know of. */
export function chunksOf(body: string, options: ChunkOptions = {}): Chunk[] {
  const { size = CHUNK_SIZE, overlap = 0, aware = true } = options
  if (!(Number.isInteger(size) && size > 0 && Number.isInteger(overlap) && overlap >= 0 && overlap < size))
    throw new RangeError(`a chunk of ${size} characters cannot share ${overlap}`)
  const characters = [...body]
  const ranges = aware ? divided(characters, size) : windows(characters.length, size, overlap)
  return ranges
    .map(([from, to]) => trimmed(characters, from, to))
    .filter(([from, to]) => from < to)
    .map(([from, to]) => ({ from, to, text: characters.slice(from, to).join('') }))
}

/** A document of the old knowledge base, as its own points were made. */
export const legacyChunks = (body: string): Chunk[] => chunksOf(body, LEGACY)

type Range = readonly [from: number, to: number]

function windows(length: number, size: number, overlap: number): Range[] {
  const ranges: Range[] = []
  for (let from = 0; from < length; from += size - overlap) {
    ranges.push([from, Math.min(length, from + size)])
    if (from + size >= length) break
  }
  return ranges
}

function divided(characters: readonly string[], size: number): Range[] {
  const ranges: Range[] = []
  let from = 0
  while (characters.length - from > size) {
    // Two halves of the rest say more than a full chunk and a scrap.
    const rest = characters.length - from
    const wanted = rest < 2 * size ? Math.ceil(rest / 2) : size
    const to = cutBefore(characters, from, Math.min(from + size, from + wanted + (size >> 2)))
    ranges.push([from, to])
    from = to
  }
  ranges.push([from, characters.length])
  return ranges
}

/** The last good place to divide in the second half of what may be one chunk. */
function cutBefore(characters: readonly string[], from: number, most: number): number {
  const least = from + ((most - from) >> 1)
  for (const isGood of [endsParagraph, endsLine, endsSentence, endsWord])
    for (let at = most; at > least; at--) if (isGood(characters, at)) return at
  return most
}

const isSpace = (character: string | undefined): boolean => character !== undefined && /^\s$/u.test(character)

function endsParagraph(characters: readonly string[], at: number): boolean {
  if (characters[at - 1] !== '\n') return false
  let before = at - 2
  while (isSpace(characters[before]) && characters[before] !== '\n') before--
  return characters[before] === '\n'
}

const endsLine = (characters: readonly string[], at: number): boolean => characters[at - 1] === '\n'

const endsSentence = (characters: readonly string[], at: number): boolean =>
  (isSpace(characters[at - 1]) && /^[.!?…]$/u.test(characters[at - 2] ?? '')) ||
  /^[。！？]$/u.test(characters[at - 1] ?? '')

const endsWord = (characters: readonly string[], at: number): boolean => isSpace(characters[at - 1])

/** Space around a chunk is nobody's: it must not make another chunk of the same text. */
function trimmed(characters: readonly string[], from: number, to: number): Range {
  let [first, last] = [from, to]
  while (first < last && isSpace(characters[first])) first++
  while (last > first && isSpace(characters[last - 1])) last--
  return [first, last]
}

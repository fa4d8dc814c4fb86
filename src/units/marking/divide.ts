/** What is too long for one piece, in several: at blocks, else at items, sentences and lines. */
import type { Block } from './blocks.ts'

export interface Range {
  readonly start: number
  readonly end: number
}

/** Code, HTML, quotes and tables say less in halves: they are divided only when this long, in bytes, and then at lines. */
const LARGEST_WHOLE = 65_536

/**
 * Ranges of at most `largest` bytes where that is possible. Where one ends is the text's own doing: from half the size on it ends
 * before a segment that its hash tells, so that an insertion early on changes one or two of the ranges and not all that follow.
 */
export function divide(blocks: readonly Block[], text: string, largest: number): Range[] {
  const whole = { start: blocks[0]!.start, end: blocks.at(-1)!.end }
  if (bytes(text, whole) <= largest) return [whole]
  const ranges: Range[] = []
  let current: Range | undefined
  let size = 0
  for (const segment of blocks.flatMap((block) => segmentsOf(block, text, largest))) {
    const more = bytes(text, { start: current?.end ?? segment.start, end: segment.end })
    const isFull = size + more > largest || (size >= largest / 2 && isBoundary(text, segment))
    if (current === undefined || isFull) {
      current = segment
      size = bytes(text, segment)
      ranges.push(current)
    } else {
      current = { start: current.start, end: segment.end }
      size += more
      ranges[ranges.length - 1] = current
    }
  }
  return ranges
}

function segmentsOf(block: Block, text: string, largest: number): Range[] {
  if (bytes(text, block) <= largest) return [block]
  if (block.items) {
    const ends = [...block.items.slice(1), block.end]
    const items = block.items.map((start, index) => trimmed(text, { start, end: ends[index]! }))
    return items.flatMap((item) =>
      bytes(text, item) <= LARGEST_WHOLE ? [item] : atLines(item, text, LARGEST_WHOLE),
    )
  }
  if (block.type === 'paragraph') return atSentences(block, text, largest)
  return bytes(text, block) <= LARGEST_WHOLE ? [block] : atLines(block, text, LARGEST_WHOLE)
}

function atSentences(range: Range, text: string, largest: number): Range[] {
  return cutAfter(range, text, /[.!?…]["'”’)\]]*\s+|[。！？]["'”’」』)\]]*|\n/g).flatMap((sentence) =>
    bytes(text, sentence) <= largest ? [sentence] : atLines(sentence, text, largest),
  )
}

function atLines(range: Range, text: string, largest: number): Range[] {
  return cutAfter(range, text, /\n/g)
    .flatMap((line) => (bytes(text, line) <= largest ? [line] : cutAfter(line, text, /\s+/g)))
    .flatMap((word) => (bytes(text, word) <= largest ? [word] : atCharacters(word, text, largest)))
}

/** Without a single space: by length, and never between the halves of a character. */
function atCharacters({ start, end }: Range, text: string, largest: number): Range[] {
  const ranges: Range[] = []
  // At most four bytes for each character.
  const step = Math.floor(largest / 4)
  for (let at = start; at < end; ) {
    let next = Math.min(at + step, end)
    if (next < end && (text.charCodeAt(next) & 0xfc00) === 0xdc00) next += 1
    ranges.push({ start: at, end: next })
    at = next
  }
  return ranges
}

function cutAfter({ start, end }: Range, text: string, boundary: RegExp): Range[] {
  const ranges: Range[] = []
  let from = start
  const push = (to: number) => {
    const range = trimmed(text, { start: from, end: to })
    if (range.end > range.start) ranges.push(range)
    from = to
  }
  for (const { index, 0: found } of text.slice(start, end).matchAll(boundary))
    push(start + index + found.length)
  push(end)
  return ranges
}

function trimmed(text: string, { start, end }: Range): Range {
  const slice = text.slice(start, end)
  // Indentation belongs to the text: only whole lines before it are dropped.
  const blank = /^(?:[ \t]*\n)*/.exec(slice)![0].length
  return { start: start + blank, end: start + Math.max(blank, slice.trimEnd().length) }
}

function isBoundary(text: string, { start, end }: Range): boolean {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return ((hash >>> 13) & 3) === 0
}

const bytes = (text: string, { start, end }: Range): number => Buffer.byteLength(text.slice(start, end))

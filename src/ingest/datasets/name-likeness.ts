/** How alike two names of columns are: by their words, what these mean, their letters, and as an abbreviation of each other. */
import { isGeneric, isKnownMeaning, meaningsOf, nearness, wordsOf } from './column-words.ts'
import { headerKey } from './header-key.ts'
import { relativeDistance } from './headers.ts'

/** A name in one of the ways in which it can be read. */
export interface Reading {
  key: string
  words: string[]
  meanings: string[]
  /** The most that this way of reading says. */
  cap: number
}

export function readingOf(name: string, cap = 1): Reading {
  return { key: headerKey(name), words: wordsOf(name), meanings: meaningsOf(name), cap }
}

const INNER_CAP = 0.8

/** `State/Region` is either; what stands in brackets explains, or is the name itself: `Custom field (Story points)`. */
export function readingsOf(header: string): Reading[] {
  const either = header.split('/').filter((part) => part.trim().length >= 3)
  if (either.length > 1) return either.map((part) => readingOf(part))
  const [, outer, inner] = /^(.+?)\s*[([]([^)\]]{4,})[)\]]\s*$/.exec(header) ?? []
  if (outer === undefined) return [readingOf(header)]
  return [readingOf(header), readingOf(outer), readingOf(inner!, INNER_CAP)]
}

/** What the names around a pair say about the weight of its words. */
export interface NameContext {
  /** Words of what the rows are, and those with which many names of one side begin: they tell nothing apart. */
  readonly headers: ReadonlySet<string>
  readonly candidates: ReadonlySet<string>
  /** How many names of a side have a word. */
  readonly headerCounts: ReadonlyMap<string, number>
  readonly candidateCounts: ReadonlyMap<string, number>
}

/** `rows`: what the rows are; the names of both sides as their meanings. */
export function nameContext(
  rows: string,
  headers: readonly (readonly string[])[],
  candidates: readonly (readonly string[])[],
): NameContext {
  const own = meaningsOf(rows)
  return {
    headers: new Set([...own, ...sharedBeginnings(headers)]),
    candidates: new Set([...own, ...sharedBeginnings(candidates)]),
    headerCounts: countWords(headers),
    candidateCounts: countWords(candidates),
  }
}

function countWords(names: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) for (const word of new Set(name)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

const MIN_SHARED_BEGINNINGS = 3

const SHARED_BEGINNINGS = 0.15

/**
 * `stop_id, stop_name, stop_lat`: words with which many names begin, unless they tell names apart (`billing city`, `shipping city`).
 * One after the other, for beginnings of several words.
 */
function sharedBeginnings(names: readonly (readonly string[])[]): Set<string> {
  const found = new Set<string>()
  let left = names
  for (let round = 0; round < 3; round++) {
    const enough = Math.max(MIN_SHARED_BEGINNINGS, SHARED_BEGINNINGS * names.length)
    const firsts = countWords(left.filter((name) => name.length > 1).map((name) => [name[0]!]))
    const shared = [...firsts]
      .filter(([word, count]) => count >= enough && !isGeneric(word))
      .map(([word]) => word)
    const telling = shared.filter((word) => !tellsApart(word, left, firsts))
    if (telling.length === 0) return found
    for (const word of telling) found.add(word)
    left = left.map((name) => (name.length > 1 && telling.includes(name[0]!) ? name.slice(1) : name))
  }
  return found
}

/** There is a `shipping city` besides the `billing city`; but a `file name` besides an `activity name` is another thing. */
function tellsApart(
  word: string,
  names: readonly (readonly string[])[],
  firsts: ReadonlyMap<string, number>,
): boolean {
  const begins = (name: readonly string[]) => name.length > 1 && name[0] === word
  const others = names.filter((name) => !begins(name))
  const rests = names.filter(begins).map((name) => name.slice(1))
  if (new Set(rests.map((rest) => rest.join(' '))).size < rests.length) return true
  return rests.some((rest) =>
    others.some((other) => {
      if (other.slice(-rest.length).join(' ') !== rest.join(' ')) return false
      return other.length === rest.length || !rest.every(isGeneric) || (firsts.get(other[0]!) ?? 0) > 1
    }),
  )
}

export const UNCERTAIN_LIKENESS = 0.6

export function likeness(column: Reading, known: Reading, context: NameContext): number {
  if (isSameWords(column.words, known.words)) return 1
  const byWords = Math.max(
    wordLikeness(column.meanings, known.meanings, context),
    containment(column.meanings, known.meanings, context),
  )
  const away = relativeDistance(column.key, known.key)
  const byLetters = Math.min(column.key.length, known.key.length) >= 4 && away <= 0.25 ? 0.95 - away : 0
  const like = Math.max(byWords, byLetters)
  const isOther = isQualified(column.meanings, known.meanings) || isQualified(known.meanings, column.meanings)
  return Math.max(
    isOther ? Math.min(like, UNCERTAIN_LIKENESS) : like,
    shorthandLikeness(column.words, known.words),
  )
}

/** `Max heart rate` is not the heart rate. */
function isQualified(words: readonly string[], others: readonly string[]): boolean {
  return words.some(
    (word) => QUALIFIERS.has(word) && others.every((other) => wordNearness(word, other) === 0),
  )
}

/** `nameGiven` and `given_name`. */
function isSameWords(left: readonly string[], right: readonly string[]): boolean {
  return (
    left.length > 1 &&
    left.length === right.length &&
    [...left].sort().join(' ') === [...right].sort().join(' ')
  )
}

const CONTAINED_LIKENESS = 0.74

/** Words that make another thing of what they stand with. */
export const QUALIFIERS: ReadonlySet<string> = new Set(
  'parent old previous prior former alternative alt secondary second third converted refunded max maximum min minimum average avg mean planned estimated actual target next non not other additional last first'.split(
    ' ',
  ),
)

/** One name says all that the other says, with a word that no other name of either side has: `City` is `primary_address_city`. */
function containment(left: readonly string[], right: readonly string[], context: NameContext): number {
  const tells = (word: string, side: ReadonlySet<string>) => !side.has(word)
  const [own, known] = [
    left.filter((word) => tells(word, context.headers)),
    right.filter((word) => tells(word, context.candidates)),
  ]
  const [few, many] = own.length <= known.length ? [own, known] : [known, own]
  if (few.length === 0 || !few.every((word) => many.includes(word))) return 0
  const isTelling = (word: string) =>
    !isGeneric(word) && context.headerCounts.get(word) === 1 && context.candidateCounts.get(word) === 1
  return few.some(isTelling) ? CONTAINED_LIKENESS : 0
}

/** Initials: `max_hr` is Max Heart Rate, `F. Name` is the first name. Every word must be accounted for. */
function shorthandLikeness(left: readonly string[], right: readonly string[]): number {
  return Math.max(expands(left, right), expands(right, left)) * SHORTHAND_LIKENESS
}

const SHORTHAND_LIKENESS = 0.8

function expands(short: readonly string[], long: readonly string[]): number {
  let at = 0
  let initials = 0
  let same = 0
  for (const word of short) {
    if (
      long[at] !== undefined &&
      (word === long[at] || (word.length >= 3 && wordNearness(word, long[at]!) >= 0.6))
    ) {
      at++
      same++
      continue
    }
    const span = initialsOf(word, long.slice(at))
    if (span === 0) return 0
    at += span
    initials += span
  }
  return at === long.length && initials > 0 && (same > 0 || initials > 1) ? 1 : 0
}

/** How many words `hr` or `fname` stands for. */
function initialsOf(word: string, words: readonly string[]): number {
  const starts = (letters: string, of: readonly string[]) =>
    letters.length <= of.length &&
    [...letters].every((letter, index) => of[index]!.length >= 3 && of[index]!.startsWith(letter))
  if (word.length <= 3 && starts(word, words)) return word.length
  // The last one is written out.
  const count = words.findIndex(
    (last, index) =>
      index > 0 && last.length >= 3 && word.endsWith(last) && word.length === last.length + index,
  )
  return count > 0 && starts(word.slice(0, count), words) ? count + 1 : 0
}

/** Words that stand for the id of a row. */
export const IDENTIFIERS: ReadonlySet<string> = new Set(['id', 'number', 'code', 'reference', 'sku'])

/** The share of their words that agree; the table's own name and words such as `number` count for less. */
function wordLikeness(left: readonly string[], right: readonly string[], context: NameContext): number {
  if (left.length === 0 || right.length === 0) return 0
  const isOnly = (words: readonly string[], side: ReadonlySet<string>) =>
    words.every((word) => side.has(word))
  // `Product` above the names or the numbers of products.
  if (isOnly(left, context.headers) && context.headers.size > 0) {
    const rest = right.filter((word) => !context.candidates.has(word))
    if (
      rest.length === 1 &&
      (rest[0] === 'name' || rest[0] === 'title' || (right.length > 1 && IDENTIFIERS.has(rest[0]!)))
    )
      return 0.62
    if (right.length === 1 && (right[0] === 'name' || right[0] === 'title')) return 0
  }
  const weightOf = (word: string, words: readonly string[], side: ReadonlySet<string>) =>
    side.has(word) && !isOnly(words, side) ? 0.15 : isGeneric(word) ? 0.6 : 1
  const near = left.flatMap((word) =>
    right.map((other) => ({ word, other, near: wordNearness(word, other) })),
  )
  const [taken, open] = [new Set<string>(), new Set(right)]
  let shared = 0
  for (const found of near.filter((pair) => pair.near > 0).sort((a, b) => b.near - a.near)) {
    if (taken.has(found.word) || !open.has(found.other)) continue
    taken.add(found.word)
    open.delete(found.other)
    shared +=
      found.near *
      Math.min(weightOf(found.word, left, context.headers), weightOf(found.other, right, context.candidates))
  }
  const sum = (words: readonly string[], side: ReadonlySet<string>) =>
    words.reduce((total, word) => total + weightOf(word, words, side), 0)
  // `Contact` is the name of the contact rather than anything else of it.
  const isImplied = open.has('name') && left.length === right.length - 1
  const share =
    (2 * shared) / (sum(left, context.headers) + sum(right, context.candidates) - (isImplied ? 0.4 : 0))
  // By the dictionary they say the same, but not in the same words.
  return Math.min(share, 0.96)
}

function wordNearness(left: string, right: string): number {
  const known = nearness(left, right)
  if (known > 0) return known
  if (isKnownMeaning(left) && isKnownMeaning(right)) return 0
  const [short, long] = left.length <= right.length ? [left, right] : [right, left]
  if (short.length >= 5 && relativeDistance(left, right) <= 0.2) return 0.9
  if (short.length >= 3 && long.startsWith(short)) return 0.8
  // qtd, cstmr, avg: the consonants of a longer word behind its first letter; lng are the first ones of longitude.
  const isAbbreviation = short.length >= 3 && long.length >= 2 * short.length && isSubsequence(short, long)
  if (!isAbbreviation || /[aeiou]/.test(short.slice(1))) return 0
  return `${long[0]}${long.slice(1).replace(/[aeiou]/g, '')}`.startsWith(short) ? 0.75 : 0.6
}

function isSubsequence(short: string, long: string): boolean {
  if (short[0] !== long[0]) return false
  let at = 0
  for (const letter of long) if (letter === short[at]) at++
  return at === short.length
}

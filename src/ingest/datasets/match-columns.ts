/**
 * Which column of a file is which column of a table, or field of a dataset: by name, by likeness of names, and by what is in
 * them. Each file column gets at most one candidate and each candidate at most one file column, so that the total is best.
 * It rather asks than guesses: where two candidates are near, or two file columns want the same one, the match is `uncertain`.
 */
import { isGeneric, isKnownMeaning, meaningsOf, nearness, wordsOf } from './column-words.ts'
import type { FieldType } from './dataset.ts'
import { NULL_TOKENS } from './dataset.ts'
import { headerKey } from './header-key.ts'
import { relativeDistance } from './headers.ts'
import { hasForm, type ValueForm } from './value-patterns.ts'

export interface FileColumn {
  readonly header: string
  /** Distinct values of it, as they stand in the file; some hundreds are enough. */
  readonly values?: readonly string[]
  /** No filled value of the file is there twice. */
  readonly unique?: boolean
}

export interface Candidate {
  readonly name: string
  readonly title?: string | undefined
  readonly aliases?: readonly string[] | undefined
  readonly type?: FieldType | undefined
  /** All values that it takes: those of an enum, or of the table in which they are looked up. */
  readonly accepts?: readonly string[] | undefined
  /** Every value of the file that it takes is in `accepts`. */
  readonly acceptsNoOther?: true | undefined
  /** The type of the ids that it takes besides the names in `accepts`. */
  readonly ids?: FieldType | undefined
  /** Some of the values that it has now. */
  readonly samples?: readonly string[] | undefined
  readonly required?: boolean | undefined
  readonly unique?: boolean | undefined
  /** An id that the database gives: what another system calls an id is another one. */
  readonly surrogate?: boolean | undefined
  /** `samples` are all that there are. */
  readonly allSampled?: boolean | undefined
}

export const CERTAINTIES = ['sure', 'likely', 'uncertain', 'none'] as const
export type Certainty = (typeof CERTAINTIES)[number]

export type MatchReason =
  | 'same name'
  | 'same meaning'
  | 'similar name'
  | 'values fit the type'
  | 'values do not fit the type'
  | 'values found in the table'
  | 'another column is as near'

export interface ColumnMatch {
  /** Of the file column, from 0. */
  readonly column: number
  readonly header: string
  /** The name of a candidate; null: none. */
  readonly candidate: string | null
  /** 0 to 1. */
  readonly score: number
  readonly certainty: Certainty
  readonly reasons: readonly MatchReason[]
  /** Others that it may be, best first. */
  readonly others: readonly { readonly candidate: string; readonly score: number }[]
}

export interface MatchOptions {
  /** What the rows are, such as the table's name: `Product name` is the name of products. */
  readonly context?: string
}

/** Matches in the order of the file's columns, one for each. */
export function matchColumns(
  columns: readonly FileColumn[],
  candidates: readonly Candidate[],
  options: MatchOptions = {},
): ColumnMatch[] {
  const known = candidates.map((candidate) => describeCandidate(candidate))
  const described = columns.map(describeColumn)
  const pairs = withExclusiveContent(
    scorePairs(described, known, contextOf(options.context ?? '', described, known)),
    described,
    known,
  )
  const assigned = assign(pairs.map((row) => row.map(({ score }) => (score >= MIN_SCORE ? score : 0))))
  return columns.map(({ header }, column) => {
    const at = assigned[column]!
    const others = rivalsOf(pairs, assigned, column)
    const listed = others
      .slice(0, 3)
      .map(({ index, score }) => ({ candidate: candidates[index]!.name, score }))
    if (at < 0)
      return { column, header, candidate: null, score: 0, certainty: 'none', reasons: [], others: listed }
    const pair = pairs[column]![at]!
    const isContested =
      (others[0] && pair.score - others[0].score < MIN_LEAD && pair.name < 1) ||
      isWantedByAnother(pairs, assigned, column, at)
    return {
      column,
      header,
      candidate: candidates[at]!.name,
      score: pair.score,
      certainty: isContested ? 'uncertain' : certaintyOf(pair),
      reasons: isContested ? [...pair.reasons, 'another column is as near'] : pair.reasons,
      others: listed,
    }
  })
}

/** Below it a pair is no match at all, above the next ones it is uncertain, likely, sure. */
const MIN_SCORE = 0.35
const LIKELY_SCORE = 0.68
const SURE_SCORE = 0.88
/** A rival that is nearer than that makes a match uncertain. */
const MIN_LEAD = 0.1

interface Pair {
  score: number
  /** How alike the names are. */
  name: number
  fits: Fit
  reasons: MatchReason[]
}

function certaintyOf({ score, name, fits }: Pair): Certainty {
  if (fits.type === 'no') return 'uncertain'
  // A name that is only like it, and nothing in the values that speaks for it.
  if (score >= SURE_SCORE && (name >= 0.99 || fits.type === 'yes' || fits.found >= MIN_FOUND)) return 'sure'
  return score >= LIKELY_SCORE ? 'likely' : 'uncertain'
}

/** A name in one of the ways in which it can be read. */
interface Reading {
  key: string
  words: string[]
  meanings: string[]
  /** The most that this way of reading says. */
  cap: number
}

interface DescribedColumn {
  key: string
  readings: Reading[]
  values: readonly string[]
  lowered: Set<string>
  unique: boolean | undefined
}

interface DescribedCandidate {
  names: Reading[]
  type: FieldType | undefined
  accepts: Set<string> | undefined
  acceptsNoOther: boolean
  ids: FieldType | undefined
  samples: Set<string> | undefined
  allSampled: boolean
  unique: boolean | undefined
  surrogate: boolean
}

function readingOf(name: string, cap = 1): Reading {
  return { key: headerKey(name), words: wordsOf(name), meanings: meaningsOf(name), cap }
}

const INNER_CAP = 0.8

/** `State/Region` is either; what stands in brackets explains, or is the name itself: `Custom field (Story points)`. */
function readingsOf(header: string): Reading[] {
  const either = header.split('/').filter((part) => part.trim().length >= 3)
  if (either.length > 1) return either.map((part) => readingOf(part))
  const [, outer, inner] = /^(.+?)\s*[([]([^)\]]{4,})[)\]]\s*$/.exec(header) ?? []
  if (outer === undefined) return [readingOf(header)]
  return [readingOf(header), readingOf(outer), readingOf(inner!, INNER_CAP)]
}

function describeColumn({ header, values = [], unique }: FileColumn): DescribedColumn {
  const filled = values.map((value) => value.trim()).filter((value) => !EMPTY.has(value))
  return {
    key: headerKey(header),
    readings: readingsOf(header),
    values: filled,
    lowered: new Set(filled.map((value) => value.toLowerCase())),
    unique,
  }
}

const EMPTY: ReadonlySet<string> = new Set(NULL_TOKENS)

const DATED: ReadonlySet<FieldType> = new Set(['date', 'timestamp', 'timestamptz'])

function describeCandidate({
  name,
  title,
  aliases = [],
  type,
  accepts,
  acceptsNoOther,
  ids,
  samples,
  allSampled,
  unique,
  surrogate,
}: Candidate): DescribedCandidate {
  // `sent_on` is the date of sending.
  const dated = type && DATED.has(type) ? [`${name} date`] : []
  const names = [name, ...(title === undefined ? [] : [title]), ...aliases, ...dated]
  return {
    names: names.map((text) => readingOf(text)),
    type,
    accepts: accepts && lowerSet(accepts),
    acceptsNoOther: acceptsNoOther === true,
    ids,
    samples: samples && lowerSet(samples),
    allSampled: allSampled === true,
    unique,
    surrogate: surrogate === true,
  }
}

/** What the names around a pair say about the weight of its words. */
interface Context {
  /** Words of what the rows are, and those with which many names of one side begin: they tell nothing apart. */
  readonly headers: ReadonlySet<string>
  readonly candidates: ReadonlySet<string>
  /** How many names of a side have a word. */
  readonly headerCounts: ReadonlyMap<string, number>
  readonly candidateCounts: ReadonlyMap<string, number>
  /** Other candidates are keys that people know. */
  readonly hasNaturalKey: boolean
}

function contextOf(
  rows: string,
  columns: readonly DescribedColumn[],
  candidates: readonly DescribedCandidate[],
): Context {
  const own = meaningsOf(rows)
  const headers = columns.map(({ readings }) => readings[0]!.meanings)
  const names = candidates.map((candidate) => candidate.names[0]!.meanings)
  return {
    headers: new Set([...own, ...sharedBeginnings(headers)]),
    candidates: new Set([...own, ...sharedBeginnings(names)]),
    headerCounts: countWords(headers),
    candidateCounts: countWords(names),
    hasNaturalKey: candidates.some(({ unique, surrogate }) => unique && !surrogate),
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

/** A pair of the same name that fits is settled: the two are not compared with anything else, or 1,600 columns would take long. */
function scorePairs(
  columns: readonly DescribedColumn[],
  candidates: readonly DescribedCandidate[],
  context: Context,
): Pair[][] {
  const byKey = new Map<string, number[]>()
  for (const [index, { names }] of candidates.entries())
    for (const key of new Set(names.map((name) => name.key)))
      byKey.set(key, [...(byKey.get(key) ?? []), index])
  const repeated = new Set(columns.map(({ key }) => key).filter((key, at, all) => all.indexOf(key) !== at))
  const settled = new Map<number, Pair & { at: number }>()
  for (const [index, column] of columns.entries()) {
    const same = byKey.get(column.key) ?? []
    if (same.length !== 1 || repeated.has(column.key)) continue
    const pair = scorePair(column, candidates[same[0]!]!, context)
    if (pair.name >= 1 && pair.score >= 1) settled.set(index, { ...pair, at: same[0]! })
  }
  const taken = new Map<number, number>()
  for (const { at } of settled.values()) taken.set(at, (taken.get(at) ?? 0) + 1)
  return columns.map((column, index) => {
    const own = settled.get(index)
    return candidates.map((candidate, at) => {
      if (own?.at === at) return own
      // Two file columns with names of one candidate are compared, so that it is asked which is meant.
      if ((own && taken.get(own.at) === 1) || taken.get(at) === 1) return NO_PAIR
      return scorePair(column, candidate, context)
    })
  })
}

const EXCLUSIVE_SCORE = 0.72

/**
 * Every value is in the list of one candidate and in no other list, and no other column has such values: that tells without a name.
 * Names with a word such as `previous` mean another thing with the same values.
 */
function withExclusiveContent(
  pairs: Pair[][],
  columns: readonly DescribedColumn[],
  candidates: readonly DescribedCandidate[],
): Pair[][] {
  const listed = candidates.flatMap(({ accepts }, index) => (accepts ? [index] : []))
  const someFound = (row: readonly Pair[], index: number) => row[index]!.fits.found > 0
  return pairs.map((row, at) => {
    const { lowered, readings } = columns[at]!
    const found = listed.filter((index) => someFound(row, index))
    const [only] = found
    if (found.length !== 1 || row[only!]!.fits.found < 1 || lowered.size < 2) return row
    if (readings.some(({ words }) => words.some((word) => QUALIFIERS.has(word)))) return row
    const isShared = pairs.some((other, index) => index !== at && someFound(other, only!))
    if (isShared || row[only!]!.score >= EXCLUSIVE_SCORE) return row
    return row.map((pair, index) => (index === only ? { ...pair, score: EXCLUSIVE_SCORE } : pair))
  })
}

const NO_PAIR: Pair = { score: 0, name: 0, fits: { type: 'open', found: 0 }, reasons: [] }

function lowerSet(values: readonly string[]): Set<string> {
  return new Set(values.map((value) => value.trim().toLowerCase()))
}

function scorePair(column: DescribedColumn, candidate: DescribedCandidate, context: Context): Pair {
  let name = 0
  let isSame = false
  let isMeaning = false
  for (const known of candidate.names) {
    for (const reading of column.readings) {
      if (
        known.key !== '' &&
        (known.key === column.key || (known.key === reading.key && reading.cap === 1))
      ) {
        name = 1
        isSame = true
        break
      }
      const like = Math.min(likeness(reading, known, context), reading.cap)
      if (like > name) {
        name = like
        isMeaning = like >= MEANING_LIKENESS && reading.meanings.every(isKnownMeaning)
      }
    }
    if (isSame) break
  }
  const fits = fitOf(column, candidate)
  name = withIdentity(name, isSame, column, candidate, context)
  const reasons: MatchReason[] = []
  if (isSame) reasons.push('same name')
  else if (name >= MIN_SCORE) reasons.push(isMeaning ? 'same meaning' : 'similar name')
  if (fits.type === 'yes' && fits.found < MIN_FOUND) reasons.push('values fit the type')
  if (fits.type === 'no') reasons.push('values do not fit the type')
  if (fits.found >= MIN_FOUND) reasons.push('values found in the table')
  return { score: totalOf(name, fits), name, fits, reasons }
}

/** Words that stand for the id of a row. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['id', 'number', 'code', 'reference', 'sku'])
const IDENTITY_LIKENESS = 0.76

/**
 * Ids of rows. `Record ID`, different in every line, is the only column of the table with an id that people know, whatever that is
 * called (`hubspot_id`); it is not the number that the database gives, unless rows have those numbers.
 */
function withIdentity(
  name: number,
  isSame: boolean,
  column: DescribedColumn,
  { surrogate, unique, names, samples, allSampled }: DescribedCandidate,
  context: Context,
): number {
  if (surrogate) {
    const known = samples ? shareIn(column.lowered, samples) : 0
    if (allSampled && samples && samples.size > 0 && known === 0 && column.values.length > 0) return 0
    if (known >= MIN_FOUND) return name
    const isId = column.readings.some(({ words }) => words.at(-1) === 'id')
    return !isSame && (context.hasNaturalKey || !isId) ? Math.min(name, UNCERTAIN_LIKENESS) : name
  }
  if (!unique || column.unique !== true || name >= MEANING_LIKENESS) return name
  // Rows have other keys than these.
  if (samples && samples.size > 0 && shareIn(column.lowered, samples) === 0)
    return Math.min(name, UNCERTAIN_LIKENESS)
  const [reading] = column.readings
  const rest = reading!.meanings.filter((word) => !context.headers.has(word) && !ROW_WORDS.has(word))
  if (rest.length !== 1 || !IDENTIFIERS.has(rest[0]!)) return name
  // In the same words, or in those of another language: an `Issue key` is not an `Issue id`.
  const [word, known] = [reading!.words.at(-1)!, names[0]!.words.at(-1)!]
  return known === word || (known === rest[0] && word !== 'key') ? Math.max(name, IDENTITY_LIKENESS) : name
}

/** Words for a row of any table. */
const ROW_WORDS: ReadonlySet<string> = new Set(['record', 'row', 'entry', 'object', 'external', 'unique'])
const UNCERTAIN_LIKENESS = 0.6

const MEANING_LIKENESS = 0.93

/** Names first; what is in the column speaks for or against it, and alone it is enough to ask. */
function totalOf(name: number, { type, found, isKey }: Fit): number {
  const byName = name === 0 ? 0 : name + (type === 'yes' ? 0.05 : 0) + (found >= MIN_FOUND ? 0.15 * found : 0)
  const byContent =
    found < MIN_FOUND ? 0 : isKey ? 0.6 + 0.3 * found + 0.1 * name : 0.35 + 0.3 * found + 0.3 * name
  const total = Math.max(byName, byContent)
  return Math.min(1, type === 'no' ? total * 0.55 : total)
}

// Names.

function likeness(column: Reading, known: Reading, context: Context): number {
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
const QUALIFIERS: ReadonlySet<string> = new Set(
  'parent old previous prior former alternative alt secondary second third converted refunded max maximum min minimum average avg mean planned estimated actual target next non not other additional last first'.split(
    ' ',
  ),
)

/** One name says all that the other says, with a word that no other name of either side has: `City` is `primary_address_city`. */
function containment(left: readonly string[], right: readonly string[], context: Context): number {
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

/** The share of their words that agree; the table's own name and words such as `number` count for less. */
function wordLikeness(left: readonly string[], right: readonly string[], context: Context): number {
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

// Content.

interface Fit {
  type: 'yes' | 'no' | 'open'
  /** Share of the values that are in the table, where that means something. */
  found: number
  /** Both are different in every line and row. */
  isKey?: boolean
}

const MIN_FOUND = 0.5
const MIN_VALUES_FOUND = 3
/** Of two columns that are both unique, whose values are no small numbers. */
const MIN_KEYS_FOUND = 2

function fitOf(
  column: DescribedColumn,
  { type, accepts, acceptsNoOther, ids, samples, unique }: DescribedCandidate,
): Fit {
  const { values, lowered } = column
  if (values.length === 0) return { type: 'open', found: 0 }
  if (accepts) {
    const share = shareIn(lowered, accepts)
    if (share >= MIN_FOUND) return { type: 'yes', found: share }
    const isOther =
      ids === undefined
        ? lowered.size >= MIN_VALUES_FOUND
        : lowered.size > 1 && valuesFit(values, ids) === 'no'
    if (acceptsNoOther && share === 0 && isOther) return { type: 'no', found: 0 }
    // What an enum takes is a list that may be spelt otherwise in the file; a list that shares nothing is another.
    return { type: type === 'enum' && lowered.size > 3 * accepts.size + 5 ? 'no' : 'open', found: 0 }
  }
  const typed = type === undefined ? 'open' : valuesFit(values, type)
  // Small numbers and flags are in every table.
  const isKey = unique === true && column.unique === true && values.every((value) => value.length >= 3)
  const enough = isKey ? MIN_KEYS_FOUND : MIN_VALUES_FOUND
  const isTelling = samples && samples.size >= enough && isDistinctive(type, unique)
  const found = isTelling ? shareIn(lowered, samples) : 0
  return { type: typed, found: lowered.size >= enough ? found : 0, isKey }
}

function isDistinctive(type: FieldType | undefined, unique: boolean | undefined): boolean {
  if (
    type === undefined ||
    type === 'text' ||
    type === 'id' ||
    type === 'email' ||
    type === 'url' ||
    type === 'uuid'
  )
    return true
  return type === 'integer' && unique === true
}

function shareIn(values: ReadonlySet<string>, list: ReadonlySet<string>): number {
  let found = 0
  for (const value of values) if (list.has(value)) found++
  return values.size === 0 ? 0 : found / values.size
}

/** The forms of which a type reads at least one. Text reads everything, and so tells nothing. */
const FORMS: Partial<Record<FieldType, readonly ValueForm[]>> = {
  integer: ['integer', 'groupedInteger'],
  decimal: ['decimal', 'money', 'percent'],
  money: ['decimal', 'money'],
  percent: ['decimal', 'percent'],
  boolean: ['boolean', 'bit'],
  date: ['date', 'timestamp', 'timestamptz'],
  time: ['time'],
  timestamp: ['date', 'timestamp', 'timestamptz'],
  timestamptz: ['date', 'timestamp', 'timestamptz'],
  uuid: ['uuid'],
  json: ['json'],
  email: ['email'],
  url: ['url'],
}

/** Some values of a real file are always wrong; most of them are right. */
const MOST = 0.8
const FEW = 0.5

/** Whether values as people write them can be of a type. */
export function valuesFit(values: readonly string[], type: FieldType): 'yes' | 'no' | 'open' {
  const forms = FORMS[type]
  if (!forms || values.length === 0) return 'open'
  const right = values.filter((value) => forms.some((form) => hasForm(value, form))).length / values.length
  if (right >= MOST) return 'yes'
  // Booleans have words of their own in many systems: A/I, aktiv/inaktiv.
  if (type === 'boolean' && values.length <= 4) return 'open'
  return right < FEW ? 'no' : 'open'
}

// The assignment with the best total.

/** For each row the index of its column, or -1. Pairs with a score of 0 are never assigned. */
function assign(scores: readonly (readonly number[])[]): number[] {
  const result = scores.map(() => -1)
  const open = { rows: new Set(scores.keys()), columns: new Set(scores[0]?.keys() ?? []) }
  // The same name on both sides needs no weighing; what is left is small even for a table of 1,600 columns.
  for (const row of open.rows) {
    const same = [...open.columns].filter((column) => scores[row]![column]! >= 1)
    if (same.length !== 1) continue
    result[row] = same[0]!
    open.rows.delete(row)
    open.columns.delete(same[0]!)
  }
  const rows = [...open.rows].filter((row) => [...open.columns].some((column) => scores[row]![column]! > 0))
  const columns = [...open.columns].filter((column) => rows.some((row) => scores[row]![column]! > 0))
  if (rows.length === 0) return result
  const weights = rows.map((row) => columns.map((column) => scores[row]![column]!))
  const best = rows.length * columns.length > MAX_WEIGHED ? assignGreedily(weights) : assignOptimally(weights)
  for (const [index, at] of best.entries()) if (at >= 0) result[rows[index]!] = columns[at]!
  return result
}

const MAX_WEIGHED = 250_000

function assignGreedily(weights: readonly (readonly number[])[]): number[] {
  const pairs = weights.flatMap((row, at) => row.map((weight, column) => ({ at, column, weight })))
  const result = weights.map(() => -1)
  const taken = new Set<number>()
  for (const { at, column, weight } of pairs.sort((a, b) => b.weight - a.weight)) {
    if (weight <= 0 || result[at]! >= 0 || taken.has(column)) continue
    result[at] = column
    taken.add(column)
  }
  return result
}

/** The Hungarian method (Jonker's form of it with potentials), on a matrix that is filled up to a square. */
function assignOptimally(weights: readonly (readonly number[])[]): number[] {
  const size = Math.max(weights.length, weights[0]!.length)
  const costOf = (row: number, column: number) => -((weights[row]?.[column] ?? 0) ** 2)
  const rowPotential = new Float64Array(size + 1)
  const columnPotential = new Float64Array(size + 1)
  const rowOf = new Int32Array(size + 1)
  const before = new Int32Array(size + 1)
  for (let row = 1; row <= size; row++) {
    rowOf[0] = row
    let column = 0
    const least = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY)
    const isUsed = new Uint8Array(size + 1)
    do {
      isUsed[column] = 1
      const from = rowOf[column]!
      let delta = Number.POSITIVE_INFINITY
      let next = 0
      for (let other = 1; other <= size; other++) {
        if (isUsed[other]) continue
        const reduced = costOf(from - 1, other - 1) - rowPotential[from]! - columnPotential[other]!
        if (reduced < least[other]!) {
          least[other] = reduced
          before[other] = column
        }
        if (least[other]! < delta) {
          delta = least[other]!
          next = other
        }
      }
      for (let other = 0; other <= size; other++) {
        if (isUsed[other]) {
          rowPotential[rowOf[other]!] = rowPotential[rowOf[other]!]! + delta
          columnPotential[other] = columnPotential[other]! - delta
        } else least[other] = least[other]! - delta
      }
      column = next
    } while (rowOf[column] !== 0)
    do {
      const previous = before[column]!
      rowOf[column] = rowOf[previous]!
      column = previous
    } while (column !== 0)
  }
  const result = weights.map(() => -1)
  for (let column = 1; column <= size; column++) {
    const row = rowOf[column]! - 1
    if ((weights[row]?.[column - 1] ?? 0) > 0) result[row] = column - 1
  }
  return result
}

/** Candidates that the column may be as well: those that no other column has by a better right. */
function rivalsOf(
  pairs: readonly (readonly Pair[])[],
  assigned: readonly number[],
  column: number,
): { index: number; score: number }[] {
  const holders = holdersOf(assigned)
  return pairs[column]!.map(({ score }, index) => ({ index, score }))
    .filter(({ index, score }) => {
      if (score < MIN_SCORE || index === assigned[column]) return false
      const holder = holders.get(index)
      return holder === undefined || pairs[holder]![index]!.score < score + MIN_LEAD
    })
    .sort((a, b) => b.score - a.score)
}

/** Another column without a match of its own is as near to this candidate. */
function isWantedByAnother(
  pairs: readonly (readonly Pair[])[],
  assigned: readonly number[],
  column: number,
  candidate: number,
): boolean {
  const own = pairs[column]![candidate]!
  if (own.name >= 1) return pairs.some((row, at) => at !== column && row[candidate]!.name >= 1)
  return pairs.some((row, at) => {
    if (at === column || row[candidate]!.score < own.score - MIN_LEAD || row[candidate]!.score < MIN_SCORE)
      return false
    const other = assigned[at]!
    return other < 0 || row[other]!.score < row[candidate]!.score
  })
}

const holderCache = new WeakMap<readonly number[], Map<number, number>>()

function holdersOf(assigned: readonly number[]): Map<number, number> {
  const cached = holderCache.get(assigned)
  if (cached) return cached
  const holders = new Map(
    assigned.flatMap((candidate, column) => (candidate < 0 ? [] : [[candidate, column] as const])),
  )
  holderCache.set(assigned, holders)
  return holders
}

/**
 * Which column of a file is which column of a table, or field of a dataset: by name, by likeness of names, and by what is in
 * them. Each file column gets at most one candidate and each candidate at most one file column, so that the total is best.
 * It rather asks than guesses: where two candidates are near, or two file columns want the same one, the match is `uncertain`.
 */
import { assign } from './assignment.ts'
import { isKnownMeaning } from './column-words.ts'
import type { FieldType } from './dataset.ts'
import { NULL_TOKENS } from './dataset.ts'
import { headerKey } from './header-key.ts'
import {
  IDENTIFIERS,
  likeness,
  type NameContext,
  nameContext,
  QUALIFIERS,
  type Reading,
  readingOf,
  readingsOf,
  UNCERTAIN_LIKENESS,
} from './name-likeness.ts'
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

interface Context extends NameContext {
  /** Other candidates are keys that people know. */
  readonly hasNaturalKey: boolean
}

function contextOf(
  rows: string,
  columns: readonly DescribedColumn[],
  candidates: readonly DescribedCandidate[],
): Context {
  const headers = columns.map(({ readings }) => readings[0]!.meanings)
  const names = candidates.map((candidate) => candidate.names[0]!.meanings)
  return {
    ...nameContext(rows, headers, names),
    hasNaturalKey: candidates.some(({ unique, surrogate }) => unique && !surrogate),
  }
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

const MEANING_LIKENESS = 0.93

/** Names first; what is in the column speaks for or against it, and alone it is enough to ask. */
function totalOf(name: number, { type, found, isKey }: Fit): number {
  const byName = name === 0 ? 0 : name + (type === 'yes' ? 0.05 : 0) + (found >= MIN_FOUND ? 0.15 * found : 0)
  const byContent =
    found < MIN_FOUND ? 0 : isKey ? 0.6 + 0.3 * found + 0.1 * name : 0.35 + 0.3 * found + 0.3 * name
  const total = Math.max(byName, byContent)
  return Math.min(1, type === 'no' ? total * 0.55 : total)
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

/** What a hit shows of a text, and where in it the words of the question stand. */
import type { Queryable } from '../db/connection.ts'

/** Characters, not UTF-16 units: half-open, from 0. */
export type Range = readonly [from: number, to: number]

export interface Snippet {
  readonly snippet: string
  readonly highlights: readonly Range[]
}

/** The word of the question that this one answers to, if any. Asked with folded words. */
export type Match = (word: string) => string | undefined

const SNIPPET_SIZE = 240
/** A little before the first word, so that one sees in what it stands. */
const LEAD = 40
const HEADING = /^#{1,6} +/gm
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Letters that are no letter with a mark to Unicode, but are typed so. The same as in fn_search_plain: a test compares them. */
const PLAIN: Readonly<Record<string, string>> = { đ: 'd', ł: 'l', ø: 'o' }
/** fn_search_parse takes as many. */
const MOST_PREFIXES = 8

/** As words are compared where no stemmer is: without case and marks, as fn_search_plain leaves them. */
export function fold(word: string): string {
  if (/^[\x20-\x7e]*$/.test(word)) return word.toLowerCase()
  return word
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[đłø]/g, (letter) => PLAIN[letter]!)
}

export interface QueryWords {
  readonly words: readonly string[]
  /** Of `word*`. */
  readonly prefixes: readonly string[]
}

export function queryWords(text: string): QueryWords {
  const words = new Set<string>()
  const prefixes = new Set<string>()
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const isPrefix =
      word.length > 1 && /^\*(\s|$)/.test(text.slice(index + word.length, index + word.length + 2))
    ;(isPrefix ? prefixes : words).add(fold(word))
  }
  return { words: [...words], prefixes: [...prefixes].sort().slice(0, MOST_PREFIXES) }
}

/** The part of the text in which most of the question's words stand, on one line. */
export function snippetOf(text: string, match: Match, size = SNIPPET_SIZE): Snippet {
  const line = text.replace(/\s+/g, ' ').trim()
  const found = [...line.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    const key = match(fold(word))
    return key === undefined ? [] : [{ key, from: index, to: index + word.length }]
  })
  const [from, to] = bestWindow(line, found, size)
  const lead = from > 0 ? '…' : ''
  const snippet = lead + line.slice(from, to) + (to < line.length ? '…' : '')
  const characters = (end: number): number => [...line.slice(from, end)].length + lead.length
  return {
    snippet,
    highlights: found
      .filter((word) => word.from >= from && word.to <= to)
      .map((word): Range => [characters(word.from), characters(word.to)]),
  }
}

interface Found {
  readonly key: string
  readonly from: number
  readonly to: number
}

/** Different words count before many; of equal windows the first. */
function bestWindow(line: string, found: readonly Found[], size: number): Range {
  if (line.length <= size) return [0, line.length]
  let best = { start: 0, different: 0, many: 0 }
  const within = new Map<string, number>()
  let end = 0
  found.forEach((first, index) => {
    for (; end < found.length && found[end]!.to <= first.from + size - LEAD; end++)
      within.set(found[end]!.key, (within.get(found[end]!.key) ?? 0) + 1)
    const many = end - index
    if (within.size > best.different || (within.size === best.different && many > best.many))
      best = { start: first.from, different: within.size, many }
    const left = (within.get(first.key) ?? 1) - 1
    if (left > 0) within.set(first.key, left)
    else within.delete(first.key)
  })
  const from = afterSpace(line, Math.min(Math.max(0, best.start - LEAD), line.length - size), best.start)
  return [from, beforeSpace(line, Math.min(line.length, from + size))]
}

/** To the beginning of a word, but not past what is wanted. */
function afterSpace(line: string, from: number, most: number): number {
  if (from === 0) return 0
  const space = line.indexOf(' ', from - 1)
  return space === -1 || space + 1 > most ? whole(line, from) : space + 1
}

function beforeSpace(line: string, to: number): number {
  if (to === line.length) return to
  const space = line.lastIndexOf(' ', to)
  return space <= to - LEAD ? whole(line, to) : space
}

/** Not through the middle of a character that takes two. */
function whole(line: string, at: number): number {
  const code = line.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

/** What a text says under its own title, which is shown beside it; headings without their signs. */
export function untitled(text: string, title: string): string {
  const trimmed = text.trimStart()
  const end = trimmed.indexOf('\n')
  const isTitle = end !== -1 && fold(trimmed.slice(0, end).replace(HEADING, '').trim()) === fold(title)
  const rest = trimmed.slice(end + 1)
  return (isTitle && /\S/.test(rest) ? rest : trimmed).replace(HEADING, '')
}

/** For texts in a language without a stemmer: the same word, or one that begins so. */
export function plainMatch({ words, prefixes }: QueryWords): Match {
  const known = new Set(words)
  return (word) => (known.has(word) ? word : prefixes.find((prefix) => word.startsWith(prefix)))
}

/**
 * For English: what Postgres itself takes for the same word ("policies" for "policy"). Asked only about words that begin like
 * one of the question, which is few.
 */
export async function englishMatch(
  db: Queryable,
  query: QueryWords,
  texts: readonly string[],
): Promise<Match> {
  const plain = plainMatch(query)
  const beginnings = new Set(query.words.map((word) => word.slice(0, 2)))
  const candidates = new Set(query.words)
  for (const text of texts)
    for (const [word] of text.matchAll(WORD)) {
      const folded = fold(word)
      if (beginnings.has(folded.slice(0, 2))) candidates.add(folded)
    }
  if (query.words.length === 0) return plain
  const { rows } = await db.query<{ word: string; stem: string }>({
    name: 'search_stems',
    text: `select w.word, (ts_lexize('english_stem', w.word))[1] as stem from unnest($1::text[]) as w (word)`,
    values: [[...candidates]],
  })
  // A stop word has no stem.
  const stems = new Map(rows.filter(({ stem }) => stem !== null).map(({ word, stem }) => [word, stem]))
  const wanted = new Set(query.words.map((word) => stems.get(word)).filter((stem) => stem !== undefined))
  return (word) => {
    const stem = stems.get(word)
    return stem !== undefined && wanted.has(stem) ? stem : plainPrefix(word)
  }
  function plainPrefix(word: string): string | undefined {
    return query.prefixes.find((prefix) => word.startsWith(prefix))
  }
}

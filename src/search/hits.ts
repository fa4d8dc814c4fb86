/** Hits: chunks that the legs found are checked in PostgreSQL, ranked, merged per unit or document, and shown with a snippet. */
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import type { Question } from './question.ts'
import { type ChunkFacts, type DocumentState, type Found, fuse, type Ranked, rank } from './ranking.ts'
import {
  countFacets,
  type Group,
  groupDuplicates,
  MAX_LISTED,
  pageOf,
  similarOf,
  sortHits,
  sourceFacts,
} from './result-list.ts'
import type { FacetValue, HitContext, MatchedWord, SearchHit } from './shapes.ts'
import { lineageOf, type RowFacts, rowTexts } from './table-hits.ts'
import { ANSWER_WARNINGS, documentWarning, rowWarning, unitWarning } from './warnings.ts'

export type { SearchHit } from './shapes.ts'

type Freshness = 'current' | 'pending' | 'stale' | 'error'

interface HitRow extends ChunkFacts {
  readonly title: string
  readonly document_title: string | null
  readonly document_source_ref: string | null
  readonly unit_kind: string | null
  readonly language: string
  /** False: the document or row has changed since the chunk was made. */
  readonly is_as_projected: boolean
  readonly table_row?: RowFacts
}

interface DocumentRow {
  readonly document_id: string
  readonly title: string
  readonly source_ref: string
  readonly language: string
  readonly vector_state: DocumentState
}

/** Chunks that are checked at first; ten hits hardly ever need more. */
const FIRST_PAGE = 50

interface HitText {
  readonly hit: Ranked<HitRow>
  readonly about: HitRow | DocumentRow
  readonly text: string
}

export interface LegsFound
  extends Pick<
    Found<HitRow>,
    'lexical' | 'dense' | 'legacy' | 'denseWeight' | 'scores' | 'wordShares' | 'fit' | 'together'
  > {
  /** Chunks of rows that the caller may read, by id. */
  readonly rows: ReadonlyMap<string, RowFacts>
}

export interface HitList {
  readonly hits: SearchHit[]
  readonly next?: string
  readonly facets?: FacetValue[]
  readonly warnings: readonly string[]
}

/** One page of the ranked hits, as they are shown. */
export async function listHits(
  client: Client,
  question: Question,
  legs: LegsFound,
  /** Keys of hits that a reranker put first. */
  order: readonly string[] = [],
): Promise<HitList> {
  if (legs.lexical.length + legs.dense.length + legs.legacy.length === 0)
    return { hits: [], ...(question.facets && { facets: [] }), warnings: [] }
  const { workspace_id, facets, sort } = question
  const legacy = await documentsNamed(client, workspace_id, legs.legacy)
  const isWhole = facets || sort !== 'relevance' || question.after !== undefined
  let ranked = await rankFound(client, question, legs, legacy, isWhole)
  let groups = await groupDuplicates(client, question, ranked.hits)
  // Among those that were read first, too many said the same.
  if (groups.length <= question.limit && !ranked.isAll) {
    ranked = await rankFound(client, question, legs, legacy, true)
    groups = await groupDuplicates(client, question, ranked.hits)
  }
  let counted: FacetValue[] | undefined
  if (facets || sort !== 'relevance') {
    const facts = await sourceFacts(client, workspace_id, ranked.hits)
    if (facets) counted = countFacets(facts.values())
    if (sort !== 'relevance')
      groups = await groupDuplicates(client, question, sortHits(ranked.hits, sort, facts))
  }
  const page = await pageOf(client, question, putFirst(groups, order))
  const hits = await showHits(client, question, page.groups, legacy)
  const isCut = isWhole && [legs.lexical, legs.dense].some((leg) => leg.length >= MAX_LISTED)
  return {
    hits,
    ...(page.next !== undefined && { next: page.next }),
    ...(counted && { facets: counted }),
    warnings: [...page.warnings, ...(isCut ? [ANSWER_WARNINGS.listEnds] : [])],
  }
}

function keyOf({ source, id }: Pick<Ranked<HitRow>, 'source' | 'id'>): string {
  return `${source} ${id}`
}

/** Groups that are not in the order stay behind those that are, as they were. */
function putFirst(groups: readonly Group<HitRow>[], order: readonly string[]): readonly Group<HitRow>[] {
  if (order.length === 0) return groups
  const places = new Map(order.map((key, place) => [key, place]))
  const placeOf = ({ hit }: Group<HitRow>) => places.get(keyOf(hit)) ?? order.length
  return groups.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** The texts of the best hits, under the caller's rights: what a reranker may see. */
export async function bestTexts(
  client: Client,
  question: Question,
  legs: LegsFound,
  most: number,
): Promise<{ id: string; text: string }[]> {
  const { workspace_id } = question
  const legacy = await documentsNamed(client, workspace_id, legs.legacy)
  const { hits } = await rankFound(client, { ...question, limit: most }, legs, legacy, false)
  const best = (await groupDuplicates(client, question, hits)).slice(0, most).map(({ hit }) => hit)
  const shown = await withTexts(client, workspace_id, best, legacy)
  return shown.map(({ hit, about, text }) => ({ id: keyOf(hit), text: `${about.title}\n${text}` }))
}

async function showHits(
  client: Client,
  question: Question,
  groups: readonly Group<HitRow>[],
  legacy: ReadonlyMap<string, DocumentRow>,
): Promise<SearchHit[]> {
  const { workspace_id, asked, explain, context } = question
  const groupOf = new Map(groups.map((group) => [group.hit, group]))
  const shown = await withTexts(client, workspace_id, [...groupOf.keys()], legacy)
  const words = queryWords(asked)
  const english = await englishMatch(
    client,
    words,
    shown.filter(({ about }) => isEnglish(about.language)).flatMap(({ text, about }) => [text, about.title]),
  )
  const plain = plainMatch(words)
  const lineage = await lineageOf(
    client,
    workspace_id,
    shown.flatMap(({ hit }) => hit.best?.table_row ?? []),
  )
  const chunks = shown.flatMap(({ hit }) => (hit.best ? [hit.best.chunk_id] : []))
  const why = explain ? await sharesOf(client, workspace_id, asked, chunks) : undefined
  const around = context ? await contextOf(client, workspace_id, chunks) : undefined
  const others = shown.flatMap(({ hit }) => groupOf.get(hit)!.similar)
  const facts = others.length > 0 ? await sourceFacts(client, workspace_id, others) : new Map()
  return shown.map(({ hit, about, text }) => {
    const match = isEnglish(about.language) ? english : plain
    const body = withoutTitle(text, about.title)
    const chunk = hit.best?.chunk_id
    const group = groupOf.get(hit)!
    const promoted = hit.source === 'row' ? lineage.get(hit.id) : undefined
    return {
      ...buildHit(hit, about, {
        ...snippetOf(body, match),
        explain: why && { words: matchedWords(why.get(chunk ?? '') ?? [], { match, text: body, about }) },
      }),
      ...(promoted && { lineage: promoted }),
      ...(group.similar.length > 0 && { similar: similarOf(group, facts) }),
      ...(around && { context: around.get(chunk ?? '') ?? {} }),
    }
  })
}

interface WordShare {
  readonly lexeme: string
  readonly share: number
}

/** What each word of the question adds to the scores of these chunks by words. */
async function sharesOf(
  client: Client,
  workspace: string,
  question: string,
  chunks: readonly string[],
): Promise<Map<string, WordShare[]>> {
  const { rows } = await client.query<WordShare & { chunk_id: string }>(
    'select chunk_id, lexeme, share from iu_core.fn_search_why($1, $2, $3)',
    [workspace, question, chunks],
  )
  const shares = new Map<string, WordShare[]>()
  for (const { chunk_id, ...one } of rows) shares.set(chunk_id, [...(shares.get(chunk_id) ?? []), one])
  return shares
}

interface MatchedText {
  readonly match: Match
  readonly text: string
  readonly about: HitRow | DocumentRow
}

/** The words of a hit that the question asks for, where they stand, and their share of the score by words. */
function matchedWords(shares: readonly WordShare[], { match, text, about }: MatchedText): MatchedWord[] {
  const address = 'canonical_address' in about ? (about.canonical_address ?? '') : ''
  const fields = { text, title: about.title, address: address.replace(/[/_.~-]+/g, ' ') }
  const words = new Map<string, { word: string; fields: Set<MatchedWord['fields'][number]> }>()
  for (const [field, content] of Object.entries(fields))
    for (const word of wordsOf(content)) {
      const key = match(fold(word))
      if (key === undefined) continue
      const one = words.get(key) ?? { word: fold(word), fields: new Set() }
      one.fields.add(field as MatchedWord['fields'][number])
      words.set(key, one)
    }
  const known = new Map(shares.map(({ lexeme, share }) => [lexeme, share]))
  return [...words]
    .map(([key, { word, fields }]) => ({
      word,
      fields: [...fields],
      share: Math.round(1000 * (known.get(key) ?? known.get(word) ?? 0)) / 1000,
    }))
    .sort((a, b) => b.share - a.share || (a.word < b.word ? -1 : 1))
}

async function contextOf(
  client: Client,
  workspace: string,
  chunks: readonly string[],
): Promise<Map<string, HitContext>> {
  const { rows } = await client.query<HitContext & { chunk_id: string }>(
    'select * from iu_core.fn_search_context($1, $2)',
    [workspace, chunks],
  )
  return new Map(
    rows.map(({ chunk_id, ...around }) => [
      chunk_id,
      Object.fromEntries(Object.entries(around).filter(([, value]) => value !== null)),
    ]),
  )
}

/** Checks the best chunks first, and the others only if too few hits remain of those, or if all are wanted. */
async function rankFound(
  client: Client,
  { workspace_id, limit, superseded }: Question,
  legs: LegsFound,
  legacy: ReadonlyMap<string, DocumentRow>,
  wantsAll: boolean,
): Promise<{ hits: Ranked<HitRow>[]; isAll: boolean }> {
  const found = {
    ...legs,
    legacy: legs.legacy.map((name) => legacy.get(name)?.document_id).filter((id) => id !== undefined),
    documents: new Map([...legacy.values()].map((row) => [row.document_id, row.vector_state])),
    superseded,
  }
  const chunks = fuse(legs).map(({ key }) => key)
  const first = wantsAll ? chunks : chunks.slice(0, Math.max(FIRST_PAGE, 3 * limit))
  const rest = chunks.slice(first.length)
  const facts = await factsOf(client, workspace_id, first, legs.rows)
  const hits = rank({ ...found, facts, unseen: new Set(rest) })
  // One more than the page shows that there is another one.
  if (hits.length > limit || rest.length === 0) return { hits, isAll: rest.length === 0 }
  const others = await factsOf(client, workspace_id, rest, legs.rows)
  return { hits: rank({ ...found, facts: new Map([...facts, ...others]) }), isAll: true }
}

/** Without hits that were deleted meanwhile. */
async function withTexts(
  client: Client,
  workspace: string,
  ranked: readonly Ranked<HitRow>[],
  legacy: ReadonlyMap<string, DocumentRow>,
): Promise<HitText[]> {
  const unread = ranked.filter((hit) => !isReadByChunk(hit)).map(({ id }) => id)
  const known = new Map([...legacy.values()].map((row) => [row.document_id, row]))
  const others = await documentsNamed(
    client,
    workspace,
    unread.filter((id) => !known.has(id)),
  )
  const chunks = ranked.filter(isReadByChunk).map(({ best }) => best!.chunk_id)
  const texts = await textsOf(client, workspace, chunks, unread)
  // Read in their tables under the caller's rights: a row that is gone by now has none.
  const ofRows = ranked.flatMap(({ best }) => (best?.source === 'row' ? best.chunk_id : []))
  for (const [id, text] of await rowTexts(client, workspace, ofRows)) texts.set(id, text)
  return ranked.flatMap((hit): HitText[] => {
    const byChunk = isReadByChunk(hit)
    const about = byChunk ? hit.best : (known.get(hit.id) ?? others.get(hit.id))
    const text = texts.get(byChunk ? hit.best!.chunk_id : hit.id)
    return about === undefined || text === undefined ? [] : [{ hit, about, text }]
  })
}

/** False for a document that is shown in place of its units, or has changed since: its current text is shown instead. */
function isReadByChunk({ best }: Ranked<HitRow>): boolean {
  return best?.is_as_projected === true || best?.source === 'row'
}

function isEnglish(language: string): boolean {
  return language.split('-')[0] === 'en'
}

/** Under the caller's rights: a chunk that PostgreSQL does not return is not shown, whatever a store holds. */
async function factsOf(
  client: Client,
  workspace: string,
  chunks: readonly string[],
  ofTables: ReadonlyMap<string, RowFacts>,
): Promise<Map<string, HitRow>> {
  const facts = new Map(chunks.flatMap((id) => (ofTables.has(id) ? [[id, hitOfRow(ofTables.get(id)!)]] : [])))
  const others = chunks.filter((id) => !facts.has(id))
  if (others.length === 0) return facts
  const { rows } = await client.query<HitRow>({
    name: 'search_hits',
    text: 'select * from iu_core.fn_search_hits($1, $2)',
    values: [workspace, others],
  })
  for (const row of rows) facts.set(row.chunk_id, row)
  return facts
}

function hitOfRow(row: RowFacts): HitRow {
  return {
    chunk_id: row.chunk_id,
    source: 'row',
    row_id: row.row_id,
    unit_id: null,
    document_id: null,
    document_state: null,
    document_title: null,
    document_source_ref: null,
    canonical_address: null,
    lifecycle_status: null,
    unit_kind: null,
    version_no: null,
    current_version_no: null,
    vector_state: row.vector_state,
    title: row.title,
    language: row.language,
    is_as_projected: row.is_as_projected,
    table_row: row,
  }
}

async function textsOf(
  client: Client,
  workspace: string,
  chunks: readonly string[],
  documents: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; text: string }>({
    name: 'search_texts',
    text: 'select id, text from iu_core.fn_search_texts($1, $2, $3)',
    values: [workspace, chunks, documents],
  })
  return new Map(rows.map(({ id, text }) => [id, text]))
}

/** By id, or by the name that the old knowledge base uses; under the caller's rights. */
async function documentsNamed(
  client: Client,
  workspace: string,
  names: readonly string[],
): Promise<Map<string, DocumentRow>> {
  if (names.length === 0) return new Map()
  const { rows } = await client.query<DocumentRow & { name: string }>(
    'select * from iu_core.fn_search_documents($1, $2)',
    [workspace, names],
  )
  return new Map(rows.map((row) => [row.name, row]))
}

function buildHit(
  hit: Ranked<HitRow>,
  about: HitRow | DocumentRow,
  { explain, ...snippet }: Snippet & { readonly explain: { words: MatchedWord[] } | undefined },
): SearchHit {
  const { best, score, shares, ranks, states } = hit
  const common = {
    title: about.title,
    ...snippet,
    score,
    legs: ranks,
    freshness: hit.freshness as Freshness,
    ...(explain && { explain: { ...states, shares, ...(best && { chunk_id: best.chunk_id }), ...explain } }),
  }
  if (hit.source === 'document') {
    const sourceRef = 'source_ref' in about ? about.source_ref : about.document_source_ref
    return {
      source: 'document',
      document_id: hit.id,
      ...(sourceRef !== null && { source_ref: sourceRef }),
      ...common,
      warnings: distinct(
        hit.cautions.map(({ caution, unit }) =>
          documentWarning(caution, { canonical_address: unit?.canonical_address ?? undefined }),
        ),
      ),
    }
  }
  if (hit.source === 'row') {
    const { table_source: table, key, filters, vector_state } = best!.table_row!
    return {
      source: 'row',
      table,
      key,
      columns: filters ?? {},
      ...common,
      warnings: vector_state === 'current' ? [] : [rowWarning(vector_state)],
    }
  }
  const unit = best!
  const versions = { version_no: unit.version_no!, current_version_no: unit.current_version_no! }
  return {
    source: 'unit',
    unit_id: hit.id,
    ...(unit.document_id !== null && { document_id: unit.document_id }),
    canonical_address: unit.canonical_address!,
    ...common,
    lifecycle_status: unit.lifecycle_status!,
    unit_kind: unit.unit_kind!,
    ...versions,
    warnings: distinct(hit.cautions.map(({ caution }) => unitWarning(caution, versions))),
  }
}

/** Without repetitions; three are enough. */
function distinct(warnings: readonly string[]): string[] {
  return [...new Set(warnings)].slice(0, 3)
}

// Snippets and highlights.

/** Half-open, from 0, in characters, not UTF-16 units. */
type Range = readonly [from: number, to: number]

interface Snippet {
  readonly snippet: string
  readonly highlights: readonly Range[]
}

/** The word of the question that a folded word matches, if any. */
export type Match = (word: string) => string | undefined

const SNIPPET_SIZE = 240
/** Characters of context before the first match. */
const LEAD = 40
const HEADING = /^#{1,6} +/gm
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Letters that Unicode does not decompose, but people type without the mark. As in fn_search_fold: a test compares them. */
const PLAIN: Readonly<Record<string, string>> = { đ: 'd', ł: 'l', ø: 'o', ı: 'i', ς: 'σ', ß: 'ss' }
/** й is a letter of its own: its mark stays. */
const SHORT_I = /и\u0306/g
const KEPT = '\ue000'
/** Scripts without spaces: what looks like a word is a run of several. */
const RUN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
/** As fn_search_parse. */
const MAX_PREFIXES = 8

/** Words of texts repeat: what they become is kept. */
const foldedWords = new Map<string, string>()
const MAX_FOLDED = 10_000
const MAX_FOLDED_LETTERS = 32

/** Without case and diacritics, as fn_search_fold; for languages without a stemmer. */
export function fold(word: string): string {
  if (/^[\x20-\x7e]*$/.test(word)) return word.toLowerCase()
  if (word.length > MAX_FOLDED_LETTERS) return withoutMarks(word)
  const known = foldedWords.get(word)
  if (known !== undefined) return known
  if (foldedWords.size >= MAX_FOLDED) foldedWords.clear()
  const plain = withoutMarks(word)
  foldedWords.set(word, plain)
  return plain
}

function withoutMarks(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(SHORT_I, KEPT)
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .replace(/[đłøıςß]/g, (letter) => PLAIN[letter]!)
    .replaceAll(KEPT, 'й')
}

export function wordsOf(text: string): string[] {
  return text.match(WORD) ?? []
}

/** Texts in quotes, with the quotes, stay as they are; a quote without its partner is none. */
export function mapFreeText(text: string, change: (part: string) => string): string {
  return text
    .split(/(["“”„«»][^"“”„«»]*["“”„«»])/)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('')
}

interface QueryWords {
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
  return { words: [...words], prefixes: [...prefixes].sort().slice(0, MAX_PREFIXES) }
}

/** The part of the text with most words of the question, on one line. */
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

interface FoundWord {
  readonly key: string
  readonly from: number
  readonly to: number
}

/** More different words win, then more words, then the first window. */
function bestWindow(line: string, found: readonly FoundWord[], size: number): Range {
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

/** The beginning of the next word, but not beyond `max`. */
function afterSpace(line: string, from: number, max: number): number {
  if (from === 0) return 0
  const space = line.indexOf(' ', from - 1)
  return space === -1 || space + 1 > max ? wordBoundary(line, from) : space + 1
}

function beforeSpace(line: string, to: number): number {
  if (to === line.length) return to
  const space = line.lastIndexOf(' ', to)
  return space <= to - LEAD ? wordBoundary(line, to) : space
}

/** Not between the halves of a surrogate pair. */
function wordBoundary(line: string, at: number): number {
  const code = line.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

/** Without the first line if it repeats the title, and without the # of headings. */
export function withoutTitle(text: string, title: string): string {
  const trimmed = text.trimStart()
  const end = trimmed.indexOf('\n')
  const isTitle = end !== -1 && fold(trimmed.slice(0, end).replace(HEADING, '').trim()) === fold(title)
  const rest = trimmed.slice(end + 1)
  return (isTitle && /\S/.test(rest) ? rest : trimmed).replace(HEADING, '')
}

/** For languages without a stemmer: equal words and prefixes. */
export function plainMatch({ words, prefixes }: QueryWords): Match {
  const known = new Set(words)
  const runs = words.filter((word) => RUN.test(word))
  return (word) =>
    known.has(word)
      ? word
      : (prefixes.find((prefix) => word.startsWith(prefix)) ??
        (runs.length > 0 && RUN.test(word) ? runs.find((run) => word.includes(run)) : undefined))
}

/** For English: words with the same stem in PostgreSQL ("policies" for "policy"). Only words that share two letters are asked for. */
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

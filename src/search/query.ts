/**
 * A search query: keyword search and vector search run side by side, and every hit is checked in PostgreSQL under the caller's own
 * rights before it is shown. Each hit says how fresh it is; the answer warns about a leg that could not be asked.
 */

import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { nearestFirst } from '../kernel/text.ts'
import { isPretrained } from './embedders/embedder.ts'
import { bestTexts, type HitList, type LegsFound, listHits, queryWords } from './hits.ts'
import type { DenseResult } from './providers.ts'
import {
  nearestTo,
  readableWords,
  replaceWords,
  rewriteQuestion,
  suggestQuestions,
  type UnknownWord,
  withFewOfRows,
  withoutWordsOfRows,
  writtenWords,
} from './query-rewrite.ts'
import { filtersOf, parseQuestion, type Question, type SearchRequest, SOURCES } from './question.ts'
import {
  denseWeight,
  fitOf,
  fuse,
  type LegScores,
  leastFit,
  normaliseScores,
  type WordScore,
} from './ranking.ts'
import { MAX_RERANKED } from './rerank.ts'
import { MAX_LISTED } from './result-list.ts'
import type { NoHits, SearchAnswer } from './shapes.ts'
import { deniedTables, type RowFacts, visibleRows } from './table-hits.ts'
import { QuestionVectors, type SearchState, type VectorSearch } from './vector-search.ts'
import { ANSWER_WARNINGS, tableDenied, tableStopped, tableUnreadable } from './warnings.ts'

export type { SearchAnswer } from './shapes.ts'

/** Runs work in one transaction under the rights of the caller. */
export type Transaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>

export interface SearchDeps {
  readonly transaction: Transaction
  readonly vectorSearch: VectorSearch
}

/** Chunks from each leg: enough for a full page after fusion and the visibility checks. */
const LEG_DEPTH = 100
/** Up to this many allowed chunks are listed for the store. Beyond it, the store returns more, and those are checked. */
const MAX_LISTED_CHUNKS = 10_000
/** Where only the vectors of the old knowledge base add meaning: as much as the words. */
const LEGACY_WEIGHT = 0.5
/** Further words of a question are ignored. */
const MAX_QUERY_WORDS = 64

/** Quotes of any kind, as fn_search_parse takes them. */
const QUOTED = /["“”„«»]([^"“”„«»]*)["“”„«»]/g
const QUOTES = /["“”„«»]/g
const ONLY_PREFIXES = /^(\s*[^\s"*]{2,}\*(?=\s|$))+\s*$/

export async function search(deps: SearchDeps, request: SearchRequest): Promise<SearchAnswer> {
  const began = performance.now()
  const question = parseQuestion(request)
  const [found, suggestions] = await Promise.all([
    ask(deps, question, false),
    question.typing ? deps.transaction((client) => suggestQuestions(client, question)) : undefined,
  ])
  const isEmpty = found.hits.length === 0 && question.after === undefined && !question.typing
  const [no_hits] = isEmpty
    ? await Promise.all([
        explainNoHits(deps, question),
        deps.transaction((client) => logMissedQuestion(client, question)),
      ])
    : []
  return {
    ...found,
    ...(suggestions && { suggestions }),
    ...(no_hits && { no_hits }),
    took_ms: millisecondsSince(began),
  }
}

function millisecondsSince(began: number): number {
  return Math.round((performance.now() - began) * 10) / 10
}

type Found = Omit<SearchAnswer, 'no_hits' | 'suggestions' | 'took_ms'>

/** Rewrites the question, asks it, and asks it without quotes if nothing has the phrase. */
async function ask(deps: SearchDeps, question: Question, literal: boolean): Promise<Found> {
  const [state, rewritten] = await Promise.all([
    deps.vectorSearch.state(question.workspace_id),
    deps.transaction((client) => rewriteQuestion(client, question)),
  ])
  const found = await answer(deps, rewritten.question, state, literal)
  // On a further page there may be no hit left though the phrase has some.
  const isNowhere = found.hits.length === 0 && (question.after === undefined || found.legs.lexical === 0)
  if (isNowhere && isQuoted(question.text)) {
    // Still keywords alone: a text that is only near in meaning to a phrase that occurs nowhere would look like an answer.
    const text = question.text.replace(QUOTES, ' ')
    const again = await ask(deps, { ...question, text, asked: text }, true)
    if (again.hits.length > 0)
      return { ...again, warnings: [ANSWER_WARNINGS.phraseNowhere, ...again.warnings] }
  }
  const { corrections, synonyms } = rewritten
  return {
    ...found,
    ...(corrections.length > 0 && {
      corrected: {
        text: replaceWords(question.typed, corrections),
        instead: question.typed,
        words: corrections,
      },
    }),
    ...(synonyms.length > 0 && { synonyms }),
  }
}

/** `literal`: keyword search alone, for a phrase or a prefix. */
async function answer(
  deps: SearchDeps,
  question: Question,
  state: SearchState,
  literal: boolean,
): Promise<Found> {
  const { transaction, vectorSearch } = deps
  const scope = scopeOf(question, state)
  const found = await askLegs(deps, question, state, { ...scope, literal: literal || question.typing })
  const isReranked = vectorSearch.rerank !== undefined && question.sort === 'relevance' && !question.typing
  const { legs, listed, reranked } = isReranked
    ? await listReranked(deps, question, found)
    : await transaction(async (client) => {
        const legs = await scoreLegs(client, question, found)
        return { legs, listed: await listHits(client, question, legs), reranked: [] }
      })
  const { warnings, ...list } = listed
  return {
    ...list,
    warnings: [...scope.warnings, ...legs.warnings, ...reranked, ...warnings],
    legs: { lexical: legs.lexical.length, dense: legs.denseCount },
  }
}

interface Listed {
  readonly legs: Legs
  readonly listed: HitList
  /** Why the reranker did not answer. */
  readonly reranked: readonly string[]
}

/** No transaction is open while the reranker is asked. */
async function listReranked(
  { transaction, vectorSearch }: SearchDeps,
  question: Question,
  found: LegsAsked,
): Promise<Listed> {
  const { legs, texts } = await transaction(async (client) => {
    const legs = await scoreLegs(client, question, found)
    return { legs, texts: await bestTexts(client, question, legs, MAX_RERANKED) }
  })
  const order: DenseResult = texts.length < 2 ? { ids: [] } : await vectorSearch.rerank!(question.text, texts)
  const listed = await transaction((client) =>
    listHits(client, question, legs, 'ids' in order ? order.ids : []),
  )
  return { legs, listed, reranked: 'unavailable' in order ? [order.unavailable] : [] }
}

interface Scope {
  /** In the form that the SQL functions take. */
  readonly filters: Readonly<Record<string, unknown>>
  readonly units: boolean
  readonly documents: boolean
  /** Rows of tables. */
  readonly rows: boolean
  readonly warnings: readonly string[]
}

/** Whether units, documents of the old knowledge base and rows of tables are searched: as the question asks and the phases allow. */
function scopeOf({ filters, source, ofUnits, ofRows }: Question, state: SearchState): Scope {
  const units = (source === undefined && !ofRows) || source === 'unit'
  const rows = (source === undefined && !ofUnits && state.tables.length > 0) || source === 'row'
  const wanted = source === 'document' || (source === undefined && !ofUnits && !ofRows && state.documents)
  // On its own, the old knowledge base is searched in any phase.
  const documents = wanted && (source === 'document' || state.phase_2)
  return {
    // Without documents no source filter is needed: it costs three times as much as the keyword search.
    filters:
      units && (documents || !state.documents) && (rows || state.tables.length === 0)
        ? filters
        : {
            ...filters,
            source: SOURCES.filter((one) => ({ unit: units, document: documents, row: rows })[one]),
          },
    units,
    documents,
    rows,
    warnings: [
      ...(rows ? state.tables : []).flatMap(({ source: table, stopped }) =>
        stopped === null ? [] : [tableStopped(table, stopped)],
      ),
      ...(units && !state.phase_1 ? [ANSWER_WARNINGS.phaseOne] : []),
      ...(wanted && !documents ? [ANSWER_WARNINGS.phaseTwo] : []),
      ...(units && !state.excluded ? [ANSWER_WARNINGS.excluded] : []),
    ],
  }
}

interface Legs extends LegsFound {
  readonly denseCount: number | 'off' | 'unavailable'
  readonly warnings: readonly string[]
}

/** What both legs found, before what only one of them found is scored by the words. */
interface LegsAsked {
  readonly scope: Scope & { readonly literal: boolean }
  readonly active: SearchState['active']
  readonly denseWeight: number
  readonly words: {
    readonly found: readonly FoundByWords[]
    readonly terms: string | undefined
    /** Where nothing was found. */
    readonly asked: Parsed | undefined
  }
  readonly dense: DenseResult | 'off'
  /** Ids of the vector leg that the caller may read. */
  readonly near: readonly string[]
  readonly legacy: DenseResult
  readonly rows: ReadonlyMap<string, RowFacts>
  readonly unreadable: ReadonlySet<string>
}

async function askLegs(
  { transaction, vectorSearch }: SearchDeps,
  question: Question,
  state: SearchState,
  scope: LegsAsked['scope'],
): Promise<LegsAsked> {
  const { active } = state
  const { workspace_id: workspace, text, filtered } = question
  const limit = legDepth(question)
  const weight = active === undefined ? 0 : denseWeight(active)
  const isLiteral = scope.literal || isQuoted(text) || ONLY_PREFIXES.test(text)
  const asksUnits = (scope.units || scope.rows) && active !== undefined && weight > 0 && !isLiteral
  const hasTables = state.tables.length > 0
  // Vectors of rows and units are in one collection.
  const picks = filtered || (hasTables && scope.units !== scope.rows)
  const rows = new Map<string, RowFacts>()
  const unreadable = new Set<string>()
  const denied = new Set<string>()
  /** Without chunks of rows that the caller may not read. */
  const visible = async (client: Client, ids: readonly string[]): Promise<string[]> => {
    if (!hasTables) return [...ids]
    const unseen = ids.filter((id) => !rows.has(id))
    const checked = await visibleRows(client, workspace, unseen)
    for (const row of checked.visible) rows.set(row.chunk_id, row)
    for (const { table, problem } of checked.unreadable)
      if (!denied.has(table)) unreadable.add(tableUnreadable(table, problem))
    return ids.filter((id) => !checked.hidden.has(id))
  }
  const allowed = new Deferred<readonly string[] | undefined>()
  const byWords = transaction(async (client) => {
    if (scope.rows)
      for (const table of await deniedTables(client, workspace)) {
        denied.add(table)
        unreadable.add(tableDenied(table))
      }
    const { found, terms, incomplete } = await lexicalVisible(client, question, scope, {
      limit,
      pending: state.phase_1,
      visible: hasTables ? (ids) => visible(client, ids) : undefined,
    })
    if (incomplete) unreadable.add(ANSWER_WARNINGS.manyHidden)
    if (picks && asksUnits) allowed.resolve(await allowedChunks(client, question, scope))
    const asked = found.length === 0 ? await parseWords(client, question.asked) : undefined
    return { found, terms, asked }
  })
  const foundByWords = byWords.then(({ found }) =>
    found.filter(({ pending }) => !pending).map(({ id }) => id),
  )
  // On an error the vector leg must not wait for the list; the error itself is thrown below.
  foundByWords.catch(() => allowed.resolve([]))
  const vectors = new QuestionVectors(text)
  const off: DenseResult = { ids: [] }
  const [words, dense, legacy] = await Promise.all([
    byWords,
    asksUnits
      ? vectorSearch.units(active, {
          vectors,
          workspace,
          // Some of those that the filters allow may be hidden from the caller.
          limit: picks && hasTables ? 4 * limit : limit,
          byWords: foundByWords,
          ...((picks || hasTables) && {
            only: picks ? allowed.promise : Promise.resolve(undefined),
            passing: (ids) =>
              transaction(async (client) =>
                visible(client, picks ? await passingChunks(client, question, scope, ids) : ids),
              ),
          }),
        })
      : off,
    scope.documents && !isLiteral
      ? vectorSearch.documents({
          vectors,
          limit,
          byWords: foundByWords,
          passing: (names) => transaction((client) => passingDocuments(client, question, scope, names)),
        })
      : off,
  ])
  const near =
    'ids' in dense && hasTables && dense.ids.length > 0
      ? (await transaction((client) => visible(client, dense.ids))).slice(0, limit)
      : 'ids' in dense
        ? dense.ids
        : []
  return {
    scope,
    active,
    denseWeight: weight,
    words,
    dense: asksUnits ? dense : 'off',
    near,
    legacy,
    rows,
    unreadable,
  }
}

/** Each leg's hits with the scores of both. In the transaction that reads the hits: it is one round trip less. */
async function scoreLegs(
  client: Client,
  question: Question,
  { scope, active, denseWeight, words, dense, near, legacy, rows, unreadable }: LegsAsked,
): Promise<Legs> {
  const lists = {
    lexical: words.found.map(({ id }) => id),
    dense: near,
    legacy: 'ids' in legacy ? legacy.ids : [],
  }
  const wordScores = new Map<string, WordScore>(words.found.map((found) => [found.id, found]))
  const unscored = lists.dense.filter((id) => !wordScores.has(id))
  if (unscored.length > 0)
    for (const row of await scoresByWords(client, question, unscored, words.terms))
      wordScores.set(row.id, row)
  const found = new Set([...lists.lexical, ...lists.dense])
  // Not of rows that the caller may not read: they would move the scores of the others.
  const meaning =
    dense === 'off' || 'unavailable' in dense || dense.scores === undefined
      ? undefined
      : new Map([...dense.scores].filter(([id]) => found.has(id)))
  const scores = legScores(wordScores, meaning, lists.dense)
  const shareOfMeaning =
    lists.legacy.length > 0 ? denseWeight || LEGACY_WEIGHT : lists.dense.length > 0 ? denseWeight : 0
  const best = fuse({ ...lists, denseWeight: shareOfMeaning, scores }).map(({ key }) => key)
  // Only a model that was not fitted on these texts says how near they are to a question about something else.
  const alike = active !== undefined && isPretrained(active.embedder) ? meaning : undefined
  const fit = lists.legacy.length > 0 ? 1 : fitOf(best, wordScores, alike)
  const asked = words.found[0]?.asked ?? [...wordScores.values()][0]?.asked ?? 0
  const isLong = queryWords(question.text).words.length > MAX_QUERY_WORDS
  const isPoor =
    !isLong && !scope.literal && best.length > 0 && lists.legacy.length === 0 && fit < leastFit(asked)
  const common = {
    lexical: lists.lexical,
    denseWeight: shareOfMeaning,
    scores,
    wordShares: new Map([...wordScores].map(([id, { share }]) => [id, share])),
    fit,
    together: scope.units && scope.documents,
    rows,
  }
  if (words.found.length === 0 && words.asked?.empty) {
    const warning = words.asked.stops
      ? ANSWER_WARNINGS.stopWords
      : question.filters.without === undefined
        ? ANSWER_WARNINGS.noWords
        : ANSWER_WARNINGS.onlyExcluded
    return { ...common, dense: [], legacy: [], denseCount: 'off', warnings: [warning] }
  }
  return {
    ...common,
    ...lists,
    denseCount: dense === 'off' ? 'off' : 'ids' in dense ? near.length : 'unavailable',
    warnings: [
      ...unreadable,
      ...(isPoor ? [ANSWER_WARNINGS.nothingFits] : []),
      ...(isLong ? [ANSWER_WARNINGS.manyWords] : []),
      ...(question.excludesMore ? [ANSWER_WARNINGS.manyExcluded] : []),
      ...[dense, legacy].flatMap((leg) => (leg !== 'off' && 'unavailable' in leg ? [leg.unavailable] : [])),
    ],
  }
}

/** What is counted, sorted or read on from a cursor is as deep as the list goes. */
function legDepth({ limit, facets, sort, after }: Question): number {
  const isDeep = facets || sort !== 'relevance' || after !== undefined
  return isDeep ? MAX_LISTED : Math.max(LEG_DEPTH, 3 * limit)
}

function isQuoted(text: string): boolean {
  for (const [, inside] of text.matchAll(QUOTED)) if (/[\p{L}\p{N}]/u.test(inside!)) return true
  return false
}

class Deferred<T> {
  readonly promise: Promise<T>
  resolve!: (value: T) => void

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve
    })
  }
}

interface FoundByWords extends WordScore {
  /** Of a chunk, or of the version of a unit that is not projected yet. */
  readonly id: string
  readonly pending: boolean
}

interface LexicalHits {
  /** Best first. */
  readonly found: readonly FoundByWords[]
  /** What fn_search_scores needs to know of the question: its words are analysed and looked up once. */
  readonly terms: string | undefined
}

/** Chunks that are checked for a caller who may read few of the rows that have the words; fn_search_lexical returns no more. */
const MAX_LEXICAL = 1000

/** Without chunks of rows that the caller may not read: as many more are asked for. `incomplete`: there may be more of those that may be read. */
async function lexicalVisible(
  client: Client,
  question: Question,
  scope: Scope,
  {
    limit,
    pending,
    visible,
  }: {
    limit: number
    pending: boolean
    visible: ((ids: readonly string[]) => Promise<string[]>) | undefined
  },
): Promise<LexicalHits & { readonly incomplete: boolean }> {
  for (let asked = limit; ; asked = Math.min(4 * asked, MAX_LEXICAL)) {
    const { found, terms } = await lexical(client, question, scope, { limit: asked, pending })
    if (visible === undefined) return { found, terms, incomplete: false }
    const ids = new Set(await visible(found.map(({ id }) => id)))
    const seen = found.filter(({ id }) => ids.has(id))
    const isLast = found.length < asked || asked >= MAX_LEXICAL
    if (seen.length >= limit || isLast)
      return { found: seen.slice(0, limit), terms, incomplete: seen.length < limit && found.length >= asked }
  }
}

/** Includes units whose newest text is not projected yet; those are found in their tables. */
async function lexical(
  client: Client,
  { workspace_id, asked }: Question,
  { filters, units }: Scope,
  { limit, pending }: { limit: number; pending: boolean },
): Promise<LexicalHits> {
  const { rows } = await client.query<FoundByWords & { terms: string | null }>({
    name: 'search_lexical',
    text: `select f.id, f.pending, f.score, f.share, f.asked, f.terms::text
             from (select chunk_id as id, score, share, asked, false as pending, terms from iu_core.fn_search_lexical($1, $2, $3, $4)
                    union all
                   select unit_version_id, score, share, asked, true, null from iu_core.fn_search_pending($1, $2, $3, $4) where $5) as f
            order by f.score desc, f.id limit $3`,
    values: [workspace_id, asked, limit, JSON.stringify(filters), units && pending],
  })
  return { found: rows, terms: rows.find(({ terms }) => terms !== null)?.terms ?? undefined }
}

/** Of chunks that only the vectors found. */
async function scoresByWords(
  client: Client,
  { workspace_id, asked }: Question,
  ids: readonly string[],
  terms: string | undefined,
): Promise<(WordScore & { readonly id: string })[]> {
  const { rows } = await client.query<WordScore & { id: string }>({
    name: 'search_scores',
    text: 'select chunk_id as id, score, share, asked from iu_core.fn_search_scores($1, $2, $3, $4)',
    values: [workspace_id, asked, ids, terms],
  })
  return rows
}

/** Undefined if the store gives no scores: then ranks are fused. */
function legScores(
  words: ReadonlyMap<string, WordScore>,
  meaning: ReadonlyMap<string, number> | undefined,
  dense: readonly string[],
): LegScores<string> | undefined {
  if (meaning === undefined && dense.length > 0) return undefined
  return {
    words: normaliseScores(new Map([...words].map(([id, { score }]) => [id, score]))),
    meaning: normaliseScores(meaning ?? new Map()),
  }
}

/** Chunks that the filters allow; undefined: more than MAX_LISTED_CHUNKS. */
async function allowedChunks(
  client: Client,
  { workspace_id }: Question,
  scope: Scope,
): Promise<string[] | undefined> {
  const { filters } = scope
  const { rows } = await client.query<{ allowed: string[] | null }>({
    name: 'search_allowed',
    text: 'select iu_core.fn_search_allowed_ids($1, $2, $3) as allowed',
    values: [workspace_id, JSON.stringify({ ...filters, source: denseSources(scope) }), MAX_LISTED_CHUNKS],
  })
  return rows[0]!.allowed ?? undefined
}

/** What has vectors in our collections. */
function denseSources({ units, rows }: Scope): string[] {
  return [...(units ? ['unit'] : []), ...(rows ? ['row'] : [])]
}

async function passingChunks(
  client: Client,
  { workspace_id }: Question,
  scope: Scope,
  ids: readonly string[],
): Promise<string[]> {
  const { filters } = scope
  const { rows } = await client.query<{ passing: string[] }>({
    name: 'search_passing',
    text: 'select iu_core.fn_search_filter_chunks($1, $2, $3) as passing',
    values: [workspace_id, JSON.stringify({ ...filters, source: denseSources(scope) }), ids],
  })
  return rows[0]!.passing
}

/** `names`: as the old knowledge base names its documents. */
async function passingDocuments(
  client: Client,
  { workspace_id }: Question,
  { filters }: Scope,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ passing: string[] }>({
    name: 'search_passing_documents',
    text: 'select iu_core.fn_search_filter_documents($1, $2, $3) as passing',
    values: [workspace_id, JSON.stringify({ ...filters, source: 'document' }), names],
  })
  return rows[0]!.passing
}

interface Parsed {
  /** Nothing to search for: stop words only, or no words at all. */
  readonly empty: boolean
  readonly stops: boolean
}

async function parseWords(client: Client, text: string): Promise<Parsed> {
  const { rows } = await client.query<Parsed>(
    `select p.words = '{}' and p.prefixes = '{}' and p.phrases = '{}' as empty, p.stops <> '{}' as stops
       from iu_core.fn_search_parse($1) as p`,
    [text],
  )
  return rows[0]!
}

// Why nothing was found.

/** Similar words that are offered for a word that no text has. */
const MAX_SIMILAR = 3

/** Does nothing unless the workspace logs such questions. Filters may be why: then the question is not missed. */
async function logMissedQuestion(client: Client, { workspace_id, typed, filters }: Question): Promise<void> {
  const { without: _, ...others } = filters
  if (Object.keys(others).length > 0) return
  await client.query('select iu_core.fn_search_missed_add($1, $2)', [workspace_id, typed])
}

interface UnknownWords {
  readonly chunks: number
  readonly tables: number
  readonly waiting: number
  readonly unknown: readonly UnknownWord[]
}

/** What is in search, what waits, which words no text has, and whether filters or exclusions leave out what would be found. */
async function explainNoHits(deps: SearchDeps, question: Question): Promise<NoHits> {
  const { workspace_id, text, filters } = question
  const { source, without, ...others } = filters
  const excluded = (without ?? []) as readonly string[]
  const hitsWith = async (filtered: Readonly<Record<string, unknown>>): Promise<number> =>
    (await ask(deps, { ...question, ...filtersOf(omitUndefined(filtered)) }, false)).hits.length
  const [words, without_filters, without_exclusions] = await Promise.all([
    deps.transaction((client) => unknownWords(client, workspace_id, text)),
    // What the question itself excludes is no filter that somebody might take away.
    Object.keys(others).length > 0 ? hitsWith({ source, without }) : null,
    excluded.length > 0 && text.trim() !== '' ? hitsWith({ ...others, source }) : null,
  ])
  return { ...words, without_filters, excluded: [...excluded], without_exclusions }
}

async function unknownWords(
  client: Client,
  workspace: string,
  text: string,
): Promise<Omit<NoHits, 'without_filters' | 'excluded' | 'without_exclusions'>> {
  const { rows } = await client.query<{ words: UnknownWords }>(
    'select iu_core.fn_search_unknown_words($1, $2) as words',
    [workspace, queryWords(text).words],
  )
  const { chunks, tables, waiting, unknown: words } = rows[0]!.words
  const unknown = await withoutWordsOfRows(client, workspace, words)
  const readable = await readableWords(
    client,
    workspace,
    unknown.flatMap(({ word, stems, known }) =>
      withFewOfRows(
        nearestFirst([word, ...stems], known, ({ lexeme }) => lexeme),
        2 * MAX_SIMILAR,
      ),
    ),
  )
  const near = unknown.map(({ word, stems, known }) => ({
    word,
    // A typed word may be nearer to a stem than to the word itself, and the other way round.
    known: nearestFirst([word, ...stems], known, ({ lexeme }) => lexeme)
      .flatMap(({ lexeme }) => readable.get(lexeme) ?? [])
      .slice(0, MAX_SIMILAR),
  }))
  const written = await writtenWords(
    client,
    workspace,
    near.flatMap(({ known }) => known),
  )
  return {
    texts: chunks,
    tables,
    waiting,
    unknown_words: near.map(({ word, known }) => ({
      word,
      similar: [...new Set(known.map(({ lexeme }) => nearestTo(word, written.get(lexeme) ?? [lexeme])))],
    })),
  }
}

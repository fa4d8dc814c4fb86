/** A question as it is asked: the request, its checks, and what of it is a filter. */
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import { checkCursor, SORTS } from './result-list.ts'

export const SOURCES = ['unit', 'document', 'row'] as const
export const LIFECYCLES = ['draft', 'enacted', 'superseded'] as const

export interface SearchFilters {
  /** Units with one of these topics. */
  readonly topic?: string | readonly string[] | undefined
  /** Default: all but superseded. Retired and deleted units are not in search. */
  readonly lifecycle?: (typeof LIFECYCLES)[number] | readonly (typeof LIFECYCLES)[number][] | undefined
  readonly kind?: string | readonly string[] | undefined
  /** Units whose profile contains all of this. */
  readonly profile?: Readonly<Record<string, unknown>> | undefined
  /** Units with an edge of this type, to this address, id or reference, or both. */
  readonly edge?: { readonly type?: string; readonly target?: string } | undefined
  /** Address or id of a unit: that unit, and all units inside it at any depth. */
  readonly container?: string | undefined
  /** Language of the text: en, vi, … */
  readonly language?: string | readonly string[] | undefined
  /** Only units, only documents of the old knowledge base, or only rows of tables. */
  readonly source?: (typeof SOURCES)[number] | undefined
  /** Rows of these tables. */
  readonly table?: string | readonly string[] | undefined
  /** Rows with these values in the columns that were projected for filters, as the table writes them. */
  readonly columns?: Readonly<Record<string, string | readonly string[]>> | undefined
}

export interface SearchRequest {
  readonly workspaceId: string
  readonly text: string
  /** Default 10, at most 100. */
  readonly limit?: number
  readonly filters?: SearchFilters
  /** Adds to each hit why it is shown. */
  readonly explain?: boolean
  /** Somebody still types: the last word counts as a beginning, and only words are searched. */
  readonly typing?: boolean
  /** As it was typed: no word is corrected, no synonym is added. */
  readonly exact?: boolean
  /** Default: relevance. Otherwise the 1,000 best hits are sorted. */
  readonly sort?: (typeof SORTS)[number]
  /** Counts the hits by kind, topic, lifecycle, language and source. */
  readonly facets?: boolean
  /** Default: true. Hits that say nearly the same are one. */
  readonly collapse?: boolean
  /** Adds to each hit what stands around it. */
  readonly context?: boolean
  /** `next` of the page before, of the same question. */
  readonly after?: string
}

export interface Question extends QuestionFilters {
  readonly workspace_id: string
  /** As it was typed. */
  readonly typed: string
  /** Without what it excludes, which is a filter; with corrected words. */
  readonly text: string
  /** The text for keyword search: with synonyms, and with the beginning that is being typed. */
  readonly asked: string
  readonly limit: number
  readonly explain: boolean
  readonly typing: boolean
  /** Whether the last word may go on. */
  readonly typesWord: boolean
  readonly exact: boolean
  readonly sort: (typeof SORTS)[number]
  readonly facets: boolean
  readonly collapse: boolean
  readonly context: boolean
  readonly after: string | undefined
  /** Whether it excludes more than is applied. */
  readonly excludesMore: boolean
}

interface QuestionFilters {
  /** In the form that the SQL functions take: without undefined ones. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Whether a filter other than `source` is set. */
  readonly filtered: boolean
  /** Whether a filter is set that only units have. */
  readonly ofUnits: boolean
  /** Whether a filter is set that only rows of tables have. */
  readonly ofRows: boolean
  readonly source: SearchFilters['source']
  /** Superseded units are shown only if the filter asks for them. */
  readonly superseded: boolean
}

export const MAX_HITS = 100
/** About 10,000 long words. */
export const MAX_QUESTION_CHARACTERS = 100_000

/** A profile itself may not be nested deeper. */
const MAX_FILTER_DEPTH = 100

const FILTERS = [
  'topic',
  'lifecycle',
  'kind',
  'profile',
  'edge',
  'container',
  'language',
  'source',
  'table',
  'columns',
] as const

export function parseQuestion(request: SearchRequest): Question {
  const { workspaceId, limit = 10, filters = {}, sort = 'relevance', after } = request
  if (typeof workspaceId !== 'string' || !UUID.test(workspaceId))
    throw wrong('workspaceId must be the id of a workspace')
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_HITS)
    throw wrong(`limit must be between 1 and ${MAX_HITS}`)
  if (!SORTS.includes(sort)) throw wrong(`sort takes ${SORTS.join(', ')}`)
  const given = definedOf(filters)
  checkFilters(given)
  const typed = askedText(request.text)
  const { text, excluded } = splitExclusions(typed)
  const question = {
    workspace_id: workspaceId,
    typed,
    text,
    asked: text,
    limit,
    explain: request.explain === true,
    typing: request.typing === true,
    typesWord: request.typing === true && !/\s$/.test(request.text),
    exact: request.exact === true,
    sort,
    facets: request.facets === true,
    collapse: request.collapse !== false,
    context: request.context === true,
    after,
    excludesMore: excluded.length > MAX_EXCLUDED,
    ...filtersOf({ ...given, ...(excluded.length > 0 && { without: excluded.slice(0, MAX_EXCLUDED) }) }),
  }
  checkCursor(question)
  return question
}

export function filtersOf(given: Readonly<Record<string, unknown>>): QuestionFilters {
  const { source, language: _, without: __, table, columns, ...ofUnits } = given
  return {
    filters: given,
    filtered: Object.keys(given).some((name) => name !== 'source'),
    ofUnits: Object.keys(ofUnits).length > 0,
    ofRows: (table ?? columns) !== undefined,
    source: source as SearchFilters['source'],
    superseded: listOf(given.lifecycle).includes('superseded'),
  }
}

/** Further exclusions are ignored, as by fn_search_parse. */
const MAX_EXCLUDED = 64
/** Phrases, which are kept, and exclusions, which are not, as fn_search_parse reads them: a test compares both. */
const EXCLUSION = /("[^"]*")|(?<!\S)-"([^"]*)"|(?<!\S)-([^\s"*-][^\s"]*)/g

/** `-word`, `-"a phrase"` and `-begin*` of a question, and its text without them. */
export function splitExclusions(question: string): { text: string; excluded: string[] } {
  if (!question.includes('-')) return { text: question, excluded: [] }
  const excluded = new Set<string>()
  const text = question
    .replace(/[“”„«»]/g, '"')
    .replace(EXCLUSION, (match, phrase, quoted, word, at, whole) => {
      if (phrase !== undefined) return phrase
      const one: string = quoted ?? word
      if (/[\p{L}\p{N}]/u.test(one)) excluded.add(one)
      // What follows without a space excludes nothing: an empty phrase keeps it so when fn_search_parse reads the rest.
      return /\S/.test(whole[at + match.length] ?? ' ') ? '""' : ''
    })
  return { text, excluded: [...excluded] }
}

/** `column=value`, several of one column: one or another. */
export function parseColumnValues(given: readonly string[]): Record<string, string[]> {
  const columns: Record<string, string[]> = {}
  for (const one of given) {
    const at = one.indexOf('=')
    if (at < 1)
      throw wrong(`A filter on a column is column=value, as category_id=2, and not ${one.slice(0, 60)}`)
    const column = one.slice(0, at)
    columns[column] = [...(Object.hasOwn(columns, column) ? columns[column]! : []), one.slice(at + 1)]
  }
  return columns
}

/** Control characters and half surrogate pairs match nothing, and PostgreSQL rejects some of them. */
function askedText(text: unknown): string {
  if (typeof text !== 'string') throw wrong('The question must be a text')
  const asked = text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim()
  if (asked === '')
    throw wrong('The question is empty: enter a question, a few words, "a phrase" or a prefix*')
  if (asked.length > MAX_QUESTION_CHARACTERS)
    throw wrong(`The question is longer than ${MAX_QUESTION_CHARACTERS.toLocaleString('en')} characters`)
  return asked
}

function checkFilters(filters: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(filters)) {
    if (!FILTERS.includes(name as never))
      throw wrong(`There is no filter ${name.slice(0, 60)}; there are ${FILTERS.join(', ')}`)
    checkFilter(name as (typeof FILTERS)[number], value)
  }
}

function checkFilter(name: (typeof FILTERS)[number], value: unknown): void {
  switch (name) {
    case 'topic':
    case 'kind':
    case 'language':
    case 'table':
      if (!listOf(value).every((one) => typeof one === 'string' && one !== '' && one.length <= 100))
        throw wrong(`The filter ${name} takes one word or a list of words`)
      return
    case 'lifecycle':
      if (!listOf(value).every((one) => LIFECYCLES.includes(one as never)))
        throw wrong(
          `The filter lifecycle takes ${LIFECYCLES.join(', ')}; retired and deleted units are not in search`,
        )
      return
    case 'source':
      if (!SOURCES.includes(value as never)) throw wrong(`The filter source takes ${SOURCES.join(' or ')}`)
      return
    case 'columns':
      if (
        !isObject(value) ||
        Object.keys(value).length > 10 ||
        !Object.values(value).every((one) => listOf(one).every((text) => typeof text === 'string'))
      )
        throw wrong(
          'The filter columns takes up to ten columns with a text or a list of texts, such as {"brand": "ACME"}',
        )
      return
    case 'container':
      if (typeof value !== 'string' || value === '')
        throw wrong('The filter container takes the address or id of a unit')
      return
    case 'profile':
      if (!isObject(value)) throw wrong('The filter profile takes an object, such as {"audience": "staff"}')
      if (!isWithin(value, MAX_FILTER_DEPTH))
        throw wrong(`The filter profile is nested more than ${MAX_FILTER_DEPTH} deep`)
      return
    case 'edge': {
      const { type, target, ...rest } = isObject(value) ? value : {}
      const given = [type, target].filter((one) => one !== undefined)
      if (
        given.length === 0 ||
        !given.every((one) => typeof one === 'string') ||
        Object.keys(rest).length > 0
      )
        throw wrong('The filter edge takes {"type": …}, {"target": …} or both')
    }
  }
}

function definedOf(filters: unknown): Record<string, unknown> {
  if (!isObject(filters)) throw wrong('Filters are an object')
  return omitUndefined(filters)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1))
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

function wrong(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

/** What may be asked, and what is wrong with what was. */
import { UUID } from '../db/uuid.ts'
import { StagedoorError } from '../errors.ts'

export const SOURCES = ['unit', 'document'] as const
export const LIFECYCLES = ['draft', 'enacted', 'superseded'] as const

export interface SearchFilters {
  /** Units that carry one of these. */
  readonly topic?: string | readonly string[]
  /** Default: all but superseded ones. What is retired or deleted is not in search. */
  readonly lifecycle?: (typeof LIFECYCLES)[number] | readonly (typeof LIFECYCLES)[number][]
  readonly kind?: string | readonly string[]
  /** Whose profile holds all of this. */
  readonly profile?: Readonly<Record<string, unknown>>
  /** With an edge of this type, to this address, id or reference: one of them, or both. */
  readonly edge?: { readonly type?: string; readonly target?: string }
  /** Address or id of a unit: it, and what is in it at any depth. */
  readonly container?: string
  /** Texts in it: en, vi, … */
  readonly language?: string | readonly string[]
  /** Only units, or only documents of the old knowledge base. */
  readonly source?: (typeof SOURCES)[number]
}

export interface SearchRequest {
  readonly workspace_id: string
  readonly text: string
  /** Default 10, at most 100. */
  readonly limit?: number
  readonly filters?: SearchFilters
  /** Says beside each hit why it is there. */
  readonly explain?: boolean
}

export interface Question {
  readonly workspace_id: string
  readonly text: string
  readonly limit: number
  /** As the database takes them: without what was left out. */
  readonly filters: Readonly<Record<string, unknown>>
  /** Whether not every chunk will do. */
  readonly filtered: boolean
  /** Whether something is asked of units that documents do not have. */
  readonly ofUnits: boolean
  readonly source: SearchFilters['source']
  /** Superseded units are shown to whoever asks for them. */
  readonly superseded: boolean
}

export const MOST_HITS = 100
/** 10,000 long words. What is longer is a document, not a question. */
export const LONGEST_QUESTION = 100_000

/** As deep as a profile itself may be: nothing deeper can be in one. */
const DEEPEST = 100

const FILTERS = ['topic', 'lifecycle', 'kind', 'profile', 'edge', 'container', 'language', 'source'] as const

export function questionOf({ workspace_id, text, limit = 10, filters = {} }: SearchRequest): Question {
  if (typeof workspace_id !== 'string' || !UUID.test(workspace_id))
    throw wrong('Say in which workspace, by its id')
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_HITS)
    throw wrong(`At most ${MOST_HITS} hits are shown, and at least one`)
  const given = definedOf(filters)
  checkFilters(given)
  const { source, language: _, ...ofUnits } = given
  return {
    workspace_id,
    text: askedText(text),
    limit,
    filters: given,
    filtered: Object.keys(given).some((name) => name !== 'source'),
    ofUnits: Object.keys(ofUnits).length > 0,
    source: source as SearchFilters['source'],
    superseded: listOf(given.lifecycle).includes('superseded'),
  }
}

/** Controls and halves of characters find nothing, and some of them cannot even be sent. */
function askedText(text: unknown): string {
  if (typeof text !== 'string') throw wrong('Say what to look for, as text')
  const asked = text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim()
  if (asked === '') throw wrong('Say what to look for: a question, a few words, "a phrase" or begin*')
  if (asked.length > LONGEST_QUESTION)
    throw wrong(`The question is longer than ${LONGEST_QUESTION.toLocaleString('en')} characters`)
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
      if (!listOf(value).every((one) => typeof one === 'string' && one !== '' && one.length <= 100))
        throw wrong(`The filter ${name} takes one word or several`)
      return
    case 'lifecycle':
      if (!listOf(value).every((one) => LIFECYCLES.includes(one as never)))
        throw wrong(
          `The filter lifecycle takes ${LIFECYCLES.join(', ')}: what is retired or deleted is not in search`,
        )
      return
    case 'source':
      if (!SOURCES.includes(value as never)) throw wrong(`The filter source takes ${SOURCES.join(' or ')}`)
      return
    case 'container':
      if (typeof value !== 'string' || value === '')
        throw wrong('The filter container takes the address or id of a unit')
      return
    case 'profile':
      if (!isObject(value)) throw wrong('The filter profile takes an object, such as {"audience": "staff"}')
      if (!isWithin(value, DEEPEST)) throw wrong(`The filter profile is nested more than ${DEEPEST} deep`)
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
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
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

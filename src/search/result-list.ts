/**
 * The list of hits behind the ranking: near-equal ones become one, it is sorted and counted, and read page by page. A cursor
 * carries what was shown, so that no hit comes twice, whatever changes between two pages.
 */
import { createHash } from 'node:crypto'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import type { Question } from './question.ts'
import type { ChunkFacts, Ranked } from './ranking.ts'
import type { FacetValue } from './shapes.ts'
import type { RowFacts } from './table-hits.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export const SORTS = ['relevance', 'newest', 'title', 'address'] as const
/** Hits of each leg that a question can reach, page by page. */
export const MAX_LISTED = 1000

/** Of the words of two chunks together, the share that both have: from here on they say the same. */
const NEAR_EQUAL = 0.9
/** Chunks with fewer words are the same only if their texts are equal. */
const MIN_COMPARED_WORDS = 8
/** Values of one facet, and hits that are named as like another one. */
const MAX_FACET_VALUES = 50
const MAX_SIMILAR_HITS = 20

export interface Group<Facts extends ChunkFacts> {
  readonly hit: Ranked<Facts>
  readonly similar: readonly Ranked<Facts>[]
}

interface ChunkWords {
  readonly chunk_id: string
  readonly text_hash: string
  readonly lexeme_ids: readonly number[]
}

/** Hits whose best chunks say nearly the same are grouped under the first of them. */
export async function groupDuplicates<Facts extends ChunkFacts>(
  client: Client,
  { workspace_id, collapse }: Question,
  ranked: readonly Ranked<Facts>[],
): Promise<Group<Facts>[]> {
  if (!collapse || ranked.length < 2) return ranked.map((hit) => ({ hit, similar: [] }))
  const chunks = await wordsOfChunks(
    client,
    workspace_id,
    ranked.flatMap(({ best }) => (best ? [best.chunk_id] : [])),
  )
  const groups: { hit: Ranked<Facts>; words: ChunkWords | undefined; similar: Ranked<Facts>[] }[] = []
  const byHash = new Map<string, (typeof groups)[number]>()
  // A near-equal text has nearly as many words: only groups of that size are compared.
  const bySize = new Map<number, (typeof groups)[number][]>()
  for (const hit of ranked) {
    const words = hit.best && chunks.get(hit.best.chunk_id)
    const same = words && (byHash.get(words.text_hash) ?? nearEqual(words, bySize))
    if (same) {
      same.similar.push(hit)
      continue
    }
    const group = { hit, words, similar: [] }
    groups.push(group)
    if (words) {
      byHash.set(words.text_hash, group)
      const size = words.lexeme_ids.length
      bySize.set(size, [...(bySize.get(size) ?? []), group])
    }
  }
  return groups
}

async function wordsOfChunks(
  client: Client,
  workspace: string,
  chunks: readonly string[],
): Promise<Map<string, ChunkWords>> {
  const { rows } = await client.query<Omit<ChunkWords, 'lexeme_ids'> & { lexeme_ids: string }>({
    name: 'search_chunk_lexemes',
    // The driver reads an array character by character: thousands of numbers took it 2 ms of a question.
    text: `select chunk_id, text_hash, array_to_json(lexeme_ids)::text as lexeme_ids
             from iu_core.fn_search_chunk_lexemes($1, $2)`,
    values: [workspace, chunks],
  })
  return new Map(rows.map((row) => [row.chunk_id, { ...row, lexeme_ids: JSON.parse(row.lexeme_ids) }]))
}

function nearEqual<T extends { readonly words: ChunkWords | undefined }>(
  { lexeme_ids: own }: ChunkWords,
  bySize: ReadonlyMap<number, readonly T[]>,
): T | undefined {
  const size = own.length
  if (size < MIN_COMPARED_WORDS) return undefined
  const mine = new Set(own)
  for (let other = Math.ceil(size * NEAR_EQUAL); other <= size / NEAR_EQUAL; other++)
    for (const group of bySize.get(other) ?? []) if (isNearEqual(mine, group.words!.lexeme_ids)) return group
  return undefined
}

/** Most texts are told apart by their first words. */
function isNearEqual(own: ReadonlySet<number>, others: readonly number[]): boolean {
  let shared = others.length
  for (const id of others)
    if (!own.has(id) && --shared < NEAR_EQUAL * (own.size + others.length - shared)) return false
  return shared >= NEAR_EQUAL * (own.size + others.length - shared)
}

/** What a hit is counted and sorted by. */
export interface SourceFacts {
  readonly id: string
  /** Of a row. */
  readonly table?: string
  /** Of a row: the values of its columns for filters. */
  readonly columns?: Readonly<Record<string, string>>
  readonly source: string
  readonly kind: string | null
  readonly status: string | null
  readonly language: string
  readonly topics: readonly string[]
  readonly title: string
  readonly address: string
  /** Null: of a row, nobody knows. */
  readonly changed_at: Date | null
}

/** What a hit of a row says itself: it was read in its table under the caller's rights. */
interface ListedFacts extends ChunkFacts {
  readonly title: string
  readonly language: string
  readonly table_row?: RowFacts
}

export async function sourceFacts(
  client: Client,
  workspace: string,
  hits: readonly Pick<Ranked<ListedFacts>, 'source' | 'id' | 'best'>[],
): Promise<Map<string, SourceFacts>> {
  const idsOf = (source: string) => hits.filter((hit) => hit.source === source).map(({ id }) => id)
  const { rows } = await client.query<SourceFacts>('select * from iu_core.fn_search_sources($1, $2, $3)', [
    workspace,
    idsOf('unit'),
    idsOf('document'),
  ])
  const facts = new Map(rows.map((row) => [row.id, row]))
  for (const { source, id, best } of hits)
    if (source === 'row' && best?.table_row) {
      const { table_source: table, key, filters } = best.table_row
      const address = `${table} ${Object.values(key).join(' ')}`
      const { title, language } = best
      const none = { kind: null, status: null, topics: [], changed_at: null }
      facts.set(id, { id, source, table, columns: filters ?? {}, address, title, language, ...none })
    }
  return facts
}

/** How many of the hits have each value of each filter; the most frequent first. */
export function countFacets(facts: Iterable<SourceFacts>): FacetValue[] {
  const counts = new Map<string, FacetValue & { count: number }>()
  const add = (filter: FacetValue['filter'], value: string | null, column?: string) => {
    if (value === null) return
    const key = JSON.stringify([filter, column, value])
    const one = counts.get(key) ?? { filter, ...(column !== undefined && { column }), value, count: 0 }
    one.count++
    counts.set(key, one)
  }
  for (const { source, table, columns = {}, kind, status, language, topics } of facts) {
    add('source', source)
    add('table', table ?? null)
    for (const [column, value] of Object.entries(columns)) add('column', value, column)
    add('kind', kind)
    add('status', status)
    add('language', language)
    for (const topic of new Set(topics)) add('topic', topic)
  }
  const shown = new Map<string, number>()
  return [...counts.values()]
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .filter(({ filter, column = '' }) => {
      const before = shown.get(`${filter} ${column}`) ?? 0
      shown.set(`${filter} ${column}`, before + 1)
      return before < MAX_FACET_VALUES
    })
}

export function sortHits<Facts extends ChunkFacts>(
  ranked: readonly Ranked<Facts>[],
  sort: Question['sort'],
  facts: ReadonlyMap<string, SourceFacts>,
): Ranked<Facts>[] {
  const order = new Intl.Collator('en', { numeric: true })
  const key = {
    relevance: () => 0,
    newest: (a: SourceFacts, b: SourceFacts) =>
      (b.changed_at?.getTime() ?? 0) - (a.changed_at?.getTime() ?? 0),
    title: (a: SourceFacts, b: SourceFacts) => order.compare(a.title, b.title),
    address: (a: SourceFacts, b: SourceFacts) => order.compare(a.address, b.address),
  }[sort]
  // What was deleted meanwhile has no facts; it stays last, and is left out when its text is read.
  return ranked
    .map((hit) => ({ hit, fact: facts.get(hit.id) }))
    .sort((a, b) =>
      a.fact && b.fact
        ? key(a.fact, b.fact) || order.compare(a.fact.address, b.fact.address)
        : Number(!a.fact) - Number(!b.fact),
    )
    .map(({ hit }) => hit)
}

/** Up to `MAX_SIMILAR_HITS` of a group; the count is of all. */
export function similarOf<Facts extends ChunkFacts>(
  { similar }: Group<Facts>,
  facts: ReadonlyMap<string, SourceFacts>,
) {
  const named = similar.slice(0, MAX_SIMILAR_HITS).flatMap(({ source, id }) => {
    const fact = facts.get(id)
    // Rows are never among them: what they say is not compared.
    return fact && source !== 'row'
      ? [{ source, id, title: fact.title, ...(fact.address !== null && { address: fact.address }) }]
      : []
  })
  return { count: similar.length, hits: named }
}

// Cursors.

interface Cursor {
  /** Of the question. */
  readonly q: string
  /** fn_search_stamp when the first page was read. */
  readonly s: string
  /** Hits that were shown, each as SHOWN_BYTES bytes of its hash. */
  readonly h: string
}

/** Two of a thousand hits share one of these in one of 8,000 lists: then the later one is left out of it. */
const SHOWN_BYTES = 4
const MAX_CURSOR_CHARACTERS = 16_000

export interface Page<Facts extends ChunkFacts> {
  readonly groups: readonly Group<Facts>[]
  readonly next: string | undefined
  readonly warnings: readonly string[]
}

/** The groups behind the cursor of the question, and the cursor of the page behind them. */
export async function pageOf<Facts extends ChunkFacts>(
  client: Client,
  question: Question,
  groups: readonly Group<Facts>[],
): Promise<Page<Facts>> {
  const { limit, after, workspace_id } = question
  if (after === undefined && groups.length <= limit) return { groups, next: undefined, warnings: [] }
  const { rows } = await client.query<{ stamp: string }>('select iu_core.fn_search_stamp($1) as stamp', [
    workspace_id,
  ])
  const { stamp } = rows[0]!
  const cursor = after === undefined ? undefined : readCursor(question, after)
  const before = cursor ? hashesOf(cursor.h) : []
  const shown = new Set(before)
  const found = new Set(groups.flatMap(({ hit, similar }) => [hit, ...similar].map(hashOf)))
  const left = groups.filter(({ hit, similar }) => ![hit, ...similar].some((one) => shown.has(hashOf(one))))
  const here = left.slice(0, limit)
  const isChanged = cursor !== undefined && (cursor.s !== stamp || before.some((hash) => !found.has(hash)))
  const next: Cursor = {
    q: questionHash(question),
    // Once it has changed, every further page says so.
    s: cursor?.s ?? stamp,
    h: Buffer.from([...before, ...here.map(({ hit }) => hashOf(hit))].join(''), 'hex').toString('base64url'),
  }
  return {
    groups: here,
    next: left.length > limit ? Buffer.from(JSON.stringify(next)).toString('base64url') : undefined,
    warnings: isChanged ? [ANSWER_WARNINGS.changedSince] : [],
  }
}

/** Refuses a cursor that is none, or of another question, before anything is asked. */
export function checkCursor(question: Question): void {
  if (question.after !== undefined) readCursor(question, question.after)
}

function readCursor(question: Question, text: string): Cursor {
  const cursor = parseCursor(text)
  if (cursor === undefined || cursor.q !== questionHash(question))
    throw new StagedoorError('argument_invalid', {
      reason: 'The cursor is not of this question with these filters and this order: ask for its first page',
    })
  return cursor
}

function parseCursor(text: string): Cursor | undefined {
  if (typeof text !== 'string' || text.length > MAX_CURSOR_CHARACTERS) return undefined
  try {
    const { q, s, h } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Partial<Cursor>
    return typeof q === 'string' && typeof s === 'string' && typeof h === 'string' ? { q, s, h } : undefined
  } catch {
    return undefined
  }
}

function questionHash({ workspace_id, typed, filters, sort, collapse, exact }: Question): string {
  const asked = JSON.stringify([workspace_id, typed, filters, sort, collapse, exact])
  return createHash('sha256').update(asked).digest('base64url').slice(0, 12)
}

function hashOf({ source, id }: Pick<Ranked<ChunkFacts>, 'source' | 'id'>): string {
  return createHash('sha256')
    .update(`${source} ${id}`)
    .digest('hex')
    .slice(0, 2 * SHOWN_BYTES)
}

function hashesOf(shown: string): string[] {
  return Buffer.from(shown, 'base64url').toString('hex').match(/.{8}/g) ?? []
}

/**
 * A question is answered by words and by meaning side by side, and what both found is checked against Postgres under the
 * caller's own rights before anything of it is shown. Freshness is told with every hit; what could not be asked, with the answer.
 */
import type { Client } from '../db/connection.ts'
import { denseWeight } from './fusion.ts'
import { queryWords } from './highlights.ts'
import type { Dense, OpenedSearch, SearchState } from './opened.ts'
import { type Question, questionOf, type SearchRequest } from './question.ts'
import { QuestionVectors } from './question-vectors.ts'
import { type LegsFound, type SearchHit, show } from './shown.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export interface SearchAnswer {
  readonly hits: readonly SearchHit[]
  readonly warnings: readonly string[]
  readonly took_ms: number
  /** How many chunks each leg found. */
  readonly legs: { readonly lexical: number; readonly dense: number | 'off' | 'unavailable' }
}

/** One transaction under the rights of whoever asks. */
export type Transaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>

export interface SearchDeps {
  readonly transaction: Transaction
  readonly opened: OpenedSearch
}

/** Chunks from each leg: enough that what is fused, judged and thrown away does not empty the page. */
const DEPTH = 100
/** Chunks that are listed for a store; where the filters leave more, it is asked for more, and those are checked. */
const MOST_ALLOWED = 10_000
/** The other words of a longer one are not looked for. */
const MOST_WORDS = 64

/** Quotes of any kind, as fn_search_parse takes them. */
const QUOTED = /["“”„«»]([^"“”„«»]*)["“”„«»]/g
const QUOTES = /["“”„«»]/g
const ONLY_BEGINNINGS = /^(\s*[^\s"*]{2,}\*(?=\s|$))+\s*$/

export const search = (deps: SearchDeps, request: SearchRequest): Promise<SearchAnswer> =>
  answer(deps, request, false)

/** `literal`: what must be there word for word is found by words alone. */
async function answer(deps: SearchDeps, request: SearchRequest, literal: boolean): Promise<SearchAnswer> {
  const began = performance.now()
  const question = questionOf(request)
  const state = await deps.opened.state(question.workspace_id)
  const asked = scopeOf(question, state)
  const legs = await askLegs(deps, question, state, { ...asked, literal })
  const hits =
    legs.lexical.length + legs.dense.length + legs.legacy.length === 0
      ? []
      : await deps.transaction((client) => show(client, question, legs, request.explain === true))
  if (hits.length === 0 && isQuoted(question.text)) {
    // By words still: what is only near in meaning to a phrase that is nowhere would look like an answer.
    const again = await answer(deps, { ...request, text: question.text.replace(QUOTES, ' ') }, true)
    if (again.hits.length > 0)
      return {
        ...again,
        warnings: [ANSWER_WARNINGS.phraseNowhere, ...again.warnings],
        took_ms: Math.round((performance.now() - began) * 10) / 10,
      }
  }
  return {
    hits,
    warnings: [...asked.warnings, ...legs.warnings],
    took_ms: Math.round((performance.now() - began) * 10) / 10,
    legs: { lexical: legs.lexical.length, dense: legs.denseCount },
  }
}

interface Scope {
  /** As the database takes it. */
  readonly filters: Readonly<Record<string, unknown>>
  readonly units: boolean
  readonly documents: boolean
  readonly warnings: readonly string[]
}

/** Which of the two is asked: what the question wants, as far as the phases of the migration allow. */
function scopeOf({ filters, source, ofUnits }: Question, state: SearchState): Scope {
  const units = source !== 'document'
  const wanted = source === 'document' || (source === undefined && !ofUnits && state.documents)
  // Alone, the old knowledge base is asked in any phase.
  const documents = wanted && (source === 'document' || state.phase2)
  return {
    // Where there are none, nothing has to be kept out: a filter costs three times as much as the words.
    filters:
      units && (documents || !state.documents)
        ? filters
        : { ...filters, source: units ? 'unit' : 'document' },
    units,
    documents,
    warnings: [
      ...(units && !state.phase1 ? [ANSWER_WARNINGS.phaseOne] : []),
      ...(wanted && !documents ? [ANSWER_WARNINGS.phaseTwo] : []),
      ...(units && !state.excluded ? [ANSWER_WARNINGS.excluded] : []),
    ],
  }
}

interface Legs extends LegsFound {
  readonly denseCount: number | 'off' | 'unavailable'
  readonly warnings: readonly string[]
}

async function askLegs(
  { transaction, opened }: SearchDeps,
  question: Question,
  state: SearchState,
  scope: Scope & { readonly literal: boolean },
): Promise<Legs> {
  const { active } = state
  const { workspace_id: workspace, text, filtered } = question
  const limit = Math.max(DEPTH, 3 * question.limit)
  const weight = active === undefined ? 0 : denseWeight(active)
  // What must be there word for word is found by words.
  const isLiteral = scope.literal || isQuoted(text) || ONLY_BEGINNINGS.test(text)
  const asksUnits = scope.units && active !== undefined && weight > 0 && !isLiteral
  const allowed = new Awaited<readonly string[] | undefined>()
  const byWords = transaction(async (client) => {
    const found = await lexical(client, question, scope, { limit, pending: state.phase1 })
    if (filtered && asksUnits) allowed.resolve(await allowedChunks(client, question, scope))
    const asked = found.length === 0 ? await parsed(client, text) : undefined
    return { found, asked }
  })
  const foundByWords = byWords.then(({ found }) =>
    found.filter(({ pending }) => !pending).map(({ id }) => id),
  )
  // The other leg must not wait for what will never come; the error itself is thrown below.
  foundByWords.catch(() => allowed.resolve([]))
  const vectors = new QuestionVectors(text)
  const off: Dense = { ids: [] }
  const [words, dense, legacy] = await Promise.all([
    byWords,
    asksUnits
      ? opened.units(active, {
          vectors,
          workspace,
          limit,
          byWords: foundByWords,
          ...(filtered && {
            only: allowed.promise,
            passing: (ids) => transaction((client) => passing(client, question, scope, ids)),
          }),
        })
      : off,
    scope.documents && !isLiteral
      ? opened.documents({
          vectors,
          limit,
          byWords: foundByWords,
          passing: (names) => transaction((client) => passingDocuments(client, question, scope, names)),
        })
      : off,
  ])
  const isLong = queryWords(text).words.length > MOST_WORDS
  const common = {
    lexical: words.found.map(({ id }) => id),
    denseWeight: weight || 1,
    together: scope.units && scope.documents,
  }
  if (words.found.length === 0 && words.asked?.empty) {
    const warning = words.asked.stops ? ANSWER_WARNINGS.stopWords : ANSWER_WARNINGS.noWords
    return { ...common, dense: [], legacy: [], denseCount: 'off', warnings: [warning] }
  }
  return {
    ...common,
    dense: 'ids' in dense ? dense.ids : [],
    legacy: 'ids' in legacy ? legacy.ids : [],
    denseCount: !asksUnits ? 'off' : 'ids' in dense ? dense.ids.length : 'unavailable',
    warnings: [
      ...(isLong ? [ANSWER_WARNINGS.manyWords] : []),
      ...[dense, legacy].flatMap((leg) => ('unavailable' in leg ? [leg.unavailable] : [])),
    ],
  }
}

function isQuoted(text: string): boolean {
  for (const [, inside] of text.matchAll(QUOTED)) if (/[\p{L}\p{N}]/u.test(inside!)) return true
  return false
}

/** A promise that is settled from outside, once. */
class Awaited<T> {
  readonly promise: Promise<T>
  resolve!: (value: T) => void

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve
    })
  }
}

interface FoundByWords {
  /** Of a chunk; of a text that is not projected yet, its version. */
  readonly id: string
  readonly pending: boolean
}

/** Best first; among them units whose newest text search has not taken in yet, which are found in the tables themselves. */
async function lexical(
  client: Client,
  { workspace_id, text }: Question,
  { filters, units }: Scope,
  { limit, pending }: { limit: number; pending: boolean },
): Promise<FoundByWords[]> {
  const { rows } = await client.query<FoundByWords>({
    name: 'search_lexical',
    text: `select f.id, f.pending
             from (select chunk_id as id, score, false as pending from iu_core.fn_search_lexical($1, $2, $3, $4)
                    union all
                   select unit_version_id, score, true from iu_core.fn_search_pending($1, $2, $3, $4) where $5) as f
            order by f.score desc, f.id limit $3`,
    values: [workspace_id, text, limit, JSON.stringify(filters), units && pending],
  })
  return rows
}

/** What the filters leave over for the store; undefined: more than can be listed for it. */
async function allowedChunks(
  client: Client,
  { workspace_id }: Question,
  { filters }: Scope,
): Promise<string[] | undefined> {
  const { rows } = await client.query<{ allowed: string[] | null }>({
    name: 'search_allowed',
    text: 'select iu_core.fn_search_allowed_ids($1, $2, $3) as allowed',
    values: [workspace_id, JSON.stringify({ ...filters, source: 'unit' }), MOST_ALLOWED],
  })
  return rows[0]!.allowed ?? undefined
}

async function passing(
  client: Client,
  { workspace_id }: Question,
  { filters }: Scope,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ passing: string[] }>({
    name: 'search_passing',
    text: 'select iu_core.fn_search_passing($1, $2, $3) as passing',
    values: [workspace_id, JSON.stringify({ ...filters, source: 'unit' }), ids],
  })
  return rows[0]!.passing
}

/** By the names that the old knowledge base gives them. */
async function passingDocuments(
  client: Client,
  { workspace_id }: Question,
  { filters }: Scope,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ passing: string[] }>({
    name: 'search_passing_documents',
    text: 'select iu_core.fn_search_passing_documents($1, $2, $3) as passing',
    values: [workspace_id, JSON.stringify({ ...filters, source: 'document' }), names],
  })
  return rows[0]!.passing
}

interface Parsed {
  /** Nothing that could be looked for: common words alone, or no words at all. */
  readonly empty: boolean
  readonly stops: boolean
}

async function parsed(client: Client, text: string): Promise<Parsed> {
  const { rows } = await client.query<Parsed>(
    `select p.words = '{}' and p.prefixes = '{}' and p.phrases = '{}' as empty, p.stops <> '{}' as stops
       from iu_core.fn_search_parse($1) as p`,
    [text],
  )
  return rows[0]!
}

/**
 * Ranking: chunks of both legs are merged per unit or document, the visibility matrix decides between a unit and the document it was
 * cut from, and the scores of both legs are fused.
 */

/** A row of fn_search_hits; a deleted chunk has none. */
export interface ChunkFacts {
  readonly chunk_id: string
  readonly source: 'unit' | 'document' | 'row'
  readonly unit_id: string | null
  /** Of a table of the user; one that the caller may read. */
  readonly row_id?: string
  /** The document of the old knowledge base that a unit was cut from, if any. */
  readonly document_id: string | null
  readonly document_state: DocumentState | null
  readonly canonical_address: string | null
  readonly lifecycle_status: string | null
  readonly vector_state: string
  readonly version_no: number | null
  readonly current_version_no: number | null
}

export interface Found<Facts extends ChunkFacts> {
  /** Chunk ids of the keyword leg and the vector leg, best first. */
  readonly lexical: readonly string[]
  readonly dense: readonly string[]
  /** Documents found by the vectors of the old knowledge base. */
  readonly legacy: readonly string[]
  readonly facts: ReadonlyMap<string, Facts>
  /** Chunks that were not checked yet: they rank after those that were. */
  readonly unseen?: ReadonlySet<string>
  /** States of documents of which no chunk was found. */
  readonly documents: ReadonlyMap<string, DocumentState>
  readonly superseded: boolean
  /** Whether units and documents are searched together. False: the other kind is treated as absent. */
  readonly together: boolean
  /** Share of the vector leg in a score, from 0 to 1. */
  readonly denseWeight: number
  /** Of chunks, by both legs; undefined: only their ranks are known. */
  readonly scores?: LegScores<string> | undefined
  /** Of chunks: the share of the question's words that each has. */
  readonly wordShares?: ReadonlyMap<string, number> | undefined
  /** How much of the question the best hits have, from 0 to 1: every score is multiplied by it. */
  readonly fit: number
}

/** Each from 0 to 1, where 1 is the best of the leg. What a leg gives no score to is missing. */
export interface LegScores<Key> {
  readonly words: ReadonlyMap<Key, number>
  readonly meaning: ReadonlyMap<Key, number>
}

export interface Ranked<Facts extends ChunkFacts> {
  readonly source: 'unit' | 'document' | 'row'
  readonly id: string
  readonly score: number
  readonly shares: Shares
  readonly ranks: Ranks
  /** Its best chunk; a document shown in place of its units may have none. */
  readonly best: Facts | undefined
  readonly freshness: string
  readonly cautions: readonly { readonly caution: Caution; readonly unit: Facts | undefined }[]
  readonly states: { readonly unit: UnitState; readonly document: DocumentState }
}

interface RankedItem<Facts extends ChunkFacts> {
  readonly source: 'unit' | 'document' | 'row'
  readonly id: string
  best: Facts | undefined
  freshness: string
  readonly cautions: { readonly caution: Caution; readonly unit: Facts | undefined }[]
  states: { readonly unit: UnitState; readonly document: DocumentState }
}

export function rank<Facts extends ChunkFacts>(found: Found<Facts>): Ranked<Facts>[] {
  const things = new Map<string, RankedItem<Facts>>()
  const keyOfChunk = new Map<string, string>()
  const both = [...found.lexical, ...found.dense]
  const chunks = both.map((id) => found.facts.get(id)).filter((chunk) => chunk !== undefined)
  const inForce = enactedByAddress(chunks)
  for (const chunk of chunks) {
    if (chunk.source === 'document' || keyOfChunk.has(chunk.chunk_id)) continue
    const key =
      chunk.source === 'row'
        ? rowShown(chunk, things)
        : shownFor(inPlaceOf(chunk, inForce, found), found, things)
    if (key !== undefined) keyOfChunk.set(chunk.chunk_id, key)
  }
  const unitOf = firstUnits(chunks, keyOfChunk)
  for (const chunk of chunks) {
    if (chunk.source !== 'document' || keyOfChunk.has(chunk.chunk_id)) continue
    const id = chunk.document_id!
    // If a unit is shown in its place, the best unit also gets the document's rank.
    const key = unitOf.get(id) ?? documentShown(things, id, chunk.vector_state as DocumentState, chunk)
    if (key !== undefined) keyOfChunk.set(chunk.chunk_id, key)
  }
  const legacyKeys = found.legacy
    .map((id) => {
      const state = found.documents.get(id)
      return unitOf.get(id) ?? (state && documentShown(things, id, state, undefined))
    })
    .filter((key) => key !== undefined)
  // Unchecked chunks keep their rank, so that the others keep theirs.
  const keysOf = (ids: readonly string[]): string[] =>
    ids
      .map((id) => keyOfChunk.get(id) ?? (found.unseen?.has(id) ? `unseen ${id}` : undefined))
      .filter((key) => key !== undefined)
  const scores = found.scores && legacyKeys.length === 0 ? byKey(found.scores, keyOfChunk) : undefined
  const dense = alternate(keysOf(found.dense), legacyKeys)
  return fuse({ lexical: keysOf(found.lexical), dense, denseWeight: found.denseWeight, scores }).flatMap(
    ({ key, score, shares, ranks }) => {
      const thing = things.get(key)
      const { words, meaning } = shares
      return thing
        ? [
            {
              ...thing,
              score: score * found.fit,
              shares: { words: words * found.fit, meaning: meaning * found.fit },
              ranks,
            },
          ]
        : []
    },
  )
}

/** Of several chunks of one unit or document, the best counts in each leg. */
function byKey(
  { words, meaning }: LegScores<string>,
  keyOfChunk: ReadonlyMap<string, string>,
): LegScores<string> {
  const best = (scores: ReadonlyMap<string, number>): Map<string, number> => {
    const found = new Map<string, number>()
    for (const [chunk, score] of scores) {
      const key = keyOfChunk.get(chunk)
      if (key !== undefined) found.set(key, Math.max(score, found.get(key) ?? 0))
    }
    return found
  }
  return { words: best(words), meaning: best(meaning) }
}

/** The suffix that a cut gives to the successor draft of an enacted unit. */
const SUCCESSOR = /~\d+$/

/** The best chunk of each enacted unit that was found, by address. */
function enactedByAddress<Facts extends ChunkFacts>(chunks: readonly Facts[]): Map<string, Facts> {
  const first = new Map<string, Facts>()
  for (const chunk of chunks)
    if (
      chunk.source === 'unit' &&
      unitStateOf(chunk.vector_state, chunk.lifecycle_status!) === 'current+enacted' &&
      !first.has(chunk.canonical_address!)
    )
      first.set(chunk.canonical_address!, chunk)
  return first
}

/**
 * For a draft that will succeed an enacted unit, and whose document would be shown instead: the enacted unit, because the document
 * still has its text. Else the chunk itself.
 */
function inPlaceOf<Facts extends ChunkFacts>(
  chunk: Facts,
  inForce: ReadonlyMap<string, Facts>,
  { together }: Found<Facts>,
): Facts {
  const before = inForce.get(chunk.canonical_address!.replace(SUCCESSOR, ''))
  if (before === undefined || before.unit_id === chunk.unit_id || !together) return chunk
  const unit = unitStateOf(chunk.vector_state, chunk.lifecycle_status!)
  const document = (chunk.document_id !== null && chunk.document_state) || 'absent'
  return decideVisibility(unit, document).show === 'document' ? before : chunk
}

/** Adds the unit, its document, or nothing, as the matrix decides. Returns its key. */
function shownFor<Facts extends ChunkFacts>(
  chunk: Facts,
  { superseded, together, wordShares }: Found<Facts>,
  things: Map<string, RankedItem<Facts>>,
): string | undefined {
  if (chunk.lifecycle_status === 'superseded' && !superseded) return undefined
  const unit = unitStateOf(chunk.vector_state, chunk.lifecycle_status!)
  const document = (together && chunk.document_id !== null && chunk.document_state) || 'absent'
  const verdict = decideVisibility(unit, document)
  if (verdict.show === 'none') return undefined
  const key = verdict.show === 'unit' ? `unit ${chunk.unit_id}` : `document ${chunk.document_id}`
  const states = { unit, document }
  const thing: RankedItem<Facts> = things.get(key) ?? {
    source: verdict.show,
    id: verdict.show === 'unit' ? chunk.unit_id! : chunk.document_id!,
    best: verdict.show === 'unit' ? chunk : undefined,
    freshness: verdict.show === 'unit' ? chunk.vector_state : document,
    cautions: [],
    states,
  }
  // Its newest text where that has about as much of the question: an older one may rank before it until the newest is in search.
  const shareOf = ({ chunk_id }: Facts): number => wordShares?.get(chunk_id) ?? 0
  const older = thing.best !== undefined && isNewest(chunk) && !isNewest(thing.best) ? thing.best : undefined
  if (older !== undefined && shareOf(chunk) >= LEAST_SHARE_OF_OLDER * shareOf(older)) thing.best = chunk
  things.set(key, thing)
  for (const caution of verdict.cautions) {
    const ofDocument = caution.startsWith('document_')
    const known = thing.cautions.some(
      (other) => other.caution === caution && (ofDocument || other.unit?.unit_id === chunk.unit_id),
    )
    if (!known) thing.cautions.push({ caution, unit: chunk })
  }
  return key
}

/** Words that no text in search has count for a text that waits, and not for one that is there: their shares differ by those. */
const LEAST_SHARE_OF_OLDER = 0.75

const isNewest = ({ version_no, current_version_no }: ChunkFacts): boolean =>
  version_no === current_version_no

/** Adds a row of a table. Returns its key. */
function rowShown<Facts extends ChunkFacts>(chunk: Facts, things: Map<string, RankedItem<Facts>>): string {
  const key = `row ${chunk.row_id}`
  if (!things.has(key))
    things.set(key, {
      source: 'row',
      id: chunk.row_id!,
      best: chunk,
      freshness: chunk.vector_state,
      cautions: [],
      states: { unit: 'absent', document: 'absent' },
    })
  return key
}

/** Adds a document in whose place no unit is shown. Returns its key. */
function documentShown<Facts extends ChunkFacts>(
  things: Map<string, RankedItem<Facts>>,
  id: string,
  state: DocumentState,
  chunk: Facts | undefined,
): string | undefined {
  const key = `document ${id}`
  const known = things.get(key)
  if (known) {
    known.best ??= chunk
    return key
  }
  const { show, cautions } = decideVisibility('absent', state)
  if (show === 'none') return undefined
  things.set(key, {
    source: 'document',
    id,
    best: chunk,
    freshness: state,
    cautions: cautions.map((caution) => ({ caution, unit: undefined })),
    states: { unit: 'absent', document: state },
  })
  return key
}

/** For each document in whose place units are shown: the unit that was found first. */
function firstUnits<Facts extends ChunkFacts>(
  chunks: readonly Facts[],
  keyOfChunk: ReadonlyMap<string, string>,
): Map<string, string> {
  const first = new Map<string, string>()
  for (const { chunk_id, source, document_id } of chunks) {
    const key = keyOfChunk.get(chunk_id)
    if (source === 'unit' && document_id !== null && key?.startsWith('unit ') && !first.has(document_id))
      first.set(document_id, key)
  }
  return first
}

/** Scores of two collections are not comparable: their hits alternate. */
function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  if (second.length === 0) return [...first]
  const longest = Math.max(first.length, second.length)
  return Array.from({ length: longest }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((key) => key !== undefined)
}

/**
 * Fusion. A score is a convex combination of the scores of both legs, each divided by the best score of its leg, over all that either leg
 * found: ranks alone throw away how certain a leg is. Where a store gives no scores, ranks are combined (reciprocal rank fusion).
 *
 * Share of the vector leg by embedder, chosen on five collections together (decision 0022). Hashed words add nothing to keywords, so they
 * are not asked.
 */
const DENSE_WEIGHTS: Readonly<Record<string, number>> = { lsa: 0.25, openai: 0.5, onnx: 0.5, hashed: 0 }
/** A model fitted on fewer texts knows little about which words go together: it counts for less, in proportion. */
const FEW_DOCUMENTS = 1000

export function denseWeight(collection: {
  readonly embedder: string
  readonly documents?: number | null
}): number {
  const weight = DENSE_WEIGHTS[collection.embedder] ?? DENSE_WEIGHTS.openai!
  return weight * Math.min(1, (collection.documents ?? FEW_DOCUMENTS) / FEW_DOCUMENTS)
}

/** Of the scores of a leg, so that legs can be compared. */
export function normaliseScores(scores: ReadonlyMap<string, number>): Map<string, number> {
  let best = 0
  for (const score of scores.values()) best = Math.max(best, score)
  return new Map([...scores].map(([id, score]) => [id, best > 0 ? Math.max(0, score) / best : 0]))
}

/** In rank fusion: the higher, the less the first ranks differ. */
export const RANK_CONSTANT = 10

interface Ranks {
  readonly lexical?: number
  readonly dense?: number
}

/** What each leg adds to the score. */
export interface Shares {
  readonly words: number
  readonly meaning: number
}

export interface Fused<Key> {
  readonly key: Key
  readonly score: number
  readonly shares: Shares
  readonly ranks: Ranks
}

interface Legs<Key> {
  /** Best first; a repeated key keeps its better rank. */
  readonly lexical: readonly Key[]
  readonly dense: readonly Key[]
  readonly denseWeight: number
  readonly scores?: LegScores<Key> | undefined
}

/** Best first. The best possible score is 1. */
export function fuse<Key>({ lexical, dense, denseWeight, scores }: Legs<Key>): Fused<Key>[] {
  const lexicalRanks = ranksOf(lexical)
  const denseRanks = denseWeight > 0 ? ranksOf(dense) : new Map<Key, number>()
  const keys = new Set([...lexicalRanks.keys(), ...denseRanks.keys()])
  const fused = [...keys].map((key) => {
    const lexicalRank = lexicalRanks.get(key)
    const denseRank = denseRanks.get(key)
    const words = scores ? (scores.words.get(key) ?? 0) : shareOfRank(lexicalRank)
    const meaning = scores ? (scores.meaning.get(key) ?? 0) : shareOfRank(denseRank)
    const shares = { words: (1 - denseWeight) * words, meaning: denseWeight * meaning }
    return {
      key,
      score: shares.words + shares.meaning,
      shares,
      ranks: {
        ...(lexicalRank !== undefined && { lexical: lexicalRank }),
        ...(denseRank !== undefined && { dense: denseRank }),
      },
    }
  })
  // Stable: equal scores keep the order of the keyword leg, so that the same question has the same answer.
  return fused.sort((a, b) => b.score - a.score)
}

function ranksOf<Key>(keys: readonly Key[]): Map<Key, number> {
  const ranks = new Map<Key, number>()
  for (const key of keys) if (!ranks.has(key)) ranks.set(key, ranks.size + 1)
  return ranks
}

function shareOfRank(rank: number | undefined): number {
  return rank === undefined ? 0 : (RANK_CONSTANT + 1) / (RANK_CONSTANT + rank)
}

// Confidence: whether anything fits the question.

/** What the words of a question say of a chunk. */
export interface WordScore {
  readonly score: number
  /** The share of the question's words, each by its rareness, that the chunk has. */
  readonly share: number
  /** How many words the question asks for. */
  readonly asked: number
}

/** The best of these are looked at: what is behind them is not what the answer is judged by. */
const JUDGED_HITS = 3

/** How much of the question the best chunks have. `alike`: of how near in meaning they are, where that says something by itself. */
export function fitOf(
  best: readonly string[],
  words: ReadonlyMap<string, WordScore>,
  alike: ReadonlyMap<string, number> | undefined,
): number {
  return Math.max(
    0,
    ...best
      .slice(0, JUDGED_HITS)
      .map((id) => Math.min(1, Math.max(words.get(id)?.share ?? 0, alike?.get(id) ?? 0))),
  )
}

/**
 * The least share that an answer has. The longer a question is, the more of its words are about how it is asked. Measured (decision
 * 0022): of the questions of each of five collections at most 8 % have less; of questions asked in a collection about other things 63 to 80 %.
 */
export function leastFit(asked: number): number {
  return Math.max(0.2, 0.6 - 0.05 * asked)
}

// The visibility matrix: whether a unit or the document of the old knowledge base that it was cut from is shown, for every pair of
// states.

export const UNIT_STATES = [
  'absent',
  'current+enacted',
  'current',
  'pending',
  'stale',
  'error',
  'retired',
] as const
export const DOCUMENT_STATES = ['absent', 'current', 'stale', 'error'] as const

type UnitState = (typeof UNIT_STATES)[number]
export type DocumentState = (typeof DOCUMENT_STATES)[number]

/** What the reader is warned about. */
export type Caution = 'unit_pending' | 'unit_stale' | 'unit_error' | 'document_stale' | 'document_error'

interface Visibility {
  readonly show: 'unit' | 'document' | 'none'
  readonly cautions: readonly Caution[]
}

const SHOW_NOTHING: Visibility = { show: 'none', cautions: [] }
const showUnit = (...cautions: Caution[]): Visibility => ({ show: 'unit', cautions })
const showDocument = (...cautions: Caution[]): Visibility => ({ show: 'document', cautions })

const MATRIX: Readonly<Record<UnitState, Readonly<Record<DocumentState, Visibility>>>> = {
  absent: {
    absent: SHOW_NOTHING,
    current: showDocument(),
    stale: showDocument('document_stale'),
    error: showDocument('document_error'),
  },
  'current+enacted': { absent: showUnit(), current: showUnit(), stale: showUnit(), error: showUnit() },
  current: { absent: showUnit(), current: showDocument(), stale: showUnit(), error: showUnit() },
  pending: {
    absent: showUnit('unit_pending'),
    current: showDocument(),
    stale: showDocument('document_stale', 'unit_pending'),
    error: showUnit('unit_pending'),
  },
  stale: {
    absent: showUnit('unit_stale'),
    current: showDocument('unit_stale'),
    stale: showDocument('document_stale', 'unit_stale'),
    error: showUnit('unit_stale'),
  },
  error: {
    absent: showUnit('unit_error'),
    current: showDocument('unit_error'),
    stale: showDocument('document_stale', 'unit_error'),
    error: showUnit('unit_error', 'document_error'),
  },
  retired: {
    absent: SHOW_NOTHING,
    current: showDocument(),
    stale: showDocument('document_stale'),
    error: showDocument('document_error'),
  },
}

export function decideVisibility(unitState: UnitState, documentState: DocumentState): Visibility {
  return MATRIX[unitState][documentState]
}

/** The state in terms of the matrix, which prefers enacted units. */
export function unitStateOf(vectorState: string, lifecycleStatus: string): UnitState {
  if (vectorState === 'current') return lifecycleStatus === 'enacted' ? 'current+enacted' : 'current'
  return vectorState as UnitState
}

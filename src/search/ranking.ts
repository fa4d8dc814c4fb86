/**
 * From chunks that two legs found to things that are shown, each once: chunks of one unit or document become one, the matrix
 * decides between a unit and its document, then the places are fused.
 */
import { fuse, type Ranks } from './fusion.ts'
import { type Caution, type DocumentState, judge, type UnitState, unitStateOf } from './matrix.ts'

/** What Postgres knows of a chunk, as fn_search_hits tells it: what is gone has no row. */
export interface ChunkFacts {
  readonly chunk_id: string
  readonly source: 'unit' | 'document'
  readonly unit_id: string | null
  /** Of a unit: the document of the old knowledge base that it was cut from, if there is one. */
  readonly document_id: string | null
  readonly document_state: DocumentState | null
  readonly canonical_address: string | null
  readonly lifecycle_status: string | null
  readonly vector_state: string
  readonly version_no: number | null
  readonly current_version_no: number | null
}

export interface Found<Facts extends ChunkFacts> {
  /** Chunk ids by words and by meaning, best first. */
  readonly lexical: readonly string[]
  readonly dense: readonly string[]
  /** Documents by the vectors of the old knowledge base. */
  readonly legacy: readonly string[]
  readonly facts: ReadonlyMap<string, Facts>
  /** Chunks that Postgres was not asked about: they come after those that it was. */
  readonly unseen?: ReadonlySet<string>
  /** States of documents that no chunk told of. */
  readonly documents: ReadonlyMap<string, DocumentState>
  readonly superseded: boolean
  /** False: only one of the two is asked for, and the other is as if it were not there. */
  readonly together: boolean
  readonly denseWeight: number
}

export interface Ranked<Facts extends ChunkFacts> {
  readonly source: 'unit' | 'document'
  readonly id: string
  readonly score: number
  readonly ranks: Ranks
  /** Its best chunk; a document that stands for its units may have none. */
  readonly best: Facts | undefined
  readonly freshness: string
  readonly cautions: readonly { readonly caution: Caution; readonly unit: Facts | undefined }[]
  readonly states: { readonly unit: UnitState; readonly document: DocumentState }
}

interface Thing<Facts extends ChunkFacts> {
  readonly source: 'unit' | 'document'
  readonly id: string
  best: Facts | undefined
  freshness: string
  readonly cautions: { readonly caution: Caution; readonly unit: Facts | undefined }[]
  states: { readonly unit: UnitState; readonly document: DocumentState }
}

export function rank<Facts extends ChunkFacts>(found: Found<Facts>): Ranked<Facts>[] {
  const things = new Map<string, Thing<Facts>>()
  const keyOfChunk = new Map<string, string>()
  const both = [...found.lexical, ...found.dense]
  const chunks = both.map((id) => found.facts.get(id)).filter((chunk) => chunk !== undefined)
  const inForce = enactedByAddress(chunks)
  for (const chunk of chunks) {
    if (chunk.source === 'document' || keyOfChunk.has(chunk.chunk_id)) continue
    const key = shownFor(inPlaceOf(chunk, inForce, found), found, things)
    if (key !== undefined) keyOfChunk.set(chunk.chunk_id, key)
  }
  const unitOf = firstUnits(chunks, keyOfChunk)
  for (const chunk of chunks) {
    if (chunk.source === 'unit' || keyOfChunk.has(chunk.chunk_id)) continue
    const id = chunk.document_id!
    // Its units speak for it, and the best of them has its place as well.
    const key = unitOf.get(id) ?? documentShown(things, id, chunk.vector_state as DocumentState, chunk)
    if (key !== undefined) keyOfChunk.set(chunk.chunk_id, key)
  }
  const legacyKeys = found.legacy
    .map((id) => {
      const state = found.documents.get(id)
      return unitOf.get(id) ?? (state && documentShown(things, id, state, undefined))
    })
    .filter((key) => key !== undefined)
  // What nobody has looked at yet keeps its place, so that the others keep theirs.
  const keysOf = (ids: readonly string[]): string[] =>
    ids
      .map((id) => keyOfChunk.get(id) ?? (found.unseen?.has(id) ? `unseen ${id}` : undefined))
      .filter((key) => key !== undefined)
  return fuse(keysOf(found.lexical), alternating(keysOf(found.dense), legacyKeys), found.denseWeight).flatMap(
    ({ key, score, ranks }) => {
      const thing = things.get(key)
      return thing ? [{ ...thing, score, ranks }] : []
    },
  )
}

/** How a cut names the draft beside an enacted unit. */
const SUCCESSOR = /~\d+$/

/** The best chunk of each unit that was found and is in force. */
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
 * Where its document would be shown for a draft that is to succeed what is in force, that is: the document says what it said before.
 * Else the chunk itself.
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
  return judge(unit, document).show === 'document' ? before : chunk
}

/** The unit itself, its document, or nothing. */
function shownFor<Facts extends ChunkFacts>(
  chunk: Facts,
  { superseded, together }: Found<Facts>,
  things: Map<string, Thing<Facts>>,
): string | undefined {
  if (chunk.lifecycle_status === 'superseded' && !superseded) return undefined
  const unit = unitStateOf(chunk.vector_state, chunk.lifecycle_status!)
  const document = (together && chunk.document_id !== null && chunk.document_state) || 'absent'
  const verdict = judge(unit, document)
  if (verdict.show === 'none') return undefined
  const key = verdict.show === 'unit' ? `unit ${chunk.unit_id}` : `document ${chunk.document_id}`
  const states = { unit, document }
  const thing: Thing<Facts> = things.get(key) ?? {
    source: verdict.show,
    id: verdict.show === 'unit' ? chunk.unit_id! : chunk.document_id!,
    best: verdict.show === 'unit' ? chunk : undefined,
    freshness: verdict.show === 'unit' ? chunk.vector_state : document,
    cautions: [],
    states,
  }
  things.set(key, thing)
  for (const caution of verdict.cautions) {
    const ofDocument = caution.startsWith('document_')
    const known = thing.cautions.some(
      (told) => told.caution === caution && (ofDocument || told.unit?.unit_id === chunk.unit_id),
    )
    if (!known) thing.cautions.push({ caution, unit: chunk })
  }
  return key
}

/** A document for which no unit speaks: as if there were none. */
function documentShown<Facts extends ChunkFacts>(
  things: Map<string, Thing<Facts>>,
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
  const { show, cautions } = judge('absent', state)
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

/** Of each document the unit that was found first, where units are shown in its place. */
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

/** Two collections have scores that mean different things: their places are taken in turn. */
function alternating<T>(first: readonly T[], second: readonly T[]): T[] {
  if (second.length === 0) return [...first]
  const longest = Math.max(first.length, second.length)
  return Array.from({ length: longest }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((key) => key !== undefined)
}

/** What was found, as it is shown: checked in Postgres, judged, each thing once, with its freshness and where the words stand. */
import type { Client } from '../db/connection.ts'
import { fuse } from './fusion.ts'
import {
  englishMatch,
  plainMatch,
  queryWords,
  type Range,
  type Snippet,
  snippetOf,
  untitled,
} from './highlights.ts'
import type { DocumentState } from './matrix.ts'
import type { Question } from './question.ts'
import { type ChunkFacts, type Found, type Ranked, rank } from './ranking.ts'
import { documentWarning, unitWarning } from './warnings.ts'

export type Freshness = 'current' | 'pending' | 'stale' | 'error'

export interface SearchHit {
  readonly source: 'unit' | 'document'
  readonly unit_id?: string
  readonly document_id?: string
  readonly canonical_address?: string
  /** Of a document: where it comes from. */
  readonly source_ref?: string
  readonly title: string
  readonly snippet: string
  /** In characters of the snippet, half-open: where words of the question stand. */
  readonly highlights: readonly Range[]
  readonly score: number
  /** Its place by words and by meaning. */
  readonly legs: { readonly lexical?: number; readonly dense?: number }
  readonly freshness: Freshness
  readonly lifecycle_status?: string
  readonly unit_kind?: string
  /** Whose text is shown, and which one is current. */
  readonly version_no?: number
  readonly current_version_no?: number
  readonly warnings: readonly string[]
  /** Where it was asked for: the states between which the matrix decided, and the chunk. */
  readonly explain?: { readonly unit: string; readonly document: string; readonly chunk_id?: string }
}

interface HitRow extends ChunkFacts {
  readonly title: string
  readonly document_title: string | null
  readonly document_source_ref: string | null
  readonly unit_kind: string | null
  readonly language: string
  /** False: the document has changed under it. */
  readonly is_as_projected: boolean
}

interface DocumentRow {
  readonly document_id: string
  readonly title: string
  readonly source_ref: string
  readonly language: string
  readonly vector_state: DocumentState
}

/** Chunks that Postgres is asked about at first: for ten hits, more than there is ever need of. */
const FIRST_ASKED = 50

/** A hit, what is known of it, and the text that it shows. */
interface Shown {
  readonly hit: Ranked<HitRow>
  readonly about: HitRow | DocumentRow
  readonly text: string
}

/** What the legs found, and how it counts. */
export type LegsFound = Pick<Found<HitRow>, 'lexical' | 'dense' | 'legacy' | 'denseWeight' | 'together'>

export async function show(
  client: Client,
  question: Question,
  legs: LegsFound,
  explain: boolean,
): Promise<SearchHit[]> {
  const { workspace_id, limit } = question
  const legacy = await documentsNamed(client, workspace_id, legs.legacy)
  const ranked = (await rankFound(client, question, legs, legacy)).slice(0, limit)
  const shown = await withTexts(client, workspace_id, ranked, legacy)
  const words = queryWords(question.text)
  const english = await englishMatch(
    client,
    words,
    shown.filter(({ about }) => isEnglish(about.language)).map(({ text }) => text),
  )
  const plain = plainMatch(words)
  return shown.map(({ hit, about, text }) => {
    const { snippet, highlights } = snippetOf(
      untitled(text, about.title),
      isEnglish(about.language) ? english : plain,
    )
    return hitOf(hit, about, { snippet, highlights, explain })
  })
}

/** Only the best are asked about first: the others are needed where those are too few, or one and the same. */
async function rankFound(
  client: Client,
  { workspace_id, limit, superseded }: Question,
  legs: LegsFound,
  legacy: ReadonlyMap<string, DocumentRow>,
): Promise<Ranked<HitRow>[]> {
  const found = {
    ...legs,
    legacy: legs.legacy.map((name) => legacy.get(name)?.document_id).filter((id) => id !== undefined),
    documents: new Map([...legacy.values()].map((row) => [row.document_id, row.vector_state])),
    superseded,
  }
  const chunks = fuse(legs.lexical, legs.dense, legs.denseWeight).map(({ key }) => key)
  const first = chunks.slice(0, Math.max(FIRST_ASKED, 3 * limit))
  const rest = chunks.slice(first.length)
  const facts = await factsOf(client, workspace_id, first)
  const ranked = rank({ ...found, facts, unseen: new Set(rest) })
  if (ranked.length >= limit || rest.length === 0) return ranked
  const others = await factsOf(client, workspace_id, rest)
  return rank({ ...found, facts: new Map([...facts, ...others]) })
}

/** What was taken away meanwhile is left out. */
async function withTexts(
  client: Client,
  workspace: string,
  ranked: readonly Ranked<HitRow>[],
  legacy: ReadonlyMap<string, DocumentRow>,
): Promise<Shown[]> {
  const unread = ranked.filter((hit) => !isReadByChunk(hit)).map(({ id }) => id)
  const known = new Map([...legacy.values()].map((row) => [row.document_id, row]))
  const others = await documentsNamed(
    client,
    workspace,
    unread.filter((id) => !known.has(id)),
  )
  const chunks = ranked.filter(isReadByChunk).map(({ best }) => best!.chunk_id)
  const texts = await textsOf(client, workspace, chunks, unread)
  return ranked.flatMap((hit): Shown[] => {
    const byChunk = isReadByChunk(hit)
    const about = byChunk ? hit.best : (known.get(hit.id) ?? others.get(hit.id))
    const text = texts.get(byChunk ? hit.best!.chunk_id : hit.id)
    return about === undefined || text === undefined ? [] : [{ hit, about, text }]
  })
}

/** Not a document that stands for its units, or has changed since its chunks were made: what it says now is shown. */
function isReadByChunk({ best }: Ranked<HitRow>): boolean {
  return best?.is_as_projected === true
}

function isEnglish(language: string): boolean {
  return language.split('-')[0] === 'en'
}

/** Checked in Postgres under the caller's rights: whatever a store holds, what is not there is not shown. */
async function factsOf(
  client: Client,
  workspace: string,
  chunks: readonly string[],
): Promise<Map<string, HitRow>> {
  if (chunks.length === 0) return new Map()
  const { rows } = await client.query<HitRow>({
    name: 'search_hits',
    text: 'select * from iu_core.fn_search_hits($1, $2)',
    values: [workspace, chunks],
  })
  return new Map(rows.map((row) => [row.chunk_id, row]))
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

/** By id, or by what the old knowledge base calls them; under the caller's rights. */
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

function hitOf(
  hit: Ranked<HitRow>,
  about: HitRow | DocumentRow,
  { explain, ...snippet }: Snippet & { readonly explain: boolean },
): SearchHit {
  const { best, score, ranks, states } = hit
  const common = {
    title: about.title,
    ...snippet,
    score,
    legs: ranks,
    freshness: hit.freshness as Freshness,
    ...(explain && { explain: { ...states, ...(best && { chunk_id: best.chunk_id }) } }),
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

/** Of many units of one document the first few are enough to know. */
function distinct(warnings: readonly string[]): string[] {
  return [...new Set(warnings)].slice(0, 3)
}

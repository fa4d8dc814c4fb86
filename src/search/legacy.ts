/**
 * The old knowledge base. Another system wrote its vectors, in a collection that Stagedoor only reads (VG-1…9). Each document that the
 * collection names is checked in PostgreSQL under the caller's rights and filters. Its texts are stored as documents, separate from units.
 */

import type { Config } from '../kernel/config.ts'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { Breaker } from '../runtime/breaker.ts'
import type { Embedder } from './embedders/embedder.ts'
import {
  askProviders,
  type DenseResult,
  type EmbeddingCollection,
  openEmbedder,
  type ProviderWarnings,
} from './providers.ts'
import { connectQdrant } from './stores/qdrant.ts'
import { LEGACY_COLLECTION, nearestPassing } from './stores/store.ts'
import type { NearestRequest, SearchConfig } from './vector-search.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export interface LegacyRequest extends Pick<NearestRequest, 'limit' | 'byWords' | 'vectors'> {
  /** Which of these documents are in the workspace and pass the filters. */
  readonly passing: (names: readonly string[]) => Promise<readonly string[]>
}

interface Legacy {
  nearest(request: LegacyRequest): Promise<DenseResult>
}

interface LegacyOptions {
  readonly pool: Pool
  readonly config: SearchConfig
  readonly timeoutMs: number
}

const MAX_LEGACY_ASKED = 5000

const WARNINGS: ProviderWarnings = {
  slow: ANSWER_WARNINGS.legacyDown,
  embedder_down: ANSWER_WARNINGS.legacyDown,
  store_down: ANSWER_WARNINGS.legacyDown,
  refused: ANSWER_WARNINGS.legacyRefused,
  not_configured: ANSWER_WARNINGS.legacyByText,
}

export function openLegacy({ pool, config, timeoutMs }: LegacyOptions): Legacy {
  const reader = openLegacyReader(config, { timeoutMs })
  if (reader === undefined || config.embeddingsUrl === undefined)
    return { nearest: async () => ({ unavailable: ANSWER_WARNINGS.legacyByText }) }
  const breaker = new Breaker()
  let embedder: Embedder | undefined

  return {
    async nearest(request) {
      await request.byWords
      return askProviders({ breaker, budgetMs: timeoutMs, warnings: WARNINGS }, async (signal) => {
        embedder ??= await matchingEmbedder(reader, { pool, config, timeoutMs }, signal)
        if (embedder === undefined) return { unavailable: ANSWER_WARNINGS.legacyByText }
        return { ids: await nearestDocuments(reader, embedder, request, signal) }
      })
    },
  }
}

/** Undefined if the configured model is not the one that made the collection's vectors. */
async function matchingEmbedder(
  reader: LegacyReader,
  { pool, config, timeoutMs }: LegacyOptions,
  signal: AbortSignal,
): Promise<Embedder | undefined> {
  const { rows } = await pool.query<EmbeddingCollection>(
    'select collection, embedder, model, dimension, generation_id from iu_core.search_collection where collection = $1',
    [LEGACY_COLLECTION],
  )
  const [row] = rows
  if (!row || !isModel(config.embeddingsModel, row.model)) return undefined
  if ((await reader.dimension(signal)) !== row.dimension) return undefined
  return openEmbedder({ ...row, model: config.embeddingsModel }, config, { pool, timeoutMs })
}

/** Endpoints that serve many vendors name a model `vendor/model`. */
function isModel(configured: string, wanted: string | null): boolean {
  return wanted !== null && (configured === wanted || configured.endsWith(`/${wanted}`))
}

async function nearestDocuments(
  reader: LegacyReader,
  embedder: Embedder,
  { vectors, limit, passing }: LegacyRequest,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const vector = await vectors.by(embedder, signal)
  if (vector === undefined) return []
  return nearestPassing({
    limit,
    maxAsked: MAX_LEGACY_ASKED,
    keyOf: (name: string) => name,
    async nearest(asked) {
      const { points, documents } = await reader.nearest(vector, { limit: asked, signal })
      return { found: [...new Set(documents)], isLast: points < asked }
    },
    passing,
  })
}

/** Reads the old knowledge base's own collection in Qdrant; nothing here writes (VG-1, VA-5). */
interface LegacyReader {
  /** The dimension of its vectors; undefined if the collection does not exist. */
  dimension(signal?: AbortSignal): Promise<number | undefined>
  /** The document ids of the nearest points, as the other system names them. No other field of their payload is read (VA-3). */
  nearest(
    vector: Float32Array,
    options: { limit: number; signal?: AbortSignal },
  ): Promise<{ readonly points: number; readonly documents: readonly string[] }>
}

/** Undefined without QDRANT_URL. */
export function openLegacyReader(
  config: Pick<Config, 'qdrantUrl' | 'qdrantApiKey'>,
  { timeoutMs }: { timeoutMs?: number } = {},
): LegacyReader | undefined {
  if (config.qdrantUrl === undefined) return undefined
  const ask = connectQdrant({
    url: config.qdrantUrl,
    apiKey: config.qdrantApiKey,
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  return {
    async dimension(signal) {
      const found = await ask((client) => client.getCollection(LEGACY_COLLECTION), {
        missing: undefined as never,
        signal,
      })
      const size = found?.config.params.vectors?.size
      return typeof size === 'number' ? size : undefined
    },
    async nearest(vector, { limit, signal }) {
      const { points } = await ask(
        (client) =>
          client.query(LEGACY_COLLECTION, {
            query: Array.from(vector),
            limit,
            with_payload: ['document_id'],
          }),
        { signal },
      )
      const named = points.map(({ payload }) => payload?.document_id)
      return {
        points: points.length,
        documents: named.filter((id) => typeof id === 'string' || typeof id === 'number').map(String),
      }
    },
  }
}

export interface NewDocument {
  /** Where it comes from. A second put with the same source_ref updates the document. */
  readonly source_ref: string
  readonly title: string
  readonly body: string
  /** Default en. */
  readonly language?: string | undefined
}

export interface SearchedDocument {
  readonly document_id: string
  readonly workspace_id: string
  readonly source_ref: string
  readonly title: string
  readonly language: string
  readonly bytes: number
  /** Units that were cut from it. */
  readonly units: number
  readonly freshness: 'current' | 'stale' | 'error'
  readonly updated_at: Date
}

/** Ordered by source_ref; `after` is the last one of the previous page. Documents that exist only as the source of a cut are not
 * searched (their units are), and are not listed. `db` acts as a service. */
export async function searchedDocuments(
  db: Queryable,
  workspace: string,
  { limit = 50, after }: { limit?: number; after?: string } = {},
): Promise<SearchedDocument[]> {
  const { rows } = await db.query<SearchedDocument>(
    `select v.document_id, v.workspace_id, v.source_ref, v.title, v.language, octet_length(d.body) as bytes,
            (select count(*)::integer from iu_core.kb_unit_map m where m.document_id = d.document_id and m.dropped_at is null) as units,
            v.vector_state as freshness, v.updated_at
       from iu_core.kb_document d
      cross join lateral (select * from iu_core.v_document i where i.document_id = d.document_id offset 0) as v
      where d.workspace_id = $1 and d.origin = 'knowledge_base' and d.deleted_at is null and ($3::text is null or d.source_ref > $3)
      order by d.source_ref limit $2`,
    [workspace, limit, after ?? null],
  )
  return rows
}

/** The id of a searched document, by its id or its source_ref. */
export async function findDocumentId(
  db: Queryable,
  workspace: string,
  name: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ document_id: string }>(
    `select document_id from iu_core.kb_document
      where workspace_id = $1 and origin = 'knowledge_base' and deleted_at is null and $2 in (document_id::text, source_ref)`,
    [workspace, name],
  )
  return rows[0]?.document_id
}

/** It is indexed after the quiet window, like units. Returns its id. */
export async function setDocument(
  db: Queryable,
  workspace: string,
  { source_ref, title, body, language }: NewDocument,
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select iu_core.fn_document_put($1, $2, $3, $4, $5) as id',
    [workspace, source_ref, title, body, language ?? null],
  )
  return rows[0]!.id
}

/** Deletes it from the knowledge base, and so from search. */
export async function deleteDocument(db: Queryable, document: string): Promise<void> {
  await db.query('select iu_core.fn_document_delete($1)', [document])
}

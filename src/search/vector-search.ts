/**
 * Search by meaning: the chunks nearest to a question in the active collection, and the nearest documents of the old knowledge base.
 * Embedders and stores are opened once per process; a breaker per collection keeps the next questions from waiting for an outage.
 */
import type { Config } from '../kernel/config.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { Breaker } from '../runtime/breaker.ts'
import { type Embedder, isWordless, normalise } from './embedders/embedder.ts'
import { type LegacyRequest, openLegacy } from './legacy.ts'
import { SEARCH_GATES_SQL, type SearchGates } from './outbox.ts'
import {
  askProviders,
  type DenseHits,
  type DenseResult,
  type EmbeddingCollection,
  openProviders,
  type ProviderWarnings,
} from './providers.ts'
import { fuse } from './ranking.ts'
import { type RerankedText, rerank } from './rerank.ts'
import {
  type NearestPoint,
  nearestPassing,
  type StoreKind,
  scoresOf,
  type VectorStore,
} from './stores/store.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export interface VectorSearch {
  state(workspace: string): Promise<SearchState>
  /** Ids of chunks. */
  units(collection: ActiveCollection, request: NearestRequest): Promise<DenseResult>
  /** Document ids of the old knowledge base, by its own vectors. */
  documents(request: LegacyRequest): Promise<DenseResult>
  /** Orders texts that the caller may read by how well they answer the question; undefined: no reranker is configured. */
  readonly rerank?: ((question: string, hits: readonly RerankedText[]) => Promise<DenseResult>) | undefined
  close(): Promise<void>
}

interface ActiveCollection extends EmbeddingCollection {
  readonly store: StoreKind
  /** How many texts its model was fitted on; null if it was not fitted. */
  readonly documents?: number | null
}

export interface SearchState extends Omit<SearchGates, 'phase_3'> {
  readonly active: ActiveCollection | undefined
  /** Whether the workspace has documents of an old knowledge base. */
  readonly documents: boolean
  /** Tables of the user that are searched, or were until they stopped. */
  readonly tables: readonly SearchedTable[]
}

interface SearchedTable {
  readonly source: string
  /** Why it is not searched any more; null: it is. */
  readonly stopped: string | null
}

export interface NearestRequest {
  readonly vectors: QuestionVectors
  readonly workspace: string
  readonly limit: number
  /** Ids that the filters allow, read while the question is embedded; undefined: too many to list. */
  readonly only?: Promise<readonly string[] | undefined>
  /** Used when `only` is undefined: which of these ids pass the filters. */
  readonly passing?: (ids: readonly string[]) => Promise<readonly string[]>
  /** Hits of the keyword leg. It rejects if the caller may not search, so that nobody else causes costs at an embedder. */
  readonly byWords: Promise<readonly string[]>
}

export type SearchConfig = Pick<
  Config,
  | 'embeddingsUrl'
  | 'embeddingsApiKey'
  | 'embeddingsModel'
  | 'embeddingsDimension'
  | 'qdrantUrl'
  | 'qdrantApiKey'
> &
  Partial<Pick<Config, 'embeddingsFolder' | 'rerankUrl' | 'rerankApiKey' | 'rerankModel'>>

interface VectorSearchOptions {
  /** As dot_executor: it reads vectors of every workspace, and returns only ids. */
  readonly pool: Pool
  readonly config: SearchConfig
  /** How long search by meaning may take before the keyword hits are returned alone. */
  readonly budgetMs?: number
}

/** Over a network. A person waits for the answer, and the keyword leg is done long before. */
const REMOTE_BUDGET_MS = 1500
/** Within the process: the first question loads the model and the vectors. */
const LOCAL_BUDGET_MS = 20_000
const MAX_NEAREST_ASKED = 20_000

const WARNINGS: ProviderWarnings = {
  slow: ANSWER_WARNINGS.embedderSlow,
  embedder_down: ANSWER_WARNINGS.embedderDown,
  store_down: ANSWER_WARNINGS.storeDown,
  refused: ANSWER_WARNINGS.embedderRefused,
  not_configured: ANSWER_WARNINGS.embedderUnknown,
}

const RERANK_WARNINGS: ProviderWarnings = {
  slow: ANSWER_WARNINGS.rerankerSlow,
  embedder_down: ANSWER_WARNINGS.rerankerDown,
  store_down: ANSWER_WARNINGS.rerankerDown,
  refused: ANSWER_WARNINGS.rerankerRefused,
  not_configured: ANSWER_WARNINGS.rerankerRefused,
}

export function createVectorSearch({
  pool,
  config,
  budgetMs = REMOTE_BUDGET_MS,
}: VectorSearchOptions): VectorSearch {
  const providers = openProviders(pool, config, { timeoutMs: budgetMs })
  const breakers = new Map<string, Breaker>()
  const { rerankUrl } = config
  const rerankBreaker = new Breaker()
  const legacy = openLegacy({ pool, config, timeoutMs: budgetMs })

  async function nearest(
    row: ActiveCollection,
    request: NearestRequest,
    signal: AbortSignal,
  ): Promise<DenseHits> {
    const store = providers.store(row.store)
    const asOf = performance.now()
    if (row.embedder === 'openai') await request.byWords
    // Whatever fails here fails below, too.
    store.prepare?.(row.collection, asOf).catch(() => {})
    const embedder = await providers.embedder(row)
    const vector = await request.vectors.by(embedder, signal)
    if (vector === undefined || isWordless(vector)) return { ids: [] }
    const { workspace, limit, passing } = request
    const only = await request.only
    const nearestTo = async (from: Float32Array): Promise<readonly NearestPoint[]> => {
      const found = await (passing && only === undefined
        ? nearestPassing({
            limit,
            maxAsked: MAX_NEAREST_ASKED,
            keyOf: ({ id }: NearestPoint) => id,
            async nearest(asked) {
              const near = await store.nearest(row.collection, from, {
                workspace,
                limit: asked,
                signal,
                asOf,
              })
              return { found: near, isLast: near.length < asked }
            },
            passing,
          })
        : store.nearest(row.collection, from, {
            workspace,
            limit,
            signal,
            asOf,
            ...(only !== undefined && { only }),
          }))
      // A vector that points away from the question is no hit, even if none is nearer.
      return found.filter(({ score }) => score > 0)
    }
    const first = await nearestTo(vector)
    const byWords = await request.byWords
    const moved =
      row.embedder === 'lsa'
        ? await feedbackVector(vector, first, byWords, (ids) => store.vectors(row.collection, ids, { asOf }))
        : undefined
    const found = moved ? await nearestTo(moved) : first
    const scores = await scoreBoth(store, row.collection, moved ?? vector, {
      found,
      byWords,
      workspace,
      signal,
      asOf,
    })
    return { ids: found.map(({ id }) => id), ...(scores && { scores }) }
  }

  return {
    state: (workspace) => readState(pool, workspace),
    units(row, request) {
      const breaker = breakers.get(row.collection) ?? new Breaker()
      breakers.set(row.collection, breaker)
      const isRemote = row.embedder === 'openai' || row.store === 'qdrant'
      return askProviders(
        { breaker, budgetMs: isRemote ? budgetMs : LOCAL_BUDGET_MS, warnings: WARNINGS },
        (signal) => nearest(row, request, signal),
      )
    },
    documents: (request) => legacy.nearest(request),
    ...(rerankUrl !== undefined && {
      rerank: (question: string, hits: readonly RerankedText[]) =>
        askProviders({ breaker: rerankBreaker, budgetMs, warnings: RERANK_WARNINGS }, async (signal) => ({
          ids: await rerank(
            { url: rerankUrl, apiKey: config.rerankApiKey, model: config.rerankModel },
            question,
            hits,
            signal,
          ),
        })),
    }),
    close: () => providers.close(),
  }
}

interface ScoredLegs {
  readonly found: readonly NearestPoint[]
  readonly byWords: readonly string[]
  readonly workspace: string
  readonly signal: AbortSignal
  readonly asOf: number
}

/** The hits of both legs by one vector, so that the ranking compares like with like. Undefined if the store gives no scores. */
async function scoreBoth(
  store: VectorStore,
  collection: string,
  vector: Float32Array,
  { found, byWords, ...options }: ScoredLegs,
): Promise<Map<string, number> | undefined> {
  if (store.score === undefined) return undefined
  const scores = scoresOf(found)
  const missing = byWords.filter((id) => !scores.has(id))
  if (missing.length === 0) return scores
  for (const [id, score] of await store.score(collection, vector, missing, options)) scores.set(id, score)
  return scores
}

async function readState(pool: Pool, workspace: string): Promise<SearchState> {
  const { rows } = await pool.query<Omit<SearchState, 'active'> & { active: ActiveCollection | null }>({
    name: 'search_state',
    text: `select
        (select jsonb_build_object('collection', c.collection, 'embedder', c.embedder, 'model', c.model,
                  'dimension', c.dimension, 'generation_id', c.generation_id, 'store', c.store,
                  'documents', (select g.documents from iu_core.search_generation g where g.generation_id = c.generation_id))
           from iu_core.search_collection c where c.source_kind = 'information_unit' and c.state = 'active') as active,
        g.excluded, g.phase_1, g.phase_2,
        exists (select from iu_core.kb_document d
                 where d.workspace_id = $1 and d.origin = 'knowledge_base' and d.deleted_at is null) as documents,
        (select coalesce(jsonb_agg(jsonb_build_object('source', format('%I.%I', t.source_schema, t.source_table),
                                                      'stopped', t.stopped_reason) order by t.code), '[]')
           from iu_core.search_table t
          where (t.workspace_id = $1 or t.workspace_column is not null) and t.state in ('active', 'stopped')) as tables
      from (${SEARCH_GATES_SQL}) as g`,
    values: [workspace],
  })
  const { active, ...state } = rows[0]!
  return { ...state, active: active ?? undefined }
}

/** Embedders accept only so much of a long question. */
const MAX_EMBEDDED_CHARACTERS = 8000

/** The vectors of one question: two legs with the same model share one, and it is paid for once. */
export class QuestionVectors {
  private readonly byFingerprint = new Map<string, Promise<Float32Array | undefined>>()
  private readonly text: string

  constructor(text: string) {
    this.text = text.slice(0, MAX_EMBEDDED_CHARACTERS)
  }

  by(embedder: Embedder, signal: AbortSignal): Promise<Float32Array | undefined> {
    const { fingerprint } = embedder
    const vector =
      this.byFingerprint.get(fingerprint) ?? embedder.embed([this.text], 'query', signal).then(([one]) => one)
    this.byFingerprint.set(fingerprint, vector)
    return vector
  }
}

// Relevance feedback. A question is short, and texts say the same in other words: a second query, moved towards the best hits of
// both legs, finds more texts like them. Measured on Cranfield with LSA vectors alone (nDCG@10): 0.547 without it, 0.564 towards the
// best two hits, a little less with three or five. Fused with keywords by the weights of ranking.ts: 0.564 (`bench search-quality`).

const FEEDBACK_HITS = 2

/** Undefined if none of the best hits has a vector. */
async function feedbackVector(
  question: Float32Array,
  near: readonly NearestPoint[],
  byWords: readonly string[],
  vectorsOf: (ids: readonly string[]) => Promise<Map<string, Float32Array>>,
): Promise<Float32Array | undefined> {
  const best = fuse({ lexical: byWords, dense: near.map(({ id }) => id), denseWeight: 0.5 }).slice(
    0,
    FEEDBACK_HITS,
  )
  const vectors = await vectorsOf(best.map(({ key }) => key))
  return vectors.size === 0 ? undefined : moveTowardsHits(question, [...vectors.values()])
}

/** The mean of the question and of the mean of the hits, normalised. */
export function moveTowardsHits(question: Float32Array, hits: readonly Float32Array[]): Float32Array {
  const moved = Float32Array.from(question)
  for (const hit of hits) {
    for (let at = 0; at < moved.length; at++) moved[at]! += hit[at]! / hits.length
  }
  return normalise(moved) ? moved : question
}

/**
 * What a process keeps between two questions: the embedder and the store of the active collection, opened once and anew when
 * another collection becomes the active one.
 */
import type { Config } from '../config.ts'
import type { Pool } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { Breaker } from './breaker.ts'
import { isOutage, TookTooLong, withinBudget } from './budget.ts'
import { EmbedderRefused, EmbedderUnavailable } from './embedders/embedder.ts'
import type { EmbeddingCollection } from './embedders/open.ts'
import { isWordless } from './embedders/vectors.ts'
import { openEquipment } from './equipment.ts'
import { FEEDBACK_HITS, towards } from './feedback.ts'
import { fuse } from './fusion.ts'
import { type LegacyRequest, openLegacy } from './legacy.ts'
import type { QuestionVectors } from './question-vectors.ts'
import { type Near, type StoreKind, StoreUnavailable, type VectorStore } from './stores/store.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export interface ActiveCollection extends EmbeddingCollection {
  readonly store: StoreKind
  /** Texts that its model was fitted on, if it was. */
  readonly documents?: number | null
}

export interface SearchState {
  readonly active: ActiveCollection | undefined
  /** Whether units are projected, and whether they are asked together with the old knowledge base. */
  readonly phase1: boolean
  readonly phase2: boolean
  /** Open: what is staged is kept out, and only then is anything embedded. */
  readonly excluded: boolean
  /** Whether there is an old knowledge base at all. */
  readonly documents: boolean
}

/** Ids in their order, or why there are none. */
export type Dense = { readonly ids: readonly string[] } | { readonly unavailable: string }

export interface NearestRequest {
  readonly vectors: QuestionVectors
  readonly workspace: string
  readonly limit: number
  /** The chunks that the filters leave over; asked for while the text is embedded. */
  readonly only?: Promise<readonly string[] | undefined>
  /** Where they are too many to be listed: which of these the filters let through. */
  readonly passing?: (ids: readonly string[]) => Promise<readonly string[]>
  /** What the words found. It also says that the caller may ask: nobody else spends what an embedder costs. */
  readonly byWords: Promise<readonly string[]>
}

export interface OpenedSearch {
  state(workspace: string): Promise<SearchState>
  /** Chunk ids. */
  units(collection: ActiveCollection, request: NearestRequest): Promise<Dense>
  /** What the old knowledge base calls its documents, by its vectors. */
  documents(request: LegacyRequest): Promise<Dense>
  close(): Promise<void>
}

export type SearchConfig = Pick<
  Config,
  | 'embeddingsUrl'
  | 'embeddingsApiKey'
  | 'embeddingsModel'
  | 'embeddingsDimension'
  | 'qdrantUrl'
  | 'qdrantApiKey'
>

export interface OpenedOptions {
  /** As dot_executor: it reads vectors of every workspace, and only ids leave. */
  readonly pool: Pool
  readonly config: SearchConfig
  /** How long the meaning may take before the words alone answer. */
  readonly budgetMs?: number
}

/** Over a network. A person waits for the answer, and the words have found theirs long before. */
const BUDGET_MS = 1500
/** Within the process: the first question loads model and vectors. */
const LOADING_MS = 20_000
/** Of the nearest, where filters throw most of them away. */
const MOST_ASKED = 20_000

export function openSearch({ pool, config, budgetMs = BUDGET_MS }: OpenedOptions): OpenedSearch {
  const equipment = openEquipment(pool, config, { timeoutMs: budgetMs })
  const breakers = new Map<string, Breaker>()
  const legacy = openLegacy({ pool, config, timeoutMs: budgetMs })

  async function nearest(row: ActiveCollection, request: NearestRequest, signal: AbortSignal) {
    const store = equipment.store(row.store)
    if (row.embedder === 'openai') await request.byWords
    const embedder = await equipment.embedder(row)
    const vector = await request.vectors.by(embedder, signal)
    if (vector === undefined || isWordless(vector)) return []
    const only = await request.only
    const near = async (from: Float32Array): Promise<readonly Near[]> => {
      const found = await (request.passing && only === undefined
        ? nearestPassing(store, row.collection, from, request, signal)
        : store.nearest(row.collection, from, {
            workspace: request.workspace,
            limit: request.limit,
            signal,
            ...(only !== undefined && { only }),
          }))
      // What points away from the question is no hit, though nothing be nearer.
      return found.filter(({ score }) => score > 0)
    }
    const first = await near(vector)
    if (row.embedder !== 'lsa') return first
    const further = await stepFrom(vector, first, await request.byWords, (ids) =>
      store.vectors(row.collection, ids),
    )
    return further ? near(further) : first
  }

  return {
    state: (workspace) => readState(pool, workspace),
    async units(row, request) {
      // After an outage the next questions do not wait for it again; that of another collection says nothing.
      const breaker = breakers.get(row.collection) ?? new Breaker()
      breakers.set(row.collection, breaker)
      if (breaker.ask() === 'closed') return { unavailable: breaker.reason! }
      const remote = row.embedder === 'openai' || row.store === 'qdrant'
      try {
        const near = await withinBudget(remote ? budgetMs : LOADING_MS, (signal) =>
          nearest(row, request, signal),
        )
        breaker.succeeded()
        return { ids: near.map(({ id }) => id) }
      } catch (error) {
        const warning = explained(error)
        if (isOutage(error)) breaker.failed(warning ?? '')
        else breaker.undecided()
        if (warning === undefined) throw error
        return { unavailable: warning }
      }
    },
    documents: (request) => legacy.nearest(request),
    close: () => equipment.close(),
  }
}

/** More and more of the nearest, until enough of them pass or there are no others. */
export async function nearestPassing(
  store: VectorStore,
  collection: string,
  vector: Float32Array,
  { workspace, limit, passing }: Pick<NearestRequest, 'workspace' | 'limit' | 'passing'>,
  signal: AbortSignal,
): Promise<readonly Near[]> {
  for (let asked = 4 * limit; ; asked = Math.min(8 * asked, MOST_ASKED)) {
    const near = await store.nearest(collection, vector, { workspace, limit: asked, signal })
    const pass = new Set(await passing!(near.map(({ id }) => id)))
    const kept = near.filter(({ id }) => pass.has(id))
    if (kept.length >= limit || near.length < asked || asked >= MOST_ASKED) return kept.slice(0, limit)
  }
}

/** Towards the best hits of both legs; nothing where there is none that has a vector. */
async function stepFrom(
  question: Float32Array,
  near: readonly Near[],
  byWords: readonly string[],
  vectorsOf: (ids: readonly string[]) => Promise<Map<string, Float32Array>>,
): Promise<Float32Array | undefined> {
  const best = fuse(
    byWords,
    near.map(({ id }) => id),
    1,
  ).slice(0, FEEDBACK_HITS)
  const vectors = await vectorsOf(best.map(({ key }) => key))
  return vectors.size === 0 ? undefined : towards(question, [...vectors.values()])
}

/** Whatever is wrong with the meaning, the words still answer; of anything else nothing is known here. */
function explained(error: unknown): string | undefined {
  if (error instanceof TookTooLong) return ANSWER_WARNINGS.embedderSlow
  if (error instanceof EmbedderUnavailable) return ANSWER_WARNINGS.embedderDown
  if (error instanceof EmbedderRefused) return ANSWER_WARNINGS.embedderRefused
  if (error instanceof StoreUnavailable) return ANSWER_WARNINGS.storeDown
  if (
    error instanceof StagedoorError &&
    ['embedder_not_configured', 'store_not_configured'].includes(error.code)
  )
    return ANSWER_WARNINGS.embedderUnknown
  return undefined
}

async function readState(pool: Pool, workspace: string): Promise<SearchState> {
  const { rows } = await pool.query<{
    active: ActiveCollection | null
    phase1: boolean
    phase2: boolean
    excluded: boolean
    documents: boolean
  }>({
    name: 'search_state',
    text: `select
        (select jsonb_build_object('collection', c.collection, 'embedder', c.embedder, 'model', c.model,
                  'dimension', c.dimension, 'generation_id', c.generation_id, 'store', c.store,
                  'documents', (select g.documents from iu_core.search_generation g where g.generation_id = c.generation_id))
           from iu_core.search_collection c where c.source_kind = 'information_unit' and c.state = 'active') as active,
        coalesce(bool_or(g.value = 'true') filter (where g.key = 'search.phase_1.enabled'), false) as phase1,
        coalesce(bool_or(g.value = 'true') filter (where g.key = 'search.phase_2.enabled'), false) as phase2,
        coalesce(bool_or(g.value = 'true') filter (where g.key = 'iu_core.no_vector_staging_excluded'), false) as excluded,
        exists (select from iu_core.kb_document d
                 where d.workspace_id = $1 and d.origin = 'knowledge_base' and d.deleted_at is null) as documents
      from iu_core.dot_config g
     where g.key in ('search.phase_1.enabled', 'search.phase_2.enabled', 'iu_core.no_vector_staging_excluded')`,
    values: [workspace],
  })
  const { active, ...state } = rows[0]!
  return { ...state, active: active ?? undefined }
}

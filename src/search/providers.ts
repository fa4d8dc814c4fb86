/** Search providers: the embedders and stores of collections, opened on first use and closed together; and what their errors mean. */

import type { Config } from '../kernel/config.ts'
import { type ErrorCode, StagedoorError } from '../kernel/errors.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { isTransient } from '../kernel/postgres/errors.ts'
import type { Breaker } from '../runtime/breaker.ts'
import {
  createHashedEmbedder,
  createWordCounter,
  type Embedder,
  EmbedderRefused,
  EmbedderUnavailable,
} from './embedders/embedder.ts'
import { openLsaGeneration } from './embedders/lsa/generation.ts'
import { openOnnxEmbedder } from './embedders/onnx/onnx.ts'
import { createOpenAiEmbedder } from './embedders/openai.ts'
import { createPgvectorStore } from './stores/pgvector.ts'
import { createPostgresStore } from './stores/postgres.ts'
import { createQdrantStore } from './stores/qdrant.ts'
import { type StoreKind, StoreUnavailable, type VectorStore } from './stores/store.ts'

export interface SearchProviders {
  embedder(collection: EmbeddingCollection): Promise<Embedder>
  store(kind: StoreKind): VectorStore
  close(): Promise<void>
}

export type ProviderConfig = EmbedderConfig & StoreConfig

/** The active one, the one being built, and one for questions asked before a switch: each holds a model of tens of megabytes. */
const MAX_OPEN_EMBEDDERS = 3

/** `pool` acts as vector_worker to write; a service role is enough to read. `timeoutMs`: of one network call. */
export function openProviders(
  pool: Pool,
  config: ProviderConfig,
  options: { timeoutMs?: number } = {},
): SearchProviders {
  const embedders = new Map<string, Promise<Embedder>>()
  // One store of a kind serves every collection, also for questions asked before a switch.
  const stores = new Map<StoreKind, VectorStore>()
  return {
    embedder(collection) {
      const { collection: name } = collection
      const known = embedders.get(name)
      const opened = known ?? openEmbedder(collection, config, { pool, ...options })
      // Least recently used embedders are dropped first.
      embedders.delete(name)
      embedders.set(name, opened)
      for (const old of [...embedders.keys()].slice(0, -MAX_OPEN_EMBEDDERS)) embedders.delete(old)
      if (known) return known
      // A failure is not kept: the configuration may be complete next time.
      opened.catch(() => {
        if (embedders.get(name) === opened) embedders.delete(name)
      })
      return opened
    },
    store(kind) {
      const store = stores.get(kind) ?? openStore(kind, config, { pool, ...options })
      stores.set(kind, store)
      return store
    },
    async close() {
      await Promise.all([...stores.values()].map((store) => store.close()))
    },
  }
}

/** Columns of search_collection. */
export interface EmbeddingCollection {
  readonly collection: string
  readonly embedder: string
  readonly model: string | null
  readonly dimension: number | null
  readonly generation_id: string | null
}

type EmbedderConfig = Pick<Config, 'embeddingsUrl' | 'embeddingsApiKey'> &
  Partial<Pick<Config, 'embeddingsFolder'>>

interface ProviderDeps {
  /** As vector_worker to write; a service role is enough to read. */
  readonly pool: Pool
  /** Of one request over the network. */
  readonly timeoutMs?: number
}

/** The row of the collection says which embedder and model; the configuration says how to reach it. */
export async function openEmbedder(
  row: EmbeddingCollection,
  config: EmbedderConfig,
  deps: ProviderDeps,
): Promise<Embedder> {
  switch (row.embedder) {
    case 'hashed':
      return createHashedEmbedder({
        dimension: row.dimension ?? undefined,
        words: createWordCounter(deps.pool),
      })
    case 'lsa':
      if (row.generation_id === null) throw notConfigured('lsa', `${row.collection} has no fitted model`)
      return openLsaGeneration(deps.pool, row.generation_id)
    case 'openai': {
      const { model, dimension } = row
      const { embeddingsUrl: url, embeddingsApiKey: apiKey } = config
      if (url === undefined) throw notConfigured('openai', 'EMBEDDINGS_URL is not set')
      if (model === null || dimension === null)
        throw notConfigured('openai', `${row.collection} names no model and dimension`)
      return createOpenAiEmbedder({
        url,
        apiKey,
        model,
        dimension,
        ...(deps.timeoutMs !== undefined && { timeoutMs: deps.timeoutMs }),
        onTokensSpent: async (tokens) => {
          await deps.pool.query('select iu_core.fn_search_cost_add($1, $2, $3, $4)', [
            'openai',
            model,
            1,
            tokens,
          ])
        },
      })
    }
    case 'onnx': {
      const { embeddingsFolder: folder } = config
      if (folder === undefined) throw notConfigured('onnx', 'EMBEDDINGS_FOLDER is not set')
      return openOnnxEmbedder({ folder, model: row.model ?? undefined })
    }
    default:
      throw notConfigured(row.embedder, `there is no embedder of this name for ${row.collection}`)
  }
}

function notConfigured(embedder: string, reason: string): StagedoorError {
  return new StagedoorError('embedder_not_configured', { embedder, reason })
}

type StoreConfig = Pick<Config, 'qdrantUrl' | 'qdrantApiKey'>

/** One per process is enough: it serves every collection of its kind. It connects on the first call. */
export function openStore(kind: StoreKind, config: StoreConfig, deps: ProviderDeps): VectorStore {
  const { pool } = deps
  const stateOf = async (collection: string): Promise<string | undefined> => {
    const { rows } = await pool.query<{ state: string }>(
      'select state from iu_core.search_collection where collection = $1',
      [collection],
    )
    return rows[0]?.state
  }
  switch (kind) {
    case 'postgres':
      return createPostgresStore({ pool, stateOf })
    case 'pgvector':
      return createPgvectorStore({ db: pool, stateOf })
    case 'qdrant': {
      const { qdrantUrl: url, qdrantApiKey: apiKey } = config
      if (url === undefined) {
        throw new StagedoorError('store_not_configured', { store: kind, reason: 'QDRANT_URL is not set' })
      }
      return createQdrantStore({
        url,
        apiKey,
        stateOf,
        ...(deps.timeoutMs !== undefined && { timeoutMs: deps.timeoutMs }),
      })
    }
    default:
      throw new StagedoorError('store_not_configured', {
        store: String(kind),
        reason: 'there is no store of this name',
      })
  }
}

// Errors of providers: what a question answers instead, what a worker waits for, and what people may read about them.

/** Ids, best first, or a warning that says why there are none. */
export type DenseResult = DenseHits | { readonly unavailable: string }

export interface DenseHits {
  readonly ids: readonly string[]
  /** Cosines of these ids and of the keyword hits, as far as they have a vector; undefined if the store gives no scores. */
  readonly scores?: ReadonlyMap<string, number>
}

type ProviderFailure = 'slow' | 'embedder_down' | 'store_down' | 'refused' | 'not_configured'

export type ProviderWarnings = Readonly<Record<ProviderFailure, string>>

interface AskOptions {
  readonly breaker: Breaker
  readonly budgetMs: number
  readonly warnings: ProviderWarnings
}

/** Asks within a budget of time. A provider's failure is an answer with a warning; other errors, such as bugs, are thrown. */
export async function askProviders(
  { breaker, budgetMs, warnings }: AskOptions,
  ask: (signal: AbortSignal) => Promise<DenseResult>,
): Promise<DenseResult> {
  if (breaker.check() === 'blocked') return { unavailable: breaker.reason! }
  try {
    const result = await withinBudget(budgetMs, ask)
    breaker.recordSuccess()
    return result
  } catch (error) {
    const failure = classifyFailure(error)
    const isOutage = failure === 'slow' || failure === 'embedder_down' || failure === 'store_down'
    if (isOutage) breaker.recordFailure(warnings[failure])
    else breaker.endTrial()
    if (failure === undefined) throw error
    return { unavailable: warnings[failure] }
  }
}

class BudgetExceeded extends Error {}

async function withinBudget<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new BudgetExceeded())
      abort.abort()
    }, ms)
  })
  try {
    const working = work(abort.signal)
    working.catch(() => {})
    return await Promise.race([working, late])
  } finally {
    clearTimeout(timer)
  }
}

function classifyFailure(error: unknown): ProviderFailure | undefined {
  if (error instanceof BudgetExceeded) return 'slow'
  if (error instanceof EmbedderUnavailable) return 'embedder_down'
  if (error instanceof StoreUnavailable) return 'store_down'
  if (error instanceof EmbedderRefused) return 'refused'
  const code = error instanceof StagedoorError ? error.code : undefined
  return code === 'embedder_not_configured' || code === 'store_not_configured' ? 'not_configured' : undefined
}

const UNAVAILABLE_CODES = new Set<ErrorCode>(['database_unreachable', 'conflict_retry'])

/**
 * Whether a worker should wait and retry, because the error is not the text's fault: an outage, a missing setting, the database, or a
 * timeout. Wider than what a question gets a warning for.
 */
export function isProviderUnavailable(error: unknown): boolean {
  const failure = classifyFailure(error)
  if (failure !== undefined) return failure !== 'refused'
  if (error instanceof StagedoorError) return UNAVAILABLE_CODES.has(error.code)
  const { name, code } = error as { name?: string; code?: string }
  if (name === 'AbortError' || name === 'TimeoutError') return true
  return code !== undefined && isTransient(error)
}

const PROVIDER_ERRORS = [EmbedderRefused, EmbedderUnavailable, StoreUnavailable]

/** The reason that members see in a dead letter. Messages of the database or a library may quote a text: only their code is shown. */
export function failureReason(error: unknown): string {
  if (PROVIDER_ERRORS.some((kind) => error instanceof kind)) return (error as Error).message
  const state = sqlstateOf(error) ?? (error instanceof StagedoorError ? sqlstateOf(error.cause) : undefined)
  if (state !== undefined && !state.startsWith('SD')) return `The database rejected it (SQLSTATE ${state})`
  if (error instanceof StagedoorError) return error.message
  const { name, code } = error as { name?: string; code?: unknown }
  if (name === 'AbortError' || name === 'TimeoutError') return 'Timed out'
  if (state !== undefined) return `Stagedoor rejected it (${state})`
  const kind = typeof code === 'string' && /^[A-Z][A-Z_]{2,40}$/.test(code) ? code : name
  return `Unexpected error (${kind ?? 'unknown'})`
}

function sqlstateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /[0-9]/.test(code) ? code : undefined
}

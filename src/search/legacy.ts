/**
 * The old knowledge base by its own vectors: made by others, in a collection that is only read (VG-1…9). What it names is looked up
 * in Postgres, under the caller's rights and filters, before it counts.
 */
import type { Pool } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { Breaker } from './breaker.ts'
import { isOutage, withinBudget } from './budget.ts'
import { type Embedder, EmbedderRefused } from './embedders/embedder.ts'
import { type EmbeddingCollection, openEmbedder } from './embedders/open.ts'
import type { Dense, NearestRequest, SearchConfig } from './opened.ts'
import { type LegacyReader, openLegacyReader } from './stores/legacy.ts'
import { LEGACY_COLLECTION } from './stores/store.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

export interface LegacyRequest extends Pick<NearestRequest, 'limit' | 'byWords' | 'vectors'> {
  /** Which of these are documents that may be shown: of the workspace, and let through by the filters. */
  readonly passing: (names: readonly string[]) => Promise<readonly string[]>
}

export interface Legacy {
  nearest(request: LegacyRequest): Promise<Dense>
}

interface LegacyOptions {
  readonly pool: Pool
  readonly config: SearchConfig
  readonly timeoutMs: number
}

/** Of the nearest points, where other workspaces and filters throw most of them away. */
const MOST_ASKED = 5000

export function openLegacy({ pool, config, timeoutMs }: LegacyOptions): Legacy {
  const reader = openLegacyReader(config, { timeoutMs })
  if (reader === undefined || config.embeddingsUrl === undefined)
    return { nearest: async () => ({ unavailable: ANSWER_WARNINGS.legacyByText }) }
  // After an outage the next questions do not wait for it again.
  const breaker = new Breaker()
  let opened: Embedder | undefined

  return {
    async nearest(request) {
      await request.byWords
      if (breaker.ask() === 'closed') return { unavailable: breaker.reason! }
      try {
        const ids = await withinBudget(timeoutMs, async (signal) => {
          opened ??= await matchingEmbedder(reader, { pool, config, timeoutMs }, signal)
          return opened && nearestDocuments(reader, opened, request, signal)
        })
        breaker.succeeded()
        return ids ? { ids } : { unavailable: ANSWER_WARNINGS.legacyByText }
      } catch (error) {
        if (isOutage(error)) breaker.failed(ANSWER_WARNINGS.legacyDown)
        else breaker.undecided()
        return { unavailable: explained(error) }
      }
    },
  }
}

/** Nothing where vectors of the configured model mean nothing to those that are there. */
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

/** More and more of the nearest points, until enough documents pass or there are no others. */
async function nearestDocuments(
  reader: LegacyReader,
  embedder: Embedder,
  { vectors, limit, passing }: LegacyRequest,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const vector = await vectors.by(embedder, signal)
  if (vector === undefined) return []
  for (let asked = 4 * limit; ; asked = Math.min(8 * asked, MOST_ASKED)) {
    const near = await reader.nearest(vector, { limit: asked, signal })
    const names = [...new Set(near.documents)]
    const pass = new Set(names.length > 0 ? await passing(names) : [])
    const kept = names.filter((name) => pass.has(name))
    if (kept.length >= limit || near.points < asked || asked >= MOST_ASKED) return kept.slice(0, limit)
  }
}

/** Whatever is wrong with the meaning, the words still answer; of anything else nothing is known here. */
function explained(error: unknown): string {
  if (isOutage(error)) return ANSWER_WARNINGS.legacyDown
  if (error instanceof EmbedderRefused) return ANSWER_WARNINGS.legacyRefused
  if (error instanceof StagedoorError && error.code === 'embedder_not_configured')
    return ANSWER_WARNINGS.legacyByText
  throw error
}

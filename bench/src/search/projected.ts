/** Units of a workspace, projected by the product's own worker, and questions asked as a back end asks them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import {
  createPool,
  createVectorSearch,
  inTransaction,
  openProviders,
  type SearchAnswer,
  type SearchFilters,
  search,
  startSearchWorker,
} from '../product.ts'
import type { BenchDatabase } from '../server.ts'
import { median } from '../statistics.ts'

export interface Text {
  readonly address: string
  readonly body: string
  /** Default: its first line. */
  readonly title?: string
  /** Default: found out. */
  readonly language?: string
  /** Its topic, for filters. */
  readonly topic?: string
}

export interface Projected {
  readonly workspace: string
  readonly chunks: number
  /** From the first claim to the last row done: text, words and vectors of the embedder that learns nothing. */
  readonly projectedMs: number
  /** From there until the fitted model has taken its place. */
  readonly fittedMs: number
  /** Questions are slowed by a fit that runs beside them: the median of some asked meanwhile; undefined if it was over too soon. */
  readonly askedWhileFittedMs: number | undefined
  ask(
    text: string,
    options?: { filters?: SearchFilters; limit?: number; typing?: boolean },
  ): Promise<SearchAnswer>
  readonly session: pg.Client
  end(): Promise<void>
}

/** No network: the embedded default. */
export const CONFIG = {
  embeddingsUrl: undefined,
  embeddingsApiKey: undefined,
  embeddingsModel: 'none',
  embeddingsDimension: 1536,
  qdrantUrl: undefined,
  qdrantApiKey: undefined,
}
const BATCH = 5000
const LOOK_MS = 25

/** `meanwhile`: questions that are asked again and again while the model is fitted. */
export async function project(
  database: BenchDatabase,
  texts: readonly Text[],
  meanwhile: readonly string[] = [],
): Promise<Projected> {
  const session = await database.superuser()
  const workspace = await makeUnits(session, texts)
  // The quiet window is for people who edit; here everything is due at once.
  await session.query(`update iu_core.vector_outbox set earliest_run_at = now()`)
  await session.query('vacuum analyze')
  const workers = createPool(database.workerUrl, { role: 'vector_worker', purpose: 'bench', max: 6 })
  const readers = createPool(database.workerUrl, { role: 'dot_executor', purpose: 'bench', max: 4 })
  const providers = openProviders(workers, CONFIG)
  const began = performance.now()
  const worker = await startSearchWorker({ pool: workers, providers, pollMs: 50, collectionsPollMs: 100 })
  await until(session, `select not exists (select from iu_core.vector_outbox where status <> 'done') as done`)
  const projectedMs = performance.now() - began
  const { rows } = await session.query(`select count(*)::int as chunks from iu_core.search_chunk`)
  const { chunks } = rows[0]
  const vectorSearch = createVectorSearch({ pool: readers, config: CONFIG })
  const ask: Projected['ask'] = (text, { filters = {}, limit = 10, typing = false } = {}) =>
    search(
      { vectorSearch, transaction: (work) => inTransaction(readers, work) },
      { workspaceId: workspace, text, limit, filters, typing },
    )
  let isFitted = false
  const asking = askUntil(ask, meanwhile, () => isFitted)
  await until(
    session,
    `select exists (select from iu_core.search_collection where state = 'active' and embedder = 'lsa')
        and not exists (select from iu_core.search_collection where state = 'building')
         or (select count(*) < 200 from iu_core.search_chunk) as done`,
  )
  const fittedMs = performance.now() - began - projectedMs
  isFitted = true
  const askedWhileFitted = await asking
  await worker.stop()
  await session.query('vacuum analyze')
  return {
    workspace,
    chunks,
    projectedMs,
    fittedMs,
    askedWhileFittedMs: askedWhileFitted.length > 0 ? median(askedWhileFitted) : undefined,
    session,
    ask,
    async end() {
      await vectorSearch.close()
      await providers.close()
      await Promise.all([workers.end(), readers.end()])
    },
  }
}

async function askUntil(
  ask: Projected['ask'],
  questions: readonly string[],
  isOver: () => boolean,
): Promise<number[]> {
  const took: number[] = []
  for (let number = 0; questions.length > 0 && !isOver(); number++) {
    const began = performance.now()
    await ask(questions[number % questions.length]!)
    took.push(performance.now() - began)
    await sleep(LOOK_MS)
  }
  return took
}

async function makeUnits(session: pg.Client, texts: readonly Text[]): Promise<string> {
  const { rows } = await session.query(`insert into public.workspaces (name) values ('search') returning id`)
  const workspace: string = rows[0].id
  const topics = [...new Set(texts.flatMap(({ topic }) => topic ?? []))]
  for (const topic of topics) await session.query('select iu_core.fn_topic_add($1, $2)', [workspace, topic])
  for (let from = 0; from < texts.length; from += BATCH) {
    const units = texts.slice(from, from + BATCH).map(({ address, body, title, language, topic }) => ({
      canonical_address: address,
      body,
      ...(title !== undefined && { title }),
      ...(language !== undefined && { language }),
      ...(topic !== undefined && { profile: { topic_labels: [topic] } }),
    }))
    await session.query('select count(*) from iu_core.fn_unit_create_batch($1, $2)', [
      workspace,
      JSON.stringify(units),
    ])
  }
  return workspace
}

async function until(session: pg.Client, question: string): Promise<void> {
  for (;;) {
    const { rows } = await session.query(question)
    if (rows[0].done) return
    await sleep(LOOK_MS)
  }
}

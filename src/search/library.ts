/** Search for programs: query it, watch it, maintain it. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool, Queryable } from '../kernel/postgres/connection.ts'
import { type AuditReport, auditSearch } from './audit.ts'
import {
  beginSwitch,
  type CollectionState,
  cancelCollection,
  findRunningSwitch,
  type SwitchTo,
} from './collections.ts'
import * as documents from './legacy.ts'
import { openProviders } from './providers.ts'
import { type SearchAnswer, search, type Transaction } from './query.ts'
import type { SearchRequest } from './question.ts'
import type { MissedQuestion, Synonyms } from './shapes.ts'
import * as status from './status.ts'
import {
  addSynonyms,
  deleteSynonyms,
  listSynonyms,
  missedQuestions,
  type NewSynonyms,
  type OldSynonyms,
  setMissedLog,
} from './synonyms.ts'
import { createVectorSearch, type SearchConfig } from './vector-search.ts'
import {
  drainOutbox,
  type RemainingWork,
  type SearchWorker,
  type SearchWorkerOptions,
  startSearchWorker,
} from './worker.ts'

export type FindOptions = Omit<SearchRequest, 'workspaceId' | 'text'>

/** Acts as the back end (dot_executor). Questions of people go through the API, under their own role. */
export interface Search {
  /** By words and by meaning; each hit says how fresh it is. */
  find(workspace: string, question: string, options?: FindOptions): Promise<SearchAnswer>
  /** The same under the rights of the given transactions. */
  findAs(transaction: Transaction, request: SearchRequest): Promise<SearchAnswer>
  status(): Promise<status.SearchStatus>
  /** Ends the quiet window of a workspace, or of these units: they are indexed next. Returns how many were waiting. */
  flush(scope: { workspace: string } | { units: readonly string[] }): Promise<number>
  /** Indexes in this process until nothing of a workspace is due. Rows that wait for an outage to end are left. */
  drain(workspace: string, onProgress?: (done: number, of: number) => void): Promise<RemainingWork>
  /** Rows that failed every attempt. */
  deadLetters(page?: { workspace?: string; limit?: number }): Promise<status.SearchDeadLetter[]>
  /** Enqueues dead letters again, with all attempts: these, or all. Returns how many. */
  replay(which?: { workspace?: string; outbox?: readonly string[] }): Promise<number>
  /** Compares the points in the stores with those that PostgreSQL records. The old knowledge base is never repaired. */
  audit(options?: { repair?: boolean }): Promise<AuditReport>
  /** Begins a new collection; search uses the old one until a worker has finished the backfill. */
  switchTo(to: SwitchTo): Promise<{ collection: string; state: CollectionState }>
  /** Cancels the collection that is being built. Returns its name, if there was one. */
  cancelSwitch(): Promise<string | undefined>
  /** Phases of the migration from the old knowledge base, in order. Returns whether it changed anything. */
  setPhase(phase: number, open: boolean, reason?: string): Promise<boolean>
  /** Seconds between an edit and its indexing (120 to 180), and between a deletion and its removal (30 to 60). Returns whether it changed anything. */
  setWindow(window: SearchWindow): Promise<boolean>
  /** Documents of the old knowledge base. */
  readonly documents: {
    list(workspace: string, page?: { limit?: number; after?: string }): Promise<documents.SearchedDocument[]>
    set(workspace: string, document: documents.NewDocument): Promise<string>
    delete(document: string): Promise<void>
  }
  /** Words that questions in a workspace are also asked with. */
  readonly synonyms: {
    list(workspace: string, page?: { limit?: number; after?: string }): Promise<Synonyms[]>
    /** Returns how many were new. */
    add(workspace: string, synonyms: NewSynonyms): Promise<number>
    /** Returns how many there were. */
    delete(workspace: string, synonyms: OldSynonyms): Promise<number>
  }
  /** Questions that found nothing, where a workspace logs them. */
  readonly missed: {
    list(workspace: string, page?: { limit?: number }): Promise<MissedQuestion[]>
    /** Off deletes the log. Returns whether anything changed. */
    log(workspace: string, log: { on: boolean; days?: number }): Promise<boolean>
  }
  /** Indexes in this process until stopped. `stagedoor start` does it by itself. */
  work(options?: WorkOptions): Promise<SearchWorker>
  close(): Promise<void>
}

export type WorkOptions = Omit<SearchWorkerOptions, 'pool' | 'listenUrl' | 'providers'>

interface SearchLibraryDeps {
  /** As dot_executor. */
  readonly pool: Pool
  /** Sessions as vector_worker, opened on the first write and closed with the library. */
  readonly openWorkerPool: () => Pool
  readonly listenUrl: string
  readonly config: SearchConfig
  /** One statement as the back end. */
  readonly statement: <T>(work: (client: Client) => Promise<T>) => Promise<T>
}

export function searchLibrary({
  pool,
  openWorkerPool,
  listenUrl,
  config,
  statement,
}: SearchLibraryDeps): Search {
  const vectorSearch = createVectorSearch({ pool, config })
  let workers: Pool | undefined
  const workerPool = (): Pool => {
    workers ??= openWorkerPool()
    return workers
  }
  const closers: (() => Promise<unknown>)[] = []
  const service = <T>(work: (db: Queryable) => Promise<T>): Promise<T> => statement((client) => work(client))
  const work = async (options: WorkOptions = {}): Promise<SearchWorker> => {
    const providers = openProviders(workerPool(), config)
    const worker = await startSearchWorker({ ...options, pool: workerPool(), listenUrl, providers })
    closers.push(async () => {
      await worker.stop()
      await providers.close()
    })
    return worker
  }
  return {
    find: (workspaceId, text, options = {}) =>
      search({ transaction: statement, vectorSearch }, { ...options, workspaceId, text }),
    findAs: (transaction, request) => search({ transaction, vectorSearch }, request),
    status: () => service(status.searchStatus),
    async flush(scope) {
      // JavaScript has no compiler to check this, and without a scope all workspaces would be flushed.
      if (typeof scope !== 'object' || !('workspace' in scope || 'units' in scope))
        throw new StagedoorError('argument_invalid', { reason: 'flush needs { workspace } or { units }' })
      return service((db) => status.flushOutbox(db, scope))
    },
    drain: (workspace, onProgress) =>
      drainOutbox({
        pool,
        workspace,
        startWorker: () => work({ fitModels: false }),
        ...(onProgress && { onProgress }),
      }),
    deadLetters: (page) => service((db) => status.listDeadLetters(db, page)),
    replay: (which) => service((db) => status.replayDeadLetters(db, which)),
    async audit({ repair = false } = {}) {
      const providers = openProviders(workerPool(), config)
      try {
        return await auditSearch({ pool, worker: workerPool(), providers, repair })
      } finally {
        await providers.close()
      }
    },
    switchTo: (to) => beginSwitch({ pool: workerPool(), config }, to),
    async cancelSwitch() {
      const building = await findRunningSwitch(pool)
      if (building !== undefined) await cancelCollection(workerPool(), building)
      return building
    },
    setPhase: (phase, open, reason) => service((db) => setPhase(db, phase, open, reason)),
    setWindow: (window) => service((db) => setWindow(db, window)),
    documents: {
      list: (workspace, page) => service((db) => documents.searchedDocuments(db, workspace, page)),
      set: (workspace, document) => service((db) => documents.setDocument(db, workspace, document)),
      delete: (document) => service((db) => documents.deleteDocument(db, document)),
    },
    synonyms: {
      list: (workspace, page) => service((db) => listSynonyms(db, workspace, page)),
      add: (workspace, synonyms) => service((db) => addSynonyms(db, workspace, synonyms)),
      delete: (workspace, synonyms) => service((db) => deleteSynonyms(db, workspace, synonyms)),
    },
    missed: {
      list: (workspace, page) => service((db) => missedQuestions(db, workspace, page)),
      log: (workspace, log) => service((db) => setMissedLog(db, workspace, log)),
    },
    work,
    async close() {
      for (const close of closers.splice(0)) await close()
      await vectorSearch.close()
      await workers?.end()
    },
  }
}

/** `db` acts as a service. */
async function setPhase(db: Queryable, phase: number, open: boolean, reason?: string): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>(
    'select iu_core.fn_search_phase_set($1, $2, $3) as changed',
    [phase, open, reason ?? null],
  )
  return rows[0]!.changed
}

interface SearchWindow {
  readonly quiet_s?: number | undefined
  readonly delete_s?: number | undefined
  readonly reason?: string | undefined
}

/** `db` acts as a service. */
async function setWindow(db: Queryable, { quiet_s, delete_s, reason }: SearchWindow): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>(
    `select iu_core.fn_vector_policy_set(make_interval(secs => $1), make_interval(secs => $2), $3) as changed`,
    [quiet_s ?? null, delete_s ?? null, reason ?? null],
  )
  return rows[0]!.changed
}

/** What a program does with search: ask, and look after what is asked. */
import type { Client, Pool, Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { type AuditReport, auditSearch } from './audit.ts'
import { type CollectionState, cancelCollection } from './collections.ts'
import * as documents from './documents.ts'
import { openEquipment } from './equipment.ts'
import { openSearch, type SearchConfig } from './opened.ts'
import { type SearchAnswer, search, type Transaction } from './query.ts'
import type { SearchRequest } from './question.ts'
import * as status from './status.ts'
import { beginSwitch, runningSwitch, type SwitchTo } from './switching.ts'
import { type SearchWorker, type SearchWorkerOptions, startSearchWorker } from './worker.ts'
import { type Left, workOff } from './working-off.ts'

export type FindOptions = Omit<SearchRequest, 'workspace_id' | 'text'>

/** Acts as the back end (dot_executor). What people ask goes through the API, under their own role. */
export interface Search {
  /** By words and by meaning; each hit says how fresh it is. */
  find(workspace: string, question: string, options?: FindOptions): Promise<SearchAnswer>
  /** The same under the rights of whoever's transactions these are. */
  findAs(transaction: Transaction, request: SearchRequest): Promise<SearchAnswer>
  status(): Promise<status.SearchStatus>
  /** What waits for quiet is due now: of a workspace, or of these units of one. Returns how many were waiting. */
  now(scope: { workspace: string } | { units: readonly string[] }): Promise<number>
  /** Works off in this process what is due in a workspace, and ends; what an outage puts off is left. */
  workOff(workspace: string, progress?: (done: number, of: number) => void): Promise<Left>
  /** What could not be brought into search after all its tries. */
  dead(page?: { workspace?: string; limit?: number }): Promise<status.DeadProjection[]>
  /** Dead letters are tried again, with all tries before them: these, or all. Returns how many. */
  replay(which?: { workspace?: string; outbox?: readonly string[] }): Promise<number>
  /** Compares what the stores hold with what Postgres says; of the old knowledge base nothing is repaired. */
  audit(options?: { repair?: boolean }): Promise<AuditReport>
  /** Begins a new collection; search goes on with the old one until a worker has filled it. */
  switchTo(to: SwitchTo): Promise<{ collection: string; state: CollectionState }>
  /** Gives up the collection that is being built, and returns its name if there was one. */
  cancelSwitch(): Promise<string | undefined>
  /** Phases of the migration from the old knowledge base, in order. Returns whether it changed anything. */
  setPhase(phase: number, open: boolean, reason?: string): Promise<boolean>
  /** Seconds that search waits after an edit (120 to 180) and before it takes out what was deleted (30 to 60). Returns whether it changed anything. */
  setWindow(window: SearchWindow): Promise<boolean>
  /** Documents of the old knowledge base. */
  readonly documents: {
    list(workspace: string, page?: { limit?: number; after?: string }): Promise<documents.SearchedDocument[]>
    put(workspace: string, document: documents.NewDocument): Promise<string>
    remove(document: string): Promise<void>
  }
  /** Projects what is due in this process until it is stopped; a running `stagedoor start` does it by itself. */
  work(options?: WorkOptions): Promise<SearchWorker>
  close(): Promise<void>
}

export type WorkOptions = Omit<SearchWorkerOptions, 'pool' | 'listenUrl' | 'equipment'>

interface Surroundings {
  /** As dot_executor. */
  readonly pool: Pool
  /** Sessions as vector_worker; opened when something is written, and ended with the library. */
  readonly openWorkerPool: () => Pool
  readonly listenUrl: string
  readonly config: SearchConfig
  /** One statement as the back end. */
  readonly statement: <T>(work: (client: Client) => Promise<T>) => Promise<T>
}

export function searchLibrary({ pool, openWorkerPool, listenUrl, config, statement }: Surroundings): Search {
  const opened = openSearch({ pool, config })
  let workers: Pool | undefined
  const workerPool = (): Pool => {
    workers ??= openWorkerPool()
    return workers
  }
  const closers: (() => Promise<unknown>)[] = []
  const service = <T>(work: (db: Queryable) => Promise<T>): Promise<T> => statement((client) => work(client))
  const work = async (options: WorkOptions = {}): Promise<SearchWorker> => {
    const equipment = openEquipment(workerPool(), config)
    const worker = await startSearchWorker({ ...options, pool: workerPool(), listenUrl, equipment })
    closers.push(async () => {
      await worker.stop()
      await equipment.close()
    })
    return worker
  }
  return {
    find: (workspace_id, text, options = {}) =>
      search({ transaction: statement, opened }, { ...options, workspace_id, text }),
    findAs: (transaction, request) => search({ transaction, opened }, request),
    status: () => service(status.searchStatus),
    async now(scope) {
      // From JavaScript, where no compiler says so: with neither, everybody's texts would be meant.
      if (typeof scope !== 'object' || !('workspace' in scope || 'units' in scope))
        throw new StagedoorError('argument_invalid', { reason: 'Say of what: { workspace } or { units }' })
      return service((db) => status.projectNow(db, scope))
    },
    workOff: (workspace, progress) =>
      workOff({ pool, workspace, work: () => work({ fits: false }), ...(progress && { progress }) }),
    dead: (page) => service((db) => status.deadProjections(db, page)),
    replay: (which) => service((db) => status.replayProjections(db, which)),
    async audit({ repair = false } = {}) {
      const equipment = openEquipment(workerPool(), config)
      try {
        return await auditSearch({ pool, equipment, repair })
      } finally {
        await equipment.close()
      }
    },
    switchTo: (to) => beginSwitch({ pool: workerPool(), config }, to),
    async cancelSwitch() {
      const building = await runningSwitch(pool)
      if (building !== undefined) await cancelCollection(workerPool(), building)
      return building
    },
    setPhase: (phase, open, reason) => service((db) => setPhase(db, phase, open, reason)),
    setWindow: (window) => service((db) => setWindow(db, window)),
    documents: {
      list: (workspace, page) => service((db) => documents.searchedDocuments(db, workspace, page)),
      put: (workspace, document) => service((db) => documents.putDocument(db, workspace, document)),
      remove: (document) => service((db) => documents.removeDocument(db, document)),
    },
    work,
    async close() {
      for (const close of closers.splice(0)) await close()
      await opened.close()
      await workers?.end()
    },
  }
}

/** `db` acts as a service. */
export async function setPhase(
  db: Queryable,
  phase: number,
  open: boolean,
  reason?: string,
): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>(
    'select iu_core.fn_search_phase_set($1, $2, $3) as changed',
    [phase, open, reason ?? null],
  )
  return rows[0]!.changed
}

export interface SearchWindow {
  readonly quiet_s?: number
  readonly delete_s?: number
  readonly reason?: string
}

/** `db` acts as a service. */
async function setWindow(db: Queryable, { quiet_s, delete_s, reason }: SearchWindow): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>(
    `select iu_core.fn_vector_policy_set(make_interval(secs => $1), make_interval(secs => $2), $3) as changed`,
    [quiet_s ?? null, delete_s ?? null, reason ?? null],
  )
  return rows[0]!.changed
}

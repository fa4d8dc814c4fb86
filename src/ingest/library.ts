/** What a program does with uploads: files and streams of records in, plans, promotions and their undo. */
import type { Client, Pool } from '../db/connection.ts'
import type { Dataset } from './datasets/dataset.ts'
import {
  type DatasetProblem,
  datasetProblems,
  declarationProblems,
  listClients,
  listDatasets,
  type RegisteredDataset,
  type RegistrationOptions,
  registerDataset,
  requireDataset,
} from './datasets/registry.ts'
import type { Ingested, IngestOptions, IngestSource } from './ingest.ts'
import * as plans from './plan.ts'
import * as promotions from './promotion.ts'
import type { Correction } from './repair.ts'
import { type LeftOutLine, listLeftOut, listRows, type RowFilter, type StagedRow } from './rows.ts'
import { spoolFolder } from './spool.ts'
import * as uploads from './uploads.ts'

/**
 * Acts as the back end (service_role), for others where they are named (`uploaded_by`, `approved_by`, …). What people do
 * goes through the API, under their own role.
 */
export interface Ingest {
  /** From a path, the bytes of a file, or `{ records }`, to as far as `until` says. The same bytes are recognised. */
  run(source: IngestSource, options: IngestOptions): Promise<Ingested>
  list(filter?: Partial<uploads.UploadFilter>): Promise<uploads.Upload[]>
  get(upload: string): Promise<uploads.Upload | undefined>
  /** Lines of the file by default; the rows of entities with `row_type`. */
  rows(upload: string, filter?: Partial<RowFilter>): Promise<StagedRow[]>
  /** Lines that are left out, each with its reason and its figures. */
  leftOut(upload: string, page?: { limit?: number; after?: number }): Promise<LeftOutLine[]>
  /** Corrects lines and checks them again by the same rules; the plan is gone with it. */
  repair(upload: string, corrections: readonly Correction[], repairedBy: string): Promise<uploads.Upload>
  plan(upload: string, request?: plans.PlanRequest): Promise<plans.Plan>
  planRows(upload: string, filter?: Partial<plans.PlanRowFilter>): Promise<plans.PlanRow[]>
  submit(upload: string, digest: string, submittedBy?: string): Promise<string>
  /** The rows of a plan that somebody changed since it was made. */
  staleRows(upload: string, page?: { limit?: number }): Promise<plans.StaleRows>
  approve(upload: string, approval: plans.Approval): Promise<void>
  reject(upload: string, reason: string, rejectedBy?: string): Promise<void>
  promote(upload: string, digest: string, promotedBy?: string): Promise<promotions.Promotion>
  planUndo(upload: string): Promise<promotions.UndoPlan>
  undo(upload: string, options?: { digest?: string; undoneBy?: string }): Promise<promotions.Promotion>
  discard(upload: string, discardedBy?: string): Promise<void>
  /** Which production rows an upload wrote. */
  lineage(upload: string, page?: { limit?: number; after?: string }): Promise<promotions.LedgerRow[]>
  /** Where a production row comes from. */
  lineageOf(
    workspace: string,
    table: string,
    row: { id: string } | { key: Record<string, unknown> },
  ): Promise<promotions.LineageEntry[]>
  /** Where the last promoted pull ended; undefined: nothing was promoted yet. */
  cursor(of: {
    workspace_id: string
    client_id?: string
    dataset: string
    platform: string
    name: string
  }): Promise<unknown>
  readonly datasets: {
    list(): Promise<RegisteredDataset[]>
    /** Of a workspace; none where the dataset knows no clients. */
    clients(dataset: string, workspace: string): Promise<{ id: string; name: string }[]>
    /** What stands between the declaration and the tables; empty: it can be registered. */
    check(dataset: Dataset): Promise<DatasetProblem[]>
    register(dataset: Dataset, options?: RegistrationOptions): Promise<void>
  }
}

interface Acting {
  readonly pool: Pool
  readonly home: string
  service<T>(work: (client: Client) => Promise<T>): Promise<T>
  admin<T>(work: (client: Client) => Promise<T>): Promise<T>
}

export function ingestLibrary({ pool, home, service, admin }: Acting): Ingest & { close(): Promise<void> } {
  const require = (id: string) => service((client) => uploads.requireUpload(client, id))
  let letGo: Promise<() => Promise<void>> | undefined
  // Loaded with the first file: DuckDB takes a third of a second, and most programs never read one.
  const withDuck = async <T>(load: () => Promise<T>): Promise<T> => {
    letGo ??= import('./duckdb.ts').then(({ holdDuck }) => holdDuck(spoolFolder(home)))
    await letGo
    return load()
  }
  return {
    async run(source, options) {
      const { ingest } = await withDuck(() => import('./ingest.ts'))
      return ingest({ pool, home }, source, options)
    },
    list: (filter = {}) => service((client) => uploads.listUploads(client, { limit: 50, ...filter })),
    get: (id) => service((client) => uploads.findUpload(client, id)),
    async rows(id, filter = {}) {
      const leaf = (await require(id)).reading?.layout.leaf ?? ''
      return service((client) => listRows(client, id, { row_type: leaf, limit: 100, ...filter }))
    },
    leftOut: (id, page = {}) => service((client) => listLeftOut(client, id, { limit: 100, ...page })),
    async repair(id, corrections, repairedBy) {
      const { repairLines } = await withDuck(() => import('./repair.ts'))
      return service(async (client) => {
        const upload = await uploads.requireUpload(client, id)
        const dataset = await requireDataset(client, upload.dataset, upload.platform)
        await repairLines(client, upload, dataset, corrections, repairedBy)
        return uploads.requireUpload(client, id)
      })
    },
    plan: (id, request) => service((client) => plans.planUpload(client, id, request)),
    planRows: (id, filter = {}) =>
      service((client) => plans.listPlanRows(client, id, { limit: 100, ...filter })),
    submit: (id, digest, by) => service((client) => plans.submitPlan(client, id, digest, by)),
    staleRows: (id, page) => service((client) => plans.listStaleRows(client, id, page)),
    approve: (id, approval) => service((client) => plans.approvePlan(client, id, approval)),
    reject: (id, reason, by) => service((client) => plans.rejectPlan(client, id, reason, by)),
    promote: (id, digest, by) => service((client) => promotions.promoteUpload(client, id, digest, by)),
    planUndo: (id) => service((client) => promotions.planUndo(client, id)),
    undo: (id, { digest, undoneBy } = {}) =>
      service((client) => promotions.undoUpload(client, id, digest, undoneBy)),
    discard: (id, by) => service((client) => uploads.discardUpload(client, id, by)),
    lineage: (id, page = {}) =>
      service((client) => promotions.uploadLineage(client, id, { limit: 100, ...page })),
    lineageOf: (workspace, table, row) =>
      service((client) => promotions.rowLineage(client, workspace, table, row)),
    cursor: (of) => service((client) => uploads.readCursor(client, of)),
    datasets: {
      list: () => service(listDatasets),
      clients: (dataset, workspace) =>
        service(async (client) => {
          const known = (await listDatasets(client)).find((one) => one.dataset === dataset)
          return known === undefined ? [] : listClients(client, known.definition, workspace)
        }),
      async check(dataset) {
        const wrong = await declarationProblems(dataset)
        if (wrong.length > 0) return wrong.map((problem) => ({ problem, remedy: null }))
        return admin((client) => datasetProblems(client, dataset))
      },
      register: (dataset, options) => admin((client) => registerDataset(client, dataset, options)),
    },
    close: async () => (await letGo)?.(),
  }
}

/** The library's part about uploads: files and streams of records in, plans, promotions and their undo. */
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { readChecks, type UploadChecks } from './checks.ts'
import type { ColumnEdit } from './column-edits.ts'
import type { Dataset } from './datasets/dataset.ts'
import {
  type KnownMapping,
  type MappingChange,
  type MappingTarget,
  readMapping,
  updateMapping,
} from './datasets/mapping.ts'
import {
  type DatasetProblem,
  type DatasetTarget,
  datasetProblems,
  declarationProblems,
  listClients,
  listDatasets,
  type RegisteredDataset,
  type RegistrationOptions,
  registerDataset,
  resolveDatasetTarget,
} from './datasets/registry.ts'
import { listUploadHistory, type UploadHistoryEntry, type UploadHistoryPage } from './history.ts'
import type { MappingPreview } from './mapping-shapes.ts'
import {
  backEndActor,
  type IngestOptions,
  type IngestResult,
  type IngestSource,
  ingest,
  promotePlan,
  type Until,
} from './pipeline.ts'
import * as plans from './plan.ts'
import * as promotions from './promotion.ts'
import {
  closeProposalTable,
  listProposalTables,
  type OpenTableOptions,
  openProposalTable,
  type ProposalOptions,
  type ProposalTable,
  proposalGrants,
  propose,
  proposeAgain,
} from './proposals/proposals.ts'
import { retryUpload } from './reading.ts'
import type { Correction, RepairResult } from './repair.ts'
import { readRisk, type UploadRisk } from './risk.ts'
import { previewSource } from './source-preview.ts'
import { spoolFolder } from './spool.ts'
import type { FileOptions } from './stage.ts'
import { type LeftOutLine, listLeftOut, listRows, type RowFilter, type StagedRow } from './staged-rows.ts'
import type { UploadFiles } from './upload-files.ts'
import * as uploads from './uploads.ts'

export interface IngestRunOptions extends Omit<IngestOptions, 'actor' | 'until' | 'requestId'> {
  /** How far to go; default promoted. */
  readonly until?: Until | undefined
  /** Who uploads, where your program does it for somebody. */
  readonly uploadedBy?: string | undefined
}

/**
 * Acts as the back end (service_role), for others where they are named (`uploadedBy`, `approvedBy`, …). What people do
 * goes through the API, under their own role.
 */
export interface Ingest {
  /**
   * From a path, the bytes of a file, or `{ records }`, to as far as `until` says. Throws what stops it before: a refused
   * plan, an approval that is missing. The same bytes are recognised (`created: false`) and left as they are, or continued
   * with `sameBytes: 'continue'`.
   */
  run(source: IngestSource, options: IngestRunOptions): Promise<IngestResult>
  list(filter?: Partial<uploads.UploadFilter>): Promise<uploads.Upload[]>
  get(upload: string): Promise<uploads.Upload | undefined>
  /** Lines of the file by default; the rows of entities with `rowType`. */
  rows(upload: string, filter?: Partial<RowFilter>): Promise<StagedRow[]>
  /** Lines that are left out, each with its reason and its figures. */
  leftOut(upload: string, page?: { limit?: number; after?: number }): Promise<LeftOutLine[]>
  /**
   * Corrects up to 10,000 cells in one call, by line or by edits of columns, and checks them again by the same rules. Where there
   * was a plan, it is brought up to date; the result says how.
   */
  repair(
    upload: string,
    change: readonly Correction[] | { readonly edits: readonly ColumnEdit[] },
    repairedBy: string,
    options?: { readonly dryRun?: boolean },
  ): Promise<RepairResult & { readonly upload: uploads.Upload }>
  plan(upload: string, request?: plans.PlanRequest): Promise<plans.Plan>
  planRows(upload: string, filter?: Partial<plans.PlanRowFilter>): Promise<plans.PlanRow[]>
  /** What is unusual about the plan, against the last promoted uploads of the same source. */
  risk(upload: string): Promise<UploadRisk>
  submit(upload: string, digest: string, submittedBy?: string): Promise<string>
  /** The rows of a plan that somebody changed since it was made. */
  staleRows(upload: string, page?: plans.StalePage): Promise<plans.StaleRows>
  /** Compares the plan with its tables as they are now, for at most 5 seconds or `withinMs`. */
  checkPlan(upload: string, withinMs?: number): Promise<plans.PlanCheck>
  /** What planning again would ask: cells in which production has moved on since the last plan, and the file says otherwise. */
  conflicts(
    upload: string,
    page?: Pick<plans.StalePage, 'limit' | 'after'> & Pick<plans.PlanRequest, 'onInvalid' | 'threshold'>,
  ): Promise<plans.PlanConflicts>
  /** What differs between the plan and an earlier one that was approved, in rows. */
  planSince(upload: string, digest: string): Promise<plans.PlanSince>
  /** What each check found, and the time that it took. */
  checks(upload: string): Promise<UploadChecks>
  /** What exactly happened, oldest first. */
  history(upload: string, page?: Partial<UploadHistoryPage>): Promise<UploadHistoryEntry[]>
  approve(upload: string, approval: plans.Approval): Promise<void>
  reject(upload: string, reason: string, rejectedBy?: string): Promise<void>
  promote(upload: string, digest: string, promotedBy?: string): Promise<promotions.Promotion>
  planUndo(upload: string): Promise<promotions.UndoPlan>
  undo(
    upload: string,
    options?: { digest?: string; undoneBy?: string; reason?: string },
  ): Promise<promotions.Promotion>
  /** What was promoted, newest first. */
  promotions(filter?: Partial<promotions.PromotionFilter>): Promise<promotions.PromotionSummary[]>
  /** Reads the kept file of an upload that failed once more, as a job: `file_kept_until` says whether it is there. */
  retry(upload: string, retriedBy?: string): Promise<void>
  /** Also while it is being read, in whichever process: that cancels it. */
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
  cursor(of: uploads.UploadTarget & { readonly name: string }): Promise<unknown>
  /** Pull requests for SQL. */
  readonly proposals: Proposals
  readonly datasets: {
    list(): Promise<RegisteredDataset[]>
    /** Of a workspace; none where the dataset knows no clients. */
    clients(dataset: string, workspace: string): Promise<{ id: string; name: string }[]>
    /** Where an upload goes: the only platform and the only client may be left out, and a client has an id or a name. */
    resolve(named: {
      workspaceId: string
      dataset: string
      platform?: string | undefined
      client?: string | undefined
    }): Promise<DatasetTarget>
    /** What stands between the declaration and the tables; empty: it can be registered. */
    check(dataset: Dataset, workspaceId?: string): Promise<DatasetProblem[]>
    register(dataset: Dataset, options?: RegistrationOptions): Promise<void>
    /** What a workspace remembers of the headers and values of its files, and who said it. */
    getMapping(of: MappingTarget): Promise<KnownMapping>
    /** Adds, changes and deletes entries of it; all others stay. */
    updateMapping(of: MappingTarget, change: MappingChange): Promise<KnownMapping>
    /** Which column of a file is which field, before it is uploaded. Nothing is kept. */
    previewMapping(
      source: IngestSource,
      of: MappingTarget & { readonly file?: FileOptions | undefined },
    ): Promise<MappingPreview>
  }
}

interface Proposals {
  /**
   * Works out one INSERT, UPDATE, DELETE or MERGE and makes an upload of what it would change: it is reviewed, promoted and undone as one
   * of a file. `result.stopped` says why it is not at `until`.
   */
  create(
    statement: string,
    options: Omit<ProposalOptions, 'actor'> & { readonly proposedBy?: string | undefined },
  ): Promise<IngestResult>
  /** The statement of a proposal once more, as a new one; the earlier one is discarded where it was not promoted. */
  again(
    upload: string,
    options?: Omit<ProposalOptions, 'actor' | 'workspaceId' | 'key'> & {
      readonly proposedBy?: string | undefined
    },
  ): Promise<IngestResult>
  /** Of one workspace or of all, those that were closed with them. */
  tables(workspaceId?: string): Promise<ProposalTable[]>
  /** As an administrator. The rights of the login stagedoor_proposer are granted apart: `grants`. */
  open(table: string, options: OpenTableOptions): Promise<ProposalTable>
  close(table: string, workspaceId: string): Promise<ProposalTable>
  /** The statements that give the login exactly the rights that are open on a table. */
  grants(table: string): Promise<string[]>
}

interface IngestLibraryDeps {
  readonly pool: Pool
  readonly home: string
  readonly files?: UploadFiles
  /** The login that works out proposed statements. */
  readonly proposalPool?: Pool | undefined
  service<T>(work: (client: Client) => Promise<T>): Promise<T>
  admin<T>(work: (client: Client) => Promise<T>): Promise<T>
}

export function ingestLibrary({
  pool,
  home,
  files,
  proposalPool,
  service,
  admin,
}: IngestLibraryDeps): Ingest & { close(): Promise<void> } {
  const require = (id: string) => service((client) => uploads.requireUpload(client, id))
  let releaseDuck: Promise<() => Promise<void>> | undefined
  // Loaded with the first file: DuckDB takes a third of a second, and most programs never read one.
  const retainDuck = async (): Promise<void> => {
    releaseDuck ??= import('./duckdb.ts').then((duck) => duck.retainDuck(spoolFolder(home)))
    await releaseDuck
  }
  return {
    async run(source, { uploadedBy, until = 'promoted', ...options }) {
      await retainDuck()
      const actor = backEndActor(pool, uploadedBy)
      const result = await ingest({ pool, home, files }, source, { ...options, actor, until })
      if (result.stopped && (result.created || options.sameBytes === 'continue')) throw result.stopped
      return result
    },
    list: (filter = {}) => service((client) => uploads.listUploads(client, { limit: 50, ...filter })),
    get: (id) => service((client) => uploads.findUpload(client, id)),
    async rows(id, filter = {}) {
      const leaf = (await require(id)).reading?.layout.leaf ?? ''
      return service((client) => listRows(client, id, { rowType: leaf, limit: 100, ...filter }))
    },
    leftOut: (id, page = {}) => service((client) => listLeftOut(client, id, { limit: 100, ...page })),
    async repair(id, change, repairedBy, options = {}) {
      await retainDuck()
      const [{ repairUpload }, { findEdited }] = await Promise.all([
        import('./repair.ts'),
        import('./column-edits.ts'),
      ])
      const corrections =
        'edits' in change
          ? (client: Client, upload: uploads.Upload) => findEdited(client, upload, change.edits)
          : change
      const repair = { upload: id, corrections, ...options }
      const result = await repairUpload(pool, backEndActor(pool, repairedBy), repair)
      return { ...result, upload: await require(id) }
    },
    plan: (id, request) => service((client) => plans.planUpload(client, id, request)),
    planRows: (id, filter = {}) =>
      service((client) => plans.listPlanRows(client, id, { limit: 100, ...filter })),
    risk: (id) => service((client) => readRisk(client, id)),
    submit: (id, digest, by) => service((client) => plans.submitPlan(client, id, digest, by)),
    staleRows: (id, page) => service((client) => plans.listStaleRows(client, id, page)),
    checkPlan: (id, withinMs) => service((client) => plans.checkPlan(client, id, withinMs)),
    conflicts: (id, page) => service((client) => plans.listConflicts(client, id, page)),
    planSince: (id, digest) => service((client) => plans.planSince(client, id, digest)),
    checks: (id) => service((client) => readChecks(client, id)),
    history: (id, page = {}) => service((client) => listUploadHistory(client, id, { limit: 200, ...page })),
    approve: (id, approval) => service((client) => plans.approvePlan(client, id, approval)),
    reject: (id, reason, by) => service((client) => plans.rejectPlan(client, id, reason, by)),
    promote: (id, digest, by) => promotePlan({ pool }, backEndActor(pool, by), id, digest),
    planUndo: (id) => service((client) => promotions.planUndo(client, id)),
    undo: (id, wanted) => service((client) => promotions.undoUpload(client, id, wanted)),
    promotions: (filter = {}) =>
      service((client) => promotions.listPromotions(client, { limit: 50, ...filter })),
    retry: (id, by) => service((client) => retryUpload(client, id, by)),
    discard: (id, by) => service((client) => uploads.discardUpload(client, id, by)),
    lineage: (id, page = {}) =>
      service((client) => promotions.uploadLineage(client, id, { limit: 100, ...page })),
    lineageOf: (workspace, table, row) =>
      service((client) => promotions.rowLineage(client, workspace, table, row)),
    cursor: (of) => service((client) => uploads.readCursor(client, of)),
    proposals: {
      create: (statement, { proposedBy, ...options }) =>
        propose({ pool, home, files, proposalPool }, statement, {
          ...options,
          actor: backEndActor(pool, proposedBy),
        }),
      again: (upload, { proposedBy, ...options } = {}) =>
        proposeAgain({ pool, home, files, proposalPool }, upload, {
          ...options,
          actor: backEndActor(pool, proposedBy),
        }),
      tables: (workspaceId) => service((client) => listProposalTables(client, workspaceId)),
      open: (table, options) => admin((client) => openProposalTable(client, table, options)),
      close: (table, workspaceId) => admin((client) => closeProposalTable(client, table, workspaceId)),
      grants: (table) => admin((client) => proposalGrants(client, table)),
    },
    datasets: {
      list: () => service((client) => listDatasets(client)),
      clients: (dataset, workspace) =>
        service(async (client) => {
          const known = (await listDatasets(client)).find((one) => one.dataset === dataset)
          return known === undefined ? [] : listClients(client, known.definition, workspace)
        }),
      resolve: (named) => service((client) => resolveDatasetTarget(client, named)),
      async check(dataset, workspaceId) {
        const wrong = await declarationProblems(dataset)
        if (wrong.length > 0) return wrong.map((problem) => ({ problem, remedy: null }))
        return admin((client) => datasetProblems(client, dataset, workspaceId))
      },
      register: (dataset, options) => admin((client) => registerDataset(client, dataset, options)),
      getMapping: (of) => service((client) => readMapping(client, of)),
      updateMapping: (of, change) =>
        service(async (client) => {
          await updateMapping(client, of, change)
          return readMapping(client, of)
        }),
      async previewMapping(source, of) {
        await retainDuck()
        return previewSource({ home }, backEndActor(pool), source, of)
      },
    },
    close: async () => (await releaseDuck)?.(),
  }
}

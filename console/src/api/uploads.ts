import { learnNames } from '../people.ts'
import { downloadFile } from './download.ts'
import { matchDatasets, type PreviewAsked, previewMapping, sendForm, sendsHead } from './preview-mapping.ts'
import { type ReceivedProgress, readProgress } from './progress-stream.ts'
import { query } from './query.ts'
import type { Request } from './request.ts'
import { type SentFile, sendFile } from './send-file.ts'
import type {
  CellChange,
  ConflictAnswer,
  Dataset,
  DatasetMapping,
  DatasetMatches,
  Distribution,
  Downstream,
  FileReading,
  GateMode,
  LedgerRow,
  MappingPreview,
  Page,
  PlanCheck,
  PlanConflicts,
  PlanRow,
  PlanSince,
  ProblemKind,
  Promotions,
  RepairedUpload,
  RowLineage,
  StagedRow,
  StalePlan,
  UndoPlan,
  UploadChecks,
  UploadClient,
  UploadDetail,
  UploadHistory,
  Uploads,
} from './upload-types.ts'

/** Which lines of an upload are meant. */
export interface LineFilter {
  readonly status?: string | undefined
  readonly problems?: boolean | undefined
  /** Lines with a problem by this rule, in this column. */
  readonly rule?: string | undefined
  readonly column?: string | undefined
  /** Lines with this text in a cell. */
  readonly contains?: string | undefined
}

interface RowsAsked extends LineFilter {
  readonly row_type?: string | undefined
  readonly limit: number
  readonly after?: string | undefined
}

interface PlanRowsAsked {
  readonly row_type?: string | undefined
  readonly action?: string | undefined
  readonly column?: string | undefined
  readonly by_more_than?: number | undefined
  /** Only what is not as in the approved plan with this digest. */
  readonly since?: string | undefined
  readonly limit: number
  readonly after?: string | undefined
}

export interface PlanMore {
  readonly max_deleted?: number
  readonly allow_short_file?: boolean
  readonly submit?: boolean
  readonly on_conflict?: ConflictAnswer
  readonly conflicts_digest?: string
}

interface StaleAsked {
  readonly conflicts?: boolean | undefined
  readonly limit?: number
  readonly after?: string | undefined
}

interface UploadsAsked {
  readonly status?: string | undefined
  readonly waiting?: boolean
  readonly problem?: string | undefined
  readonly limit: number
  readonly after?: string | undefined
}

interface PromotionsAsked {
  readonly workspace_id?: string | undefined
  readonly dataset?: string | undefined
  readonly state?: string | undefined
  readonly person?: string | undefined
  readonly limit: number
  readonly after?: string | undefined
}

/** Cells of a column with this text (null: empty cells; left out: all cells) get another one. */
export interface ColumnEdit {
  readonly column: string
  readonly from?: string | null
  readonly to: string | null
  /** part: `from` is replaced wherever it stands in a cell. */
  readonly match?: 'cell' | 'part'
  readonly lines?: readonly [number, number]
  readonly where?: LineFilter
}

/** Line → header → text that is not saved. */
export type UnsavedCells = Record<string, Record<string, string>>

export interface UploadsApi {
  list(asked: UploadsAsked): Promise<Uploads>
  find(id: string): Promise<UploadDetail>
  datasets(workspace: string): Promise<{ datasets: Dataset[] }>
  clients(workspace: string, dataset: string): Promise<{ clients: UploadClient[] }>
  /** Which dataset a file is of; nothing of the file is kept. */
  matchDatasets(
    file: File,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<DatasetMatches>
  /** Which column of a file is which field; nothing of the file is kept. */
  previewMapping(asked: PreviewAsked, signal: AbortSignal): Promise<MappingPreview>
  /** True: only the beginning of the file is sent for a preview. */
  sendsHead(file: File): boolean
  /** For the next files of the workspace. */
  rememberMapping(
    dataset: string,
    mapping: {
      workspace_id: string
      platform: string
      headers: Record<string, string | null>
      field_values: Record<string, Record<string, string | null>>
    },
  ): Promise<DatasetMapping>
  /** How files of one shape are to be read. */
  forgetReadOptions(
    dataset: string,
    of: { workspace_id: string; platform: string; read_options: string },
  ): Promise<DatasetMapping>
  send(file: SentFile): ReturnType<typeof sendFile>
  /** Until it has ended, or the signal says so. */
  follow(id: string, onProgress: (progress: ReceivedProgress) => void, signal: AbortSignal): Promise<void>
  rows(id: string, asked: RowsAsked): Promise<Page<StagedRow>>
  /** How the file was read, and who chose that; null: it is not read yet. */
  reading(id: string): Promise<{ reading: FileReading | null }>
  /** What is wrong, counted by rule and column. */
  problemKinds(id: string): Promise<{ kinds: ProblemKind[] }>
  /** All or nothing. `expect`: what the cells held when they were seen. */
  repair(
    id: string,
    rows: { line: number; values: Record<string, string | null>; expect?: Record<string, string> }[],
  ): Promise<RepairedUpload>
  /** Which cells these edits would change, as if what is not saved were saved; nothing changes. */
  previewEdits(id: string, edits: readonly ColumnEdit[], unsaved: UnsavedCells): Promise<CellChange[]>
  /** Which cells a corrected file would change; nothing changes. */
  previewCorrections(id: string, file: File): Promise<CellChange[]>
  /** Lines as a CSV with what is wrong beside each; without a filter the invalid ones. */
  exportProblems(id: string, name: string, filter?: LineFilter): Promise<void>
  /** More: what a snapshot may do (the share of the rows in scope that it deletes, be far shorter than the last ones); whose values count; submit it at once. */
  plan(id: string, mode: GateMode, threshold?: number, more?: PlanMore): Promise<UploadDetail>
  planRows(id: string, asked: PlanRowsAsked): Promise<Page<PlanRow>>
  distribution(id: string, asked: { row_type: string; column: string }): Promise<Distribution>
  /** Rows that changed since the plan was made. */
  stalePlan(id: string, asked: StaleAsked): Promise<StalePlan>
  /** Compares with production now, for at most 5 seconds. */
  checkPlan(id: string): Promise<PlanCheck>
  /** What planning again would ask; nothing changes. */
  planConflicts(id: string, asked: Omit<StaleAsked, 'conflicts'>): Promise<PlanConflicts>
  /** What differs from a plan that somebody approved. */
  planSince(id: string, digest: string): Promise<PlanSince>
  checks(id: string): Promise<UploadChecks>
  submit(id: string, digest: string): Promise<UploadDetail>
  approve(id: string, digest: string, ticked: readonly string[]): Promise<UploadDetail>
  reject(id: string, reason: string): Promise<UploadDetail>
  promote(id: string, digest: string): Promise<UploadDetail>
  undoPlan(id: string): Promise<UndoPlan>
  undo(id: string, digest: string, reason: string): Promise<UploadDetail>
  downstream(id: string): Promise<Downstream>
  retry(id: string): Promise<UploadDetail>
  discard(id: string): Promise<UploadDetail>
  /** The statement of a proposal once more, as a new one. */
  proposeAgain(id: string, submit: boolean): Promise<{ upload: { upload_id: string } }>
  lineage(id: string, page: { limit: number; after?: string | undefined }): Promise<Page<LedgerRow>>
  /** Every promotion that wrote a production row; the key is JSON. */
  rowLineage(workspace: string, target: string, row: { key: string } | { id: string }): Promise<RowLineage>
  /** What was promoted, newest first. */
  promotions(asked: PromotionsAsked): Promise<Promotions>
  /** What exactly happened, oldest first. */
  history(id: string, page: { limit: number; after?: string | undefined }): Promise<UploadHistory>
}

export function createUploadsApi(request: Request, token: string | undefined): UploadsApi {
  const post = (id: string, deed: string, body: object = {}) =>
    request<UploadDetail>(`/uploads/${id}/${deed}`, { method: 'POST', body })
  return {
    list: async (asked) => {
      const list = await request<Uploads>(`/uploads?${query(asked)}`)
      learnNames(list.people)
      // An event names the upload that it is about by its id; people know the file.
      learnNames(Object.fromEntries(list.uploads.map(({ upload_id, file_name }) => [upload_id, file_name])))
      return list
    },
    find: (id) => request(`/uploads/${id}`),
    datasets: (workspace) => request(`/datasets?${query({ workspace_id: workspace })}`),
    clients: (workspace, dataset) =>
      request(`/datasets/${encodeURIComponent(dataset)}/clients?${query({ workspace_id: workspace })}`),
    matchDatasets: (file, fields, signal) => matchDatasets(file, fields, token, signal),
    previewMapping: (asked, signal) => previewMapping(asked, token, signal),
    sendsHead,
    rememberMapping: (dataset, body) =>
      request(`/datasets/${encodeURIComponent(dataset)}/mapping`, { method: 'PATCH', body }),
    forgetReadOptions: (dataset, of) =>
      request(`/datasets/${encodeURIComponent(dataset)}/mapping?${query(of)}`, { method: 'DELETE' }),
    send: (file) => sendFile(file, token),
    follow: (id, onProgress, signal) => readProgress(id, token, onProgress, signal),
    rows: (id, asked) => request(`/uploads/${id}/rows?${query(asked)}`),
    reading: async (id) => {
      const answer = await request<{ reading: FileReading | null; people: Record<string, string> }>(
        `/uploads/${id}/reading`,
      )
      learnNames(answer.people)
      return answer
    },
    problemKinds: (id) => request(`/uploads/${id}/problems`),
    repair: (id, rows) => request(`/uploads/${id}/rows`, { method: 'PATCH', body: { rows } }),
    previewEdits: async (id, edits, unsaved) => {
      const body = { edits, dry_run: true, ...(Object.keys(unsaved).length > 0 && { unsaved }) }
      const { repair } = await request<RepairedUpload>(`/uploads/${id}/rows`, { method: 'PATCH', body })
      return repair.changes
    },
    previewCorrections: async (id, file) => {
      const signal = new AbortController().signal
      const path = `/uploads/${id}/corrections`
      const { repair } = await sendForm<RepairedUpload>(path, file, { dry_run: 'true' }, token, signal)
      return repair.changes
    },
    exportProblems: (id, name, filter = {}) =>
      downloadFile(`/uploads/${id}/problems.csv?${query(filter)}`, token, name),
    plan: (id, mode, threshold, more) =>
      post(id, 'plan', {
        on_invalid: mode === 'LENIENT' ? 'skip' : 'refuse',
        ...(threshold !== undefined && { threshold }),
        ...more,
      }),
    planRows: (id, asked) => request(`/uploads/${id}/plan/rows?${query(asked)}`),
    distribution: (id, asked) => request(`/uploads/${id}/plan/distribution?${query(asked)}`),
    checkPlan: (id) => request(`/uploads/${id}/plan/check`),
    stalePlan: (id, asked) => request(`/uploads/${id}/plan/stale?${query(asked)}`),
    planConflicts: (id, asked) => request(`/uploads/${id}/plan/conflicts?${query(asked)}`),
    planSince: (id, digest) => request(`/uploads/${id}/plan/since?${query({ digest })}`),
    checks: (id) => request(`/uploads/${id}/checks`),
    submit: (id, digest) => post(id, 'submit', { digest }),
    approve: (id, digest, ticked) => post(id, 'approve', { digest, ticked }),
    reject: (id, reason) => post(id, 'reject', { reason }),
    promote: (id, digest) => post(id, 'promote', { digest }),
    undoPlan: (id) => request(`/uploads/${id}/undo`),
    undo: (id, digest, reason) => post(id, 'undo', { digest, reason }),
    downstream: (id) => request(`/uploads/${id}/downstream`),
    retry: (id) => post(id, 'retry'),
    discard: (id) => post(id, 'discard'),
    proposeAgain: (again, submit) => request('/proposals', { method: 'POST', body: { again, submit } }),
    lineage: (id, page) => request(`/uploads/${id}/lineage?${query(page)}`),
    rowLineage: async (workspace_id, target, row) => {
      const lineage = await request<RowLineage>(`/lineage?${query({ workspace_id, target, ...row })}`)
      learnNames(lineage.people)
      return lineage
    },
    promotions: async (asked) => {
      const list = await request<Promotions>(`/promotions?${query(asked)}`)
      learnNames(list.people)
      return list
    },
    history: async (id, page) => {
      const answer = await request<UploadHistory>(`/uploads/${id}/history?${query(page)}`)
      learnNames(answer.people)
      return answer
    },
  }
}

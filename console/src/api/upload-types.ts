/** The shapes of ingest, under the names that the pages use. All come from the API's description. */
import type { operations } from './types.generated.ts'

type Answer<Operation extends keyof operations> = operations[Operation]['responses'] extends {
  200: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

export type UploadDetail = Answer<'getUpload'>
export type RepairedUpload = Answer<'repairUploadRows'>
export type CellChange = RepairedUpload['repair']['changes'][number]
export type ProblemKind = Answer<'listUploadProblemKinds'>['kinds'][number]
export type FileReading = NonNullable<Answer<'getUploadReading'>['reading']>
export type Uploads = Answer<'listUploads'>
export type Upload = Uploads['uploads'][number]
export type Reading = NonNullable<UploadDetail['reading']>
export type Progress = NonNullable<UploadDetail['progress']>
export type FileNote = UploadDetail['notes'][number]
export type Totals = NonNullable<UploadDetail['plan_totals']>
export type ControlTotal = UploadDetail['control'][number]
export type GateMode = NonNullable<UploadDetail['gate_mode']>
/** Whether one may, and if not, why. */
export type Permission = UploadDetail['may']['plan']

export type Dataset = Answer<'listDatasets'>['datasets'][number]
export type UploadClient = Answer<'listDatasetClients'>['clients'][number]
export type DatasetMatches = Answer<'matchDatasets'>
export type DatasetMatch = DatasetMatches['matches'][number]
export type MappingPreview = Answer<'previewDatasetMapping'>
export type PreviewColumn = MappingPreview['columns'][number]
export type PreviewField = MappingPreview['fields'][number]
export type PreviewValues = MappingPreview['values'][number]
export type DatasetMapping = Answer<'updateDatasetMapping'>
export type StagedRow = Answer<'listUploadRows'>['rows'][number]
export type LineProblem = StagedRow['validation_errors'][number]
export type PlanRow = Answer<'listPlanRows'>['rows'][number]
export type PlanAction = PlanRow['action']
/** `changes`: everything that a promotion writes. */
export type PlanShow = PlanAction | 'changes'
export type LedgerRow = Answer<'listUploadLineage'>['rows'][number]
export type LineageEntry = Answer<'getRowLineage'>['entries'][number]
export type RowLineage = Answer<'getRowLineage'>
export type Promotions = Answer<'listPromotions'>
export type PromotionSummary = Promotions['promotions'][number]
export type UndoPlan = Answer<'planUploadUndo'>
export type Distribution = Answer<'readPlanDistribution'>
export type Downstream = Answer<'readUploadDownstream'>

/** Rows of production that changed after they were planned on. */
export type StalePlan = Answer<'listStaleRows'>
export type PlanCheck = Answer<'checkPlan'>
export type PlanConflicts = Answer<'listPlanConflicts'>
export type ConflictRow = PlanConflicts['items'][number]
export type ConflictAnswer = 'keep_theirs' | 'use_mine'
export type StaleRow = StalePlan['items'][number]
export type PlanSince = Answer<'readPlanSince'>
export type UploadChecks = Answer<'listUploadChecks'>
export type UploadHistory = Answer<'listUploadHistory'>
export type UploadHistoryEntry = UploadHistory['history'][number]

export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly next: string | number | null
}

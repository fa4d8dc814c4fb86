export type { Approvals, RequireApproval } from './app/approvals.ts'
export type { EditedManifest, NewMark, StagedMark, StagedMarking, StagedPiece } from './app/marking.ts'
export { createStagedoor, type Stagedoor, type StagedoorOptions } from './app/stagedoor.ts'
export type { Trace } from './app/trace.ts'
export type { Units } from './app/units.ts'
export type { Work, WorkOptions } from './app/work.ts'
export type { ChangeEdit, ChangeFilter, Reviewers } from './changes/changes.ts'
export type { CommentPage, NewComment } from './changes/comments.ts'
export type { Changes } from './changes/library.ts'
export type {
  Change,
  ChangeComment,
  ChangeDifference,
  ChangeHistoryEntry,
  ChangeSummary,
  CommentEdit,
} from './changes/shapes.ts'
export type { Backfill, Consumer, Dispatch, Evidence, NewConsumer } from './events/consumers.ts'
export type { Consumers, Review, Routes } from './events/library.ts'
export type { NewEvent, OutboxEvent } from './events/outbox.ts'
export type { NewRoute, PayloadContract, Route, RouteEvidence } from './events/routes.ts'
export type { Engine } from './executions/engine/engine.ts'
export type { Executions, Playbooks } from './executions/library.ts'
export type { Playbook, WrittenPlaybook, WrittenStep } from './executions/playbook/definition.ts'
export { definePlaybook } from './executions/playbook/parse.ts'
export type { RegisteredPlaybook } from './executions/playbooks.ts'
export type { ExecutionFilter, ExecutionRecord, LoggedEvent, TracedResult } from './executions/queries.ts'
export {
  definePlaybookHandlers,
  type PlaybookHandler,
  type PlaybookHandlers,
  type ToolContext,
  ToolError,
} from './executions/tools/tool.ts'
export type { Gate, GateChange } from './gates/gates.ts'
export type { ColumnEdit } from './ingest/column-edits.ts'
export type {
  Dataset,
  DatasetDeclaration,
  Field,
  FieldDeclaration,
  Lookup,
  Mode,
  Problem,
  RepeatedKeys,
  RowType,
  RowTypeDeclaration,
} from './ingest/datasets/dataset.ts'
export { defineDataset, parseDataset } from './ingest/datasets/declare.ts'
export type { Ingest, IngestRunOptions } from './ingest/library.ts'
export type { IngestEvent, IngestResult, IngestSource } from './ingest/pipeline.ts'
export type { Plan, PlanRow } from './ingest/plan.ts'
export type { LedgerRow, LineageEntry, Promotion, PromotionSummary, UndoPlan } from './ingest/promotion.ts'
export type { Correction, RepairResult } from './ingest/repair.ts'
export type { LeftOutLine, StagedRow } from './ingest/staged-rows.ts'
export type { ControlTotal, Upload } from './ingest/uploads.ts'
export {
  type BatchContext,
  type BatchHandler,
  defineJobs,
  FatalJobError,
  JobAborted,
  type JobContext,
  type JobHandler,
  type JobHandlers,
} from './jobs/handlers.ts'
export type { Jobs, JobWorkOptions, Schedules } from './jobs/library.ts'
export type {
  Job,
  JobFilter,
  JobKind,
  JobRecord,
  JobStatus,
  KindSettings,
  NewJob,
  ReplayFilter,
} from './jobs/queue.ts'
export type { NewSchedule, Schedule } from './jobs/schedules.ts'
export type { JobTester, TestedJob } from './jobs/testing.ts'
export type { Worker } from './jobs/worker.ts'
export { CATALOGUE } from './kernel/catalogue.ts'
export { type ErrorCode, StagedoorError } from './kernel/errors.ts'
export type { Json, JsonObject } from './kernel/json.ts'
export { VERSION } from './kernel/version.ts'
export type { AuditFinding, AuditReport } from './search/audit.ts'
export type { SwitchTo } from './search/collections.ts'
export type { SearchHit } from './search/hits.ts'
export type { NewDocument, SearchedDocument } from './search/legacy.ts'
export type { FindOptions, Search } from './search/library.ts'
export type { SearchAnswer } from './search/query.ts'
export type { SearchFilters, SearchRequest } from './search/question.ts'
export type { MissedQuestion, Synonyms } from './search/shapes.ts'
export type { SearchDeadLetter, SearchStatus } from './search/status.ts'
export type { NewSynonyms, OldSynonyms } from './search/synonyms.ts'
export type { SearchWorker } from './search/worker.ts'
export type { NewApprovalKind } from './staging/approval-kinds.ts'
export type {
  Approval,
  ApprovalKind,
  ApprovalStatus,
  FormField,
  RequestPolicy,
} from './staging/approval-shapes.ts'
export type { ApprovalFilter, ApprovalReview, NewApproval } from './staging/approvals.ts'
export type {
  CleanupResult,
  CleanupScope,
  CreatedRecord,
  NewPart,
  NewRecord,
  StagingHealth,
  StagingRecord,
} from './staging/records.ts'
export type { RequireApprovalOptions } from './staging/require-approval.ts'
export type {
  Cut,
  CutUnit,
  DocumentDetail,
  DocumentFilter,
  DocumentPiece,
  KnownDocument,
} from './units/cut.ts'
export type { AddedEdge, Edge, Topic } from './units/edges.ts'
export {
  type LifecycleChange,
  type UnitDiff,
  type UnitHistory,
  unifiedDiff,
  type VersionRecord,
} from './units/history.ts'
export type { Documents, Topics } from './units/library.ts'
export type { CheckedUnit, UnitFinding } from './units/lifecycle.ts'
export type { ManifestPiece, ManifestProblem, MarkManifest } from './units/manifest.ts'
export type { MarkedPiece, MarkOptions, MarkReport, PieceChange } from './units/marking/mark.ts'
export type { PreviousPiece } from './units/marking/previous.ts'
export type {
  CreatedUnit,
  EditedUnit,
  NewUnit,
  NewUnitOfBatch,
  SliceEdit,
  UnitDetail,
  UnitEdit,
  UnitFilter,
  UnitMoment,
  UnitName,
  UnitRecord,
  UnitStatus,
  UnitVersion,
} from './units/units.ts'

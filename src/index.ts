export { CATALOGUE } from './catalogue.ts'
export { type ErrorCode, StagedoorError } from './errors.ts'
export type { Backfill, Consumer, Dispatch, Evidence, NewConsumer } from './events/consumers.ts'
export type { Consumers, Review, Routes } from './events/library.ts'
export type { NewEvent, OutboxEvent } from './events/outbox.ts'
export type { NewRoute, PayloadContract, Route, RouteEvidence } from './events/routes.ts'
export type { Engine } from './executions/engine/engine.ts'
export type { Playbooks } from './executions/library.ts'
export { definePlaybook, type WrittenPlaybook, type WrittenStep } from './executions/playbook/define.ts'
export type { Json, JsonObject, Playbook } from './executions/playbook/definition.ts'
export type { ExecutionFilter, ExecutionRecord, LoggedEvent, TracedResult } from './executions/reading.ts'
export type { RegisteredPlaybook } from './executions/registration.ts'
export {
  definePlaybookHandlers,
  type PlaybookHandler,
  type PlaybookHandlers,
  type ToolContext,
  ToolError,
} from './executions/tool.ts'
export type { Gate, GateChange } from './gates/gates.ts'
export type { Dataset, Field, Problem, RepeatedKeys, RowType } from './ingest/datasets/dataset.ts'
export { defineDataset, parseDataset } from './ingest/datasets/declare.ts'
export type { Ingested, IngestOptions, IngestSource } from './ingest/ingest.ts'
export type { Ingest } from './ingest/library.ts'
export type { Plan, PlanRow } from './ingest/plan.ts'
export type { LedgerRow, LineageEntry, Promotion, UndoPlan } from './ingest/promotion.ts'
export type { Correction } from './ingest/repair.ts'
export type { LeftOutLine, StagedRow } from './ingest/rows.ts'
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
export type { Job, NewJob } from './jobs/job.ts'
export type { Jobs, Schedules, WorkOptions } from './jobs/library.ts'
export type { JobFilter, JobKind, JobRecord, JobState, KindSettings, ReplayFilter } from './jobs/queue.ts'
export type { NewSchedule, Schedule } from './jobs/schedules.ts'
export type { JobTester, TestedJob } from './jobs/testing.ts'
export type { Worker } from './jobs/worker.ts'
export type { AuditFinding, AuditReport } from './search/audit.ts'
export type { NewDocument, SearchedDocument } from './search/documents.ts'
export type { FindOptions, Search } from './search/library.ts'
export type { SearchAnswer } from './search/query.ts'
export type { SearchFilters, SearchRequest } from './search/question.ts'
export type { SearchHit } from './search/shown.ts'
export type { DeadProjection, SearchStatus } from './search/status.ts'
export type { SwitchTo } from './search/switching.ts'
export type { SearchWorker } from './search/worker.ts'
export type { Executions } from './stagedoor/executions.ts'
export type { EditedManifest, StagedMarking, StagedPiece } from './stagedoor/marked.ts'
export type { NewMark, StagedMark } from './stagedoor/marking.ts'
export type { Trace } from './stagedoor/trace.ts'
export type { Units } from './stagedoor/units.ts'
export { createStagedoor, type Stagedoor, type StagedoorOptions } from './stagedoor.ts'
export { type Digest, digestJson, digestRecord, digestText } from './staging/canonical.ts'
export type { CleanupResult, CleanupScope, StagingHealth } from './staging/lifecycle.ts'
export type { CreatedRecord, NewPart, NewRecord, StagingRecord } from './staging/records.ts'
export type { CheckedUnit, UnitFinding } from './units/checks.ts'
export type { Cut, CutUnit } from './units/cut.ts'
export type { DocumentDetail, DocumentFilter, DocumentPiece, KnownDocument } from './units/documents.ts'
export type { AddedEdge, Edge } from './units/edges.ts'
export {
  type LifecycleChange,
  type UnitDiff,
  type UnitHistory,
  unifiedDiff,
  type VersionRecord,
} from './units/history.ts'
export type { Documents, Topics } from './units/library.ts'
export type { ManifestPiece, ManifestProblem, MarkManifest } from './units/manifest.ts'
export type { MarkedPiece, MarkOptions, MarkReport, PieceChange } from './units/marking/mark.ts'
export type { PreviousPiece } from './units/marking/previous.ts'
export type {
  UnitDetail,
  UnitFilter,
  UnitMoment,
  UnitName,
  UnitRecord,
  UnitStatus,
  UnitVersion,
} from './units/reading.ts'
export type { Topic } from './units/topics.ts'
export type { BornUnit, EditedUnit, NewUnit, NewUnitOfBatch, SliceEdit, UnitEdit } from './units/units.ts'
export { VERSION } from './version.ts'

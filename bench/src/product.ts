/**
 * The only import of what is measured: the built product, as it ships, never its sources. From bench/src and from
 * bench/dist it is the same path. The embedded server is not public API; the benchmarks belong to this repository.
 */

export { readOverview } from '../../dist/app/overview.js'
export { listUndelivered } from '../../dist/events/consumers.js'
export { dispatchEvents, startDispatcher } from '../../dist/events/dispatcher.js'
export { listEvents } from '../../dist/events/outbox.js'
export { StartBatcher } from '../../dist/executions/control.js'
export { type Engine, type EngineOptions, startEngine } from '../../dist/executions/engine/engine.js'
export type { Playbook } from '../../dist/executions/playbook/definition.js'
export { definePlaybook } from '../../dist/executions/playbook/parse.js'
export { countByStatus, listExecutions } from '../../dist/executions/queries.js'
export { createResultStore } from '../../dist/executions/results.js'
export type { PlaybookHandlers } from '../../dist/executions/tools/tool.js'
export { handlerTool } from '../../dist/executions/tools/tool.js'
export { readTable } from '../../dist/ingest/datasets/catalogue.js'
export { defineDataset } from '../../dist/ingest/datasets/declare.js'
export { proposeDataset } from '../../dist/ingest/datasets/propose.js'
export { registerDataset } from '../../dist/ingest/datasets/registry.js'
export { closeDuck } from '../../dist/ingest/duckdb.js'
export { registerPack } from '../../dist/ingest/packs.js'
export { backEndActor, type IngestOptions, ingest } from '../../dist/ingest/pipeline.js'
export { profileFile } from '../../dist/ingest/profile-file.js'
export { listPromotions } from '../../dist/ingest/promotion.js'
export { openProposalTable, proposalGrants, propose } from '../../dist/ingest/proposals/proposals.js'
export { repairUpload } from '../../dist/ingest/repair.js'
export { listUploads } from '../../dist/ingest/uploads.js'
export { ClaimCursor } from '../../dist/jobs/claims.js'
export {
  beginJobs,
  claimJobs,
  claimJobsById,
  completeJobs,
  leaveWorker,
  registerWorker,
} from '../../dist/jobs/lease.js'
export { enqueue, enqueueMany, listJobs } from '../../dist/jobs/queue.js'
export { startWorker } from '../../dist/jobs/worker.js'
export type { JsonObject } from '../../dist/kernel/json.js'
export { createPool } from '../../dist/kernel/postgres/connection.js'
export { type EmbeddedServer, startEmbedded } from '../../dist/kernel/postgres/embedded/server.js'
export { migrate } from '../../dist/kernel/postgres/migrate/migrate.js'
export { inTransaction } from '../../dist/kernel/postgres/transaction.js'
export { VERSION } from '../../dist/kernel/version.js'
export { type Nats, openNats } from '../../dist/runtime/nats.js'
export { openWakeups } from '../../dist/runtime/wakeups.js'
export { openProviders } from '../../dist/search/providers.js'
export { type SearchAnswer, search } from '../../dist/search/query.js'
export type { SearchFilters } from '../../dist/search/question.js'
export { createVectorSearch, type VectorSearch } from '../../dist/search/vector-search.js'
export { startSearchWorker } from '../../dist/search/worker.js'
export { listRecords } from '../../dist/staging/records.js'

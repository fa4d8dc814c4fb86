/**
 * The one door to what is measured: the built product, as it ships, never its sources. From bench/src and from
 * bench/dist it is the same path. The embedded server is not public API; the benchmarks live in the house.
 */

export { createPool } from '../../dist/db/connection.js'
export { type EmbeddedServer, startEmbedded } from '../../dist/db/embedded/server.js'
export { migrate } from '../../dist/db/migrate/migrate.js'
export { inTransaction } from '../../dist/db/transaction.js'
export { startDispatcher } from '../../dist/events/dispatcher.js'
export { type Engine, type EngineOptions, startEngine } from '../../dist/executions/engine/engine.js'
export { definePlaybook } from '../../dist/executions/playbook/define.js'
export type { JsonObject, Playbook } from '../../dist/executions/playbook/definition.js'
export { createResults } from '../../dist/executions/results/tiers.js'
export { Starts } from '../../dist/executions/starts.js'
export type { PlaybookHandlers } from '../../dist/executions/tool.js'
export { handlerTool } from '../../dist/executions/tools/handler.js'
export { closeDuck } from '../../dist/ingest/duckdb.js'
export { ingest } from '../../dist/ingest/ingest.js'
export { addPack } from '../../dist/ingest/packs.js'
export { enqueue, enqueueMany } from '../../dist/jobs/queue.js'
export { startWorker } from '../../dist/jobs/worker.js'
export { openEquipment } from '../../dist/search/equipment.js'
export { type OpenedSearch, openSearch } from '../../dist/search/opened.js'
export { type SearchAnswer, search } from '../../dist/search/query.js'
export type { SearchFilters } from '../../dist/search/question.js'
export { startSearchWorker } from '../../dist/search/worker.js'
export { VERSION } from '../../dist/version.js'

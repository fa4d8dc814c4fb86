/** What an engine works with on this machine: the tools of playbooks, and the store of results. */
import { createResultStore, type ResultStore } from '../executions/results.ts'
import { httpTool } from '../executions/tools/http.ts'
import { sqlTool } from '../executions/tools/sql.ts'
import { handlerTool, type PlaybookHandlers, type Tools } from '../executions/tools/tool.ts'
import type { Ingest } from '../ingest/library.ts'
import { type Config, filesFolder } from '../kernel/config.ts'
import { type Client, createPool, type Pool } from '../kernel/postgres/connection.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { resultPlaces, type Stores } from './stores.ts'
import { approvalTool } from './tools/approval.ts'
import { duckdbTool } from './tools/duckdb.ts'
import { ingestTool } from './tools/ingest.ts'
import { stagingTool } from './tools/staging.ts'
import { unitTool } from './tools/unit.ts'

interface PlaybookRuntimeDeps {
  readonly config: Pick<Config, 'home' | 'files' | 'httpHosts'>
  readonly stores: Stores
  readonly database: Database
  /** As dot_executor: for results. */
  readonly pool: Pool
  /** As dot_executor: for tools that write through Stagedoor. */
  readonly toolPool: Pool
  readonly ingest: Ingest
  readonly handlers?: PlaybookHandlers
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export interface PlaybookRuntime {
  readonly tools: Tools
  readonly results: ResultStore
  close(): Promise<void>
}

/** The `sql` tool, under the login stagedoor_playbook. */
const SQL_SESSIONS = 10

export function createPlaybookRuntime(deps: PlaybookRuntimeDeps): PlaybookRuntime {
  const { config, stores, database, pool, toolPool, ingest, handlers, prove } = deps
  const sqlPool =
    database.playbookUrl === undefined
      ? undefined
      : createPool(database.playbookUrl, { max: SQL_SESSIONS, purpose: 'playbook' })
  return {
    tools: playbookTools({
      pool: toolPool,
      playbookPool: sqlPool,
      ingest,
      httpHosts: config.httpHosts,
      files: filesFolder(config),
      ...(handlers && { handlers }),
      ...(prove && { prove }),
    }),
    results: createResultStore({ pool, ...resultPlaces(stores, database) }),
    close: async () => sqlPool?.end(),
  }
}

interface PlaybookToolsDeps {
  /** Login stagedoor_worker: for staging and unit. */
  readonly pool: Pool
  /** Login stagedoor_playbook: for sql; undefined where PLAYBOOK_DATABASE_URL is not set. */
  readonly playbookPool: Pool | undefined
  readonly ingest: Ingest
  readonly handlers?: PlaybookHandlers
  /** STAGEDOOR_HTTP_HOSTS. */
  readonly httpHosts: readonly string[]
  /** STAGEDOOR_FILES: see filesFolder() in config.ts. */
  readonly files: string
  /** Proves the blobs of a staging record before it is used. */
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export function playbookTools(deps: PlaybookToolsDeps): Tools {
  const { pool, playbookPool, ingest, handlers = {}, httpHosts, files, prove } = deps
  return {
    sql: sqlTool(playbookPool),
    http: httpTool({ hosts: httpHosts }),
    handler: handlerTool(handlers),
    staging: stagingTool({ pool, ...(prove && { prove }) }),
    approval: approvalTool({ pool }),
    ingest: ingestTool(ingest, files),
    unit: unitTool({ pool }),
    duckdb: duckdbTool(files),
  }
}

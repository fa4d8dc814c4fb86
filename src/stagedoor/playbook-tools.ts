/** The tools of playbooks, from what they need. */
import type { Client, Pool } from '../db/connection.ts'
import type { PlaybookHandlers, Tools } from '../executions/tool.ts'
import { handlerTool } from '../executions/tools/handler.ts'
import { httpTool } from '../executions/tools/http.ts'
import { sqlTool } from '../executions/tools/sql.ts'
import type { Ingest } from '../ingest/library.ts'
import { duckdbTool } from './tools/duckdb.ts'
import { ingestTool } from './tools/ingest.ts'
import { stagingTool } from './tools/staging.ts'
import { unitTool } from './tools/unit.ts'

export interface PlaybookToolsOptions {
  /** Of the login stagedoor_worker: for staging and unit. */
  readonly pool: Pool
  /** Of the login stagedoor_playbook: for sql; undefined where PLAYBOOK_DATABASE_URL is not set. */
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

export function playbookTools(options: PlaybookToolsOptions): Tools {
  const { pool, playbookPool, ingest, handlers = {}, httpHosts, files, prove } = options
  return {
    sql: sqlTool(playbookPool),
    http: httpTool({ hosts: httpHosts }),
    handler: handlerTool(handlers),
    staging: stagingTool({ pool, ...(prove && { prove }) }),
    ingest: ingestTool(ingest, files),
    unit: unitTool({ pool }),
    duckdb: duckdbTool(files),
  }
}

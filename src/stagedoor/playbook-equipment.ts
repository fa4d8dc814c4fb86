/** What an engine works with on this machine: the tools that it is allowed, and where results are kept. */
import { type Config, filesFolder } from '../config.ts'
import { type Client, createPool, type Pool } from '../db/connection.ts'
import type { Database } from '../db/open.ts'
import type { ResultStore } from '../executions/results/store.ts'
import { createResults } from '../executions/results/tiers.ts'
import type { PlaybookHandlers, Tools } from '../executions/tool.ts'
import type { Ingest } from '../ingest/library.ts'
import { playbookTools } from './playbook-tools.ts'

export interface EquipmentOptions {
  readonly config: Pick<Config, 'home' | 'files' | 'httpHosts'>
  readonly database: Database
  /** As dot_executor: for results. */
  readonly pool: Pool
  /** As dot_executor: for tools that write through Stagedoor. */
  readonly tools: Pool
  readonly ingest: Ingest
  readonly handlers?: PlaybookHandlers
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export interface Equipment {
  readonly tools: Tools
  readonly results: ResultStore
  close(): Promise<void>
}

const SQL_SESSIONS = 10

export function playbookEquipment(options: EquipmentOptions): Equipment {
  const { config, database, pool, tools, ingest, handlers, prove } = options
  const sql =
    database.playbookUrl === undefined
      ? undefined
      : createPool(database.playbookUrl, { max: SQL_SESSIONS, purpose: 'playbook' })
  const home = resultsHome(config, database)
  return {
    tools: playbookTools({
      pool: tools,
      playbookPool: sql,
      ingest,
      httpHosts: config.httpHosts,
      files: filesFolder(config),
      ...(handlers && { handlers }),
      ...(prove && { prove }),
    }),
    results: createResults({ pool, ...(home !== undefined && { home }) }),
    close: async () => sql?.end(),
  }
}

/**
 * Where large results may be files. On a database of the user's own other machines may go on with what this one began, and
 * would look for the file in a folder of theirs: there all are rows.
 */
export function resultsHome({ home }: Pick<Config, 'home'>, { kind }: Database): string | undefined {
  return kind === 'embedded' ? home : undefined
}

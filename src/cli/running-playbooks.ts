/** Playbooks in this process: it drives executions, runs their steps, and gives these their tools. */
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { type Client, createPool, type Pool } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import type { Database } from '../db/open.ts'
import { inTransaction } from '../db/transaction.ts'
import { type Engine, startEngine } from '../executions/engine/engine.ts'
import type { EngineHooks } from '../executions/engine/hooks.ts'
import type { ResultStore } from '../executions/results/store.ts'
import type { PlaybookHandlers } from '../executions/tool.ts'
import { ingestLibrary } from '../ingest/library.ts'
import { playbookEquipment } from '../stagedoor/playbook-equipment.ts'
import { knownBlobs } from '../stagedoor.ts'
import { requireIntactBlobs } from '../staging/blobs/verify.ts'

export interface RunningPlaybooks {
  readonly engine: Engine
  readonly results: ResultStore
  health(): HealthCheck[]
  /** Begins nothing new, waits for what runs, and hands the rest to others. */
  stop(): Promise<void>
  /** The process ends because of this error: the steps in hand are named, and the lease is given back. */
  crash(error: unknown): Promise<void>
}

export interface PlaybooksOptions {
  readonly log: Logger
  readonly handlers?: PlaybookHandlers
  readonly hooks?: EngineHooks
  /** Steps at once, and items of loops at once. */
  readonly concurrency?: number
  /** How long what runs may take to end on stop. */
  readonly shutdownMs?: number
}

/** For the engine itself, and for tools that write through Stagedoor. */
const ENGINE_POOL = 12
const TOOL_POOL = 6
/** What is shown of executions is this far behind only when something is wrong. */
const LATE_MS = 30_000

export async function runPlaybooks(
  config: Config,
  database: Database,
  { log, handlers, hooks = {}, concurrency, shutdownMs }: PlaybooksOptions,
): Promise<RunningPlaybooks> {
  const pools: Pool[] = []
  const open = (url: string, settings: Parameters<typeof createPool>[1]): Pool => {
    const pool = createPool(url, settings)
    pools.push(pool)
    return pool
  }
  const pool = open(database.workerUrl, { role: 'dot_executor', max: ENGINE_POOL, purpose: 'executions' })
  const tools = open(database.workerUrl, { role: 'dot_executor', max: TOOL_POOL, purpose: 'tools' })
  const ingest = ingestLibrary({
    pool: tools,
    home: config.home,
    service: (work) => inTransaction(tools, work, { role: 'service_role' }),
    // Registering datasets is no tool's, so this one is never opened.
    admin: () => Promise.reject(new Error('a playbook registers no dataset')),
  })
  const equipment = playbookEquipment({
    config,
    database,
    pool,
    tools,
    ingest,
    ...(handlers && { handlers }),
    ...proving(database, config.home),
  })
  const close = async (): Promise<void> => {
    await ingest.close()
    await equipment.close()
    await Promise.all(pools.map((one) => one.end()))
  }
  let lagMs = 0
  try {
    const engine = await startEngine({
      pool,
      listenUrl: database.workerUrl,
      log,
      tools: equipment.tools,
      results: equipment.results,
      hooks: {
        ...hooks,
        behind(now) {
          lagMs = now
          hooks.behind?.(now)
        },
      },
      ...(config.handlerGrace > 0 && { handlerGraceMs: config.handlerGrace * 1000 }),
      ...(concurrency !== undefined && { concurrency }),
      ...(shutdownMs !== undefined && { shutdownMs }),
    })
    return {
      engine,
      results: equipment.results,
      health: () => [
        engine.health(),
        {
          name: 'projection',
          ok: lagMs < LATE_MS,
          detail:
            lagMs < 1_000
              ? 'the execution view is up to date'
              : `the execution view is ${Math.round(lagMs / 1000)} s behind`,
        },
      ],
      crash: (error) => engine.crash(error),
      async stop() {
        await engine.stop()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function proving(
  database: Database,
  home: string,
): { prove?: (client: Client, record: string) => Promise<void> } {
  const blobs = knownBlobs(database, home)
  if (!blobs) return {}
  return { prove: (client, record) => requireIntactBlobs(client, blobs, record, { others: 'trusted' }) }
}

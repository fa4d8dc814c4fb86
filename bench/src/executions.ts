/** The product's engine on a database of a benchmark, as `stagedoor worker` runs it: handlers in, executions out. */
import {
  createPool,
  createResultStore,
  type Engine,
  type EngineOptions,
  handlerTool,
  type JsonObject,
  type Playbook,
  type PlaybookHandlers,
  StartBatcher,
  startEngine,
} from './product.ts'

export interface Executions {
  register(playbook: Playbook): Promise<void>
  /** Starts one and resolves when its end is durable. Only for an engine that drives all shards. */
  run(playbook: string, args?: JsonObject): Promise<string>
  start(playbook: string, args?: JsonObject): Promise<string>
  stop(): Promise<void>
}

/** As a playbook writes one. */
export const expression = (cel: string): string => `$\{${cel}}`

/** The engine's own sessions, and as many for those who start executions. */
const SESSIONS = 20

export async function openExecutions(
  workerUrl: string,
  handlers: PlaybookHandlers,
  { hooks = {}, ...options }: Partial<EngineOptions> = {},
): Promise<Executions> {
  const pool = createPool(workerUrl, { role: 'dot_executor', max: SESSIONS, purpose: 'bench' })
  const ends = new Ends()
  const engine: Engine = await startEngine({
    pool,
    listenUrl: workerUrl,
    tools: { handler: handlerTool(handlers) },
    results: createResultStore({ pool }),
    ...options,
    hooks: {
      ...hooks,
      onExecutionEnd(execution) {
        hooks.onExecutionEnd?.(execution)
        ends.came(execution)
      },
    },
  })
  // As the library does: those that are started at the same time go to the database together.
  const starts = new StartBatcher(pool)
  const start = (playbook: string, args: JsonObject = {}): Promise<string> =>
    starts.add({ playbook, args, options: {} })
  return {
    start,
    async register(playbook) {
      const text = JSON.stringify(playbook)
      await pool.query('select noetl.fn_playbook_register($1, $2, $3)', [playbook.name, text, text])
    },
    async run(playbook, args) {
      const id = await start(playbook, args)
      await ends.of(id)
      return id
    },
    async stop() {
      await engine.stop()
      await pool.end()
    },
  }
}

/** An execution may end before its starter has its id. */
class Ends {
  private readonly early = new Set<string>()
  private readonly awaited = new Map<string, () => void>()

  came(execution: string): void {
    const resolve = this.awaited.get(execution)
    if (resolve === undefined) this.early.add(execution)
    else resolve()
    this.awaited.delete(execution)
  }

  of(execution: string): Promise<void> {
    if (this.early.delete(execution)) return Promise.resolve()
    return new Promise((resolve) => this.awaited.set(execution, resolve))
  }
}

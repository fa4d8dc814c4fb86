/** One process as `stagedoor worker` runs it, a job worker and an engine, with nothing to do. Ends when its parent says so. */
import { inputOf, serve } from '../processes.ts'
import { createPool, createResultStore, handlerTool, startEngine, startWorker } from '../product.ts'

const workerUrl = inputOf<string>()
const pool = createPool(workerUrl, { role: 'dot_executor', max: 8, purpose: 'bench' })
const common = { pool, listenUrl: workerUrl }
const worker = await startWorker({ ...common, handlers: { noop: () => {} } })
const engine = await startEngine({
  ...common,
  tools: { handler: handlerTool({ noop: () => null }) },
  results: createResultStore({ pool }),
})
serve({
  async stop() {
    await Promise.all([worker.stop(), engine.stop()])
    await pool.end()
  },
})

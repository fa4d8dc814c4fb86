/** One process as `stagedoor worker` runs it, a job worker and an engine, with nothing to do. Ends when its parent says so. */
import { createPool, createResultStore, handlerTool, startEngine, startWorker } from '../product.ts'

const workerUrl = process.argv[2]!
const pool = createPool(workerUrl, { role: 'dot_executor', max: 8, purpose: 'bench' })
const common = { pool, listenUrl: workerUrl }
const worker = await startWorker({ ...common, handlers: { noop: () => {} } })
const engine = await startEngine({
  ...common,
  tools: { handler: handlerTool({ noop: () => null }) },
  results: createResultStore({ pool }),
})
process.once('message', async () => {
  await Promise.all([worker.stop(), engine.stop()])
  await pool.end()
  process.exit(0)
})
process.send!('ready')

/** An engine in a process of its own. Every run of a command leaves a row, at the moment at which it begins. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { startEngine } from '../../../src/executions/engine/engine.ts'
import { createResultStore } from '../../../src/executions/results.ts'
import { handlerTool, type PlaybookHandler } from '../../../src/executions/tools/tool.ts'
import { createPool } from '../../../src/kernel/postgres/connection.ts'
import { retryWhileUnavailable } from '../../../src/runtime/retry.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
await once(process.stdin, 'data')
const pool = createPool(url, { role: 'dot_executor', max: 16 })
const STEPS = ['a', 'b', 'c', 'd', 'each', 'after', 'some']
const work: PlaybookHandler = async (_args, { command_id, attempt, index, signal }) => {
  // Its session may be cut under it, and that is not the step's fault.
  await retryWhileUnavailable(() =>
    pool.query('insert into public.chaos_run (command_id, pid) values ($1, $2)', [command_id, process.pid]),
  )
  await delay((command_id.length * 7 + (index ?? 0)) % 20, undefined, { signal })
  // Some fail once, and are tried again.
  if (attempt === 1 && (index ?? 1) % 5 === 0) throw new Error('the first attempt fails')
  return { command_id, much: index === 1 ? 'x'.repeat(9000) : null }
}
// A start throws when the database is away; whoever starts a process tries again.
const engine = await retryWhileUnavailable(() =>
  startEngine({
    pool,
    listenUrl: url,
    name: `chaos ${process.pid}`,
    concurrency: 20,
    shutdownMs: 3000,
    results: createResultStore({ pool }),
    tools: { handler: handlerTool(Object.fromEntries(STEPS.map((step) => [step, work]))) },
  }),
)
console.log('ready')
process.on('SIGTERM', async () => {
  await engine.stop()
  await pool.end()
  process.exit(0)
})

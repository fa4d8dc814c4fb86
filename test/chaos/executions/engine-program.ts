/** An engine in a process of its own. Every run of a command leaves a row, at the moment at which it begins. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createPool } from '../../../src/db/connection.ts'
import { startEngine } from '../../../src/executions/engine/engine.ts'
import { patiently } from '../../../src/executions/engine/patience.ts'
import { createResults } from '../../../src/executions/results/tiers.ts'
import type { PlaybookHandler } from '../../../src/executions/tool.ts'
import { handlerTool } from '../../../src/executions/tools/handler.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
await once(process.stdin, 'data')
const pool = createPool(url, { role: 'dot_executor', max: 16 })
const STEPS = ['a', 'b', 'c', 'd', 'each', 'after', 'some']
const work: PlaybookHandler = async (_args, { command_id, attempt, index, signal }) => {
  // Its session may be cut under it, and that is not the step's fault.
  await patiently(() =>
    pool.query('insert into public.chaos_run (command_id, pid) values ($1, $2)', [command_id, process.pid]),
  )
  await delay((command_id.length * 7 + (index ?? 0)) % 20, undefined, { signal })
  // Some fail once, and are tried again.
  if (attempt === 1 && (index ?? 1) % 5 === 0) throw new Error('the first attempt fails')
  return { command_id, much: index === 1 ? 'x'.repeat(9000) : null }
}
// A start throws when the database is away; whoever starts a process tries again.
const engine = await patiently(() =>
  startEngine({
    pool,
    listenUrl: url,
    name: `chaos ${process.pid}`,
    concurrency: 20,
    shutdownMs: 3000,
    results: createResults({ pool }),
    tools: { handler: handlerTool(Object.fromEntries(STEPS.map((step) => [step, work]))) },
  }),
)
console.log('ready')
process.on('SIGTERM', async () => {
  await engine.stop()
  await pool.end()
  process.exit(0)
})

/** graphile-worker with its local queue and batched completions, which is the fastest it has. */
import { makeWorkerUtils, type Runner, run } from 'graphile-worker'
import pg from 'pg'
import { chunks, measure, taskGiven } from './measure.ts'

const task = taskGiven()
const pool = new pg.Pool({ connectionString: task.url, max: 12 })
const quiet = { error() {}, warn() {}, info() {}, debug() {} }
const { Logger } = await import('graphile-worker')
const logger = new Logger(() => (level, message) => quiet[level as keyof typeof quiet]?.call(message))
const utils = await makeWorkerUtils({ pgPool: pool, logger })
await utils.migrate()
let runner: Runner | undefined

await measure(
  {
    async enqueue(count) {
      for (const chunk of chunks(count)) {
        await utils.addJobs(chunk.map((n) => ({ identifier: 'noop', payload: { n } })))
      }
    },
    async enqueueOne(n) {
      await utils.addJob('noop', { n })
    },
    async start(ran) {
      runner = await run({
        pgPool: pool,
        logger,
        noHandleSignals: true,
        taskList: { noop: async (payload) => ran((payload as { n: number }).n) },
        preset: {
          worker: {
            concurrentJobs: 10,
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      })
    },
    async isEmpty() {
      const { rows } = await pool.query(
        'select not exists (select from graphile_worker._private_jobs) as empty',
      )
      return rows[0].empty
    },
    halt: () => runner!.stop(),
    async stop() {
      await runner!.stop()
      await utils.release()
      await pool.end()
    },
  },
  task,
)

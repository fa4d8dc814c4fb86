/** DBOS: a workflow starts a child for each shard on a queue, which two processes drain, and waits for all of them. */
import { fileURLToPath } from 'node:url'
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'
import { launchDbos } from '../dbos.ts'
import type { FanoutTask } from './fanout.ts'
import { measure } from './measure.ts'

const QUEUE = 'shards'
/** The default is a second, in which a queue of short jobs does nothing. */
const POLLING_MS = 50
/** Of one process. Alternated with 50 every 10 ms and 1,000 every 200 ms: the best median, though within the noise. */
const AT_ONCE = 100
const STARTED_TOGETHER = 100

await measure(fileURLToPath(import.meta.url), {
  async open(task, ran) {
    await launch(task, ran, 'other')
    return { stop: () => DBOS.shutdown() }
  },
  async lead(task, ran) {
    const wide = await launch(task, ran, 'first')
    const looking = new pg.Client(task.url)
    await looking.connect()
    return {
      ready: async () => {},
      run: (shards) => wide(shards),
      async ended() {
        const { rows } = await looking.query(
          `select count(*)::int as n from dbos.workflow_status where name = 'shard' and status = 'SUCCESS'`,
        )
        return rows[0].n
      },
      async stop() {
        await looking.end()
        await DBOS.shutdown()
      },
    }
  },
})

async function launch({ url }: FanoutTask, ran: (shard: number) => void, executor: string) {
  const shard = DBOS.registerWorkflow(
    async (n: number) => {
      ran(n)
      return n
    },
    { name: 'shard' },
  )
  const start = (n: number) => DBOS.startWorkflow(shard, { queueName: QUEUE })(n)
  const wide = DBOS.registerWorkflow(
    async (shards: number) => {
      await DBOS.runStep(async () => shards, { name: 'split' })
      const handles: Awaited<ReturnType<typeof start>>[] = []
      for (let from = 0; from < shards; from += STARTED_TOGETHER) {
        const count = Math.min(STARTED_TOGETHER, shards - from)
        handles.push(...(await Promise.all(Array.from({ length: count }, (_, index) => start(from + index)))))
      }
      await DBOS.waitAll(handles, { pollingIntervalMs: POLLING_MS })
      await DBOS.runStep(async () => handles.length, { name: 'join' })
    },
    { name: 'wide' },
  )
  await launchDbos(url, executor)
  await DBOS.registerQueue(QUEUE, { workerConcurrency: AT_ONCE, minPollingIntervalMs: POLLING_MS })
  return wide
}

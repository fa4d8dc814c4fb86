/** Ours: two engines, each with half of the shards; both run items, whoever of them drives the execution. */
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type Executions, expression, openExecutions } from '../executions.ts'
import { definePlaybook } from '../product.ts'
import { wakeByNats } from '../wakeups.ts'
import type { FanoutTask } from './fanout.ts'
import { measure } from './measure.ts'

const wide = definePlaybook({
  name: 'wide',
  args: { shards: 0 },
  steps: [
    {
      step: 'split',
      tool: 'handler',
      call: 'split',
      args: { shards: expression('args.shards') },
      next: 'each',
    },
    {
      step: 'each',
      tool: 'handler',
      call: 'shard',
      args: { n: expression('item') },
      loop: { in: expression('steps.split.result'), mode: 'fanout' },
      next: 'join',
    },
    { step: 'join', tool: 'handler', call: 'join', args: { done: expression('steps.each.fanin.done') } },
  ],
})
const LOOK_MS = 5
/** Its last event, which costs the same however long the log is. */
const LATEST = 'select event_type, error from noetl.event where execution_id = $1 order by seq desc limit 1'

await measure(fileURLToPath(import.meta.url), {
  open,
  async lead(task, ran) {
    const executions = await open(task, ran)
    await executions.register(wide)
    const looking = new pg.Client(task.url)
    await looking.connect()
    const until = async (isSo: () => Promise<boolean>): Promise<void> => {
      while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    return {
      ready: () =>
        until(async () => {
          const { rows } = await looking.query(
            'select owner from noetl.execution_shard group by owner having count(*) = 8 and owner is not null',
          )
          return rows.length === 2
        }),
      async run(shards) {
        const id = await executions.start('wide', { shards })
        // Either of the two may drive it, so its end is asked of the log.
        await until(async () => {
          const { rows } = await looking.query({ name: 'latest', text: LATEST, values: [id] })
          if (rows[0]?.event_type === 'playbook.failed') throw new Error(rows[0].error)
          return rows[0]?.event_type === 'playbook.completed'
        })
      },
      async ended() {
        const { rows } = await looking.query(
          `select count(*)::int as n from noetl.event where event_type = 'loop.shard.done'`,
        )
        return rows[0].n
      },
      async stop() {
        await executions.stop()
        await looking.end()
      },
    }
  },
})

async function open({ workerUrl, natsUrl }: FanoutTask, ran: (shard: number) => void): Promise<Executions> {
  if (natsUrl !== undefined) await wakeByNats(workerUrl, natsUrl)
  return openExecutions(workerUrl, {
    split: ({ shards }) => Array.from({ length: shards as number }, (_, index) => index),
    shard: ({ n }) => {
      ran(n as number)
      return n
    },
    join: ({ done }) => done,
  })
}

/** Ours: the engine that `stagedoor worker` runs, started from outside as anybody would. */
import pg from 'pg'
import { expression, openExecutions } from '../executions.ts'
import { definePlaybook } from '../product.ts'
import { measure, Ran, taskGiven } from './measure.ts'
import { AT_ONCE } from './steps.ts'

const task = taskGiven()
const ran = new Ran()
const executions = await openExecutions(
  task.workerUrl,
  { noop: ({ n, step }) => ran.step(n as number, step as number) },
  { concurrency: AT_ONCE },
)
const call = (step: number) =>
  ({ tool: 'handler', call: 'noop', args: { n: expression('args.n'), step } }) as const
await executions.register(
  definePlaybook({
    name: 'noops',
    args: { n: 0 },
    steps: [
      { step: 'a', ...call(0), next: 'b' },
      { step: 'b', ...call(1), next: 'c' },
      { step: 'c', ...call(2), next: 'd' },
      { step: 'd', ...call(3) },
    ],
  }),
)
const looking = new pg.Client(task.url)
await looking.connect()

await measure(
  {
    async run(n) {
      await executions.run('noops', { n })
    },
    async ended() {
      const { rows } = await looking.query(
        `select count(*) filter (where event_type = 'command.completed')::int as steps,
                count(*) filter (where event_type = 'playbook.completed')::int as executions from noetl.event`,
      )
      return rows[0]
    },
    async stop() {
      await executions.stop()
      await looking.end()
    },
  },
  ran,
  task,
)

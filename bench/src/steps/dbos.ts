/** DBOS: workflows of four steps, called as its documentation calls them, so that nothing waits for a queue to be polled. */
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'
import { launchDbos } from '../dbos.ts'
import { measure, Ran, taskGiven } from './measure.ts'
import { STEPS } from './steps.ts'

const task = taskGiven()
const ran = new Ran()

async function noops(n: number): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    await DBOS.runStep(async () => ran.step(n, step), { name: `step ${step}` })
  }
}

const workflow = DBOS.registerWorkflow(noops, { name: 'noops' })
await launchDbos(task.url)
const looking = new pg.Client(task.url)
await looking.connect()

await measure(
  {
    run: (n) => workflow(n),
    async ended() {
      const { rows } = await looking.query(
        `select (select count(*) from dbos.operation_outputs)::int as steps,
                (select count(*) from dbos.workflow_status where status = 'SUCCESS')::int as executions`,
      )
      return rows[0]
    },
    async stop() {
      await looking.end()
      await DBOS.shutdown()
    },
  },
  ran,
  task,
)

/** absurd: a task of four steps, claimed by its worker in batches as large as what runs at once. */
import { readFile } from 'node:fs/promises'
import { Absurd } from 'absurd-sdk'
import pg from 'pg'
import { measure, Ran, taskGiven } from './measure.ts'
import { AT_ONCE, STEPS } from './steps.ts'

const QUEUE = 'bench'
const task = taskGiven()
const ran = new Ran()
const looking = new pg.Client(task.url)
await looking.connect()
await looking.query(await readFile(task.schema!, 'utf8'))

const ends = new Map<number, () => void>()
const app = new Absurd({ db: new pg.Pool({ connectionString: task.url, max: 20 }), queueName: QUEUE })
await app.createQueue(QUEUE)
app.registerTask<{ n: number }>({ name: 'noops' }, async ({ n }, context) => {
  for (let step = 0; step < STEPS; step++) {
    await context.step(`step ${step}`, async () => {
      ran.step(n, step)
      return null
    })
  }
  return null
})
// Its worker says nothing at the end of a task, and waiting for a result polls: so the end is observed where it is written.
const execute = app.executeTask.bind(app)
app.executeTask = async (claimed, ...rest) => {
  await execute(claimed, ...rest)
  ends.get((claimed.params as { n: number }).n)?.()
}
await app.startWorker({ concurrency: AT_ONCE, batchSize: AT_ONCE, pollInterval: 0.005 })

await measure(
  {
    async run(n) {
      const ended = new Promise<void>((resolve) => ends.set(n, resolve))
      await app.spawn('noops', { n })
      await ended
    },
    async ended() {
      const { rows } = await looking.query(
        `select (select count(*) from absurd.c_${QUEUE})::int as steps,
                (select count(*) from absurd.t_${QUEUE} where state = 'completed')::int as executions`,
      )
      return rows[0]
    },
    async stop() {
      await looking.end()
    },
  },
  ran,
  task,
)

/** The examples of jobs: the handler in JavaScript, and the same in Python over HTTP. */
// @module-tag long
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { enqueue, executorToken, stateOf } from '../http/jobs/executors-api.ts'
import { useApi } from '../support/api.ts'
import { startCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const api = useApi(db)
const path = (name: string) => fileURLToPath(new URL(`../../examples/jobs/${name}`, import.meta.url))
let address: Promise<string> | undefined
const listening = () => {
  address ??= api.listen()
  return address
}
const hasPython = spawnSync('python3', ['--version']).status === 0

it('`stagedoor worker --handlers` runs the handler: it sends, and gives up where no retry helps', async () => {
  const worker = startCli(['worker', '--handlers', path('jobs.mjs'), '--kinds', 'send_report'], {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
  })
  await worker.says(/Ctrl-C stops it/)
  const good = await enqueue(db, 'send_report', 'PG_worker', { payload: { recipient: 'ops@example.com' } })
  const bad = await enqueue(db, 'send_report', 'PG_worker')
  await until('the good job is done', async () => (await stateOf(db, good)) === 'completed')
  await until('the bad job is a dead letter', async () => (await stateOf(db, bad)) === 'dead')
  expect(await worker.end()).toBe(0)
})

it.skipIf(!hasPython)('the script in Python leases, completes and fails over HTTP', async () => {
  const good = await enqueue(db, 'send_report', 'external_worker', { payload: { recipient: 'ops' } })
  const bad = await enqueue(db, 'send_report', 'external_worker')
  const later = await enqueue(db, 'send_report', 'external_worker', { payload: { recipient: 'nobody' } })
  const script = spawn('python3', [path('worker.py'), '--until-idle'], {
    env: {
      ...process.env,
      API_URL: await listening(),
      EXECUTOR_TOKEN: await executorToken('external_worker'),
    },
  })
  let said = ''
  for (const stream of [script.stdout, script.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  const [code] = await once(script, 'close')
  expect({ code, said }).toMatchObject({
    code: 0,
    said: expect.stringContaining('sending the report to ops'),
  })
  expect(await Promise.all([good, bad, later].map((id) => stateOf(db, id)))).toEqual([
    'completed',
    'dead',
    'waiting',
  ])
  const [kept] = await db.owner('select result from iu_core.job_history where job_id = $1', [good])
  expect(kept).toEqual({ result: { message_ref: `mail:${good}` } })
  // It left: nothing waits for its lease to pass.
  expect(await db.owner('select from iu_core.job_worker')).toEqual([])
})

/** Runs the script with another handler, until nothing is due. */
async function runPython(handler: string): Promise<{ exit: number; said: string }> {
  const code = `import worker\n${handler}\nworker.worker._handlers["send_report"] = handle\nworker.worker.run(until_idle=True)`
  const script = spawn('python3', ['-c', code, '--until-idle'], {
    cwd: path('.'),
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      API_URL: await listening(),
      EXECUTOR_TOKEN: await executorToken('external_worker'),
    },
  })
  let said = ''
  for (const stream of [script.stdout, script.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  const [exit] = await once(script, 'close')
  return { exit, said }
}

it.skipIf(!hasPython).each([
  ['has a forbidden key', '{"password": "x"}'],
  ['is larger than a body may be', '{"text": "x" * 2000000}'],
  ['is larger than a result may be', '{"text": "x" * 100000}'],
  ['is nested too deep for the API', 'nested(400)'],
  ['is nested too deep for Python', 'nested(5000)'],
  ['is no JSON', '{1, 2}'],
])('a result that %s costs the script in Python the result, and not another run', async (_what, result) => {
  const id = await enqueue(db, 'send_report', 'external_worker', { payload: { recipient: 'ops' } })
  const handler = `
def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"in": value}
    return value
def handle(job, cancelled):
    print("handled", job["job_id"], flush=True)
    return ${result}`
  const { exit, said } = await runPython(handler)
  expect({ exit, said }).toEqual({ exit: 0, said: expect.stringContaining('the result cannot be kept') })
  expect(said.match(new RegExp(`^handled ${id}$`, 'gm'))).toHaveLength(1)
  expect(await stateOf(db, id)).toBe('completed')
})

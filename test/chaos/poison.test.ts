/** A job whose handler ends its process, among others, and a supervisor that starts the worker again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { setKind } from '../../src/jobs/queue.ts'
import { useJobs } from '../jobs/worker/support.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { compile } from './program.ts'

const MAX_CRASHES = 4
const db = useDatabase()
const jobs = useJobs(db)
const home = temporaryHome('poison')
let program: string
let stop: () => Promise<void> = async () => {}

beforeAll(() => {
  program = compile(join(home, 'programs'), ['poison-worker.ts'])('poison-worker.ts')
})
afterEach(() => stop())

/** As if the dead worker's lease had passed: it is so long that nobody alive loses it on a busy machine. */
async function endLeases(): Promise<void> {
  await db
    .pool('postgres')
    .query(`update iu_core.job_worker set leased_until = clock_timestamp() - interval '1 second'`)
}

/** Starts it again whenever it ends by itself. Returns how often that was. */
function supervise(): () => number {
  let child: ChildProcess
  let deaths = 0
  let stopping = false
  const start = (): void => {
    child = spawn(process.execPath, [program, JSON.stringify({ url: db.url('stagedoor_worker') })], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('exit', async () => {
      if (stopping) return
      deaths++
      await endLeases()
      if (!stopping) start()
    })
  }
  start()
  stop = async () => {
    stopping = true
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return () => deaths
}

it.each(
  (
    [
      ['first', 0],
      ['in the middle', 150],
    ] as const
  ).slice(0, cases(1, 2)),
)(
  'a poison job that comes %s is a dead letter, and none of its 300 neighbours is',
  { tags: 'property' },
  async (_where, at) => {
    await setKind(db.pool('stagedoor_worker'), 'mixed', {
      max_crashes: MAX_CRASHES,
      backoff: '50 milliseconds',
    })
    const refs = Array.from({ length: 300 }, (_, n) => `good ${n}`)
    refs.splice(at, 0, 'poison')
    const ids = await jobs.enqueue(...refs.map((payload_ref) => ({ job_kind: 'mixed', payload_ref })))
    const [poison] = ids.splice(at, 1)
    const deaths = supervise()
    await jobs.reached('dead', [poison!])
    await until(
      'the queue is empty',
      async () => (await db.owner('select from iu_core.job_queue')).length === 0,
    )
    const ended = await jobs.reached('completed', ids)
    expect(await jobs.find(poison!)).toMatchObject({ crashes: MAX_CRASHES })
    expect(deaths()).toBe(MAX_CRASHES)
    // Charged with the first crash, at which nobody could know better, and never with another.
    expect(Math.max(...ended.map(({ crashes }) => crashes))).toBeLessThanOrEqual(1)
  },
)

/** Three processes of which one leads; the leader stops, is killed, is frozen. What ran is counted from what each run wrote. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { compile, type Program, standBy } from './program.ts'

const db = useDatabase()
const home = temporaryHome('leader')
const running: Program[] = []
let program: string

beforeAll(async () => {
  await db.pool('postgres').query(
    `create table public.led_run (run bigint generated always as identity, pid integer, at timestamptz default clock_timestamp());
     grant insert on public.led_run to dot_executor`,
  )
  program = compile(join(home, 'programs'), ['leader-process.ts'])('leader-process.ts')
})

afterAll(async () => {
  for (const one of running) {
    one.doomed = true
    one.child.kill('SIGCONT')
    one.child.kill('SIGKILL')
  }
  await Promise.all(running.map((one) => one.ended))
})

async function start(): Promise<Program> {
  const one = standBy(program, { url: db.url('stagedoor_worker') }, (why) => {
    throw new Error(why)
  })
  running.push(one)
  one.go()
  await until('it runs', async () => one.ready)
  return one
}

const runs = (after = 0) =>
  db
    .pool('postgres')
    .query<{ run: number; pid: number; at: Date }>(
      'select run::integer, pid, at from public.led_run where run > $1 order by run',
      [after],
    )
    .then(({ rows }) => rows)

async function leader(): Promise<Program> {
  const { rows } = await db
    .pool('postgres')
    .query<{ pid: number }>(
      `select split_part(process, ' ', -1)::integer as pid from iu_core.leader where name = 'maintenance'`,
    )
  return running.find(({ pid }) => pid === rows[0]?.pid)!
}

/** Resolves when another process than `former` has run it some times. Returns how often the former one did after the change. */
async function takenOver(former: Program, after: number): Promise<number> {
  await until(
    'another process leads',
    async () => (await runs(after)).filter(({ pid }) => pid !== former.pid).length >= 3,
  )
  const seen = await runs(after)
  const change = seen.findIndex(({ pid }) => pid !== former.pid)
  return seen.slice(change).filter(({ pid }) => pid === former.pid).length
}

const last = async (): Promise<number> => (await runs()).at(-1)?.run ?? 0

it('one of three runs the maintenance', async () => {
  for (let n = 0; n < 3; n++) await start()
  await until('it ran some times', async () => (await runs()).length >= 10)
  expect(new Set((await runs()).map(({ pid }) => pid)).size).toBe(1)
})

it('a leader that is killed is replaced', async () => {
  const former = await leader()
  former.doomed = true
  former.child.kill('SIGKILL')
  await former.ended
  const at = await last()
  expect(await takenOver(former, at)).toBe(0)
})

it('a leader that is frozen is replaced, and does nothing more when it goes on', async () => {
  await start()
  const former = await leader()
  former.child.kill('SIGSTOP')
  const at = await last()
  await takenOver(former, at)
  const before = await last()
  former.child.kill('SIGCONT')
  await until('the others went on for a while', async () => (await last()) >= before + 10)
  // What it had sent when it was frozen may still be written: one run, which every task can take.
  expect((await runs(before)).filter(({ pid }) => pid === former.pid).length).toBeLessThanOrEqual(1)
})

it('a leader that stops gives it to another one', async () => {
  const former = await leader()
  former.doomed = true
  former.child.kill('SIGTERM')
  await former.ended
  const at = await last()
  expect(await takenOver(former, at)).toBe(0)
})

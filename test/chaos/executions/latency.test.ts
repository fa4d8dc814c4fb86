/**
 * Engines far from their database that stand still for longer than their lease (a paused machine, a frozen container): every
 * one of them has a lease again by itself, and executions go on. With 300 ms between engine and database a statement that was
 * sent under the old lease is refused while the new one is being taken.
 */
// @module-tag long
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { playbook, useEngines } from '../../executions/engine/engines.ts'
import { startDelayingProxy } from '../../support/delaying-proxy.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { compile, type Program, standBy } from '../program.ts'

const ENGINES = 4
const LATENCY_MS = 300
/** Longer than the lease of 6 s. */
const STOP_MS = 7000

const engines = useEngines()
const home = temporaryHome('chaos-latency')
const programs: Program[] = []

afterAll(async () => {
  for (const program of programs) {
    program.doomed = true
    program.child.kill('SIGCONT')
    program.child.kill('SIGKILL')
    await program.ended
  }
})

async function living(): Promise<string[]> {
  const rows = await engines.db.owner<{ name: string }>(
    'select name from noetl.engine where leased_until > clock_timestamp() order by name',
  )
  return rows.map(({ name }) => name)
}

it('engines that were stopped for longer than their lease are all alive again, through a slow network', async () => {
  await engines.db.owner(
    `create table public.chaos_run (command_id text, pid integer, began_at timestamptz default clock_timestamp());
     grant all on public.chaos_run to dot_executor`,
  )
  await engines.register(playbook('plain', [{ step: 'a', next: 'b' }, { step: 'b' }]))
  const failures: string[] = []
  const url = engines.db.url('stagedoor_worker')
  const proxy = await startDelayingProxy(url, LATENCY_MS)
  const file = compile(join(home, 'programs'), ['executions/engine-program.ts'])(
    'executions/engine-program.ts',
  )
  for (let n = 0; n < ENGINES; n++) {
    const program = standBy(file, { url: proxy.url(url) }, (why) => failures.push(why))
    program.go()
    programs.push(program)
  }
  const names = programs.map(({ pid }) => `chaos ${pid}`).sort()
  await until('all engines are at work', () => programs.every(({ ready }) => ready))
  await until('all of them have a lease', async () => (await living()).join() === names.join())

  for (let round = 0; round < 2; round++) {
    for (const { child } of programs) child.kill('SIGSTOP')
    await delay(STOP_MS)
    for (const { child } of programs) child.kill('SIGCONT')
    // A lease that is lost again right after it was taken shows within the next one: alive now is not enough.
    await delay(STOP_MS)
    await until('all engines have a lease again', async () => (await living()).join() === names.join()).catch(
      async (error) => {
        throw new Error(`${error.message}; alive: ${(await living()).join(', ')}`)
      },
    )
  }
  const ids = await Promise.all(Array.from({ length: 20 }, () => engines.run('plain')))
  for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  expect(failures).toEqual([])

  for (const program of programs) {
    program.doomed = true
    program.child.kill('SIGTERM')
    await program.ended
  }
  await proxy.stop()
})

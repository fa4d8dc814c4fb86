/** A log that lacks what an engine has written, on a server that does not tell it: the flush finds out, and everything is read again. */
import { expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { gate } from './faulty-pool.ts'

const engines = useEngines()
const ITEMS = [0, 1, 2, 3, 4, 5]

it('an engine does not write on behind a gap: it goes on from the log', async () => {
  const third = gate()
  const ran: number[] = []
  const lost: string[] = []
  const engine = await engines.start(
    {
      each: async ({ item }) => {
        ran.push(item as number)
        if (item === 3) await third.passed
        return item
      },
    },
    { hooks: { onLeaseLost: (reason) => lost.push(reason) } },
  )
  const first = engine.id
  await engines.register(
    playbook('tail', [{ step: 'each', args: { item: '${item}' }, loop: { in: ITEMS, mode: 'sequential' } }]),
  )
  const id = await engines.run('tail')
  await until('three items are done', () => ran.includes(3))
  await loseCommitsAfter(id, 4)
  third.open()

  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })
  const log = await engines.log(id)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1))
  expect(
    log.filter(({ event_type }) => event_type === 'command.completed').map((event) => event.current_index),
  ).toEqual(ITEMS)
  expect(ran.length).toBeGreaterThan(ITEMS.length)
  expect(lost).toEqual(['the log is not where it was left'])
  expect(engine.id).not.toBe(first)
  expect(await engines.differences()).toEqual([])
})

/** As a replica that was promoted without them. Nothing less than the superuser can take rows out of the log. */
async function loseCommitsAfter(execution: string, seq: number): Promise<void> {
  const superuser = await engines.db.session('postgres')
  await superuser.query('begin')
  await superuser.query('set local session_replication_role = replica')
  await superuser.query('delete from noetl.event where execution_id = $1 and seq > $2', [execution, seq])
  await superuser.query('delete from noetl.execution where execution_id = $1', [execution])
  await superuser.query('update noetl.checkpoint set state = null, last_seq = 1 where execution_id = $1', [
    execution,
  ])
  await superuser.query('commit')
  await superuser.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'stagedoor_worker' and datname = current_database()`,
  )
}

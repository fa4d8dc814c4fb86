/**
 * The last two shards of a loop end at the same instant, in two sessions that do not see each other: exactly one fan-in, and
 * never none. Two thousand times.
 */
import { expect, it } from 'vitest'
import { cases } from '../../support/length.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const LOOPS = cases(200, 2000)
const AT_ONCE = 50

const engines = useEngines()

it(`completes ${LOOPS} fan-outs whose last two shards end together, each once`, {
  tags: 'property',
}, async () => {
  await engines.start({ after: () => null }, { runs: false })
  await engines.register(
    playbook('pair', [
      { step: 'each', loop: { in: [0, 1], mode: 'fanout', max_in_flight: 2 }, next: 'after' },
      { step: 'after' },
    ]),
  )
  const sessions = await Promise.all([0, 1].map(() => engines.db.session('stagedoor_worker')))
  const workers = await Promise.all(
    sessions.map(async (session, index) => {
      const { rows } = await session.query<{ engine_id: string }>(
        `select engine_id from noetl.fn_engine_register($1, false, true, '1 hour', '{each}')`,
        [`worker ${index}`],
      )
      return rows[0]!.engine_id
    }),
  )
  await engines.db
    .pool('stagedoor_worker')
    .query(`select noetl.fn_execution_start('pair') from generate_series(1, $1)`, [LOOPS])
  await until('all items are out', () => count('select count(*)::integer as n from noetl.command', 2 * LOOPS))
  // Of every pair one is with the first, one with the second.
  await engines.db.owner(
    'update noetl.command set leased_by = ($1::uuid[])[item_index + 1], lease_epoch = 1',
    [workers],
  )
  const commands = await engines.db.owner<{ command_id: string; item_index: number }>(
    'select command_id, item_index from noetl.command order by execution_id, item_index',
  )
  for (let from = 0; from < commands.length; from += 2 * AT_ONCE) {
    const some = commands.slice(from, from + 2 * AT_ONCE)
    await Promise.all(
      sessions.map((session, index) => {
        const own = some.filter(({ item_index }) => item_index === index)
        const outcomes = own.map(({ command_id }) => ({ command_id, lease_epoch: 1, status: 'completed' }))
        return session.query('select noetl.fn_command_end($1, $2)', [
          workers[index],
          JSON.stringify(outcomes),
        ])
      }),
    )
  }

  await until('all have ended', () =>
    count(`select count(*)::integer as n from noetl.execution where status = 'COMPLETED'`, LOOPS),
  )
  const ends = await engines.db.owner(
    `select event_type, count(*)::integer as events, count(distinct execution_id)::integer as executions from noetl.event
      where event_type in ('loop.fanin.completed', 'loop.done', 'loop.shard.done') group by 1 order by 1`,
  )
  expect(ends).toEqual([
    { event_type: 'loop.done', events: LOOPS, executions: LOOPS },
    { event_type: 'loop.fanin.completed', events: LOOPS, executions: LOOPS },
    { event_type: 'loop.shard.done', events: 2 * LOOPS, executions: LOOPS },
  ])
})

async function count(sql: string, wanted: number): Promise<boolean> {
  return (await engines.db.owner<{ n: number }>(sql))[0]!.n === wanted
}

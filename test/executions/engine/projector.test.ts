/** How far the projection is behind is known while nothing can be projected, too. */
import { expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { faultyPool } from './faulty-pool.ts'

const engines = useEngines()

it('grows for as long as no projection comes through, and is over with the next that does', async () => {
  let isAway = true
  let lagMs = 0
  const pool = faultyPool(engines.db.pool('stagedoor_worker'), (sql) => {
    if (isAway && sql.includes('fn_execution_project')) throw new Error('Connection terminated unexpectedly')
  })
  const engine = await engines.start({ a: () => 1 }, { pool, hooks: { onLag: (now) => (lagMs = now) } })
  await engines.register(playbook('late', [{ step: 'a' }]))
  const id = await engines.run('late')
  await engine.wait(id)

  await until('it is known', () => lagMs > 500)
  const before = lagMs
  await until('it grows', () => lagMs > before + 500)
  expect(await engines.status(id)).toBeUndefined()
  isAway = false
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  await until('nothing is behind', () => lagMs === 0)
})

/** The example’s tables and its declaration fit: registration asks for rights at most. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { orders } from '../../../examples/orders/dataset.ts'
import { datasetProblems } from '../../../src/ingest/datasets/registry.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'

const db = useDatabase()
const problems = () => inTransaction(db.pool(MIGRATOR), (client) => datasetProblems(client, orders))

it('the example’s dataset can be registered once the printed statements have run', async () => {
  expect((await problems()).map(({ problem }) => problem)).toContain('The table shop.orders does not exist')
  await db
    .pool('postgres')
    .query(readFileSync(new URL('../../../examples/orders/tables.sql', import.meta.url), 'utf8'))
  for (const { problem, remedy } of await problems()) {
    expect(problem).toMatch(/may not/)
    await db.pool('postgres').query(remedy!)
  }
  expect(await problems()).toEqual([])
})

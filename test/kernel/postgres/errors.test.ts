import { expect, it } from 'vitest'
import { inStatement } from '../../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'

const db = useDatabase()

it.each([
  ['23514', `insert into t values (1, 'secret of Ann')`],
  ['23505', `insert into t values (0, 'secret of Bob'), (0, 'secret of Bob')`],
  ['23502', `insert into t values (null, 'secret of Cid')`],
])('of a constraint that was violated (%s) the name is reported, the values are not', async (code, sql) => {
  const pool = db.pool('postgres')
  const make = 'create temp table t (n integer not null check (n < 1), words text unique) on commit drop'
  const attempts = [
    () =>
      inTransaction(pool, async (client) => {
        await client.query(make)
        await client.query(sql)
      }),
    () => inStatement(pool, (client) => client.query(`${make}; ${sql}`)),
  ]
  for (const attempt of attempts) {
    const error = await attempt().catch((thrown) => thrown)
    expect(error).toMatchObject({ code, table: 't' })
    expect(JSON.stringify(error)).not.toContain('secret')
  }
})

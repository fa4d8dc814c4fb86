import { expect, it } from 'vitest'
import { createPool, inStatement } from '../../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../../support/database.ts'

const db = useDatabase()

it('is committed when it is answered, and an error is one of the catalogue', async () => {
  const pool = db.pool('stagedoor_worker')
  const [row] = await inStatement(pool, async (client) => {
    const { rows } = await client.query('select pg_current_xact_id_if_assigned() as transaction')
    return rows
  })
  expect(row, 'no transaction is left open').toEqual({ transaction: null })
  const wrong = inStatement(pool, (client) => client.query(`select iu_core.fn_gate_open('no.such.gate')`))
  await expect(wrong).rejects.toMatchObject({ name: 'StagedoorError' })
  await expect(
    inStatement(pool, (client) => client.query('select * from no_such_table')),
  ).rejects.toMatchObject({
    code: '42P01',
  })
  const own = inStatement(pool, async () => {
    throw new TypeError('a slip')
  })
  await expect(own, 'what is the caller’s own stays so').rejects.toThrow(TypeError)
})

it('a session that is gone is reported as such, and the next one works', async () => {
  const pool = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 1 })
  try {
    const gone = inStatement(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      const other = await db.session('postgres')
      await other.query('select pg_terminate_backend($1, 5000)', [rows[0]!.pid])
      return client.query('select 1')
    })
    await expect(gone).rejects.toMatchObject({ code: 'database_unreachable' })
    expect((await inStatement(pool, (client) => client.query('select 2 as two'))).rows).toEqual([{ two: 2 }])
  } finally {
    await pool.end()
  }
})

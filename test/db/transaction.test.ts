import { describe, expect, it } from 'vitest'
import { withClient } from '../../src/db/connection.ts'
import { inTransaction } from '../../src/db/transaction.ts'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()
const pool = () => db.pool('stagedoor_worker')

it('a failed statement whose error is passed over does not look like success', async () => {
  const work = inTransaction(pool(), async (client) => {
    await client.query(`select iu_core.fn_event_emit('system', 'gate_changed')`)
    await client.query('select 1 / 0').catch(() => {})
  })
  await expect(work).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('nothing was kept'),
  })
  expect(await db.owner('select from iu_core.event_outbox')).toEqual([])
})

it('an error of the caller’s own work stays what it is', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED smtp'), { code: 'ECONNREFUSED' })
  await expect(inTransaction(pool(), () => Promise.reject(refused))).rejects.toBe(refused)
  await expect(withClient(db.url(), () => Promise.reject(refused))).rejects.toBe(refused)
})

it('a session that is cut off is an unreachable database, and the pool goes on', async () => {
  const cut = inTransaction(pool(), async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    await withClient(db.url('postgres'), (other) =>
      other.query('select pg_terminate_backend($1)', [rows[0]!.pid]),
    )
    await client.query('select 1')
  })
  await expect(cut).rejects.toMatchObject({ code: 'database_unreachable', retryable: true })
  expect(await inTransaction(pool(), async (client) => (await client.query('select 1 as one')).rows)).toEqual(
    [{ one: 1 }],
  )
})

describe('mistakes are not called bugs', () => {
  it.each([
    ['a uuid that is none', `select 'nope'::uuid`, 'argument_invalid'],
    ['a database that was never migrated', 'select iu_core.fn_that_is_not_there()', 'migrations_pending'],
    [
      'a write in a read-only transaction',
      'set transaction read only; create temp table t ()',
      'permission_denied',
    ],
  ])('%s', async (_name, sql, code) => {
    const run = inTransaction(pool(), (client) => client.query(sql))
    await expect(run).rejects.toMatchObject({ code })
  })
})

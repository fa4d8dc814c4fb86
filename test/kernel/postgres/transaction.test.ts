import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createPool, withClient } from '../../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { useDatabases } from '../../support/empty-database.ts'

const db = useDatabase()
const database = useDatabases()
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

describe('something that is not there', () => {
  it('is a matter of migration where this version’s own functions are missing', async () => {
    const older = await database('migrated')
    await older.superuser('drop function iu_core.fn_my_memberships()')
    const lost = { code: 'migrations_pending', message: expect.stringContaining('fn_my_memberships') }
    const sql = 'select iu_core.fn_my_memberships()'
    await expect(withClient(older.superuserUrl, (client) => client.query(sql))).rejects.toMatchObject(lost)
    // Also after a transaction that the work left open.
    const open = withClient(older.superuserUrl, (client) => client.query(`begin; ${sql}`))
    await expect(open).rejects.toMatchObject(lost)
    const pool = createPool(older.superuserUrl)
    await expect(inTransaction(pool, (client) => client.query(sql))).rejects.toMatchObject(lost)
    await pool.end()
  })

  it('is a matter of migration on a database that was never migrated', async () => {
    const { url } = await database('empty')
    const asked = withClient(url, (client) => client.query('select * from iu_core.fn_health()'))
    await expect(asked).rejects.toMatchObject({ code: 'migrations_pending' })
  })

  it('is a matter of migration where it is the role to act under', async () => {
    const missing = { code: 'migrations_pending', message: expect.stringContaining('nobody_at_all') }
    const role = 'nobody_at_all'
    const client = withClient(db.url('postgres'), async () => {}, { role })
    await expect(client).rejects.toMatchObject(missing)
    await expect(inTransaction(db.pool('postgres'), async () => {}, { role })).rejects.toMatchObject(missing)
  })

  it('is the caller’s own mistake where the database is as this version expects it, whatever it is called', async () => {
    for (const sql of [
      'select * from iu_core_of_mine',
      'select fn_health_of_mine()',
      'select nothing_such',
    ]) {
      const run = inTransaction(pool(), (client) => client.query(sql))
      await expect(run).rejects.toBeInstanceOf(pg.DatabaseError)
    }
  })
})

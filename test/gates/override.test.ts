import type pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

const GATE = 'iu_core.staging_writes_enabled'
const OVERRIDE = `select iu_core.fn_gate_override('${GATE}', true)`

async function isOpen(session: Pick<pg.Client, 'query'>): Promise<boolean> {
  const { rows } = await session.query<{ open: boolean }>(`select iu_core.fn_gate_open('${GATE}') as open`)
  return rows[0]!.open
}
const rowsLeft = async () => (await db.owner('select from iu_core.dot_config_override')).length

afterEach(async () => expect(await rowsLeft()).toBe(0))

it('is seen by its own transaction and by no other, before and after commit', async () => {
  const [mine, other] = [await db.session(), await db.session()]
  await other.query('begin isolation level repeatable read')
  expect(await isOpen(other)).toBe(false)
  await mine.query('begin')
  await mine.query(OVERRIDE)
  expect(await isOpen(mine)).toBe(true)
  await mine.query(`select iu_core.fn_gate_require('${GATE}')`)
  expect(await isOpen(other)).toBe(false)
  expect(await isOpen(db.pool('stagedoor_worker'))).toBe(false)
  await mine.query('commit')
  expect(await isOpen(mine)).toBe(false)
  expect(await isOpen(other)).toBe(false)
  await other.query('rollback')
})

it('closes an open gate as well as it opens a closed one, and the last word counts', async () => {
  const session = await db.session()
  await session.query('begin')
  await session.query(`select iu_core.fn_gate_set('${GATE}', true)`)
  await session.query(`select iu_core.fn_gate_override('${GATE}', false)`)
  expect(await isOpen(session)).toBe(false)
  await session.query(OVERRIDE)
  expect(await isOpen(session)).toBe(true)
  await session.query('rollback')
})

it('opens that gate only', async () => {
  const session = await db.session()
  await session.query(`begin; ${OVERRIDE}`)
  const { rows } = await session.query(
    `select iu_core.fn_gate_open('queue.consumer_dispatch.enabled') as open`,
  )
  expect(rows).toEqual([{ open: false }])
  await session.query('commit')
})

it.each(['commit', 'rollback'])('is gone after %s', async (end) => {
  const session = await db.session()
  await session.query(`begin; ${OVERRIDE}`)
  await session.query(end)
  expect(await isOpen(session)).toBe(false)
})

it('is gone after the savepoint in which it was made is rolled back', async () => {
  const session = await db.session()
  await session.query(`begin; savepoint here; ${OVERRIDE}`)
  expect(await isOpen(session)).toBe(true)
  await session.query('rollback to savepoint here')
  expect(await isOpen(session)).toBe(false)
  await session.query(OVERRIDE)
  await session.query('release savepoint here')
  expect(await isOpen(session)).toBe(true)
  await session.query('commit')
})

it('only ends early when deferred triggers are made to fire, and cannot be kept alive by them', async () => {
  const session = await db.session()
  await session.query(`begin; ${OVERRIDE}`)
  await session.query('set constraints all immediate')
  expect(await isOpen(session)).toBe(false)
  await session.query(OVERRIDE)
  expect(await isOpen(session)).toBe(false)
  await session.query('commit')
})

it('leaves no row when the firing of its trigger is itself rolled back', async () => {
  const session = await db.session()
  await session.query(`begin; ${OVERRIDE}; savepoint here; set constraints all immediate`)
  expect(await isOpen(session)).toBe(false)
  await session.query('rollback to savepoint here')
  expect(await isOpen(session)).toBe(true)
  await session.query('commit')
  expect(await rowsLeft()).toBe(0)
})

it.each([
  'authenticated',
  'service_role',
  'stagedoor_agent',
  'stagedoor_reviewer',
  'anon',
  'dot_executor',
  'vector_worker',
])('can be neither made nor forged by %s', async (role) => {
  const session = await db.session('postgres')
  await session.query(`set role ${role}`)
  for (const sql of [
    OVERRIDE,
    `insert into iu_core.dot_config_override (key, value) values ('${GATE}', 'true')`,
    `select from iu_core.dot_config_override`,
    `select iu_core.fn_gate_override_end()`,
  ]) {
    expect(await sqlstateOf(session.query(sql)), sql).toBe('42501')
  }
})

it('is not a session setting that anybody could set', async () => {
  const session = await db.session('stagedoor_worker')
  for (const name of [GATE, `stagedoor.${GATE}`, 'stagedoor.gate_override', 'iu_core.dot_config_override']) {
    await session.query('select set_config($1, $2, false)', [name, 'true'])
  }
  expect(await isOpen(session)).toBe(false)
})

it('is swept if its row outlived the transaction, while those of open transactions stay', async () => {
  const superuser = await db.session('postgres')
  await superuser.query(
    `set session_replication_role = replica; insert into iu_core.dot_config_override (key, value) values ('${GATE}', 'true')`,
  )
  const open = await db.session()
  await open.query(`begin; ${OVERRIDE}`)
  expect(await isOpen(db.pool('stagedoor_worker'))).toBe(false)
  const { rows } = await db.pool('stagedoor_worker').query('select iu_core.fn_gate_override_sweep() as swept')
  expect(rows).toEqual([{ swept: '1' }])
  expect(await isOpen(open)).toBe(true)
  // The sweep of the transaction that holds an override does not end it either.
  expect((await open.query('select iu_core.fn_gate_override_sweep() as swept')).rows).toEqual([
    { swept: '0' },
  ])
  expect(await isOpen(open)).toBe(true)
  await open.query('commit')
})

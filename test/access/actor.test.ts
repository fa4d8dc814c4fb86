import { expect, it } from 'vitest'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import { type Login, useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()

const actor = async (client: Client): Promise<string> =>
  (await client.query<{ actor: string }>('select iu_core.fn_actor() as actor')).rows[0]!.actor

const actorFor = async (client: Client, named: string | null) =>
  (
    await client.query<{ actor: string; via: string | null }>('select * from iu_core.fn_actor_for($1)', [
      named,
    ])
  ).rows[0]!

it('is the subject of the token when the API set the claims', async () => {
  expect(await db.as({ role: 'authenticated', claims: { sub: 'ada' } }, actor)).toBe('ada')
})

it('is the login when the API set no claims', async () => {
  expect(await db.as({ role: 'authenticated' }, actor)).toBe('stagedoor_api')
})

it('does not follow claims into the next transaction of the connection', async () => {
  const session = await db.session('stagedoor_api')
  await session.query(
    `begin; set local role authenticated; select set_config('request.jwt.claims', '{"sub":"ada"}', true)`,
  )
  expect(await actor(session)).toBe('ada')
  await session.query('commit; begin; set local role authenticated')
  expect(await actor(session)).toBe('stagedoor_api')
  await session.query('rollback')
})

it.each<[Login, string]>([
  ['stagedoor_worker', 'dot_executor'],
  ['stagedoor_worker', 'service_role'],
  [MIGRATOR, 'workflow_admin'],
  ['postgres', 'authenticated'],
  ['postgres', 'stagedoor_api'],
])('stays the login %s under the role %s, whatever claims that session sets', async (login, role) => {
  const session = await db.session(login)
  await session.query(`select set_config('request.jwt.claims', '{"sub":"ada"}', false)`)
  await session.query(`set role ${role}`)
  if (role === 'stagedoor_api') {
    // Not even having become the API's role makes a session the API's.
    expect(await sqlstateOf(actor(session))).toBe('42501')
    await session.query('reset role')
  }
  expect(await actor(session)).toBe(login)
})

it.each([
  ['no subject', '{"role":"authenticated"}'],
  ['an empty subject', '{"sub":""}'],
  ['a null subject', '{"sub":null}'],
  ['an array', '["ada"]'],
])('refuses claims with %s instead of falling back to the login', async (_, claims) => {
  const session = await db.session('stagedoor_api')
  await session.query(`set role authenticated; select set_config('request.jwt.claims', '${claims}', false)`)
  expect(await sqlstateOf(actor(session))).toBe('SD204')
})

it('refuses claims that are not JSON instead of falling back to the login', async () => {
  const session = await db.session('stagedoor_api')
  await session.query(`set role authenticated; select set_config('request.jwt.claims', 'sub=ada', false)`)
  expect(await sqlstateOf(actor(session))).toBe('22P02')
})

const people: Caller[] = ['authenticated', 'stagedoor_agent', 'stagedoor_reviewer'].map((role) => ({
  role,
  claims: { sub: 'ada' },
}))

it.each(people)('lets $role name itself, or nobody', async (caller) => {
  for (const named of ['ada', null]) {
    expect(await db.as(caller, (client) => actorFor(client, named))).toEqual({ actor: 'ada', via: null })
  }
})

it.each(people)('refuses $role that names another', async (caller) => {
  for (const named of ['grace', 'service_role', 'Ada', '', ' ']) {
    expect(await sqlstateOf(db.as(caller, (client) => actorFor(client, named)))).toBe('SD203')
  }
})

it('lets service_role act for another and records who really did', async () => {
  const caller = { role: 'service_role', claims: { sub: 'importer' } }
  expect(await db.as(caller, (client) => actorFor(client, 'grace'))).toEqual({
    actor: 'grace',
    via: 'importer',
  })
  expect(await db.as(caller, (client) => actorFor(client, 'importer'))).toEqual({
    actor: 'importer',
    via: null,
  })
})

it('refuses service_role that acts for nobody in particular', async () => {
  const caller = { role: 'service_role', claims: { sub: 'importer' } }
  expect(await sqlstateOf(db.as(caller, (client) => actorFor(client, '  ')))).toBe('SD203')
})

it('refuses dot_executor that names another: only service_role may', async () => {
  const worker = await db.session('stagedoor_worker')
  expect(await sqlstateOf(actorFor(worker, 'grace'))).toBe('SD203')
})

/** Registrars and writers at the same time: one after the other, one winner, nobody deadlocked. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { dryRunRoute, findRoute, registerRoute, syncRoutes } from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { active, admin, attachRoute, detachRoute, grantTriggers, payloads, user } from './routed.ts'

const db = useDatabase()

let owner: pg.Client

beforeAll(async () => {
  owner = await user(db)
})

/** Our administrator owns these, so that it can detach without help. */
async function table(name: string, definition = 'id int, status text'): Promise<void> {
  await owner.query(`create table ${name} (${definition}); alter table ${name} owner to workflow_admin`)
  await owner.query(`grant all on ${name} to postgres`)
}

const keep = { payload_contract: { keep_refs: ['id', 'status'] } }

const triggers = async (name: string) =>
  (await db.owner('select from pg_trigger where tgrelid = $1::regclass', [name])).length

it('attach and detach of one route wait for each other, and the later one counts', async () => {
  await table('raced')
  const code = await registerRoute(admin(db), { source: 'raced', sql_event: 'insert', ...keep })
  const [one, two] = [await db.session(), await db.session()]
  await one.query('begin')
  await attachRoute(one, code)
  const detached = detachRoute(two, code)
  await untilWaiting(db, two)
  await one.query('commit')
  expect(await detached).toEqual([])
  expect(await triggers('raced')).toBe(0)

  await one.query('begin')
  await dryRunRoute(one, code)
  const again = dryRunRoute(two, code)
  await untilWaiting(db, two)
  await one.query('commit')
  expect(await again).toBe(1)
  expect(await triggers('raced')).toBe(1)
  expect(await findRoute(admin(db), code)).toMatchObject({ state: 'dry_run', attached: 1 })
})

it('detaching one of two routes leaves the trigger that the other needs', async () => {
  await table('shared')
  const first = await registerRoute(admin(db), { source: 'shared', sql_event: 'insert', ...keep })
  const second = await registerRoute(admin(db), {
    route_code: 'shared.second',
    source: 'shared',
    sql_event: 'insert',
    ...keep,
  })
  await Promise.all([dryRunRoute(admin(db), first), dryRunRoute(admin(db), second)])
  expect(await triggers('shared')).toBe(1)
  await detachRoute(admin(db), first)
  expect(await triggers('shared')).toBe(1)
  await detachRoute(admin(db), second)
  expect(await triggers('shared')).toBe(0)
})

it('many registrars at once end in one consistent state, while somebody writes', async () => {
  await table('busy')
  const code = await registerRoute(admin(db), { source: 'busy', sql_event: 'insert', ...keep })
  const sessions = await Promise.all(Array.from({ length: 4 }, () => db.session()))
  let writing = true
  const writer = (async () => {
    for (let id = 0; writing; id++) await owner.query(`insert into busy values ($1, 'new')`, [id])
  })()
  await Promise.all(
    sessions.map(async (session, index) => {
      for (let round = 0; round < 6; round++) {
        if ((round + index) % 3 === 0) await detachRoute(session, code)
        else if ((round + index) % 3 === 1) await dryRunRoute(session, code)
        else await syncRoutes(session)
      }
    }),
  )
  writing = false
  await writer
  const route = (await findRoute(admin(db), code))!
  expect(await triggers('busy')).toBe(route.attached)
  await dryRunRoute(admin(db), code)
  expect(await triggers('busy')).toBe(1)
})

it('attaching gives up after three seconds rather than queue every writer behind it', async () => {
  await table('held')
  const code = await registerRoute(admin(db), { source: 'held', sql_event: 'insert', ...keep })
  await owner.query(`begin; insert into held values (1, 'long')`)
  expect(await sqlstateOf(dryRunRoute(admin(db), code))).toBe('SD316')
  await owner.query('commit')
  expect(await findRoute(admin(db), code)).toMatchObject({ state: 'disabled', attached: 0 })
  expect(await dryRunRoute(admin(db), code)).toBe(1)
})

it('of two transactions with one key the first to commit sends', async () => {
  await owner.query('create table keyed (id int, status text)')
  await grantTriggers(owner, 'keyed')
  const code = await active(
    db,
    { source: 'keyed', sql_event: 'insert', idempotency_policy: { key: '(id)' }, ...keep },
    () => owner.query(`insert into keyed values (0, 'evidence')`),
  )
  const [one, two] = [await user(db), await user(db)]
  await one.query(`begin; insert into keyed values (1, 'one')`)
  const waiting = two.query(`insert into keyed values (1, 'two')`)
  await untilWaiting(db, two)
  await one.query('commit')
  await waiting
  expect(await payloads(db, code)).toEqual([{ id: 1, status: 'one' }])

  await one.query(`begin; insert into keyed values (2, 'one')`)
  const wins = two.query(`insert into keyed values (2, 'two')`)
  await untilWaiting(db, two)
  await one.query('rollback')
  await wins
  expect(await payloads(db, code)).toContainEqual({ id: 2, status: 'two' })
})

it('two statements with the same keys in opposite orders do not deadlock', async () => {
  await owner.query('create table crossed (id int, status text)')
  await grantTriggers(owner, 'crossed')
  const code = await active(
    db,
    { source: 'crossed', sql_event: 'insert', idempotency_policy: { key: '(id)' }, ...keep },
    () => owner.query(`insert into crossed values (0, 'evidence')`),
  )
  const [one, two] = [await user(db), await user(db)]
  for (let round = 0; round < 10; round++) {
    const [from, to] = [round * 1000, round * 1000 + 999]
    await Promise.all([
      one.query(`insert into crossed select n, 'up' from generate_series(${from}, ${to}) n`),
      two.query(`insert into crossed select n, 'down' from generate_series(${to}, ${from}, -1) n`),
    ])
  }
  const ids = (await payloads(db, code)).map((payload) => payload.id)
  expect(ids).toHaveLength(10_000)
  expect(new Set(ids).size).toBe(10_000)
})

/** The registry of processes: who runs, with which roles, and servers whose tokens differ. */
import { hostname } from 'node:os'
import pino from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  listProcesses,
  type ProcessRole,
  registerProcess,
  type TokenSecrets,
} from '../../src/app/processes.ts'
import { createStagedoor } from '../../src/index.ts'
import { VERSION } from '../../src/kernel/version.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const home = temporaryHome('processes')
const log = pino({ level: 'silent' })
let operator: Member
let viewer: Member

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  viewer = await createMember(db, workspace, 'viewer')
})

const register = (roles: ProcessRole[], tokens?: TokenSecrets) =>
  registerProcess({ url: db.url('stagedoor_worker'), roles, tokens, log, beatMs: 20 })
const listed = () => db.as(operator, listProcesses)

it('lists a process with its host, version and roles while it runs, to whoever operates a workspace', async () => {
  const process_ = await register(['server', 'worker'], { signing: 'a'.repeat(32) })
  expect(await listed()).toMatchObject([
    {
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      roles: ['server', 'worker'],
      draining_at: null,
      is_alive: true,
    },
  ])
  expect(await sqlstateOf(db.as(viewer, listProcesses))).toBe('SD202')
  const [row] = await db.owner<{ signs_with: string }>('select signs_with from iu_core.process')
  expect(row!.signs_with).toMatch(/^[0-9a-f]{32}$/)
  // Not even the back end reads the digests.
  for (const role of ['dot_executor', 'service_role'])
    expect(await sqlstateOf(db.as({ role }, (client) => client.query('select from iu_core.process')))).toBe(
      '42501',
    )
  await process_.leave()
  expect(await listed()).toEqual([])
})

it('a heartbeat keeps it alive, a drain is shown, and a row that others removed comes back', async () => {
  const one = await register(['worker'])
  one.beat(db.pool('stagedoor_worker'))
  await db.owner(`update iu_core.process set seen_at = clock_timestamp() - interval '1 minute'`)
  await until('it beats', async () => (await listed())[0]?.is_alive)
  await db.owner('delete from iu_core.process')
  await until('it is registered again', async () => (await listed()).length === 1)
  await one.drain()
  expect(await listed()).toMatchObject([{ draining_at: expect.any(Date) }])
  await one.leave()
})

it('one that is silent is shown as such, is no server any more, and its row is removed in the end', async () => {
  const dead = await register(['server'], { signing: 'a'.repeat(32) })
  await db.owner(`update iu_core.process set seen_at = clock_timestamp() - interval '21 seconds'`)
  expect(await listed()).toMatchObject([{ is_alive: false }])
  // Another secret is no conflict with a dead server.
  const next = await register(['server'], { signing: 'b'.repeat(32) })
  expect(next.servers).toBe(1)
  await db.owner(
    `update iu_core.process set seen_at = clock_timestamp() - interval '11 minutes' where seen_at < clock_timestamp() - interval '20 seconds'`,
  )
  const last = await register(['worker'])
  expect(await db.owner('select from iu_core.process')).toHaveLength(2)
  for (const one of [dead, next, last]) await one.leave()
})

describe('token secrets', () => {
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)]

  it('a server with another secret, or none, is refused with what to do; workers need none', async () => {
    const first = await register(['server'], { signing: a })
    for (const signing of [b, undefined])
      await expect(register(['server'], { signing })).rejects.toMatchObject({
        code: 'token_secret_differs',
        exitCode: 3,
        message: `The server on ${hostname()} (process ${process.pid}) uses another token secret on this database`,
        hint: expect.stringContaining('Change the token secret'),
      })
    const same = await register(['server'], { signing: a })
    expect(same.servers).toBe(2)
    const worker = await register(['worker'])
    for (const one of [first, same, worker]) await one.leave()
  })

  it('is changed server by server where each accepts both', async () => {
    const old = await register(['server'], { signing: a })
    const prepared = await register(['server'], { signing: a, other: b })
    await expect(register(['server'], { signing: b, other: a })).rejects.toMatchObject({
      code: 'token_secret_differs',
    })
    await old.leave()
    const changed = await register(['server'], { signing: b, other: a })
    for (const one of [prepared, changed]) await one.leave()
  })

  it('of two different ones that start together one is refused', async () => {
    const started = await Promise.allSettled([a, b].map((signing) => register(['server'], { signing })))
    expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const one of started) if (one.status === 'fulfilled') await one.value.leave()
  })

  it('one that drains does not count: the new one starts before the old one has ended', async () => {
    const old = await register(['server'], { signing: a })
    await old.drain()
    const next = await register(['server'], { signing: b })
    expect(next.servers).toBe(1)
    for (const one of [old, next]) await one.leave()
  })
})

it('a program on the library is one process, with the roles that it takes', async () => {
  const stagedoor = await createStagedoor({ databaseUrl: db.url(), home })
  const work = await stagedoor.work({ jobs: {}, dispatcher: true })
  expect(await listed()).toMatchObject([
    { roles: expect.arrayContaining(['worker', 'dispatcher', 'maintenance']) },
  ])
  const engine = await stagedoor.work({ playbooks: {} })
  expect((await listed()).map(({ roles }) => roles.includes('engine'))).toEqual([true])
  await engine.stop()
  expect((await listed()).map(({ roles }) => roles.includes('engine'))).toEqual([false])
  await work.stop()
  expect(await listed()).toEqual([])
  await stagedoor.close()
})

import { afterEach, expect, it } from 'vitest'
import { createStagedoor, type Stagedoor } from '../src/index.ts'
import { useDatabase } from './support/database.ts'
import { MIGRATOR } from './support/template.ts'

const db = useDatabase()
let stagedoor: Stagedoor | undefined
// A connection that close() leaves open fails the file.
afterEach(async () => {
  await stagedoor?.close()
  stagedoor = undefined
  delete process.env.DATABASE_URL
  delete process.env.DATABASE_DIRECT_URL
})

it('works on the database that it was given, whatever the environment says', async () => {
  process.env.DATABASE_URL = 'postgres://nobody@127.0.0.1:1/nothing'
  process.env.DATABASE_DIRECT_URL = 'postgres://nobody@127.0.0.1:1/nothing'
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  expect(await stagedoor.gates.open('queue.consumer_dispatch.enabled', 'library')).toBe(true)
  expect(await stagedoor.gates.close('queue.consumer_dispatch.enabled')).toBe(true)
  expect((await stagedoor.gates.history()).map((change) => change.reason)).toContain('library')
  expect((await stagedoor.health()).every((check) => check.ok)).toBe(true)
  expect((await stagedoor.plan()).migrations).toEqual([])
})

it('emits in your own transaction: rolled back, there is no event', async () => {
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  await stagedoor.events.register('mine')
  const mine = await db.session('stagedoor_worker')
  const event = { event_domain: 'system', event_type: 'issue_resolved', event_subject_ref: 'ticket' }
  await mine.query('begin')
  await stagedoor.events.emit([event], { client: mine })
  await mine.query('rollback')
  await mine.query('begin')
  await stagedoor.events.emit([{ ...event, event_subject_ref: 'kept' }], { client: mine })
  await mine.query('commit')
  const seen: (string | null)[] = []
  await stagedoor.events.read('mine', async (events) => {
    seen.push(...events.map((entry) => entry.event_subject_ref))
  })
  expect(seen).toEqual(['kept'])
})

it('delivers events again when the work throws', async () => {
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  await stagedoor.events.register('again')
  await stagedoor.events.emit([{ event_domain: 'system', event_type: 'issue_resolved' }])
  const failing = stagedoor.events.read('again', () => Promise.reject(new Error('mail server is down')))
  await expect(failing).rejects.toThrow('mail server is down')
  expect(await stagedoor.events.read('again', async () => {})).toBe(1)
  expect(await stagedoor.events.read('again', async () => {})).toBe(0)
})

it('holds and decides as the back end', async () => {
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  await stagedoor.gates.open('iu_core.staging_writes_enabled')
  const { staging } = stagedoor
  const created = await staging.create({
    staging_kind: 'sql_snapshot',
    payload_type: 'sql_result_snapshot',
    purpose: 'try',
    parts: [{ part_name: 'rows', payload_kind: 'json', payload_json: { rows: [] } }],
  })
  expect(created).toMatchObject({ created: true, lifecycle_status: 'pending' })
  const id = created.staging_record_id
  expect((await staging.part(id, 0))?.content).toBe('{"rows": []}')
  await staging.consume(id, { command: 'library test' })
  expect(await staging.get(id)).toMatchObject({ lifecycle_status: 'consumed' })
  expect((await staging.health()).ok).toBe(true)
})

it('says what is wrong with an address', async () => {
  const unreachable = await createStagedoor({ databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing' })
  await expect(unreachable.gates.list()).rejects.toMatchObject({ code: 'database_unreachable' })
  await unreachable.close()
  await expect(createStagedoor({ databaseUrl: 'mysql://x' })).rejects.toMatchObject({
    code: 'config_invalid',
  })
})

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { createStagedoor, type Stagedoor } from '../../src/index.ts'
import { createDiskBlobStore } from '../../src/runtime/stores/disk-store.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'

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

it('removes a reader, which then can read everything again', async () => {
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  const { events } = stagedoor
  await events.register('restored')
  await events.emit([{ event_domain: 'system', event_type: 'issue_resolved' }])
  const count = await events.read('restored', async () => {})
  expect(await events.delete('restored')).toBe(true)
  expect(await events.delete('restored')).toBe(false)
  await events.register('restored', { fromBeginning: true })
  expect(await events.read('restored', async () => {})).toBeGreaterThanOrEqual(count)
  expect(count).toBe(1)
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

const RECORD = {
  staging_kind: 'nosql_payload',
  payload_type: 'nosql_payload',
  purpose: 'try',
  parts: [{ part_name: 'n', payload_kind: 'json', payload_json: 1 }],
} as const

it('takes JSON text as it is, and says what to do about a BigInt', async () => {
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  await stagedoor.gates.open('iu_core.staging_writes_enabled')
  const number = '12345678901234567890.10'
  const text = JSON.stringify(RECORD).replace('"payload_json":1', `"payload_json":${number}`)
  const made = await stagedoor.staging.create(text)
  expect((await stagedoor.staging.part(made.staging_record_id, 0))?.content).toBe(number)
  const [part] = await db.owner(
    'select content_hash from iu_core.iu_staging_payload where staging_record_id = $1',
    [made.staging_record_id],
  )
  expect(part).toEqual({ content_hash: createHash('sha256').update(number).digest('hex') })
  const big = { ...RECORD, parts: [{ part_name: 'n', payload_kind: 'json', payload_json: 1n }] } as const
  await expect(async () => stagedoor!.staging.create(big)).rejects.toMatchObject({ code: 'argument_invalid' })
})

it('acts for named others, says through whom, and is one of the two whoever it names', async () => {
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR) })
  await stagedoor.gates.open('iu_core.staging_writes_enabled')
  const { staging } = stagedoor
  const { staging_record_id: id, content_hash: digest } = await staging.create({
    ...RECORD,
    staging_kind: 'cut_preview',
    payload_type: 'import_preview',
    owner_actor: 'ada',
  })
  expect(await staging.get(id)).toMatchObject({ owner_actor: 'ada', owner_via: expect.any(String) })
  await expect(staging.approve(id, { digest, approvedBy: 'grace' })).rejects.toMatchObject({
    code: 'staging_own_record',
  })
  const single = await staging.create({ ...RECORD, owner_actor: 'ada' })
  await staging.approve(single.staging_record_id, { digest: single.content_hash, approvedBy: 'grace' })
  expect(await staging.get(single.staging_record_id)).toMatchObject({
    approved_by: 'grace',
    approved_via: expect.any(String),
  })
})

it('neither approves nor consumes a blob of its home that was changed, and its health says so', async () => {
  const home = mkdtempSync(join(tmpdir(), 'stagedoor-library-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const store = createDiskBlobStore(join(home, 'blobs'))
  const blob = await store.put(Readable.from(['the original']))
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  await stagedoor.gates.open('iu_core.staging_writes_enabled')
  const { staging } = stagedoor
  const parts = [{ part_name: 'video', payload_kind: 'blob_ref', ...blob }] as const
  const { staging_record_id: id } = await staging.create({ ...RECORD, parts })
  expect((await staging.health()).checks).toContainEqual(expect.objectContaining({ name: 'blobs', ok: true }))
  const name = blob.blob_ref.slice('disk:'.length)
  writeFileSync(join(home, 'blobs', name.slice(0, 2), name), 'the 0riginal')
  await expect(staging.consume(id)).rejects.toMatchObject({ code: 'staging_tampered' })
  await expect(staging.approve(id, { digest: '0'.repeat(64) })).rejects.toMatchObject({
    code: 'staging_tampered',
  })
  expect((await staging.health()).ok).toBe(false)
})

it('says what is wrong with an address', async () => {
  const unreachable = await createStagedoor({ databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing' })
  await expect(unreachable.gates.list()).rejects.toMatchObject({ code: 'database_unreachable' })
  await unreachable.close()
  await expect(createStagedoor({ databaseUrl: 'mysql://x' })).rejects.toMatchObject({
    code: 'config_invalid',
  })
})

/** A blob is deleted when the last record that refers to it is gone, and never under the hands of one who stages it. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import type { BlobStore, StoredBlob } from '../../src/runtime/stores/blob-store.ts'
import { createDiskBlobStore } from '../../src/runtime/stores/disk-store.ts'
import { stagingTasks } from '../../src/staging/maintenance.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { setGate } from './people.ts'
import { stage } from './staged.ts'

const db = useDatabase()
const folder = mkdtempSync(join(tmpdir(), 'stagedoor-blobs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const store = createDiskBlobStore(folder)

let worker: pg.Client
let other: pg.Client
beforeAll(async () => {
  worker = await db.session('stagedoor_worker')
  other = await db.session('stagedoor_worker')
  await setGate(db, 'staging_writes_enabled', true)
})
beforeEach(async () => {
  await setGate(db, 'staging_cleanup_enabled', true)
  await run('staging blobs')
})

const run = (name: string, blobs: BlobStore = store): Promise<string | undefined> => {
  const task = stagingTasks(blobs).find((one) => one.name === name)!
  return inTransaction(db.pool('stagedoor_worker'), (client) => task.run(client))
}

const put = (): Promise<StoredBlob> => store.put(Readable.from(['a video']))
const exists = async (blob: StoredBlob): Promise<boolean> => (await store.facts(blob.blob_ref)) !== undefined

async function hold(blob: StoredBlob, client: pg.Client = worker): Promise<string> {
  const part = JSON.stringify({ part_name: 'video', payload_kind: 'blob_ref', ...blob })
  const staged = await stage(client, {
    workspace: null,
    kind: 'nosql_payload',
    type: 'nosql_payload',
    parts: [part],
  })
  return staged.staging_record_id
}

/** Rejected, and its retention over. */
async function end(id: string): Promise<void> {
  await worker.query(`select iu_core.fn_iu_staging_reject($1, 'not needed')`, [id])
  await db.owner('alter table iu_core.iu_staging_record disable trigger user')
  await db.owner('update iu_core.iu_staging_record set retain_until = now() where staging_record_id = $1', [
    id,
  ])
  await db.owner('alter table iu_core.iu_staging_record enable trigger user')
}

async function endAndClean(id: string): Promise<void> {
  await end(id)
  await run('staging cleanup')
}

const trash = async (): Promise<string[]> => {
  const rows = await db.owner<{ blob_ref: string }>('select blob_ref from iu_core.iu_staging_blob_trash')
  return rows.map(({ blob_ref }) => blob_ref)
}

describe('a blob', () => {
  it('is deleted after its record was cleaned', async () => {
    const blob = await put()
    const id = await hold(blob)
    await run('staging blobs')
    expect(await exists(blob)).toBe(true)
    await endAndClean(id)
    expect(await exists(blob)).toBe(true)
    expect(await run('staging blobs')).toBe('1 blobs without a record deleted')
    expect(await exists(blob)).toBe(false)
    expect(await trash()).toEqual([])
    expect(await run('staging blobs')).toBeUndefined()
  })

  it('of two records stays until the last one is cleaned or unregistered', async () => {
    const blob = await put()
    const [first, second] = [await hold(blob), await hold(blob)]
    await endAndClean(first)
    await run('staging blobs')
    expect(await exists(blob)).toBe(true)
    await worker.query('select iu_core.fn_iu_staging_unregister($1)', [second])
    await run('staging blobs')
    expect(await exists(blob)).toBe(false)
  })

  it('whose last two records go at the same time is deleted', async () => {
    const blob = await put()
    const [first, second] = [await hold(blob), await hold(blob)]
    await worker.query('begin')
    await other.query('begin')
    await worker.query('select iu_core.fn_iu_staging_unregister($1)', [first])
    const waiting = other.query('select iu_core.fn_iu_staging_unregister($1)', [second])
    await untilWaiting(db, other)
    await worker.query('commit')
    await waiting
    // Trashed once already, and the second record not yet gone for everybody: not the moment to decide.
    expect(await run('staging blobs')).toBeUndefined()
    expect(await exists(blob)).toBe(true)
    await other.query('commit')
    expect(await run('staging blobs')).toBe('1 blobs without a record deleted')
    expect(await exists(blob)).toBe(false)
  })

  it('stays while the gate is closed', async () => {
    const blob = await put()
    await endAndClean(await hold(blob))
    await setGate(db, 'staging_cleanup_enabled', false)
    for (const { name } of stagingTasks(store)) expect(await run(name)).toBeUndefined()
    expect(await exists(blob)).toBe(true)
    expect(await trash()).toEqual([blob.blob_ref])
  })

  it('that cannot be deleted stays in the trash, and is deleted the next time', async () => {
    const blob = await put()
    await endAndClean(await hold(blob))
    const broken = { ...store, delete: () => Promise.reject(new Error('the disk is gone')) }
    expect(await run('staging blobs', broken)).toContain('could not be deleted')
    expect(await trash()).toEqual([blob.blob_ref])
    await run('staging blobs')
    expect(await exists(blob)).toBe(false)
  })

  it('of another store is left to whoever keeps it', async () => {
    await endAndClean(await hold({ blob_ref: 's3:bucket/video', byte_len: 7, content_hash: '0'.repeat(64) }))
    await endAndClean(await hold({ blob_ref: 'disk:../forged', byte_len: 7, content_hash: '0'.repeat(64) }))
    expect(await run('staging blobs')).toBe('1 blobs without a record deleted')
    expect(await trash()).toEqual(['s3:bucket/video'])
    await db.owner('delete from iu_core.iu_staging_blob_trash')
  })
})

describe('a blob that is staged again', () => {
  it('before it was taken out of the trash, stays', async () => {
    const blob = await put()
    await endAndClean(await hold(blob))
    await hold(blob)
    expect(await trash()).toEqual([blob.blob_ref])
    expect(await run('staging blobs')).toBeUndefined()
    expect(await exists(blob)).toBe(true)
    expect(await trash()).toEqual([])
  })

  it('by a transaction that has not ended, stays until it has', async () => {
    const blob = await put()
    await endAndClean(await hold(blob))
    await other.query('begin')
    await hold(blob, other)
    expect(await run('staging blobs')).toBeUndefined()
    expect(await exists(blob)).toBe(true)
    await other.query('rollback')
    expect(await run('staging blobs')).toBe('1 blobs without a record deleted')
    expect(await exists(blob)).toBe(false)
  })

  it('while it is being deleted, waits and is refused: there is no such blob any more', async () => {
    const blob = await put()
    await endAndClean(await hold(blob))
    await worker.query('begin')
    await worker.query(`select iu_core.fn_iu_staging_blobs_claim('disk')`)
    const staging = sqlstateOf(hold(blob, other))
    await untilWaiting(db, other)
    await store.delete(blob.blob_ref)
    await worker.query('commit')
    expect(await staging).toBe('SD513')
    expect(
      await db.owner('select from iu_core.iu_staging_payload where blob_ref = $1', [blob.blob_ref]),
    ).toEqual([])
  })

  it('while its deletion fails, waits and is held', async () => {
    const blob = await put()
    await endAndClean(await hold(blob))
    await worker.query('begin')
    await worker.query(`select iu_core.fn_iu_staging_blobs_claim('disk')`)
    const staging = hold(blob, other)
    await untilWaiting(db, other)
    await worker.query('rollback')
    await staging
    await run('staging blobs')
    expect(await exists(blob)).toBe(true)
  })
})

describe('an upload', () => {
  const dayAgo = new Date(Date.now() - 86_400_000 - 60_000)
  const age = (blob: StoredBlob): void => {
    const name = blob.blob_ref.slice('disk:'.length)
    utimesSync(join(folder, name.slice(0, 2), name), dayAgo, dayAgo)
  }

  it('that no record came for within a day is deleted, younger and referenced ones stay', async () => {
    const [orphan, young, held] = [await put(), await put(), await put()]
    await hold(held)
    age(orphan)
    age(held)
    expect(await run('staging orphans')).toBe('1 blobs have no record, 0 uploads never ended')
    expect(await run('staging blobs')).toBe('1 blobs without a record deleted')
    expect(await Promise.all([orphan, young, held].map(exists))).toEqual([false, true, true])
    expect(await run('staging orphans')).toBeUndefined()
  })

  it('that a transaction is staging at that very moment stays', async () => {
    const blob = await put()
    age(blob)
    await other.query('begin')
    await hold(blob, other)
    await run('staging orphans')
    expect(await trash()).toEqual([blob.blob_ref])
    await run('staging blobs')
    await other.query('commit')
    await run('staging blobs')
    expect(await exists(blob)).toBe(true)
    expect(await trash()).toEqual([])
  })

  it('that never ended is swept', async () => {
    const draft = join(folder, 'drafts', 'killed')
    writeFileSync(draft, 'half')
    utimesSync(draft, dayAgo, dayAgo)
    expect(await run('staging orphans')).toBe('0 blobs have no record, 1 uploads never ended')
    expect(await run('staging orphans')).toBeUndefined()
  })
})

describe('taking blobs out of the trash', () => {
  it('refuses a snapshot that would not see who refers to them', async () => {
    await worker.query('begin isolation level repeatable read')
    expect(await sqlstateOf(worker.query(`select iu_core.fn_iu_staging_blobs_claim('disk')`))).toBe('SD001')
    await worker.query('rollback')
  })

  it.each([
    ['fn_iu_staging_blobs_claim(null)', 'SD001'],
    [`fn_iu_staging_blobs_claim('%')`, 'SD001'],
    [`fn_iu_staging_blobs_claim('disk', 0)`, 'SD001'],
    ['fn_iu_staging_blobs_trash_orphans(null)', 'SD001'],
  ])('refuses %s', async (call, state) => {
    expect(await sqlstateOf(worker.query(`select iu_core.${call}`))).toBe(state)
  })

  it('is the only way: the worker cannot delete from the trash itself', async () => {
    expect(await sqlstateOf(worker.query('delete from iu_core.iu_staging_blob_trash'))).toBe('42501')
  })
})

it('a blob that cannot be deleted goes to the end of the queue and holds nobody up', async () => {
  const [stuck, fine] = [await put(), await put()]
  for (const blob of [stuck, fine]) await endAndClean(await hold(blob))
  const failing: BlobStore = {
    ...store,
    async delete(ref) {
      if (ref === stuck.blob_ref) throw new Error('EACCES: permission denied')
      await store.delete(ref)
    },
  }
  const told: string[] = []
  const task = stagingTasks(failing, { onDeleteFailed: (ref) => told.push(ref) }).find(
    ({ name }) => name === 'staging blobs',
  )!
  const did = await inTransaction(db.pool('stagedoor_worker'), (client) => task.run(client))
  expect(did).toContain('1 could not be deleted')
  expect(told).toEqual([stuck.blob_ref])
  expect([await exists(stuck), await exists(fine)]).toEqual([true, false])
  expect(await trash()).toEqual([stuck.blob_ref])
  await run('staging blobs')
  expect(await exists(stuck)).toBe(false)
})

it('a search for orphans that ends early is continued by the next run', async () => {
  const many = mkdtempSync(join(folder, 'many-'))
  const orphanStore = createDiskBlobStore(many)
  const refs: string[] = []
  for (let index = 0; index < 501; index++) {
    const name = `${index.toString(16).padStart(4, '0').padEnd(32, '0')}.${'a'.repeat(64)}`
    mkdirSync(join(many, name.slice(0, 2)), { recursive: true })
    const path = join(many, name.slice(0, 2), name)
    writeFileSync(path, '')
    utimesSync(path, 0, 0)
    refs.push(`disk:${name}`)
  }
  const task = stagingTasks(orphanStore, { runMs: -1 }).find(({ name }) => name === 'staging orphans')!
  const search = () => inTransaction(db.pool('stagedoor_worker'), (client) => task.run(client))
  expect(await search()).toContain('500 blobs')
  expect(await trash()).not.toContain(refs.at(-1))
  expect(await search()).toContain('1 blobs')
  expect(await trash()).toContain(refs.at(-1))
  // And from the beginning again.
  expect(await search()).toBeUndefined()
})

import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { collectResults, executionTasks } from '../../../src/executions/maintenance.ts'
import { createResultStore, MAX_RESULT_BYTES } from '../../../src/executions/results.ts'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { StagedoorError } from '../../../src/kernel/errors.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import type { BlobStore } from '../../../src/runtime/stores/blob-store.ts'
import { createDiskBlobStore } from '../../../src/runtime/stores/disk-store.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('results')
const pool = () => db.pool('stagedoor_worker')
const store = () => createResultStore({ pool: pool(), home })
const withoutHome = () => createResultStore({ pool: pool() })
const text = (bytes: number) => 'x'.repeat(bytes - 2)

let executions = 0
async function execution(workspace: string | null = null, ended = false): Promise<string> {
  const [row] = await db.owner<{ id: string }>(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, meta)
     values (noetl.fn_snowflake_floor(now()) + $1, 1, 1, 'playbook.initialized', 1, jsonb_build_object('workspace_id', $2::text))
     returning execution_id::text as id`,
    [++executions, workspace],
  )
  await db.owner(
    `insert into noetl.execution (execution_id, catalog_id, workspace_id, status, last_event_id, last_seq, end_time, created_at, updated_at)
     values ($1, 1, $2, $3, 1, 1, $4, now(), now())`,
    [row!.id, workspace, ended ? 'COMPLETED' : 'RUNNING', ended ? new Date('2026-01-01') : null],
  )
  return row!.id
}
const rowOf = async (ref: string) =>
  (await db.owner('select * from noetl.result_ref where ref_id = $1', [ref]))[0]!
const refOf = (result: object) => (result as { ref: string }).ref

let id: string
beforeAll(async () => {
  id = await execution()
})

describe('a result', () => {
  it('of up to 8 KiB stays as it is, and no row is written', async () => {
    const kept = await store().store(text(8192), { execution_id: id })
    expect(kept).toEqual({ value: text(8192) })
    expect(await store().load(kept)).toBe(text(8192))
    expect(await db.owner('select from noetl.result_ref where execution_id = $1', [id])).toEqual([])
  })

  it('is a copy: what its maker does with it later changes nothing', async () => {
    const value = { list: [1] }
    const kept = await store().store(value, { execution_id: id })
    value.list.push(2)
    expect(kept).toEqual({ value: { list: [1] } })
  })

  it('over 8 KiB is a row, with its origin', async () => {
    const origin = { execution_id: id, node_name: 'fetch', command_id: 'c', name: 'rows', parent_ref: '17' }
    const kept = await store().store(text(8193), origin)
    expect(kept).toEqual({ ref: expect.stringMatching(/^\d+$/), bytes: 8193 })
    expect(await rowOf(refOf(kept))).toMatchObject({
      execution_id: id,
      node_name: 'fetch',
      command_id: 'c',
      name: 'rows',
      parent_ref_id: '17',
      store_tier: 'db',
      physical_uri: expect.stringMatching(/^db:noetl\.result_body\/\d+$/),
      bytes: '8193',
    })
    expect(await store().load(kept)).toBe(text(8193))
  })

  it('over 1 MiB is a file below the home, readable by its owner only, and a row after it', async () => {
    const kept = await store().store(text(1024 * 1024 + 1), { execution_id: id })
    const row = await rowOf(refOf(kept))
    expect(row).toMatchObject({ store_tier: 'disk', physical_uri: `disk:results/${id}/${refOf(kept)}.json` })
    const file = join(home, (row.physical_uri as string).slice('disk:'.length))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(
      createHash('sha256')
        .update(await readFile(file))
        .digest(),
    ).toEqual(row.content_hash)
    expect(await readdir(join(home, 'results', id))).toEqual([`${refOf(kept)}.json`])
    expect(await store().load(kept)).toBe(text(1024 * 1024 + 1))
  })

  it('over 1 MiB is a row where there is no home', async () => {
    const kept = await withoutHome().store(text(1024 * 1024 + 1), { execution_id: id })
    expect(await rowOf(refOf(kept))).toMatchObject({ store_tier: 'db' })
  })

  it('over 64 MiB is refused for good, in words that help', async () => {
    const refused = store().store(text(MAX_RESULT_BYTES + 1), { execution_id: id })
    await expect(refused).rejects.toThrow(ToolError)
    await expect(refused).rejects.toThrow(
      'A result of 67108865 bytes is over the limit of 67108864. Write the data into a table',
    )
    await expect(refused).rejects.toMatchObject({ retryable: false })
  })

  it.each<[string, Json]>([
    ['numbers of any size', [1e21, 1e-7, 1.5e300, 0.1, -1, 2 ** 53 - 1]],
    ['characters of every kind', ['🎈', '\\', '"', '\u2028', '\t', 'é', 'e\u0301']],
    ['names in any order', { b: 1, a: { d: 2, c: [] }, '': null, __proto__x: 1 }],
  ])('comes back as it was: %s', async (_, value) => {
    for (const results of [store(), withoutHome()]) {
      for (const filler of [text(9000), text(2_000_000)]) {
        const kept = await results.store({ value, filler }, { execution_id: id })
        expect(await results.load(kept)).toEqual({ value, filler })
      }
    }
  })
})

describe('loading', () => {
  it('refuses bytes that are not the ones that were kept', async () => {
    const row = await store().store(text(9000), { execution_id: id })
    await db.owner(`update noetl.result_body set body = '"other"' where ref_id = $1`, [refOf(row)])
    await expect(store().load(row)).rejects.toThrow('its hash differs')
    const file = await store().store(text(2_000_000), { execution_id: id })
    await writeFile(join(home, 'results', id, `${refOf(file)}.json`), '"other"')
    await expect(store().load(file)).rejects.toThrow('its hash differs')
  })

  it('says that a result is gone: unknown, collected, or a file of another machine', async () => {
    const kept = await store().store(text(2_000_000), { execution_id: id })
    await expect(withoutHome().load(kept)).rejects.toMatchObject({
      code: 'result_gone',
      hint: expect.stringContaining('Engines on several machines share that folder'),
    })
    await db.owner('update noetl.result_ref set collected_at = now() where ref_id = $1', [refOf(kept)])
    await expect(store().load(kept)).rejects.toMatchObject({ code: 'result_gone' })
    const unknown = { ref: '1', bytes: 9000 }
    await expect(store().load(unknown)).rejects.toThrow(StagedoorError)
  })

  it('follows no row out of the folder of results', async () => {
    const kept = await store().store(text(2_000_000), { execution_id: id })
    await db.owner(`update noetl.result_ref set physical_uri = 'results/../secrets.json' where ref_id = $1`, [
      refOf(kept),
    ])
    await expect(store().load(kept)).rejects.toThrow('is not the name of a result')
  })
})

describe('fn_result_put', () => {
  it.each([
    ['neither a body nor a file', '1, 2'],
    ['both', `1, 2, '1', p_physical_uri => 'x', p_content_hash => '\\x00'`],
    ['a file without its hash', `1, 2, p_physical_uri => 'x'`],
    ['no execution', `null, 2, '1'`],
  ])('refuses %s', async (_, args) => {
    expect(await sqlstateOf(pool().query(`select noetl.fn_result_put(${args})`))).toBe('SD001')
  })

  it('is for engines only', async () => {
    for (const role of ['authenticated', 'service_role', 'stagedoor_agent', 'stagedoor_reviewer', 'anon']) {
      const tried = db.as({ role, claims: { sub: 'ada' } }, (client) =>
        client.query(`select noetl.fn_result_put(1, 2, '1')`),
      )
      expect(await sqlstateOf(tried), role).toBe('42501')
    }
  })
})

describe('fn_result_read', () => {
  const read = (caller: Parameters<typeof db.as>[0], ref: string) =>
    db.as(
      caller,
      async (client) => (await client.query('select * from noetl.fn_result_read($1)', [ref])).rows[0],
    )

  it('shows members a result of their workspace, and to others it is not there', async () => {
    const [mine, theirs] = [await createWorkspace(db), await createWorkspace(db, 'Other')]
    const workspaceExecution = await execution(mine)
    const kept = await store().store(text(9000), { execution_id: workspaceExecution, node_name: 'fetch' })
    const shown = { execution_id: workspaceExecution, node_name: 'fetch', store_tier: 'db', body: text(9000) }
    expect(await read(await createMember(db, mine, 'viewer'), refOf(kept))).toMatchObject(shown)
    expect(await read({ role: 'service_role' }, refOf(kept))).toMatchObject(shown)
    expect(await sqlstateOf(read(await createMember(db, theirs, 'admin'), refOf(kept)))).toBe('SD811')
    expect(await sqlstateOf(read({ role: 'authenticated', claims: { sub: 'nobody' } }, refOf(kept)))).toBe(
      'SD811',
    )
    const global = await store().store(text(9000), { execution_id: id })
    expect(await sqlstateOf(read(await createMember(db, mine, 'admin'), refOf(global)))).toBe('SD811')
  })

  it('shows the older tier `object` as disk', async () => {
    const kept = await store().store(text(9000), { execution_id: id })
    await db.owner(`update noetl.result_ref set store_tier = 'object' where ref_id = $1`, [refOf(kept)])
    expect(await read({ role: 'service_role' }, refOf(kept))).toMatchObject({ store_tier: 'disk' })
  })

  it('says when a result has been collected', async () => {
    const kept = await store().store(text(9000), { execution_id: id })
    await db.owner('update noetl.result_ref set collected_at = now() where ref_id = $1', [refOf(kept)])
    expect(await sqlstateOf(read({ role: 'service_role' }, refOf(kept)))).toBe('SD811')
  })
})

describe('collectResults', () => {
  const filesOf = async (executionId: string) =>
    readdir(join(home, 'results', executionId)).catch(() => 'no folder')

  it('takes rows and files of executions past their retention, and leaves the others', async () => {
    const [old, running] = [await execution(null, true), await execution()]
    const kept = []
    for (const executionId of [old, running]) {
      for (const bytes of [9000, 2_000_000])
        kept.push(await store().store(text(bytes), { execution_id: executionId }))
    }
    await db.owner(`update noetl.result_ref set created_at = '2026-01-01' where execution_id = any ($1)`, [
      [old, running],
    ])
    // As the results of a loop are written: a place that is not a file.
    await db.owner(
      `update noetl.result_ref set physical_uri = 'db:noetl.result_body/' || ref_id where execution_id = $1 and store_tier = 'db'`,
      [old],
    )
    expect(await collectResults(pool(), home)).toEqual({ results: 2, orphans: 0 })
    expect(await filesOf(old)).toBe('no folder')
    for (const gone of kept.slice(0, 2)) {
      await expect(store().load(gone)).rejects.toMatchObject({ code: 'result_gone' })
    }
    for (const there of kept.slice(2)) await store().load(there)
    expect(await collectResults(pool(), home)).toEqual({ results: 0, orphans: 0 })
  })

  it('sweeps files without a row once they are a day old, and drafts that were never renamed', async () => {
    const folder = join(home, 'results', '999')
    await mkdir(folder, { recursive: true })
    const yesterday = new Date(Date.now() - 25 * 3600 * 1000)
    for (const name of ['1.json', '2.json', '3.json.77.part']) await writeFile(join(folder, name), '1')
    for (const name of ['1.json', '3.json.77.part']) await utimes(join(folder, name), yesterday, yesterday)
    const kept = await store().store(text(2_000_000), { execution_id: id })
    await utimes(join(home, 'results', id, `${refOf(kept)}.json`), yesterday, yesterday)
    expect(await collectResults(pool(), home)).toMatchObject({ orphans: 1 })
    expect(await filesOf('999')).toEqual(['2.json'])
    await store().load(kept)
  })

  it('goes without a home', async () => {
    expect(await collectResults(pool(), undefined)).toEqual({ results: 0, orphans: 0 })
  })
})

describe('with a store that all machines share', () => {
  const volume = createDiskBlobStore(join(home, 'volume'), 'pvc')
  const full: BlobStore = {
    ...volume,
    put: () => Promise.reject(new StagedoorError('store_full', { store: 'volume', reason: 'quota' })),
  }
  const sharedStore = (blobs: BlobStore, isRequired = true, isWritten = true) =>
    createResultStore({ pool: pool(), home, shared: { store: blobs, isRequired, isWritten } })
  const listed = async () => {
    const refs: string[] = []
    for await (const ref of volume.list(new Date(Date.now() + 60_000))) refs.push(ref)
    return refs
  }

  it('a result over 1 MiB is an object of it, which another machine reads', async () => {
    const kept = await sharedStore(volume).store(text(1024 * 1024 + 1), { execution_id: id })
    const row = await rowOf(refOf(kept))
    expect(row).toMatchObject({ store_tier: 'pvc', physical_uri: (await listed())[0] })
    const elsewhere = createResultStore({
      pool: pool(),
      shared: { store: volume, isRequired: true, isWritten: false },
    })
    expect(await elsewhere.load(kept)).toBe(text(1024 * 1024 + 1))
    await expect(withoutHome().load(kept)).rejects.toMatchObject({
      code: 'result_gone',
      hint: expect.stringContaining('STAGEDOOR_STORE'),
    })
    const small = await sharedStore(volume).store(text(1024 * 1024), { execution_id: id })
    expect(await rowOf(refOf(small))).toMatchObject({ store_tier: 'db' })
    const onDisk = await sharedStore(volume, true, false).store(text(2_000_000), { execution_id: id })
    expect(await rowOf(refOf(onDisk))).toMatchObject({ store_tier: 'disk' })
  })

  it('one that the store refuses is refused, or a row where that is set', async () => {
    await expect(sharedStore(full).store(text(2_000_000), { execution_id: id })).rejects.toMatchObject({
      code: 'store_full',
    })
    const kept = await sharedStore(full, false).store(text(2_000_000), { execution_id: id })
    expect(await rowOf(refOf(kept))).toMatchObject({ store_tier: 'db' })
  })

  it('objects go with their results, and objects without a result after a day', async () => {
    await Promise.all((await listed()).map((ref) => volume.delete(ref)))
    const old = await execution(null, true)
    const expired = await sharedStore(volume).store(text(2_000_000), { execution_id: old })
    const kept = await sharedStore(volume).store(text(2_000_000), { execution_id: id })
    const orphan = await volume.put(Readable.from(['nobody refers to it']))
    await db.owner(`update noetl.result_ref set created_at = '2026-01-01' where ref_id = $1`, [
      refOf(expired),
    ])
    expect(await collectResults(pool(), undefined, new Date(), volume)).toMatchObject({ results: 1 })
    const { physical_uri: uri } = await rowOf(refOf(kept))
    expect(await listed()).toEqual([uri, orphan.blob_ref].sort())
    const yesterday = new Date(Date.now() - 25 * 3_600_000)
    for (const ref of await listed()) {
      const name = ref.slice('pvc:'.length)
      await utimes(join(home, 'volume', name.slice(0, 2), name), yesterday, yesterday)
    }
    const task = executionTasks(pool(), { shared: () => volume }).find(
      (one) => one.name === 'execution results',
    )!
    expect(await inTransaction(pool(), (client) => task.run(client))).toContain('1 files without one deleted')
    expect(await listed()).toEqual([uri])
  })
})

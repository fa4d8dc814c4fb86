/** Blobs whose bytes were changed behind the store's back are neither approved, consumed nor served; others' are not staged. */
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { stagingTool } from '../../src/app/tools/staging.ts'
import { requireIntactBlobs, withBlobHealth } from '../../src/staging/blobs.ts'
import { stagingHealth } from '../../src/staging/records.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { useApi } from '../support/api.ts'
import { useBlobs } from '../support/blobs.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'

const db = useDatabase()
const blobs = useBlobs()
const api = useApi(db, { blobs: blobs.store })
let workspace: string
let agent: string
let operator: string

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  agent = await api.token(await createMember(db, workspace, 'agent'))
  operator = await api.token(await createMember(db, workspace, 'operator'))
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'a test')`)
})

async function stage(kind: string, type: string, bytes = 'the original') {
  const blob = await blobs.store.put(Readable.from([bytes]))
  await db.owner('select iu_core.fn_blob_register($1, $2, $3, $4)', [
    workspace,
    blob.blob_ref,
    blob.byte_len,
    blob.content_hash,
  ])
  const made = await api.post('/api/v1/staging', agent, {
    workspace_id: workspace,
    staging_kind: kind,
    payload_type: type,
    purpose: 'a test',
    parts: [{ part_name: 'video', payload_kind: 'blob_ref', blob_ref: blob.blob_ref }],
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const { staging_record_id: id, content_hash: digest } = made.body as Record<string, string>
  return { id, digest, ref: blob.blob_ref }
}

it.each([
  ['changed in place', (ref: string) => blobs.tamper(ref, 'the 0riginal')],
  ['gone', (ref: string) => blobs.store.delete(ref)],
])('a blob that is %s is not approved, and nothing is written', async (_what, change) => {
  const { id, digest, ref } = await stage('cut_preview', 'import_preview')
  await change(ref)
  const refused = await api.post(`/api/v1/staging/${id}/approve`, operator, { digest })
  expect(refused.body).toMatchObject({ status: 409, code: 'staging_tampered' })
  const { body } = await api.get(`/api/v1/staging/${id}`, operator)
  expect(body).toMatchObject({ lifecycle_status: 'pending' })
})

it('a blob that was changed in place is not consumed; put back, it is', async () => {
  const { id, ref } = await stage('nosql_payload', 'nosql_payload')
  blobs.tamper(ref, 'the 0riginal')
  const refused = await api.post(`/api/v1/staging/${id}/consume`, operator, {})
  expect(refused.body).toMatchObject({ status: 409, code: 'staging_tampered' })
  blobs.tamper(ref, 'the original')
  expect((await api.post(`/api/v1/staging/${id}/consume`, operator, {})).status).toBe(200)
})

it('health reads a sample of the blobs and names the broken one', async () => {
  const worker = await db.session('stagedoor_worker')
  const { id, ref } = await stage('nosql_payload', 'nosql_payload')
  const check = async () => {
    const health = await withBlobHealth(worker, blobs.store, await stagingHealth(worker))
    return health.checks.find(({ name }) => name === 'blobs')!
  }
  blobs.tamper(ref, 'the 0riginal')
  expect(await check()).toMatchObject({ ok: false, detail: expect.stringContaining(id!) })
})

it('blobs of another store are refused or trusted, as asked', async () => {
  const worker = await db.session('stagedoor_worker')
  const { id } = await stage('nosql_payload', 'nosql_payload')
  const elsewhere = { ...blobs.store, schemes: ['s3'], facts: async () => undefined }
  await expect(requireIntactBlobs(worker, elsewhere, id!, { others: 'refused' })).rejects.toMatchObject({
    code: 'staging_tampered',
  })
  await requireIntactBlobs(worker, elsewhere, id!, { others: 'trusted' })
})

describe('served', () => {
  const read = async (address: string, id: string, range?: string) => {
    const reply = await fetch(`${address}/api/v1/staging/${id}/parts/0`, {
      headers: { authorization: `Bearer ${operator}`, ...(range && { range }) },
    })
    return { status: reply.status, text: await reply.text().catch(() => 'cut off') }
  }
  const issuesOf = (id: string) =>
    db.owner('select code, occurrences::int from iu_core.system_issue where subject_ref = $1', [id])

  it('is what was staged, and nothing else: changed bytes end the answer and open an issue', async () => {
    const address = await api.listen()
    const { id, ref } = await stage('nosql_payload', 'nosql_payload')
    expect(await read(address, id!)).toEqual({ status: 200, text: 'the original' })
    expect(await read(address, id!, 'bytes=4-')).toEqual({ status: 206, text: 'original' })
    expect(await issuesOf(id!)).toEqual([])
    blobs.tamper(ref, 'the 0riginal')
    expect(await read(address, id!)).toMatchObject({ status: 409 })
    // Of a range nothing is sent at all.
    expect(await read(address, id!, 'bytes=0-2')).toMatchObject({ status: 409 })
    expect(await issuesOf(id!)).toEqual([{ code: 'staging_blob_altered', occurrences: 2 }])
    // Of a long one the answer has begun: it never ends.
    const long = await stage('nosql_payload', 'nosql_payload', 'x'.repeat(3_000_000))
    blobs.tamper(long.ref, `${'x'.repeat(2_999_999)}y`)
    expect((await read(address, long.id!)).text).toBe('cut off')
    expect(await issuesOf(long.id!)).toEqual([{ code: 'staging_blob_altered', occurrences: 1 }])
  })
})

describe('a reference is bound to its workspace', () => {
  const record = (workspaceId: string, part: object) => ({
    workspace_id: workspaceId,
    staging_kind: 'nosql_payload',
    payload_type: 'nosql_payload',
    purpose: 'a test',
    parts: [{ part_name: 'video', payload_kind: 'blob_ref', ...part }],
  })
  const upload = async (token: string, workspaceId: string, bytes: string) => {
    const reply = await api.app.inject({
      method: 'PUT',
      url: `/api/v1/staging/blobs?workspace_id=${workspaceId}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      payload: bytes,
    })
    expect(reply.statusCode, reply.body).toBe(201)
    return reply.json() as { blob_ref: string; byte_len: string; content_hash: string }
  }

  it('one who knows the reference of another workspace stages nothing with it', async () => {
    const elsewhere = await createWorkspace(db, 'Elsewhere')
    const theirs = await api.token(await createMember(db, elsewhere, 'operator'))
    const { blob_ref } = await upload(operator, workspace, 'ours')
    for (const token of [theirs, await api.token({ userId: 'importer', role: 'service_role' })]) {
      const unstaged = await api.post('/api/v1/staging', theirs, record(elsewhere, { blob_ref }))
      expect(unstaged.body).toMatchObject({ code: 'blob_missing' })
      expect((await api.post('/api/v1/staging', token, record(elsewhere, { blob_ref }))).body).toMatchObject({
        code: 'blob_missing',
      })
    }
    expect((await api.post('/api/v1/staging', operator, record(workspace, { blob_ref }))).status).toBe(201)
    // Staged by its owner it is still theirs alone.
    expect((await api.post('/api/v1/staging', theirs, record(elsewhere, { blob_ref }))).body).toMatchObject({
      code: 'blob_missing',
    })
  })

  it('a part of a form is its workspace’s, too', async () => {
    const form = new FormData()
    form.set('record', JSON.stringify({ ...record(workspace, {}), parts: [] }))
    form.set('film', new Blob([Buffer.alloc(11 * 1024 ** 2, 1)]), 'film.bin')
    const address = (await api.app.listen({ port: 0 }).catch(() => api.app.listeningOrigin)) as string
    const reply = await fetch(`${address}/api/v1/staging`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operator}` },
      body: form,
    })
    expect(reply.status, await reply.clone().text()).toBe(201)
  })

  it('a playbook stages references of its own workspace only, of the length and digest that were stored', async () => {
    const elsewhere = await createWorkspace(db, 'Elsewhere')
    const tool = stagingTool({ pool: db.pool('stagedoor_worker') })
    let commands = 0
    const create = (part: object, workspaceId = workspace) =>
      tool(
        undefined,
        { action: 'create', ...record(workspaceId, part), workspace_id: workspaceId } as never,
        contextOf({ workspace_id: workspaceId, command_id: `blob:${++commands}`, execution_id: '5' }),
      )
    const { blob_ref, byte_len, content_hash } = await upload(operator, workspace, 'for a playbook')
    const stored = { blob_ref, byte_len: Number(byte_len), content_hash }
    for (const part of [
      { ...stored, blob_ref: 'disk:../../secrets.json' },
      { ...stored, blob_ref: `disk:${'0'.repeat(32)}.${content_hash}` },
      { ...stored, byte_len: 1 },
      { ...stored, content_hash: '0'.repeat(64) },
    ]) {
      await expect(create(part), JSON.stringify(part)).rejects.toMatchObject({ code: 'blob_missing' })
    }
    await expect(create(stored, elsewhere)).rejects.toMatchObject({ code: 'blob_missing' })
    expect(await create(stored)).toMatchObject({ created: true })
  })
})

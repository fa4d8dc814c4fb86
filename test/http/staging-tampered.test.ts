/** Blobs whose bytes were changed behind the store's back are neither approved nor consumed. */
import { Readable } from 'node:stream'
import { beforeAll, expect, it } from 'vitest'
import { requireIntactBlobs, withBlobHealth } from '../../src/staging/blobs/verify.ts'
import { stagingHealth } from '../../src/staging/lifecycle.ts'
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

async function stage(kind: string, type: string) {
  const blob = await blobs.store.put(Readable.from(['the original']))
  const made = await api.post('/api/staging', agent, {
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
  const refused = await api.post(`/api/staging/${id}/approve`, operator, { digest })
  expect(refused.body).toMatchObject({ status: 409, code: 'staging_tampered' })
  const { body } = await api.get(`/api/staging/${id}`, operator)
  expect(body).toMatchObject({ lifecycle_status: 'pending' })
})

it('a blob that was changed in place is not consumed; put back, it is', async () => {
  const { id, ref } = await stage('nosql_payload', 'nosql_payload')
  blobs.tamper(ref, 'the 0riginal')
  const refused = await api.post(`/api/staging/${id}/consume`, operator, {})
  expect(refused.body).toMatchObject({ status: 409, code: 'staging_tampered' })
  blobs.tamper(ref, 'the original')
  expect((await api.post(`/api/staging/${id}/consume`, operator, {})).status).toBe(200)
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
  const elsewhere = { ...blobs.store, scheme: 's3', facts: async () => undefined }
  await expect(requireIntactBlobs(worker, elsewhere, id!, { others: 'refused' })).rejects.toMatchObject({
    code: 'staging_tampered',
  })
  await requireIntactBlobs(worker, elsewhere, id!, { others: 'trusted' })
})

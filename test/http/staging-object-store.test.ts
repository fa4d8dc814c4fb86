/** Blobs of the API in a bucket: uploaded in parts, approved, served in ranges, and refused with the error of the store. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { S3RVER_GAPS, s3Target, startS3rver } from '../runtime/stores/targets.ts'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const folder = join(temporaryHome('http-s3'), 's3rver')
const server = await startS3rver(folder)
const target = s3Target(server.settings, 'prefix/main/blobs', S3RVER_GAPS)
const db = useDatabase()
const api = useApi(db, { blobs: target.store })
let workspace: string
let agent: string
let reviewer: string

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  agent = await api.token(await createMember(db, workspace, 'agent'))
  reviewer = await api.token(await createMember(db, workspace, 'admin'))
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'a test')`)
})
afterAll(async () => {
  target.close()
  await server.stop()
})

it('a blob is uploaded, approved and served from a bucket; without the bucket the error names it', async () => {
  const address = await api.listen()
  const bytes = randomBytes(9 << 20)
  const upload = async () => {
    const reply = await fetch(`${address}/api/v1/staging/blobs?workspace_id=${workspace}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${agent}`, 'content-type': 'application/octet-stream' },
      body: bytes,
    })
    return { status: reply.status, body: (await reply.json()) as Record<string, string> }
  }
  const { status, body: blob } = await upload()
  expect({ status, ...blob }).toMatchObject({
    status: 201,
    blob_ref: expect.stringMatching(/^s3:/),
    byte_len: String(9 << 20),
  })
  const { body: made } = await api.post('/api/v1/staging', agent, {
    workspace_id: workspace,
    staging_kind: 'cut_preview',
    payload_type: 'import_preview',
    purpose: 'a test',
    parts: [{ part_name: 'video', payload_kind: 'blob_ref', blob_ref: blob.blob_ref }],
  })
  const { staging_record_id: id, content_hash: digest } = made as Record<string, string>
  const read = async (range?: string) => {
    const reply = await fetch(`${address}/api/v1/staging/${id}/parts/0`, {
      headers: { authorization: `Bearer ${reviewer}`, ...(range && { range }) },
    })
    return Buffer.from(await reply.arrayBuffer())
  }
  expect((await read()).equals(bytes)).toBe(true)
  expect((await read('bytes=8388600-8388615')).equals(bytes.subarray(8388600, 8388616))).toBe(true)
  const approved = await api.post(`/api/v1/staging/${id}/approve`, reviewer, { digest })
  expect(approved.status, JSON.stringify(approved.body)).toBeLessThan(300)

  rmSync(join(folder, server.settings.bucket), { recursive: true })
  expect(await upload()).toMatchObject({ status: 503, body: { code: 'store_bucket_missing' } })
})

/** The S3 store on a server that compares signatures, MD5 and clocks: Debian's OpenStack Swift. */
// @module-tag long
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBucket, type S3Settings } from '../../../../src/runtime/stores/s3-client.ts'
import { createS3BlobStore } from '../../../../src/runtime/stores/s3-store.ts'
import { startFaultProxy } from '../../../support/fault-proxy.ts'
import { describeBlobStore } from '../conformance.ts'
import { type RunningS3, type S3Target, s3Target } from '../targets.ts'
import { startSwift } from './swift.ts'

const opened: { close(): void }[] = []
let server: RunningS3
let count = 0
beforeAll(async () => {
  server = await startSwift()
})
afterAll(async () => {
  for (const target of opened) target.close()
  await server?.stop()
})

function openTarget(): S3Target {
  const target = s3Target(server.settings, `prefix/cell/blobs-${++count}`)
  opened.push(target)
  return target
}

function storeWith(settings: Partial<S3Settings>, base: string) {
  const bucket = openBucket({ ...server.settings, ...settings })
  opened.push(bucket)
  return createS3BlobStore(bucket, { base })
}

describe('s3 on Swift', () => {
  describeBlobStore(openTarget)
})

it('a wrong secret is store_credentials_refused', async () => {
  const store = storeWith({ credentials: { accessKeyId: 'test:tester', secretAccessKey: 'wrong' } }, 'x')
  await expect(store.put(Readable.from(['x']))).rejects.toMatchObject({
    code: 'store_credentials_refused',
    message: expect.stringContaining('SignatureDoesNotMatch'),
  })
  await expect(store.facts(`s3:${'0'.repeat(32)}.${'0'.repeat(64)}`)).rejects.toMatchObject({
    code: 'store_credentials_refused',
  })
})

it('a missing bucket is store_bucket_missing', async () => {
  const store = storeWith({ bucket: 'no-such-bucket' }, 'x')
  await expect(store.put(Readable.from(['x']))).rejects.toMatchObject({ code: 'store_bucket_missing' })
  await expect(store.facts(`s3:${'0'.repeat(32)}.${'0'.repeat(64)}`)).rejects.toMatchObject({
    code: 'store_bucket_missing',
  })
})

it('a clock that is an hour behind is corrected by the answer', async () => {
  const { base } = openTarget()
  const store = storeWith({ clockOffsetMs: -3_600_000 }, base)
  const { blob_ref } = await store.put(Readable.from(['on time']))
  expect(await store.verify(blob_ref)).toBe(true)
})

it('bytes that were changed on the way are refused by their MD5', async () => {
  const { raw, settings, base } = openTarget()
  const wrong = { Body: 'x', ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' }
  await expect(raw.putObject({ Bucket: settings.bucket, Key: `${base}/x`, ...wrong })).rejects.toMatchObject({
    name: 'BadDigest',
  })
})

it('a connection that is reset in an upload and in a download is opened again; one that stalls leaves no upload', async () => {
  const proxy = await startFaultProxy({ port: server.port })
  try {
    const target = openTarget()
    const store = storeWith({ endpoint: `http://127.0.0.1:${proxy.port}`, silenceMs: 2_000 }, target.base)
    const bytes = randomBytes(17 << 20)
    proxy.setFault({ kind: 'reset', direction: 'up', afterBytes: 5 << 20, times: 1 })
    const { blob_ref } = await store.put(Readable.from([bytes]))
    expect(proxy.hits).toBe(1)
    proxy.setFault({ kind: 'reset', direction: 'down', afterBytes: 8 << 20, times: 1 })
    expect(await store.verify(blob_ref)).toBe(true)
    expect(proxy.hits).toBe(1)
    await store.delete(blob_ref)
    proxy.setFault({ kind: 'stall', direction: 'up', afterBytes: 5 << 20 })
    await expect(store.put(Readable.from([bytes]))).rejects.toMatchObject({ code: 'store_slow' })
    expect(await target.everything()).toEqual([])
  } finally {
    await proxy.stop()
  }
})

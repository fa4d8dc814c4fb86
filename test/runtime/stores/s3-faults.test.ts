/** What goes wrong with an object store: each fault has a named error that says what to do, or is repaired; nothing is left behind. */
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../src/runtime/stores/blob-store.ts'
import { openBucket, type S3Settings } from '../../../src/runtime/stores/s3-client.ts'
import { createS3BlobStore } from '../../../src/runtime/stores/s3-store.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { type RunningS3, S3RVER_GAPS, type S3Target, s3Target, startS3rver } from './targets.ts'

const MIB = 1 << 20
const folder = join(temporaryHome('s3-faults'), 's3rver')
const buckets: { close(): void }[] = []
let server: RunningS3
let proxy: FaultProxy
/** Sees what is there, past the proxy. */
let behind: S3Target
let count = 0

beforeAll(async () => {
  server = await startS3rver(folder)
  proxy = await startFaultProxy({ port: server.port })
})
afterEach(() => proxy.setFault(undefined))
afterAll(async () => {
  for (const bucket of buckets) bucket.close()
  await proxy.stop()
  await server.stop()
})

function storeWith(settings: Partial<S3Settings>): BlobStore {
  const bucket = openBucket({ ...server.settings, ...settings })
  buckets.push(bucket)
  return createS3BlobStore(bucket, { base: behind.base })
}

/** A store of its own, through the proxy. */
function proxied({ silenceMs = 20_000 } = {}): BlobStore {
  behind = s3Target(server.settings, `faults-${++count}`, S3RVER_GAPS)
  buckets.push(behind)
  return storeWith({ endpoint: `http://127.0.0.1:${proxy.port}`, silenceMs })
}

describe('a connection', () => {
  it.each([
    ['one PUT', 6 * MIB, 3 * MIB],
    ['a multipart upload', 17 * MIB, 5 * MIB],
  ])('that is reset in the middle of %s is opened again, and the bytes are whole', async (_, size, at) => {
    const store = proxied()
    const bytes = randomBytes(size)
    proxy.setFault({ kind: 'reset', direction: 'up', afterBytes: at, times: 2 })
    const { blob_ref } = await store.put(Readable.from([bytes]))
    expect(proxy.hits).toBe(2)
    expect((await buffer(await behind.store.open(blob_ref))).equals(bytes)).toBe(true)
  })

  it('that is reset in the middle of a download is opened again at that byte', async () => {
    const store = proxied()
    const bytes = randomBytes(10 * MIB)
    const { blob_ref } = await behind.store.put(Readable.from([bytes]))
    proxy.setFault({ kind: 'reset', direction: 'down', afterBytes: 5 * MIB, times: 1 })
    expect((await buffer(await store.open(blob_ref))).equals(bytes)).toBe(true)
    expect(proxy.hits).toBe(1)
    proxy.setFault({ kind: 'reset', direction: 'down', afterBytes: 2 * MIB, times: 3 })
    expect(await store.verify(blob_ref)).toBe(true)
    expect(proxy.hits).toBe(3)
  })

  it('that is late by 30 ms changes nothing', { tags: 'long' }, async () => {
    const store = proxied()
    proxy.setDelay(30)
    const bytes = randomBytes(9 * MIB)
    const { blob_ref } = await store.put(Readable.from([bytes]))
    expect((await buffer(await store.open(blob_ref))).equals(bytes)).toBe(true)
    proxy.setDelay(0)
  })

  it('that is always reset is store_unreachable, and nothing is left', async () => {
    const store = proxied()
    proxy.setFault({ kind: 'reset', direction: 'up', afterBytes: 2000 })
    await expect(store.put(Readable.from([randomBytes(MIB)]))).rejects.toMatchObject({
      code: 'store_unreachable',
      hint: expect.stringContaining('STAGEDOOR_S3_ENDPOINT'),
    })
    proxy.setFault(undefined)
    expect(await behind.everything()).toEqual([])
  })

  it('that stalls is store_slow, for puts and for downloads, and a put takes no more than three parts', async () => {
    const store = proxied({ silenceMs: 300 })
    let given = 0
    const endless = Readable.from(
      (function* () {
        for (;;) {
          given++
          yield randomBytes(MIB)
        }
      })(),
      { highWaterMark: 1 },
    )
    proxy.setFault({ kind: 'stall', direction: 'up', afterBytes: 3 * MIB })
    await expect(store.put(endless)).rejects.toMatchObject({ code: 'store_slow' })
    expect(endless.destroyed).toBe(true)
    expect(given).toBeLessThan(3 * 8 + 4)
    proxy.setFault(undefined)
    expect(await behind.everything()).toEqual([])

    const { blob_ref } = await behind.store.put(Readable.from([randomBytes(8 * MIB)]))
    const reading = await store.open(blob_ref)
    proxy.setFault({ kind: 'stall', direction: 'down', afterBytes: 0 })
    await expect(buffer(reading).then(({ length }) => length)).rejects.toMatchObject({ code: 'store_slow' })
  })

  it('to nobody is store_unreachable', async () => {
    const store = proxied()
    const nobody = createServer()
    await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve))
    const { port } = nobody.address() as AddressInfo
    await new Promise((resolve) => nobody.close(resolve))
    const away = storeWith({ endpoint: `http://127.0.0.1:${port}` })
    await expect(away.facts(`s3:${'0'.repeat(32)}.${'0'.repeat(64)}`)).rejects.toMatchObject({
      code: 'store_unreachable',
    })
    await expect(store.facts(`s3:${'0'.repeat(32)}.${'0'.repeat(64)}`)).resolves.toBeUndefined()
  })
})

describe('a store', () => {
  it('without the bucket is store_bucket_missing, also where the answer has no body', async () => {
    proxied()
    const store = storeWith({ bucket: 'no-such-bucket' })
    const missing = { code: 'store_bucket_missing', message: expect.stringContaining('no-such-bucket') }
    await expect(store.put(Readable.from(['x']))).rejects.toMatchObject(missing)
    await expect(store.put(Readable.from([randomBytes(9 * MIB)]))).rejects.toMatchObject(missing)
    await expect(store.facts(`s3:${'0'.repeat(32)}.${'0'.repeat(64)}`)).rejects.toMatchObject(missing)
    await expect(store.list(new Date())[Symbol.asyncIterator]().next()).rejects.toMatchObject(missing)
  })

  it('that knows no such access key is store_credentials_refused, and no secret is in the error', async () => {
    proxied()
    const secretAccessKey = 'a secret that nobody may see'
    const store = storeWith({ credentials: { accessKeyId: 'NOBODY', secretAccessKey } })
    const error = await store.put(Readable.from(['x'])).catch((reason: unknown) => reason as Error)
    expect(error).toMatchObject({
      code: 'store_credentials_refused',
      hint: expect.stringContaining('STAGEDOOR_S3_SECRET_KEY'),
    })
    expect(JSON.stringify([error, (error as Error).message, (error as Error).cause])).not.toContain(
      secretAccessKey,
    )
  })

  describe('that answers with', () => {
    let stub: Server
    let answer: { status: number; code?: string; body?: string }
    let asked = 0
    beforeAll(async () => {
      stub = createServer((request, response) => {
        asked++
        request.resume()
        request.on('end', () => {
          const { status, code, body } = answer
          response.writeHead(status, { 'content-type': 'application/xml' })
          response.end(
            body ?? `<?xml version="1.0"?><Error><Code>${code}</Code><Message>because</Message></Error>`,
          )
        })
      })
      await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => new Promise((resolve) => stub.close(resolve)))

    it.each([
      [500, 'InternalError', 'store_broken', true],
      [503, 'ServiceUnavailable', 'store_slow', true],
      [403, 'SignatureDoesNotMatch', 'store_credentials_refused', false],
      [403, 'AccessDenied', 'store_credentials_refused', false],
      [400, 'ExpiredToken', 'store_credentials_refused', false],
      [403, 'RequestTimeTooSkewed', 'store_clock_skewed', undefined],
      [301, 'PermanentRedirect', 'store_bucket_missing', false],
      [507, 'XMinioStorageFull', 'store_full', undefined],
      [403, 'QuotaExceeded', 'store_full', false],
      [413, 'EntityTooLarge', 'store_full', false],
      [400, 'BadDigest', 'store_broken', false],
    ])('%i %s is %s', async (status, code, expected, isRetried) => {
      proxied()
      const { port } = stub.address() as AddressInfo
      const store = storeWith({ endpoint: `http://127.0.0.1:${port}` })
      answer = { status, code }
      asked = 0
      await expect(
        store.list(new Date())[Symbol.asyncIterator]().next(),
        'a GET, which has no cleanup after it',
      ).rejects.toMatchObject({ code: expected, message: expect.stringContaining('because') })
      if (isRetried !== undefined) expect(asked).toBe(isRetried ? 4 : 1)
    })

    it('a page of HTML is store_broken', async () => {
      proxied()
      const { port } = stub.address() as AddressInfo
      answer = { status: 200, body: '<html><body>Welcome to nginx!<br></body>' }
      const store = storeWith({ endpoint: `http://127.0.0.1:${port}` })
      await expect(store.list(new Date())[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code: 'store_broken',
        hint: expect.stringContaining('S3 interface'),
      })
    })
  })
})

it('a clock that is an hour behind is corrected by the answer of the store', async () => {
  proxied()
  const late = storeWith({ clockOffsetMs: -3_600_000 })
  const { blob_ref } = await late.put(Readable.from(['on time']))
  expect(await late.verify(blob_ref)).toBe(true)
})

it('gaps of s3rver: a wrong secret, a wrong MD5 and a wrong range pass, uploads are neither aborted nor listed', async () => {
  proxied()
  const { raw, settings, base } = behind
  const object = { Bucket: settings.bucket, Key: `${base}/x` }
  const wrong = storeWith({ credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'wrong' } })
  expect(await wrong.put(Readable.from(['x']))).toMatchObject({ byte_len: 1 })
  await raw.putObject({ ...object, Body: 'xyz', ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })
  expect(await raw.getObject({ ...object, Range: 'bytes=0-0' })).toMatchObject({
    ContentRange: 'bytes 0-2/3',
  })
  const { UploadId } = await raw.createMultipartUpload(object)
  const noAbort = { name: 'MethodNotAllowed' }
  await expect(raw.abortMultipartUpload({ ...object, UploadId })).rejects.toMatchObject(noAbort)
  const noList = { name: 'NotImplemented' }
  await expect(raw.listMultipartUploads({ Bucket: settings.bucket })).rejects.toMatchObject(noList)
})

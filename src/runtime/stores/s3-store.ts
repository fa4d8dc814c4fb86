/**
 * Blobs as objects of a bucket. S3 cannot rename, and the digest of a stream is known at its end. So there are two layouts:
 *
 * - up to one part (8 MiB): one object `<id>.<sha-256>` with the bytes;
 * - larger: the object `<id>.parts`, a multipart upload, and then the empty object `<id>.<sha-256>`, which seals it.
 *
 * A blob exists when its object `<id>.<sha-256>` does: a listing gives whole references, a reference with another digest leads
 * nowhere, and `<id>.parts` without a seal is what a killed process left.
 */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import { StagedoorError } from '../../kernel/errors.ts'
import {
  type BlobStore,
  type ByteRange,
  blobMissing,
  blobNameOf,
  checkRange,
  digestOf,
  isBlobId,
  isBlobName,
  randomBlobId,
  type StoredBlob,
} from './blob-store.ts'
import { type Bucket, isConnectionError, isMissing } from './s3-client.ts'

const SCHEME = 's3'
/** Below this a blob is one PUT. Every stream holds one part that fills and two that are sent: 24 MiB. */
const PART_BYTES = 8 * 1024 ** 2
const PARTS_IN_FLIGHT = 2
/** S3 takes 10,000 parts. */
const MAX_PARTS = 10_000
const FIRST_BUFFER_BYTES = 64 * 1024
/** How often a download that broke is continued without a byte in between. */
const MAX_RESUMES = 3
const RESUME_MS = 200
/** A put that failed tidies up for this long; what is left then is swept. */
const CLEANUP_MS = 10_000
const PARTS = '.parts'
const EMPTY_DIGEST = createHash('sha256').digest('hex')

interface S3BlobStoreOptions {
  /** What the keys begin with, without a slash at its end. */
  readonly base: string
  /** The largest blob that may come. Above 78 GiB parts are larger, and so is the memory of a stream. */
  readonly maxBytes?: number
}

export function createS3BlobStore(bucket: Bucket, { base, maxBytes = 0 }: S3BlobStoreOptions): BlobStore {
  const partBytes = Math.max(PART_BYTES, Math.ceil(maxBytes / MAX_PARTS))
  const keyOf = (name: string): string => `${base}/${name}`

  /** Where the bytes of a blob are; undefined where there is no such blob. */
  const locate = async (blobRef: string): Promise<Located | undefined> => {
    const name = blobNameOf(SCHEME, blobRef)
    if (name === undefined) return undefined
    const seal = await headObject(bucket, keyOf(name))
    if (seal === undefined || seal.length > 0 || digestOf(blobRef) === EMPTY_DIGEST) return seal
    return headObject(bucket, keyOf(partsOf(name)))
  }

  const openRange = async (blobRef: string, range?: ByteRange): Promise<Readable> => {
    const found = await locate(blobRef)
    if (!found) throw blobMissing(blobRef)
    const start = range?.start ?? 0
    const end = Math.min(range?.end ?? Number.POSITIVE_INFINITY, found.length - 1)
    if (start > end) return Readable.from([])
    // Begun now: who opens a blob learns at once whether it can be read.
    const first = await getBytes(bucket, found, start, end)
    if (!first) throw blobMissing(blobRef)
    return Readable.from(readOn(bucket, found, first, start, end), { objectMode: false })
  }

  return {
    schemes: [SCHEME],

    put: (bytes, { signal } = {}) => putStream(bucket, { keyOf, partBytes }, bytes, signal),

    async facts(blobRef) {
      const found = await locate(blobRef)
      return found && { byte_len: found.length, content_hash: digestOf(blobRef) }
    },

    async verify(blobRef) {
      const bytes = await openRange(blobRef).catch((error: unknown) => {
        if (error instanceof StagedoorError && error.code === 'blob_missing') return undefined
        throw error
      })
      if (!bytes) return false
      const hash = createHash('sha256')
      for await (const chunk of bytes) hash.update(chunk)
      return hash.digest('hex') === digestOf(blobRef)
    },

    async open(blobRef, range) {
      if (range) checkRange(range)
      return openRange(blobRef, range)
    },

    async delete(blobRef) {
      const name = blobNameOf(SCHEME, blobRef)
      if (name === undefined) return
      // One by one: compatible stores differ in DeleteObjects. The seal goes last, so that a listing names the blob until all is gone.
      await deleteObject(bucket, keyOf(partsOf(name)))
      await deleteObject(bucket, keyOf(name))
    },

    async *list(before, after) {
      const last = after === undefined ? '' : keyOf(after.slice(SCHEME.length + 1))
      for await (const { key, modified } of listObjects(bucket, `${base}/`, last)) {
        const name = key.slice(base.length + 1)
        if (key > last && isBlobName(name) && modified < before) yield `${SCHEME}:${name}`
      }
    },

    async sweep(before) {
      let swept = await abortOldUploads(bucket, `${base}/`, before)
      let previous = ''
      // In the order of the keys a seal comes directly before its parts.
      for await (const { key, modified } of listObjects(bucket, `${base}/`)) {
        const name = key.slice(base.length + 1)
        const id = name.slice(0, -PARTS.length)
        if (name.endsWith(PARTS) && isBlobId(id) && modified < before && !previous.startsWith(`${id}.`)) {
          await deleteObject(bucket, key)
          swept++
        }
        previous = name
      }
      return swept
    },
  }
}

function partsOf(name: string): string {
  return `${name.slice(0, name.indexOf('.'))}${PARTS}`
}

// Put: one request up to a part, else a multipart upload. What was begun is undone if any of it fails.

interface PutDeps {
  readonly keyOf: (name: string) => string
  readonly partBytes: number
}

async function putStream(
  bucket: Bucket,
  { keyOf, partBytes }: PutDeps,
  bytes: Readable,
  signal: AbortSignal | undefined,
): Promise<StoredBlob> {
  const id = randomBlobId()
  const hash = createHash('sha256')
  const abort = new AbortController()
  const aborted = signal ? AbortSignal.any([signal, abort.signal]) : abort.signal
  const upload = new MultipartUpload(bucket, keyOf(`${id}${PARTS}`), aborted)
  const part = new PartBuffer(partBytes)
  const begun: string[] = []
  try {
    const take = async (chunks: AsyncIterable<Buffer | string>): Promise<void> => {
      for await (const chunk of chunks) {
        let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
        hash.update(rest)
        while (rest.length > 0) {
          // Only when more comes: a blob of exactly one part is one PUT.
          if (part.isFull) part.reuse(await upload.send(part.release()))
          rest = part.take(rest)
        }
      }
    }
    await pipeline(bytes, take, { ...(signal && { signal }) })
    const digest = hash.digest('hex')
    const name = `${id}.${digest}`
    const isMultipart = upload.isBegun
    const length = upload.length + part.length
    if (isMultipart) await upload.complete(part.release())
    begun.push(keyOf(name))
    await putBuffer(bucket, keyOf(name), isMultipart ? Buffer.alloc(0) : part.release(), aborted)
    return { blob_ref: `${SCHEME}:${name}`, byte_len: length, content_hash: digest }
  } catch (error) {
    bytes.destroy()
    abort.abort()
    await Promise.allSettled([
      upload.undo(),
      ...begun.map((key) => deleteObject(bucket, key, cleanupSignal())),
    ])
    throw error
  }
}

const cleanupSignal = (): AbortSignal => AbortSignal.timeout(CLEANUP_MS)

/** Gathers chunks into one part. It grows with its content, so that a small blob costs little. */
class PartBuffer {
  readonly #partBytes: number
  #buffer: Buffer
  #length = 0

  constructor(partBytes: number) {
    this.#partBytes = partBytes
    this.#buffer = Buffer.allocUnsafe(0)
  }

  get length(): number {
    return this.#length
  }

  get isFull(): boolean {
    return this.#length === this.#partBytes
  }

  /** Returns what did not fit. */
  take(chunk: Buffer): Buffer {
    const taken = Math.min(chunk.length, this.#partBytes - this.#length)
    const needed = this.#length + taken
    if (needed > this.#buffer.length) {
      const size = Math.min(this.#partBytes, Math.max(FIRST_BUFFER_BYTES, this.#buffer.length * 4, needed))
      const larger = Buffer.allocUnsafeSlow(size)
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    chunk.copy(this.#buffer, this.#length, 0, taken)
    this.#length = needed
    return chunk.subarray(taken)
  }

  /** The part. From now on it is the caller's. */
  release(): Buffer {
    const part = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.allocUnsafe(0)
    this.#length = 0
    return part
  }

  /** Fills this buffer, whose part was sent, instead of a new one. */
  reuse(sent: Buffer | undefined): void {
    if (sent) this.#buffer = sent
  }
}

class MultipartUpload {
  readonly #bucket: Bucket
  readonly #key: string
  readonly #signal: AbortSignal
  #begun: Promise<string> | undefined
  readonly #parts: { PartNumber: number; ETag: string | undefined }[] = []
  readonly #sending = new Set<Promise<void>>()
  readonly #sent: Buffer[] = []
  #failed: { readonly error: unknown } | undefined
  #completing = false
  length = 0

  constructor(bucket: Bucket, key: string, signal: AbortSignal) {
    this.#bucket = bucket
    this.#key = key
    this.#signal = signal
  }

  get isBegun(): boolean {
    return this.#begun !== undefined
  }

  /** Resolves when there is room for the next part, with a buffer whose part was sent, if there is one. */
  async send(part: Buffer): Promise<Buffer | undefined> {
    this.#begun ??= this.#begin()
    const uploadId = await this.#begun
    while (this.#sending.size >= PARTS_IN_FLIGHT) await Promise.race(this.#sending)
    if (this.#failed) throw this.#failed.error
    const number = this.#parts.push({ PartNumber: this.#parts.length + 1, ETag: undefined })
    this.length += part.length
    const sending: Promise<void> = this.#sendPart(uploadId, part, number)
      .catch((error: unknown) => {
        this.#failed ??= { error }
      })
      .finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
    return this.#sent.pop()
  }

  /** Not aborted: the upload would exist, and nobody would know its id. */
  async #begin(): Promise<string> {
    const { UploadId } = await this.#bucket.call((s3, Bucket) =>
      s3.createMultipartUpload({ Bucket, Key: this.#key }),
    )
    if (UploadId === undefined) throw broken(this.#bucket, 'it began a multipart upload without an id')
    return UploadId
  }

  async #sendPart(UploadId: string, part: Buffer, number: number): Promise<void> {
    const { ETag } = await this.#bucket.call((s3, Bucket) =>
      s3.uploadPart(
        { Bucket, Key: this.#key, UploadId, PartNumber: number, ...bodyOf(part) },
        { abortSignal: this.#signal },
      ),
    )
    this.#parts[number - 1]!.ETag = ETag
    this.#sent.push(part)
  }

  async complete(last: Buffer): Promise<void> {
    await this.send(last)
    const UploadId = await this.#begun
    await Promise.all(this.#sending)
    if (this.#failed) throw this.#failed.error
    this.#completing = true
    await this.#bucket
      .call((s3, Bucket) =>
        s3.completeMultipartUpload(
          { Bucket, Key: this.#key, UploadId, MultipartUpload: { Parts: this.#parts } },
          { abortSignal: this.#signal },
        ),
      )
      // It was completed, its answer was lost, and the next attempt found no upload any more. The length below decides.
      .catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
    const found = await headObject(this.#bucket, this.#key, this.#signal)
    if (found?.length !== this.length)
      throw broken(
        this.#bucket,
        `it holds ${found?.length ?? 'none'} of the ${this.length} bytes that were sent`,
      )
  }

  /** Leaves nothing of it, as far as the store can be reached. */
  async undo(): Promise<void> {
    await Promise.allSettled(this.#sending)
    const UploadId = await this.#begun?.catch(() => undefined)
    if (UploadId === undefined) return
    const options = { abortSignal: cleanupSignal() }
    await this.#bucket
      .call((s3, Bucket) => s3.abortMultipartUpload({ Bucket, Key: this.#key, UploadId }, options))
      .catch(() => {})
    if (this.#completing) await deleteObject(this.#bucket, this.#key, cleanupSignal())
  }
}

function broken(bucket: Bucket, reason: string): StagedoorError {
  return new StagedoorError('store_broken', { store: bucket.name, bucket: bucket.name, reason })
}

/** A Buffer of known length with its MD5, which Amazon and Swift compare. */
function bodyOf(body: Buffer): { Body: Buffer; ContentLength: number; ContentMD5: string } {
  return {
    Body: body,
    ContentLength: body.length,
    ContentMD5: createHash('md5').update(body).digest('base64'),
  }
}

// Objects.

interface Located {
  readonly key: string
  readonly length: number
  readonly etag: string | undefined
}

async function headObject(bucket: Bucket, key: string, signal?: AbortSignal): Promise<Located | undefined> {
  const found = await bucket.find((s3, Bucket) =>
    s3.headObject({ Bucket, Key: key }, { ...(signal && { abortSignal: signal }) }),
  )
  return found && { key, length: found.ContentLength ?? 0, etag: found.ETag }
}

export async function putBuffer(
  bucket: Bucket,
  key: string,
  body: Buffer,
  signal?: AbortSignal,
): Promise<void> {
  await bucket.call((s3, Bucket) =>
    s3.putObject({ Bucket, Key: key, ...bodyOf(body) }, { ...(signal && { abortSignal: signal }) }),
  )
}

/** Undefined where there is none. Only for what is small. */
export async function getBuffer(bucket: Bucket, key: string): Promise<Buffer | undefined> {
  const found = await bucket.find(async (s3, Bucket) => {
    const { Body } = await s3.getObject({ Bucket, Key: key })
    return Body!.transformToByteArray()
  })
  return found && Buffer.from(found)
}

export async function deleteObject(bucket: Bucket, key: string, signal?: AbortSignal): Promise<void> {
  await bucket
    .call((s3, Bucket) => s3.deleteObject({ Bucket, Key: key }, { ...(signal && { abortSignal: signal }) }))
    .catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
}

/** Undefined where the object was deleted meanwhile. */
async function getBytes(
  bucket: Bucket,
  { key, length, etag }: Located,
  start: number,
  end: number,
): Promise<Readable | undefined> {
  const isWhole = start === 0 && end === length - 1
  return bucket.find(async (s3, Bucket) => {
    const { Body, ContentRange } = await s3.getObject({
      Bucket,
      Key: key,
      ...(!isWhole && { Range: `bytes=${start}-${end}` }),
      ...(etag !== undefined && { IfMatch: etag }),
    })
    const bytes = Body as Readable
    if (isWhole || ContentRange?.startsWith(`bytes ${start}-`)) return bytes
    bytes.destroy()
    throw broken(
      bucket,
      `it was asked for the bytes from ${start} on and answered with ${ContentRange ?? 'all'}`,
    )
  })
}

/** The bytes from `start` to `end`. A connection that breaks is opened again at the byte where it broke. */
async function* readOn(
  bucket: Bucket,
  found: Located,
  first: Readable,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  let body = first
  let next = start
  let resumes = 0
  let yielding = false
  try {
    for (;;) {
      try {
        for await (const chunk of body) {
          // Some stores give more than they were asked for.
          const wanted = (chunk as Buffer).subarray(0, end + 1 - next)
          next += wanted.length
          resumes = 0
          yielding = true
          yield wanted
          yielding = false
          if (next > end) return
        }
        throw Object.assign(new Error(`the download terminated early, at byte ${next} of ${found.length}`), {
          code: 'ECONNRESET',
        })
      } catch (error) {
        // The reader ended it; or its end is no matter of the connection.
        if (yielding) throw error
        if (!isConnectionError(error) || resumes++ >= MAX_RESUMES)
          await bucket.call(() => Promise.reject(error))
        await delay(RESUME_MS * 2 ** resumes * (0.5 + Math.random()))
        const again = await getBytes(bucket, found, next, end)
        if (!again) throw broken(bucket, `the object ${found.key} was deleted while it was read`)
        body = again
      }
    }
  } finally {
    body.destroy()
  }
}

interface ListedObject {
  readonly key: string
  readonly modified: Date
}

/** In the order of the keys, from behind `after` on where the store can begin there, else from the first. */
async function* listObjects(bucket: Bucket, prefix: string, after = ''): AsyncGenerator<ListedObject> {
  const page = (start: { StartAfter?: string; ContinuationToken?: string }) =>
    bucket.call((s3, Bucket) => s3.listObjectsV2({ Bucket, Prefix: prefix, ...start }))
  let found =
    after === ''
      ? await page({})
      : await page({ StartAfter: after }).catch((error: unknown) => {
          if (error instanceof StagedoorError && error.code !== 'store_broken') throw error
          return page({})
        })
  for (;;) {
    for (const { Key, LastModified } of found.Contents ?? [])
      if (Key !== undefined && LastModified !== undefined) yield { key: Key, modified: LastModified }
    if (!found.IsTruncated || found.NextContinuationToken === undefined) return
    found = await page({ ContinuationToken: found.NextContinuationToken })
  }
}

/** Multipart uploads that were begun before and never completed. Returns 0 where the store cannot list them. */
async function abortOldUploads(bucket: Bucket, prefix: string, before: Date): Promise<number> {
  let swept = 0
  let marker: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {}
  while (marker) {
    const from: { KeyMarker?: string; UploadIdMarker?: string } = marker
    const found: ListMultipartUploadsCommandOutput | undefined = await bucket
      .call((s3, Bucket) => s3.listMultipartUploads({ Bucket, Prefix: prefix, ...from }))
      .catch((error: unknown) => {
        if (isMissing(error) || (error instanceof StagedoorError && error.code === 'store_broken'))
          return undefined
        throw error
      })
    for (const { Key, UploadId, Initiated } of found?.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined || Initiated === undefined || Initiated >= before)
        continue
      await bucket
        .call((s3, Bucket) => s3.abortMultipartUpload({ Bucket, Key, UploadId }))
        .catch((error: unknown) => {
          if (!isMissing(error)) throw error
        })
      swept++
    }
    const key: string | undefined = found?.IsTruncated ? found.NextKeyMarker : undefined
    marker =
      key === undefined
        ? undefined
        : { KeyMarker: key, ...(found?.NextUploadIdMarker && { UploadIdMarker: found.NextUploadIdMarker }) }
  }
  return swept
}

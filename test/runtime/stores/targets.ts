/** What the conformance suite runs against: a store, and a way to look behind it. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { S3 } from '@aws-sdk/client-s3'
import S3rver from 's3rver'
import { type BlobStore, randomBlobId } from '../../../src/runtime/stores/blob-store.ts'
import { createDiskBlobStore } from '../../../src/runtime/stores/disk-store.ts'
import { openBucket, type S3Settings } from '../../../src/runtime/stores/s3-client.ts'
import { createS3BlobStore } from '../../../src/runtime/stores/s3-store.ts'

/**
 * Where a target is known to differ from Amazon S3. The suite asserts each difference, so that it notices when one is gone.
 *
 * - `secret`: accepts a wrong secret key
 * - `md5`: accepts a body that differs from its Content-MD5
 * - `uploads`: can neither abort nor list multipart uploads, so those of a put that failed stay
 * - `range`: answers `bytes=0-0` with all bytes
 */
export type Gap = 'secret' | 'md5' | 'uploads' | 'range'

export interface StoreTarget {
  readonly scheme: string
  readonly gaps: readonly Gap[]
  readonly store: BlobStore
  /** Everything that is there: blobs, drafts, parts of uploads. */
  everything(): Promise<string[]>
  /** Changes the bytes behind the store's back. */
  tamper(blobRef: string, bytes: string): Promise<void>
  /** What a process leaves that is killed in the middle of a put. Returns how many of it a sweep must find. */
  leaveDraft(): Promise<number>
}

export function diskTarget(folder: string, scheme: 'disk' | 'pvc'): StoreTarget {
  const files = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
          statSync(join(folder, name)).isFile(),
        )
      : []
  return {
    scheme,
    gaps: [],
    store: createDiskBlobStore(folder, scheme),
    everything: async () => files(),
    async tamper(blobRef, bytes) {
      writeFileSync(join(folder, files().find((name) => name.endsWith(blobRef.slice(-64)))!), bytes)
    },
    async leaveDraft() {
      mkdirSync(join(folder, 'drafts'), { recursive: true })
      writeFileSync(join(folder, 'drafts', randomBlobId()), 'half')
      return 1
    },
  }
}

export interface S3Target extends StoreTarget {
  readonly settings: S3Settings
  readonly base: string
  /** A client without our store. */
  readonly raw: S3
  close(): void
}

export function s3Target(settings: S3Settings, base: string, gaps: readonly Gap[] = []): S3Target {
  const { bucket: Bucket, endpoint, region = 'us-east-1', credentials } = settings
  const raw = new S3({
    endpoint: endpoint!,
    region,
    forcePathStyle: true,
    credentials: credentials!,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const bucket = openBucket(settings)
  const Prefix = `${base}/`
  const uploads = async (): Promise<string[]> => {
    if (gaps.includes('uploads')) return []
    const { Uploads = [] } = await raw.listMultipartUploads({ Bucket, Prefix })
    return Uploads.map(({ Key }) => `upload ${Key}`)
  }
  return {
    scheme: 's3',
    gaps,
    settings,
    base,
    raw,
    store: createS3BlobStore(bucket, { base }),
    async everything() {
      const { Contents = [] } = await raw.listObjectsV2({ Bucket, Prefix })
      return [...Contents.map(({ Key }) => Key!), ...(await uploads())]
    },
    async tamper(blobRef, bytes) {
      await raw.putObject({ Bucket, Key: `${base}/${blobRef.slice('s3:'.length)}`, Body: bytes })
    },
    async leaveDraft() {
      await raw.putObject({
        Bucket,
        Key: `${base}/${randomBlobId()}.parts`,
        Body: 'completed, but not sealed',
      })
      if (gaps.includes('uploads')) return 1
      await raw.createMultipartUpload({ Bucket, Key: `${base}/${randomBlobId()}.parts` })
      return 2
    },
    close() {
      raw.destroy()
      bucket.close()
    },
  }
}

/** As s3rver 3.7.1 differs. It also answers StartAfter with an error, which the store works around. */
export const S3RVER_GAPS: readonly Gap[] = ['secret', 'md5', 'uploads', 'range']

export interface RunningS3 {
  readonly settings: S3Settings
  readonly port: number
  stop(): Promise<void>
}

export async function startS3rver(folder: string, bucket = 'blobs'): Promise<RunningS3> {
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await server.run()
  return {
    port,
    settings: {
      bucket,
      endpoint: `http://127.0.0.1:${port}`,
      pathStyle: true,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
      silenceMs: 20_000,
    },
    async stop() {
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

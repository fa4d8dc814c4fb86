/** Where the bytes of large parts are kept. The database holds a reference, the length and the digest of each. */
import type { Readable } from 'node:stream'

export interface BlobFacts {
  readonly byte_len: number
  /** sha-256 of the bytes, in hex. */
  readonly content_hash: string
}

export interface StoredBlob extends BlobFacts {
  readonly blob_ref: string
}

export interface ByteRange {
  readonly start: number
  /** The last byte, included. */
  readonly end: number
}

export interface BlobStore {
  /** What the references of this store begin with, before the colon. */
  readonly scheme: string
  /** Resolves when the bytes are safe. If the stream fails, or `signal` aborts it, nothing is left. */
  put(bytes: Readable, options?: { readonly signal?: AbortSignal }): Promise<StoredBlob>
  /** Length and digest, or undefined where there is no such blob, whatever the reference looks like. */
  facts(blobRef: string): Promise<BlobFacts | undefined>
  /** Reads every byte again: whether there is such a blob and its bytes are still those that were put. */
  verify(blobRef: string): Promise<boolean>
  /** Refused with blob_missing where there is none. A blob that is deleted while it is read is read to its end. */
  open(blobRef: string, range?: ByteRange): Promise<Readable>
  /** One that is not there is not an error. */
  delete(blobRef: string): Promise<void>
  /** References of blobs that were put before, in an order that stays; from behind the reference `after` on. */
  list(before: Date, after?: string): AsyncIterable<string>
  /** Removes what a put left behind that began before and never ended: its process was killed. Returns how many. */
  sweep(before: Date): Promise<number>
}

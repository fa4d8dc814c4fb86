/**
 * The one interface to bytes outside of the database: blobs of staging and large results of executions. A store is a folder
 * (disk-store.ts: `disk`, `pvc`) or a bucket (s3-store.ts: `s3`). The database holds the reference, the length and the digest of each.
 */
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { StagedoorError } from '../../kernel/errors.ts'

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
  /** What the references of this store begin with, before the colon. `put` makes references of the first. */
  readonly schemes: readonly string[]
  /** Resolves when the bytes are safe. If the stream fails, or `signal` aborts it, nothing is left. */
  put(bytes: Readable, options?: { readonly signal?: AbortSignal }): Promise<StoredBlob>
  /** Length and digest, or undefined where there is no such blob, whatever the reference looks like. */
  facts(blobRef: string): Promise<BlobFacts | undefined>
  /** Reads every byte again: whether there is such a blob and its bytes are still those that were put. */
  verify(blobRef: string): Promise<boolean>
  /** Refused with blob_missing where there is none. A blob on disk that is deleted while it is read is read to its end. */
  open(blobRef: string, range?: ByteRange): Promise<Readable>
  /** Where the blob is a file of this machine: its path, for programs that read files only. Never write to it. */
  pathOf?(blobRef: string): string | undefined
  /** One that is not there is not an error. */
  delete(blobRef: string): Promise<void>
  /** References of blobs that were put before, in an order that stays; from behind the reference `after` on. */
  list(before: Date, after?: string): AsyncIterable<string>
  /** Removes what a put left behind that began before and never ended: its process was killed. Returns how many. */
  sweep(before: Date): Promise<number>
}

// References are `<scheme>:<id>.<sha-256>`: the id is random, so that nobody reads a blob because they know its content, and two
// uploads of the same bytes never share a fate; the digest makes the reference say what it holds.

const ID = /^[0-9a-f]{32}$/
const NAME = /^[0-9a-f]{32}\.[0-9a-f]{64}$/

export function randomBlobId(): string {
  return randomBytes(16).toString('hex')
}

export function isBlobId(text: string): boolean {
  return ID.test(text)
}

export function isBlobName(text: string): boolean {
  return NAME.test(text)
}

/** The name behind the scheme, if it has exactly the form of one: nothing else becomes part of a path or of a key. */
export function blobNameOf(scheme: string, blobRef: string): string | undefined {
  const name = blobRef.startsWith(`${scheme}:`) ? blobRef.slice(scheme.length + 1) : ''
  return NAME.test(name) ? name : undefined
}

export function digestOf(blobRef: string): string {
  return blobRef.slice(-64)
}

export function schemeOf(blobRef: string): string {
  return blobRef.slice(0, Math.max(0, blobRef.indexOf(':')))
}

export function checkRange({ start, end }: ByteRange): void {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return
  throw new StagedoorError('argument_invalid', {
    reason: `The range ${start} to ${end} is not one of bytes from 0 on, the last one included`,
  })
}

export function blobMissing(blobRef: string): StagedoorError {
  return new StagedoorError('blob_missing', { ref: blobRef })
}

/**
 * Several stores as one. New blobs go to the first; a reference is read and deleted in the store of its scheme, so that what was
 * stored before the setting changed stays readable.
 */
export function routeByScheme(stores: readonly [BlobStore, ...BlobStore[]]): BlobStore {
  if (stores.length === 1) return stores[0]
  const storeOf = (blobRef: string): BlobStore | undefined =>
    stores.find(({ schemes }) => schemes.includes(schemeOf(blobRef)))
  return {
    schemes: stores.flatMap(({ schemes }) => schemes),
    put: (bytes, options) => stores[0].put(bytes, options),
    facts: async (blobRef) => storeOf(blobRef)?.facts(blobRef),
    verify: async (blobRef) => (await storeOf(blobRef)?.verify(blobRef)) ?? false,
    async open(blobRef, range) {
      const store = storeOf(blobRef)
      if (!store) throw blobMissing(blobRef)
      return store.open(blobRef, range)
    },
    pathOf: (blobRef) => storeOf(blobRef)?.pathOf?.(blobRef),
    delete: async (blobRef) => storeOf(blobRef)?.delete(blobRef),
    async *list(before, after) {
      const from = after === undefined ? 0 : Math.max(0, stores.indexOf(storeOf(after) ?? stores[0]))
      for (const [index, store] of stores.entries())
        if (index >= from) yield* store.list(before, index === from ? after : undefined)
    },
    async sweep(before) {
      let swept = 0
      for (const store of stores) swept += await store.sweep(before)
      return swept
    },
  }
}

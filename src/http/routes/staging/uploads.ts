/** Bytes on their way into the blob store: counted, never held in memory, and nothing left behind of a broken one. */
import { type Readable, Transform } from 'node:stream'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import type { NewIssue } from '../../../events/issues.ts'
import type { BlobStore, StoredBlob } from '../../../staging/blobs/store.ts'

export interface Stores {
  readonly blobs: BlobStore
  readonly blobLimit: number
  /** Opens an issue, or counts one more occurrence of it. */
  readonly issues?: (issue: NewIssue) => Promise<unknown>
}

/**
 * `source` is not destroyed: on a request that would cut the connection before the answer is out. It goes on
 * flowing into nothing.
 */
export async function receiveBlob(source: Readable, { blobs, blobLimit }: Stores): Promise<StoredBlob> {
  let length = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length
      done(length > blobLimit ? new StagedoorError('body_too_large', { limit: blobLimit }) : null, chunk)
    },
  })
  // The store listens only once it has opened a file; an upload may break before that and must not end the process.
  counted.on('error', () => {})
  const interrupted = (): void => {
    if (!source.readableEnded) counted.destroy(interruption())
  }
  source.once('error', interrupted).once('close', interrupted)
  if (source.destroyed) interrupted()
  source.pipe(counted)
  try {
    return await blobs.put(counted)
  } catch (error) {
    source.unpipe(counted)
    counted.destroy()
    source.resume()
    throw error
  }
}

/** From then on it is that workspace's, and no other stages it. */
export async function registerBlob(
  client: Client,
  workspace: string | undefined,
  { blob_ref, byte_len, content_hash }: StoredBlob,
): Promise<void> {
  await client.query('select iu_core.fn_blob_register($1, $2, $3, $4)', [
    workspace ?? null,
    blob_ref,
    byte_len,
    content_hash,
  ])
}

export function interruption(cause?: unknown): StagedoorError {
  const reason = 'the upload ended before it was complete'
  return new StagedoorError('request_invalid', { reason }, { cause })
}

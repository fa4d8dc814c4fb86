/** Bytes on their way into the blob store: counted, never held in memory, and nothing left behind of a broken one. */
import { type Readable, Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { StagedoorError } from '../../../errors.ts'
import { listGates } from '../../../gates/gates.ts'
import type { BlobStore, StoredBlob } from '../../../staging/blobs/store.ts'

export interface Stores {
  readonly blobs: BlobStore
  readonly blobLimit: number
}

const GATE = 'iu_core.staging_writes_enabled'

/** Before a byte is taken: whoever may not stage does not fill the disk either. Create checks again. */
export async function requireStaging(request: FastifyRequest, workspace: string | undefined): Promise<void> {
  await request.transaction(async (client) => {
    await client.query(`select iu_core.require_member($1, 'stage')`, [workspace ?? null])
    const gates = await listGates(client)
    if (!gates.some(({ gate, open }) => gate === GATE && open)) {
      throw new StagedoorError('gate_closed', { gate: GATE })
    }
  })
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

export function interruption(cause?: unknown): StagedoorError {
  const reason = 'the upload ended before it was complete'
  return new StagedoorError('request_invalid', { reason }, { cause })
}

/** What was stored for a record that did not come to be. What cannot be deleted now is an orphan, swept later. */
export async function discardBlobs(
  request: FastifyRequest,
  { blobs }: Stores,
  stored: readonly StoredBlob[],
) {
  for (const { blob_ref } of stored) {
    await blobs.delete(blob_ref).catch((error: unknown) => {
      request.log.warn({ err: error, blob_ref }, 'a blob could not be deleted')
    })
  }
}

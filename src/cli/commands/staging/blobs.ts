import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { StagedoorError } from '../../../errors.ts'
import { createDiskBlobStore } from '../../../staging/blobs/disk.ts'
import type { BlobStore } from '../../../staging/blobs/store.ts'
import type { Part } from '../../../staging/records.ts'
import { configOf, type GlobalOptions } from '../../context.ts'

/** The server's own, where both run on one machine with one home. */
export function blobsOf(options: GlobalOptions): BlobStore {
  return createDiskBlobStore(join(configOf(options).home, 'blobs'))
}

/** Its bytes to standard output, and an error at the end if they were not those that were staged. */
export async function printBlob(store: BlobStore, record: string, part: Part): Promise<void> {
  const facts = await store.facts(part.blob_ref!)
  if (!facts) throw gone(record, part)
  if (facts.content_hash !== part.content_hash) throw new StagedoorError('staging_tampered', { record })
  const hash = createHash('sha256')
  await pipeline(
    await store.open(part.blob_ref!),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        yield chunk
      }
      if (hash.digest('hex') !== part.content_hash) throw new StagedoorError('staging_tampered', { record })
    },
    process.stdout,
    { end: false },
  ).catch((error: NodeJS.ErrnoException) => {
    // Whoever reads has seen enough.
    if (error.code !== 'EPIPE') throw error
  })
}

function gone(record: string, part: Part): StagedoorError {
  return new StagedoorError(
    'blob_missing',
    { ref: part.blob_ref! },
    {
      message: `The blob of part ${part.part_index} of record ${record} is not in this home`,
      hint: 'Blobs on disk belong to one machine: run this where the server runs, with its STAGEDOOR_HOME.',
    },
  )
}

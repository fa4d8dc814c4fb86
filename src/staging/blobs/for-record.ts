/** Blobs that are stored before the record which refers to them: they stay if it comes to be, else they go. */
import { StagedoorError } from '../../errors.ts'
import type { CreatedRecord } from '../records.ts'
import type { BlobStore, StoredBlob } from './store.ts'

/**
 * `create` adds to `stored` what it stores, as it comes. What cannot be deleted now is an orphan, swept later; the
 * error that led here matters more.
 */
export async function withBlobsForRecord(
  store: BlobStore,
  create: (stored: StoredBlob[]) => Promise<CreatedRecord>,
  undeleted: (blobRef: string, error: unknown) => void = () => {},
): Promise<CreatedRecord> {
  const stored: StoredBlob[] = []
  const discard = async (): Promise<void> => {
    for (const { blob_ref } of stored) {
      await store.delete(blob_ref).catch((error: unknown) => undeleted(blob_ref, error))
    }
  }
  try {
    const made = await create(stored)
    // The key found a record: it has its own blobs.
    if (!made.created) await discard()
    return made
  } catch (error) {
    // When the database was lost, the record may have been committed: its blobs must stay. If not, they are swept.
    const lost = error instanceof StagedoorError && error.code === 'database_unreachable'
    if (!lost) await discard()
    throw error
  }
}

/** Which files of a database are in the home of this process: blobs of staging, large results of playbooks. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../kernel/config.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { type BlobStore, createDiskBlobStore, requireIntactBlobs } from '../staging/blobs.ts'

/** Undefined if another machine's server has the blobs: in this home all of them would seem to be missing. */
export function knownBlobs(database: Pick<Database, 'kind'>, home: string): BlobStore | undefined {
  const folder = join(home, 'blobs')
  return database.kind === 'embedded' || existsSync(folder) ? createDiskBlobStore(folder) : undefined
}

interface BlobProof {
  /** Reads the blobs of a staging record again and compares their digests. Absent where this process has no blobs. */
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export function blobProof(database: Pick<Database, 'kind'>, home: string): BlobProof {
  const blobs = knownBlobs(database, home)
  if (!blobs) return {}
  return { prove: (client, record) => requireIntactBlobs(client, blobs, record, { others: 'trusted' }) }
}

/**
 * Where large results may be files. On the user's own database another machine may continue an execution that began here, and
 * would look for the file in its own folder: there all results are rows.
 */
export function resultsHome(
  { home }: Pick<Config, 'home'>,
  { kind }: Pick<Database, 'kind'>,
): string | undefined {
  return kind === 'embedded' ? home : undefined
}

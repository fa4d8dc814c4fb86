/** Blobs of staging records: stored before the record, proved before approval and consumption. The stores are in src/runtime/stores. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type BlobStore, type StoredBlob, schemeOf } from '../runtime/stores/blob-store.ts'
import type { CreatedRecord, StagingHealth } from './records.ts'

// Blobs are stored before the record that refers to them. They are deleted if the record is not created.

/**
 * `create` adds to `stored` what it stores, as it comes. What cannot be deleted now is an orphan, swept later; the
 * error that led here matters more.
 */
export async function withBlobsForRecord(
  store: BlobStore,
  create: (stored: StoredBlob[]) => Promise<CreatedRecord>,
  onDeleteFailed: (blobRef: string, error: unknown) => void = () => {},
): Promise<CreatedRecord> {
  const stored: StoredBlob[] = []
  const discard = async (): Promise<void> => {
    for (const { blob_ref } of stored) {
      await store.delete(blob_ref).catch((error: unknown) => onDeleteFailed(blob_ref, error))
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

// The database proves json and text parts by itself. What the blob store holds is proved here, byte by byte.

interface BlobPart {
  readonly staging_record_id: string
  readonly part_index: number
  readonly blob_ref: string
  readonly byte_len: number
  readonly content_hash: string
}

const COLUMNS = 'p.staging_record_id, part_index, blob_ref, p.byte_len::float8 as byte_len, p.content_hash'

/** How much a health check reads at most: it must answer while somebody waits. */
const HEALTH_BYTES = 1024 ** 3

/**
 * Refuses with staging_tampered if a blob of the record is missing or is not the one that was staged. `others` says how to treat
 * references with another scheme, whose bytes this store cannot read.
 */
export async function requireIntactBlobs(
  db: Queryable,
  blobs: BlobStore,
  record: string,
  { others }: { others: 'refused' | 'trusted' },
): Promise<void> {
  const { rows } = await db.query<BlobPart>(
    `select ${COLUMNS} from iu_core.iu_staging_payload p
      where staging_record_id = $1 and blob_ref is not null order by part_index`,
    [record],
  )
  for (const part of rows) {
    if (others === 'trusted' && !isOf(blobs, part)) continue
    if (!(await isIntact(blobs, part))) throw tamperedError(record, part.part_index)
    // Large blobs take seconds each, and the server ends transactions that are silent for long.
    await db.query('select 1')
  }
}

export function tamperedError(record: string, part: number): StagedoorError {
  const message = `The blob of part ${part} of record ${record} is missing, or not the one that was staged`
  return new StagedoorError('staging_tampered', { record, part }, { message })
}

/** `health` with one more check: a sample of the blobs is read and compared, up to 1 GiB in all. */
export async function withBlobHealth(
  db: Queryable,
  blobs: BlobStore,
  health: StagingHealth,
  sample = 100,
): Promise<StagingHealth> {
  const { rows } = await db.query<BlobPart>(
    `select ${COLUMNS} from iu_core.iu_staging_payload p
       join iu_core.iu_staging_record r on r.staging_record_id = p.staging_record_id
      where split_part(blob_ref, ':', 1) = any ($1) and r.lifecycle_status <> 'cleaned'
      order by random() limit $2`,
    [blobs.schemes, sample],
  )
  let left = HEALTH_BYTES
  let read = 0
  const broken: string[] = []
  for (const part of rows) {
    if (part.byte_len > left) continue
    left -= part.byte_len
    read++
    if (!(await isIntact(blobs, part))) broken.push(`part ${part.part_index} of ${part.staging_record_id}`)
  }
  const ok = broken.length === 0
  const detail = ok
    ? `${read} sampled, all of them as they were staged`
    : `missing, or not as they were staged: ${broken.slice(0, 10).join(', ')}`
  return { ...health, ok: health.ok && ok, checks: [...health.checks, { name: 'blobs', ok, detail }] }
}

async function isIntact(blobs: BlobStore, part: BlobPart): Promise<boolean> {
  const facts = await blobs.facts(part.blob_ref)
  return (
    facts?.byte_len === part.byte_len &&
    facts.content_hash === part.content_hash &&
    (await blobs.verify(part.blob_ref))
  )
}

function isOf(blobs: BlobStore, part: BlobPart): boolean {
  return blobs.schemes.includes(schemeOf(part.blob_ref))
}

/** From then on it is that workspace's, and no other stages it. */
export async function registerBlob(
  db: Queryable,
  workspace: string | undefined,
  { blob_ref, byte_len, content_hash }: StoredBlob,
): Promise<void> {
  await db.query('select iu_core.fn_blob_register($1, $2, $3, $4)', [
    workspace ?? null,
    blob_ref,
    byte_len,
    content_hash,
  ])
}

/** The database proves json and text parts by itself. What the blob store holds is proved here, byte by byte. */
import type { Queryable } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import type { StagingHealth } from '../lifecycle.ts'
import type { BlobStore } from './store.ts'

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
 * Refuses with staging_tampered if a blob of the record is gone or is not the one that was staged. `others` says what
 * becomes of references with another scheme, whose bytes this store cannot see.
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
    if (!(await isIntact(blobs, part))) throw tampered(record, part.part_index)
    // Large blobs take seconds each, and the server ends transactions that are silent for long.
    await db.query('select 1')
  }
}

export function tampered(record: string, part: number): StagedoorError {
  const message = `The blob of part ${part} of record ${record} is gone, or not the one that was staged`
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
      where starts_with(blob_ref, $1 || ':') and r.lifecycle_status <> 'cleaned'
      order by random() limit $2`,
    [blobs.scheme, sample],
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
    : `gone, or not as they were staged: ${broken.slice(0, 10).join(', ')}`
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
  return part.blob_ref.startsWith(`${blobs.scheme}:`)
}

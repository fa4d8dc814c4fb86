/**
 * Maintenance of the staging zone, while its cleanup gate is open: overdue records expire, ended ones are cleaned, blobs without a
 * record are deleted. Any number of processes may run it; one at a time does the work.
 */
import type { Client } from '../kernel/postgres/connection.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import type { BlobStore } from '../runtime/stores/blob-store.ts'
import { cleanRecords, expireRecords } from './records.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Rows a transaction: short enough that nobody waits for it, and little is lost when it fails. */
const BATCH = 500
const BLOB_BATCH = 100
/** A run ends by then, so that a stop need not wait long. What is left is done by the next run. */
const RUN_MS = 20_000
/** How long an upload may wait for the record that refers to it. */
const ORPHAN_AGE_MS = DAY

/** Deletes blobs that no record of this database refers to: only where the store is this database's alone. */
export const ORPHANS = 'staging orphans'

/** Deletes blobs whose records are gone. */
export const TRASH = 'staging blobs'

interface StagingTaskOptions {
  /** A blob could not be deleted. It stays in the trash, after all others. */
  readonly onDeleteFailed?: (blobRef: string, error: unknown) => void
  /** How long a run may go on; default 20 s. */
  readonly runMs?: number
  /** In which stores blobs without a record are searched for; default: in all of `blobs`. */
  readonly orphansIn?: BlobStore | undefined
}

export function stagingTasks(blobs?: BlobStore, options: StagingTaskOptions = {}): MaintenanceTask[] {
  const tasks: MaintenanceTask[] = [
    {
      name: 'staging expiry',
      everyMs: MINUTE,
      led: true,
      async run(client) {
        const expired = await inBatches(client, {
          work: 'expiry',
          size: BATCH,
          batch: () => expireRecords(client, BATCH),
        })
        return expired > 0 ? `${expired} staging records expired` : undefined
      },
    },
    {
      name: 'staging cleanup',
      everyMs: 5 * MINUTE,
      led: true,
      async run(client) {
        const cleaned = await inBatches(client, {
          work: 'cleanup',
          size: BATCH,
          batch: async () => (await cleanRecords(client, { limit: BATCH })).cleaned,
        })
        return cleaned > 0 ? `${cleaned} staging records cleaned` : undefined
      },
    },
  ]
  if (blobs) tasks.push(trashTask(blobs, options), orphanTask(options.orphansIn ?? blobs, options))
  return tasks
}

function trashTask(blobs: BlobStore, { onDeleteFailed, runMs }: StagingTaskOptions): MaintenanceTask {
  return {
    name: TRASH,
    everyMs: 5 * MINUTE,
    async run(client) {
      const failed = new Map<string, unknown>()
      const deleted = await inBatches(client, {
        work: 'blobs',
        size: 1,
        batch: () => deleteTrash(client, blobs, failed),
        runMs,
      })
      for (const [blobRef, error] of failed) onDeleteFailed?.(blobRef, error)
      const words: string[] = []
      if (deleted > 0) words.push(`${deleted} blobs without a record deleted`)
      if (failed.size > 0) words.push(`${failed.size} could not be deleted, and are tried again`)
      return words.length > 0 ? words.join('; ') : undefined
    },
  }
}

/**
 * One batch, in the caller's transaction. Deleted from the store first: if this ends in between, the database still
 * knows them, and deletes them again. One that cannot be deleted goes to the end of the queue and holds nobody up.
 * Returns how many were deleted; call again until 0.
 */
export async function deleteTrash(
  client: Client,
  blobs: BlobStore,
  failed: Map<string, unknown> = new Map(),
): Promise<number> {
  const taken: string[] = []
  for (const scheme of blobs.schemes) taken.push(...(await takeBlobs(client, scheme, BLOB_BATCH)))
  const left: string[] = []
  for (const blobRef of taken) {
    try {
      await blobs.delete(blobRef)
    } catch (error) {
      failed.set(blobRef, error)
      left.push(blobRef)
    }
  }
  // Nobody refers to them, so they are put back as orphans are, with the time of now.
  if (left.length > 0) await trashOrphans(client, left)
  return taken.length - left.length
}

/**
 * Blobs without a record. They are moved to the trash, where references to them are checked. The next run continues where
 * a run ended early, so that every blob is reached.
 */
function orphanTask(blobs: BlobStore, { runMs }: StagingTaskOptions): MaintenanceTask {
  let seen: string | undefined
  return {
    name: ORPHANS,
    everyMs: HOUR,
    async run(client) {
      const before = new Date(Date.now() - ORPHAN_AGE_MS)
      const listed = inGroups(blobs.list(before, seen), BATCH)
      let orphans = 0
      const look = async (): Promise<number> => {
        const { value: refs = [] } = await listed.next()
        orphans += await trashOrphans(client, refs)
        seen = refs.length < BATCH ? undefined : refs.at(-1)
        return refs.length
      }
      await inBatches(client, { work: 'orphans', size: BATCH, batch: look, runMs }).finally(() =>
        listed.return([]),
      )
      const drafts = (await isOpen(client)) ? await blobs.sweep(before) : 0
      if (orphans + drafts === 0) return undefined
      return `${orphans} blobs have no record, ${drafts} uploads never ended`
    },
  }
}

async function* inGroups<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[], T[]> {
  let group: T[] = []
  for await (const item of items) {
    if (group.push(item) < size) continue
    yield group
    group = []
  }
  return group
}

interface Batches {
  /** Names the advisory lock. */
  readonly work: string
  /** A batch that did less was the last. */
  readonly size: number
  batch(): Promise<number>
  readonly runMs?: number | undefined
}

/**
 * Runs batches until one is not full, each in a transaction of its own under an advisory lock. Between two batches another process may
 * take the lock and continue. Returns the sum.
 */
async function inBatches(client: Client, { work, size, batch, runMs = RUN_MS }: Batches): Promise<number> {
  const until = performance.now() + runMs
  let sum = 0
  while ((await isOpen(client)) && (await isLeader(client, work))) {
    const done = await batch()
    sum += done
    if (done < size || performance.now() > until) break
    await client.query('commit and chain')
  }
  return sum
}

async function isOpen(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ open: boolean }>(
    `select iu_core.fn_gate_open('iu_core.staging_cleanup_enabled') as open`,
  )
  return rows[0]!.open
}

async function isLeader(client: Client, work: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken',
    [`stagedoor.staging ${work}`],
  )
  return rows[0]!.taken
}

/** Takes blobs out of the trash. The caller deletes them before this transaction ends. */
async function takeBlobs(client: Client, scheme: string, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ ref: string }>(
    'select ref from iu_core.fn_iu_staging_blobs_claim($1, $2) as ref',
    [scheme, limit],
  )
  return rows.map(({ ref }) => ref)
}

/** Returns how many of them were put into the trash now. */
async function trashOrphans(client: Client, blobRefs: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ orphans: number }>(
    'select iu_core.fn_iu_staging_blobs_trash_orphans($1) as orphans',
    [blobRefs],
  )
  return rows[0]!.orphans
}

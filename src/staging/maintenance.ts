/**
 * What the staging zone needs from time to time, while its cleanup gate is open: overdue records expire, ended ones
 * are cleaned, blobs without a record are deleted. Any number of processes run these; one at a time does the work.
 */
import type { Client } from '../db/connection.ts'
import type { MaintenanceTask } from '../db/maintenance.ts'
import type { BlobStore } from './blobs/store.ts'
import { cleanRecords, expireRecords } from './lifecycle.ts'

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

export function stagingTasks(blobs?: BlobStore): MaintenanceTask[] {
  const tasks: MaintenanceTask[] = [
    {
      name: 'staging expiry',
      everyMs: MINUTE,
      async run(client) {
        const expired = await inBatches(client, 'expiry', BATCH, () => expireRecords(client, BATCH))
        return expired > 0 ? `${expired} staging records expired` : undefined
      },
    },
    {
      name: 'staging cleanup',
      everyMs: 5 * MINUTE,
      async run(client) {
        const cleaned = await inBatches(
          client,
          'cleanup',
          BATCH,
          async () => (await cleanRecords(client, { limit: BATCH })).cleaned,
        )
        return cleaned > 0 ? `${cleaned} staging records cleaned` : undefined
      },
    },
  ]
  if (blobs) tasks.push(trashTask(blobs), orphanTask(blobs))
  return tasks
}

/** Deleted from the store first: if this ends in between, the database still knows them, and deletes them again. */
function trashTask(blobs: BlobStore): MaintenanceTask {
  return {
    name: 'staging blobs',
    everyMs: 5 * MINUTE,
    async run(client) {
      const deleted = await inBatches(client, 'blobs', 1, async () => {
        const taken = await takeBlobs(client, blobs.scheme, BLOB_BATCH)
        for (const blobRef of taken) await blobs.delete(blobRef)
        return taken.length
      })
      return deleted > 0 ? `${deleted} blobs without a record deleted` : undefined
    },
  }
}

/** Uploads that no record ever came for. They go through the trash, where it is settled who refers to them. */
function orphanTask(blobs: BlobStore): MaintenanceTask {
  return {
    name: ORPHANS,
    everyMs: HOUR,
    async run(client) {
      const before = new Date(Date.now() - ORPHAN_AGE_MS)
      const listed = inGroups(blobs.list(before), BATCH)
      let orphans = 0
      await inBatches(client, 'orphans', BATCH, async () => {
        const { value: refs = [] } = await listed.next()
        orphans += await trashOrphans(client, refs)
        return refs.length
      }).finally(() => listed.return([]))
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

/**
 * Does batches until one is not full, each in a transaction of its own. Whoever holds the lock is the leader; it is
 * let go with each batch, and another process may be the one that goes on. Returns the sum.
 */
async function inBatches(
  client: Client,
  work: string,
  full: number,
  batch: () => Promise<number>,
): Promise<number> {
  const until = performance.now() + RUN_MS
  let sum = 0
  while ((await isOpen(client)) && (await isLeader(client, work))) {
    const done = await batch()
    sum += done
    if (done < full || performance.now() > until) break
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

/** Out of the trash, for whoever deletes them before this transaction ends. */
async function takeBlobs(client: Client, scheme: string, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ ref: string }>(
    'select ref from iu_core.fn_iu_staging_blobs_take($1, $2) as ref',
    [scheme, limit],
  )
  return rows.map(({ ref }) => ref)
}

/** Returns how many of them were put into the trash now. */
async function trashOrphans(client: Client, blobRefs: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ orphans: number }>(
    'select iu_core.fn_iu_staging_blobs_orphaned($1) as orphans',
    [blobRefs],
  )
  return rows[0]!.orphans
}

/** Maintenance of executions: partitions of their log, the retention of results, commands of dead engines. */
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import type { BlobStore } from '../runtime/stores/blob-store.ts'
import { findOldResultFiles, isFileTier, type ResultFile, removeDrafts, removeResultFile } from './results.ts'

const HOUR = 3_600_000
const REAP_MS = 5000

/** Where results are besides rows. */
export interface ResultPlaces {
  /** Where results on disk are, on the machine that has them. */
  readonly home?: string | undefined
  /** The store that all machines share, while this database may delete in it. */
  readonly shared?: () => BlobStore | undefined
}

/** `pool` acts as dot_executor. */
export function executionTasks(pool: Pool, { home, shared }: ResultPlaces = {}): MaintenanceTask[] {
  const orphans = sharedOrphans(pool)
  return [
    {
      name: 'execution partitions',
      everyMs: HOUR,
      led: true,
      async run(client) {
        const { rows } = await client.query<{ created: number; dropped: number }>(
          'select created, dropped from noetl.fn_execution_partitions_maintain()',
        )
        const { created, dropped } = rows[0]!
        return created + dropped > 0 ? `${created} partitions made, ${dropped} dropped` : undefined
      },
    },
    {
      name: 'execution results',
      everyMs: HOUR,
      // In transactions of its own, a batch each.
      async run() {
        const store = shared?.()
        const { results, orphans: files } = await collectResults(pool, home, new Date(), store)
        const deleted = files + (store ? await orphans(store) : 0)
        return results + deleted > 0
          ? `${results} results forgotten, ${deleted} files without one deleted`
          : undefined
      },
    },
    {
      // Engines do it for each other; this is for when the last one has died.
      name: 'commands of dead engines',
      everyMs: REAP_MS,
      led: true,
      async run(client) {
        const freed = await callFunction(client, 'select noetl.fn_engine_reap() as answer')
        return freed > 0 ? `${freed} commands are free again` : undefined
      },
    },
    {
      // Engines do it all the time. Where none runs, the reader of the outbox goes when nobody waits any more.
      name: 'waits',
      everyMs: HOUR,
      led: true,
      async run(client) {
        const woken = await callFunction(client, 'select noetl.fn_waits_wake() as answer')
        return woken > 0 ? `${woken} steps woken` : undefined
      },
    },
  ]
}

async function callFunction(client: Client, sql: string): Promise<number> {
  const { rows } = await client.query<{ answer: number }>(sql)
  return rows[0]!.answer
}

interface CollectedResults {
  /** Results past their retention. */
  readonly results: number
  /** Files whose row was never written. */
  readonly orphans: number
}

const RESULTS_BATCH = 1000
const MAX_LOOKED = 20 * RESULTS_BATCH
const DELETES_AT_ONCE = 16
/** A file is older than its row by moments, never by a day. */
const ORPHAN_AFTER_MS = 24 * 60 * 60 * 1000

/** Deletes results past their retention, and files without a row. `pool` acts as dot_executor. Without a home only rows go. */
export async function collectResults(
  pool: Pool,
  home: string | undefined,
  now = new Date(),
  shared?: BlobStore,
): Promise<CollectedResults> {
  let results = 0
  for (let batch = RESULTS_BATCH; batch === RESULTS_BATCH; results += batch)
    batch = await collectBatch(pool, home, shared)
  return { results, orphans: home === undefined ? 0 : await sweepOrphans(pool, home, now) }
}

/** The files go before the marks are committed: if this process ends in between, both come again. */
function collectBatch(pool: Pool, home: string | undefined, shared: BlobStore | undefined): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ store_tier: string; physical_uri: string | null }>(
      'select store_tier, physical_uri from noetl.fn_results_expire($1)',
      [RESULTS_BATCH],
    )
    for (const { store_tier: tier, physical_uri: uri } of rows) {
      if (home !== undefined && uri !== null && isFileTier(tier)) await removeResultFile(home, uri)
    }
    const objects = rows.flatMap(({ store_tier: tier, physical_uri: uri }) =>
      uri !== null && shared?.schemes.includes(tier) ? [uri] : [],
    )
    while (objects.length > 0)
      await Promise.all(objects.splice(0, DELETES_AT_ONCE).map((uri) => shared!.delete(uri)))
    return rows.length
  })
}

/**
 * Deletes objects that no result refers to. A run looks at up to 20,000, and the next one goes on behind them, because the locations
 * of results have no index.
 */
function sharedOrphans(pool: Pool): (store: BlobStore) => Promise<number> {
  let seen: string | undefined
  return async (store) => {
    const before = new Date(Date.now() - ORPHAN_AFTER_MS)
    let orphans = 0
    let looked = 0
    let uris: string[] = []
    const look = async (): Promise<void> => {
      const { rows } = await pool.query<{ uri: string }>(
        `select uri from unnest($1::text[]) as uri
          where not exists (select from noetl.result_ref r
                             where r.store_tier = any ($2) and r.collected_at is null and r.physical_uri = uri)`,
        [uris, store.schemes],
      )
      for (const { uri } of rows) await store.delete(uri)
      orphans += rows.length
      uris = []
    }
    let last: string | undefined
    for await (const uri of store.list(before, seen)) {
      last = uri
      if (uris.push(uri) === RESULTS_BATCH) await look()
      if (++looked === MAX_LOOKED) break
    }
    await look()
    seen = looked === MAX_LOOKED ? last : undefined
    return orphans + (await store.sweep(before))
  }
}

async function sweepOrphans(pool: Pool, home: string, now: Date): Promise<number> {
  const { files, drafts } = await findOldResultFiles(home, new Date(now.getTime() - ORPHAN_AFTER_MS))
  await removeDrafts(drafts)
  let orphans = 0
  for (let from = 0; from < files.length; from += RESULTS_BATCH) {
    for (const file of await withoutRow(pool, files.slice(from, from + RESULTS_BATCH))) {
      await removeResultFile(home, file.uri)
      orphans++
    }
  }
  return orphans
}

/** Those of collected rows too: of another machine's collection, if the folder is a copy. */
async function withoutRow(pool: Pool, files: readonly ResultFile[]): Promise<ResultFile[]> {
  const { rows } = await pool.query<{ ref: string }>(
    'select ref_id::text as ref from noetl.result_ref where ref_id = any ($1) and collected_at is null',
    [files.map((file) => file.ref)],
  )
  const withRow = new Set(rows.map((row) => row.ref))
  return files.filter((file) => !withRow.has(file.ref))
}

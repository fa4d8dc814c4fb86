/** Maintenance of executions: partitions of their log, the retention of results, commands of dead engines. */
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import { findOldResultFiles, isFileTier, type ResultFile, removeDrafts, removeResultFile } from './results.ts'

const HOUR = 3_600_000
const REAP_MS = 5000

/** `pool` acts as dot_executor; `home` is where results on disk are, on the machine that has them. */
export function executionTasks(pool: Pool, home?: string): MaintenanceTask[] {
  return [
    {
      name: 'execution partitions',
      everyMs: HOUR,
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
        const { results, orphans } = await collectResults(pool, home)
        return results + orphans > 0
          ? `${results} results forgotten, ${orphans} files without one deleted`
          : undefined
      },
    },
    {
      // Engines do it for each other; this is for when the last one has died.
      name: 'commands of dead engines',
      everyMs: REAP_MS,
      async run(client) {
        const freed = await callFunction(client, 'select noetl.fn_engine_reap() as answer')
        return freed > 0 ? `${freed} commands are free again` : undefined
      },
    },
    {
      // Engines do it all the time. Where none runs, the reader of the outbox goes when nobody waits any more.
      name: 'waits',
      everyMs: HOUR,
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
/** A file is older than its row by moments, never by a day. */
const ORPHAN_AFTER_MS = 24 * 60 * 60 * 1000

/** Deletes results past their retention, and files without a row. `pool` acts as dot_executor. Without a home only rows go. */
export async function collectResults(
  pool: Pool,
  home: string | undefined,
  now = new Date(),
): Promise<CollectedResults> {
  let results = 0
  for (let batch = RESULTS_BATCH; batch === RESULTS_BATCH; results += batch)
    batch = await collectBatch(pool, home)
  return { results, orphans: home === undefined ? 0 : await sweepOrphans(pool, home, now) }
}

/** The files go before the marks are committed: if this process ends in between, both come again. */
function collectBatch(pool: Pool, home: string | undefined): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ store_tier: string; physical_uri: string | null }>(
      'select store_tier, physical_uri from noetl.fn_results_expire($1)',
      [RESULTS_BATCH],
    )
    for (const { store_tier: tier, physical_uri: uri } of rows) {
      if (home !== undefined && uri !== null && isFileTier(tier)) await removeResultFile(home, uri)
    }
    return rows.length
  })
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

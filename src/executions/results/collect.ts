/** What nobody will ask for again: results past their retention, and files that no row tells of. */
import type { Pool } from '../../db/connection.ts'
import { inTransaction } from '../../db/transaction.ts'
import { isFile, oldResults, removeDrafts, removeResult, type StoredResult } from './disk.ts'

export interface Collected {
  /** Past their retention. */
  readonly results: number
  /** Files whose row was never written. */
  readonly orphans: number
}

const BATCH = 1000
/** A file is older than its row by moments, never by a day. */
const ORPHAN_AFTER_MS = 24 * 60 * 60 * 1000

/** `pool` acts as dot_executor. Without a home only rows go. */
export async function collectResults(
  pool: Pool,
  home: string | undefined,
  now = new Date(),
): Promise<Collected> {
  let results = 0
  for (let batch = BATCH; batch === BATCH; results += batch) batch = await collectBatch(pool, home)
  return { results, orphans: home === undefined ? 0 : await sweepOrphans(pool, home, now) }
}

/** The files go before the marks are committed: if this process ends in between, both come again. */
function collectBatch(pool: Pool, home: string | undefined): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ store_tier: string; physical_uri: string | null }>(
      'select store_tier, physical_uri from noetl.fn_results_collect($1)',
      [BATCH],
    )
    for (const { store_tier: tier, physical_uri: uri } of rows) {
      if (home !== undefined && uri !== null && isFile(tier)) await removeResult(home, uri)
    }
    return rows.length
  })
}

async function sweepOrphans(pool: Pool, home: string, now: Date): Promise<number> {
  const { files, drafts } = await oldResults(home, new Date(now.getTime() - ORPHAN_AFTER_MS))
  await removeDrafts(drafts)
  let orphans = 0
  for (let from = 0; from < files.length; from += BATCH) {
    for (const file of await withoutRow(pool, files.slice(from, from + BATCH))) {
      await removeResult(home, file.uri)
      orphans++
    }
  }
  return orphans
}

/** Those of collected rows too: of another machine's collection, if the folder is a copy. */
async function withoutRow(pool: Pool, files: readonly StoredResult[]): Promise<StoredResult[]> {
  const { rows } = await pool.query<{ ref: string }>(
    'select ref_id::text as ref from noetl.result_ref where ref_id = any ($1) and collected_at is null',
    [files.map((file) => file.ref)],
  )
  const kept = new Set(rows.map((row) => row.ref))
  return files.filter((file) => !kept.has(file.ref))
}

/**
 * Files of rows into staging_rows. A session of PostgreSQL takes them on one core, and DuckDB needs only a part of another,
 * so a second session takes every other file where the pool has one to spare.
 *
 * The first session's transaction ends the reading; what the second has committed before counts from then on. Until then
 * the upload is being read, and if it comes to nothing its rows go with it: by the reader, or by the sweep if that died.
 */
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { Client, Pool } from '../db/connection.ts'
import { inTransaction } from '../db/transaction.ts'
import { ROWS_IN } from './datasets/compile-select.ts'
import type { ReportProgress } from './progress.ts'

export interface CopyRequest {
  readonly pool: Pool
  readonly upload: { readonly upload_id: string; readonly reader_token: string }
  readonly report: ReportProgress
}

/** What comes of `files` is taken once, by whichever session is free; each file is removed then. */
interface Work {
  readonly files: AsyncGenerator<string>
  /** Without a temporary table between. */
  readonly direct: boolean
  readonly total: number
  taken: number
  done: number
  readonly report: ReportProgress
}

const COLUMNS = `id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, raw_payload,
  normalized_payload, validation_status, validation_errors, validation_warnings`

/** `client` is in the transaction that ends the reading. */
export async function copyRows(
  client: Client,
  { pool, upload, report }: CopyRequest,
  total: number,
  files: AsyncGenerator<string>,
): Promise<void> {
  const { direct, seesOthers } = await whatSessionMay(client)
  const work: Work = { files, direct, total, taken: 0, done: 0, report }
  const helped =
    total > 1 && seesOthers && hasSessionToSpare(pool) ? helpCopying(pool, upload, work) : Promise.resolve()
  // Both, before anything is given up: an error of one ends the files, and so the other.
  const outcomes = await Promise.allSettled([takeFiles(client, work), helped])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/**
 * COPY: PostgreSQL refuses it into a table with row security, unless the role bypasses it, as ours does where it may.
 * And a transaction that reads from a snapshot would not see what another has committed.
 */
async function whatSessionMay(client: Client): Promise<{ direct: boolean; seesOthers: boolean }> {
  const { rows } = await client.query<{ direct: boolean; seesOthers: boolean }>(
    `select not row_security_active('public.staging_rows') as direct,
            current_setting('transaction_isolation') = 'read committed' as "seesOthers"`,
  )
  return rows[0]!
}

/** One more has to be left for others: nobody may wait for a session that waits for another one. */
function hasSessionToSpare({ options, totalCount, idleCount, waitingCount }: Pool): boolean {
  return waitingCount === 0 && (options.max ?? 0) - (totalCount - idleCount) >= 2
}

/** No session of ours waits for this one while it waits for a lock longer than that: the server would not see the circle. */
const PATIENCE = `set local lock_timeout = '5s'; lock table public.staging_rows in row exclusive mode`

async function helpCopying(pool: Pool, { upload_id, reader_token }: CopyRequest['upload'], work: Work) {
  let helps = false
  try {
    await inTransaction(
      pool,
      async (client) => {
        await client.query(PATIENCE)
        helps = true
        await takeFiles(client, work)
        if (work.taken < work.total) throw new Error('the other session gave up')
        // Whoever was given up meanwhile finds out here, and commits nothing.
        await client.query('select iu_core.fn_ingest_progress($1, $2, $3)', [
          upload_id,
          reader_token,
          JSON.stringify({ stage: 'stage', done: work.done, total: work.total }),
        ])
      },
      { role: 'service_role' },
    )
  } catch (error) {
    // No session to be had, or the table is locked: the first one does it alone.
    if (helps) throw error
  }
}

/** To be thrown away by an error: then `files` ends for the other session, too. */
async function takeFiles(client: Client, work: Work): Promise<void> {
  if (!work.direct) await client.query(ARRIVALS)
  for await (const file of work.files) {
    work.taken += 1
    await copyFile(client, file, work.direct)
    work.done += 1
    work.report({ stage: 'stage', done: work.done, total: work.total })
  }
}

/** Elsewhere a chunk arrives in a temporary table (measured: 2.2 s more for 100,000 lines). */
const ARRIVALS = `create temporary table ingest_arrivals on commit drop as
  select ${COLUMNS} from public.staging_rows with no data`

async function copyFile(client: Client, path: string, direct: boolean): Promise<void> {
  const table = direct ? 'public.staging_rows' : 'ingest_arrivals'
  const sink = client.query(copyFrom(`copy ${table} (${COLUMNS}) from stdin (${ROWS_IN})`))
  await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), sink)
  if (!direct) {
    await client.query(
      `insert into public.staging_rows (${COLUMNS}) select ${COLUMNS} from ingest_arrivals; truncate ingest_arrivals`,
    )
  }
  await rm(path)
}

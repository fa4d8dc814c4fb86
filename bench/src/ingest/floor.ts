/**
 * The floor: rows of the same shape, ready-made, by COPY into a table with one unique index, one INSERT … ON CONFLICT
 * into metrics, one UPDATE that marks them. Nothing is read, checked, resolved, planned, compared or logged.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pgCopy from 'pg-copy-streams'
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { ingestExport, openWorld } from './world.ts'

const TABLES = `
  create table floor_rows (like public.staging_rows including defaults);
  create unique index on floor_rows (upload_id, row_number, row_type);
  create table floor_metrics (
    id uuid primary key default gen_random_uuid(), ad text, date date, impressions bigint, clicks bigint, spend numeric,
    reach bigint, currency text, unique (ad, date))`

const PROMOTE = `insert into floor_metrics (ad, date, impressions, clicks, spend, reach, currency)
  select normalized_payload ->> '@ad', (normalized_payload ->> 'date')::date, (normalized_payload ->> 'impressions')::bigint,
         (normalized_payload ->> 'clicks')::bigint, (normalized_payload ->> 'spend')::numeric,
         (normalized_payload ->> 'reach')::bigint, normalized_payload ->> 'currency'
    from floor_rows where validation_status = 'valid'
  on conflict (ad, date) do update
    set impressions = excluded.impressions, clicks = excluded.clicks, spend = excluded.spend, reach = excluded.reach`

export async function throughFloor({ database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, size, round + 1)
  const session = await database.superuser()
  try {
    const rows = join(world.home, 'rows.csv')
    await ingestExport(world, 'staged')
    await pipeline(
      session.query(pgCopy.to('copy public.staging_rows to stdout (format csv)')),
      createWriteStream(rows),
    )
    await session.query(`truncate public.staging_rows; ${TABLES}; checkpoint`)
    const started = performance.now()
    await pipeline(
      createReadStream(rows),
      session.query(pgCopy.from('copy floor_rows from stdin (format csv)')),
    )
    const copied = performance.now()
    await session.query(PROMOTE)
    const promoted = performance.now()
    await session.query(
      `update floor_rows set processing_action = 'insert', processed_at = now(), updated_at = now()`,
    )
    const elapsed = performance.now() - started
    return {
      rows_per_s: perSecond(size, elapsed),
      ms: elapsed,
      copy_ms: copied - started,
      insert_ms: promoted - copied,
      mark_ms: elapsed - (promoted - started),
    }
  } finally {
    await world.end()
  }
}

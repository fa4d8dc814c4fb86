/**
 * The floor: rows of the same shape, as public.staging_rows shows them, ready-made, by COPY into a table with one unique index, one INSERT … ON CONFLICT
 * into metrics, one UPDATE that marks them. Nothing is read, checked, resolved, planned, compared or logged. Beside it the same
 * into the table of the pipeline, with its foreign keys and CHECKs.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pgCopy from 'pg-copy-streams'
import type { Figures, Task } from '../benchmark.ts'
import { postgresCpuMs } from '../cpu.ts'
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

interface Floor {
  /** Ready-made rows for `floor_rows`: those of a staged upload, or made of what a promotion wrote. */
  readonly until: 'staged' | 'promoted'
  readonly prepare: string
  readonly promote: string
}

const BARE: Floor = { until: 'staged', prepare: TABLES, promote: PROMOTE }

const METRICS =
  'client_id, platform, campaign_id, ad_set_id, ad_id, date, currency, impressions, clicks, spend, reach'

/** Into the table of the pipeline, with its foreign keys, CHECKs and indexes; the rows have the ids of their parents. */
const SAME_TABLE: Floor = {
  until: 'promoted',
  prepare: `${TABLES}; truncate public.daily_metrics`,
  promote: `insert into public.daily_metrics (${METRICS})
    select (normalized_payload ->> 'client_id')::uuid, normalized_payload ->> 'platform', (normalized_payload ->> 'campaign_id')::uuid,
           (normalized_payload ->> 'ad_set_id')::uuid, (normalized_payload ->> 'ad_id')::uuid, (normalized_payload ->> 'date')::date,
           normalized_payload ->> 'currency', (normalized_payload ->> 'impressions')::bigint,
           (normalized_payload ->> 'clicks')::bigint, (normalized_payload ->> 'spend')::numeric,
           (normalized_payload ->> 'reach')::bigint
      from floor_rows where validation_status = 'valid'
    on conflict (ad_id, ad_set_id, campaign_id, date) do update
      set impressions = excluded.impressions, clicks = excluded.clicks, spend = excluded.spend, reach = excluded.reach`,
}

export const throughFloor = (task: Task): Promise<Figures> => through(BARE, task)
export const throughSameTable = (task: Task): Promise<Figures> => through(SAME_TABLE, task)

async function through(floor: Floor, { database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, size, round + 1)
  const session = await database.superuser()
  try {
    const rows = join(world.home, 'rows.csv')
    await ingestExport(world, floor.until)
    if (floor.until === 'promoted') {
      await session.query(
        `update iu_core.ingest_staged_row s set normalized_payload = to_jsonb(m.*), normalized_values = null from public.daily_metrics m where m.id = s.id;
         delete from iu_core.ingest_staged_row where row_type <> 'daily_metric'`,
      )
    }
    await pipeline(
      session.query(pgCopy.to('copy (select * from public.staging_rows) to stdout (format csv)')),
      createWriteStream(rows),
    )
    await session.query(`truncate iu_core.ingest_staged_row; ${floor.prepare}; checkpoint`)
    const cpu = await postgresCpuMs(session)
    const started = performance.now()
    await pipeline(
      createReadStream(rows),
      session.query(pgCopy.from('copy floor_rows from stdin (format csv)')),
    )
    const copied = performance.now()
    await session.query(floor.promote)
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
      postgres_cpu_ms: (await postgresCpuMs(session)) - cpu,
    }
  } finally {
    await world.end()
  }
}

/** What the seed expected of its own design, measured on ours: small batches, look-ups, the hourly cleanup. */
import type { Figures, Task } from '../benchmark.ts'
import { median, perSecond } from '../statistics.ts'
import { writeMetaExport } from './exports.ts'
import { ingestExport, openWorld } from './world.ts'

const BATCH = 1000
const LOOKUPS = 200

/** Rows are those of an upload: one that ended, so that nobody waits for them. */
const OLD_UPLOAD = `insert into iu_core.ingest_upload (
    upload_id, workspace_id, client_id, dataset, platform, file_name, file_hash, byte_len, status, ended_at, uploaded_by, changed_by)
  values ('00000000-0000-7000-8000-000000000001', $1, $1, 'ads', 'meta', 'old.csv', repeat('0', 64), 1, 'discarded', now(), 'bench', '{}')`

/** Rows that were promoted eight days ago: one bucket of retention, all due. */
const OLD_ROWS = `insert into iu_core.ingest_staged_row (
    workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload, normalized_payload, validation_status,
    processing_action, processed_at, created_at)
  select $1, $1, '00000000-0000-7000-8000-000000000001', 'meta', 'daily_metric', n, '{"Day": "2026-11-09"}',
         '{"date": "2026-11-09"}', 'valid', 'insert', now() - interval '8 days', now() - interval '9 days'
    from generate_series(1, $2::int) n`

export async function asTheSeedExpects({ database, size, round }: Task): Promise<Figures> {
  const world = await openWorld(database, BATCH, round + 1)
  const session = await database.superuser()
  try {
    const staged: number[] = []
    let upload = ''
    for (let batch = 0; batch < 4; batch++) {
      writeMetaExport(world.file, { lines: BATCH, seed: 100 * round + batch + 1 })
      const started = performance.now()
      const ingested = await ingestExport(world, batch === 0 ? 'planned' : 'staged')
      // The first opens DuckDB and its connections.
      if (batch === 0) upload = ingested.upload_id
      else staged.push(performance.now() - started)
    }
    const external = await session.query(
      'select external_id from public.staging_id_resolution where upload_id = $1 limit $2',
      [upload, LOOKUPS],
    )
    const lookups: number[] = []
    for (const { external_id } of external.rows) {
      const started = performance.now()
      await session.query({
        name: 'lookup',
        text: `select internal_id from public.staging_id_resolution
                where upload_id = $1 and entity_type = 'ad' and platform = 'meta' and external_id = $2`,
        values: [upload, external_id],
      })
      lookups.push(performance.now() - started)
    }
    await session.query(OLD_UPLOAD, [world.workspace])
    await session.query(OLD_ROWS, [world.workspace, size])
    const started = performance.now()
    let deleted = 0
    while (deleted < size) {
      const { rows } = await session.query('select promoted_deleted as n from public.cleanup_staging_rows()')
      if (rows[0].n === 0) break
      deleted += rows[0].n
    }
    const elapsed = performance.now() - started
    return {
      staged_1000_ms: median(staged),
      lookup_ms: median(lookups),
      cleanup_rows_per_s: perSecond(deleted, elapsed),
      cleanup_s: elapsed / 1000,
      rows_left: size - deleted,
    }
  } finally {
    await world.end()
  }
}

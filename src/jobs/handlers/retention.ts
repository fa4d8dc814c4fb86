/** Handlers that delete what is past its retention. */
import type { JobHandler } from '../handlers.ts'

/** Records a transaction: short enough that nobody waits for it. */
const BATCH = 500
/** A sweep ends by then; what is left is swept with the next one. */
const SWEEP_MS = 20_000

/** Only what the retention of its kind has released; nothing while the gate is closed. */
export const sweepStaging: JobHandler = async (_job, context) => {
  const until = performance.now() + SWEEP_MS
  let cleaned = 0
  for (;;) {
    const batch = await context.transaction(async (client) => {
      const { rows } = await client.query<{ cleaned: number | null }>(
        `select case when iu_core.fn_gate_open('iu_core.staging_cleanup_enabled')
                     then (iu_core.fn_iu_staging_cleanup(jsonb_build_object('limit', $1::integer)) ->> 'cleaned')::integer
                end as cleaned`,
        [BATCH],
      )
      return rows[0]!.cleaned
    })
    if (batch === null) return { cleaned, skipped: 'the gate iu_core.staging_cleanup_enabled is closed' }
    cleaned += batch
    if (batch < BATCH || performance.now() > until || context.signal.aborted) return { cleaned }
  }
}

/** What the SQL functions delete at most in one call. */
const ROWS_A_BATCH = 10_000
/** As long as cleanup_staging_rows() goes on. */
const CLEANUP_MS = 60_000

/** One transaction for each batch: what is deleted stays deleted, and no lock is held for a minute. */
export const cleanStagedRows: JobHandler = async (_job, context) => {
  const until = performance.now() + CLEANUP_MS
  const all = { promoted: 0, invalid: 0, orphaned: 0 }
  for (;;) {
    const deleted = await context.transaction(async (client) => {
      await client.query('set local role service_role')
      const { rows } = await client.query<typeof all>(
        `select promoted_deleted as promoted, invalid_deleted as invalid, orphan_deleted as orphaned
           from iu_core.fn_ingest_cleanup_rows()`,
      )
      return rows[0]!
    })
    all.promoted += deleted.promoted
    all.invalid += deleted.invalid
    all.orphaned += deleted.orphaned
    const count = deleted.promoted + deleted.invalid + deleted.orphaned
    if (count < ROWS_A_BATCH || performance.now() > until || context.signal.aborted) return all
  }
}

export const cleanIdResolutions: JobHandler = async (_job, context) => {
  const until = performance.now() + CLEANUP_MS
  let deleted = 0
  for (;;) {
    const batch = await context.transaction(async (client) => {
      await client.query('set local role service_role')
      const { rows } = await client.query<{ deleted: number }>(
        'select iu_core.fn_ingest_cleanup_resolutions() as deleted',
      )
      return rows[0]!.deleted
    })
    deleted += batch
    if (batch < ROWS_A_BATCH || performance.now() > until || context.signal.aborted) return { deleted }
  }
}

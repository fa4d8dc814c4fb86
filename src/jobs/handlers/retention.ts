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

export const cleanStagedRows: JobHandler = (_job, context) =>
  context.transaction(async (client) => {
    await client.query('set local role service_role')
    const { rows } = await client.query(
      `select promoted_deleted as promoted, invalid_deleted as invalid, orphan_deleted as orphaned
         from public.cleanup_staging_rows()`,
    )
    return rows[0]
  })

export const cleanIdResolutions: JobHandler = (_job, context) =>
  context.transaction(async (client) => {
    await client.query('set local role service_role')
    const { rows } = await client.query('select public.cleanup_staging_id_resolution() as deleted')
    return rows[0]
  })

/** Three active consumers, and events for them. */
import type { Figures, Task } from '../benchmark.ts'
import type { BenchDatabase } from '../server.ts'
import { perSecond } from '../statistics.ts'

export const CONSUMERS: readonly string[] = ['mail', 'index', 'report']
const TRANSACTION = 1000

export async function prepareEvents(task: Task): Promise<Figures> {
  const { database, size } = task
  await activateConsumers(database)
  const writer = await database.worker()
  const started = performance.now()
  for (let from = 0; from < size; from += TRANSACTION) {
    await writer.query('select count(*) from iu_core.fn_event_emit_batch($1)', [
      eventsOfUploads(from, Math.min(TRANSACTION, size - from)),
    ])
  }
  const elapsed = performance.now() - started
  // The state in which autovacuum leaves the tables, reached before the measurement and not during it.
  const superuser = await database.superuser()
  await superuser.query('vacuum (analyze)')
  await superuser.query('checkpoint')
  return { events_per_s: perSecond(size, elapsed), ms: elapsed }
}

export async function activateConsumers(database: BenchDatabase): Promise<void> {
  const owner = await database.superuser()
  const reviewer = await database.worker()
  await reviewer.query('set role service_role')
  await owner.query(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
  for (const consumer of CONSUMERS) {
    await owner.query('select iu_core.fn_consumer_register($1)', [
      JSON.stringify({
        consumer_id: consumer,
        event_domain: 'staging',
        event_type: 'ingestion_complete',
        job_kind: `${consumer}_upload`,
        idempotency_key_template: '{event_id}',
        payload_ref_template: '{event_subject_ref}',
      }),
    ])
    await owner.query('select iu_core.fn_consumer_dry_run($1)', [consumer])
    // As if the dry run had seen an event.
    await owner.query(
      `insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome)
       values (iu_core.fn_time_uuid(), $1, 'dry_run')`,
      [consumer],
    )
    await reviewer.query('select iu_core.fn_consumer_review($1, 1)', [consumer])
    await owner.query('select iu_core.fn_consumer_activate($1)', [consumer])
  }
}

/** Shaped like those of an ingestion: a subject, an address and a few references. */
export function eventsOfUploads(from: number, count: number, workspace?: string): string {
  return JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      event_domain: 'staging',
      event_type: 'ingestion_complete',
      event_stream: 'uploads',
      event_subject_ref: `upload-${from + index}`,
      canonical_address: `stagedoor://uploads/upload-${from + index}`,
      ...(workspace !== undefined && { workspace_id: workspace }),
      safe_payload: { upload_id: from + index, dataset: 'meta_ads', row_count: 1000 + index },
    })),
  )
}

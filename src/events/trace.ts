/** Events that belong together: what happened first, and all that followed from it. */
import type { Queryable } from '../db/connection.ts'
import type { Dispatch } from './consumers.ts'
import type { OutboxEvent } from './outbox.ts'

const COLUMNS = `id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
  correlation_id, causation_event_id, causation_depth, actor, actor_via, safe_payload, created_at`

/** Oldest first, as far as the caller may see. The first one is found by its id, which is what the others carry; or all carry another's. */
export async function correlatedEvents(
  db: Queryable,
  correlation: string,
  most: number,
): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(
    `(select ${COLUMNS} from iu_core.event_outbox where id = $1)
      union all
     (select ${COLUMNS} from iu_core.event_outbox
       where correlation_id = $1 and correlation_id <> id order by id limit $2)
      order by id limit $2`,
    [correlation, most],
  )
  return rows
}

/** What the event belongs to; undefined where there is no such event, or none that the caller may see. */
export async function correlationOfEvent(db: Queryable, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ correlation_id: string }>(
    'select correlation_id from iu_core.event_outbox where id = $1',
    [id],
  )
  return rows[0]?.correlation_id
}

/** Where consumers made no job of these events: a dry run, too deep, an error, a turn to wait for. Agents see none of it. */
export async function undeliveredOf(db: Queryable, events: readonly string[]): Promise<Dispatch[]> {
  const { rows: allowed } = await db.query<{ may: boolean }>(
    `select has_table_privilege('iu_core.event_dispatch_log', 'select') as may`,
  )
  if (!allowed[0]!.may) return []
  const { rows } = await db.query<Dispatch>(
    `select event_id, consumer_id, outcome, job_id, detail, dispatched_at from iu_core.event_dispatch_log
      where event_id = any ($1) and outcome not in ('enqueued', 'duplicate') order by dispatched_at, consumer_id`,
    [events],
  )
  return rows
}

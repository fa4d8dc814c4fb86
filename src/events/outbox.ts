/** The event outbox: writing signals, reading them in commit order, listing them for people. */
import type { Queryable } from '../db/connection.ts'

/** What a writer gives. The names are those of the columns. */
export interface NewEvent {
  readonly event_domain: string
  readonly event_type: string
  readonly event_stream?: string
  readonly event_subject_ref?: string
  readonly canonical_address?: string
  readonly workspace_id?: string
  readonly safe_payload?: Readonly<Record<string, unknown>>
  readonly correlation_id?: string
  readonly causation_event_id?: string
}

export interface OutboxEvent {
  readonly id: string
  readonly event_domain: string
  readonly event_type: string
  readonly event_stream: string | null
  readonly event_subject_ref: string | null
  readonly canonical_address: string | null
  readonly workspace_id: string | null
  readonly correlation_id: string
  readonly causation_event_id: string | null
  readonly causation_depth: number
  readonly actor: string
  readonly actor_via: string | null
  readonly safe_payload: Record<string, unknown>
  readonly created_at: Date
}

const COLUMNS = `id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
  correlation_id, causation_event_id, causation_depth, actor, actor_via, safe_payload, created_at`

/** Writes events in the caller's transaction, in their order. Returns their ids. */
export async function emitEvents(db: Queryable, events: readonly NewEvent[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('select id from iu_core.fn_event_emit_batch($1) as id', [
    JSON.stringify(events),
  ])
  return rows.map((row) => row.id)
}

/** Returns whether the reader is new. */
export async function registerReader(db: Queryable, reader: string, fromBeginning = false): Promise<boolean> {
  const { rows } = await db.query<{ added: boolean }>(
    'select iu_core.fn_event_reader_register($1, $2) as added',
    [reader, fromBeginning],
  )
  return rows[0]!.added
}

/** Takes the reader away with its position. Returns whether it was there. */
export async function removeReader(db: Queryable, reader: string): Promise<boolean> {
  const { rows } = await db.query<{ removed: boolean }>(
    'select iu_core.fn_event_reader_remove($1) as removed',
    [reader],
  )
  return rows[0]!.removed
}

/** The reader's next events; its watermark moves when the caller's transaction commits. */
export async function readEvents(db: Queryable, reader: string, limit = 1000): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(`select ${COLUMNS} from iu_core.fn_event_read($1, $2)`, [
    reader,
    limit,
  ])
  return rows
}

/** Newest first, as far as the caller may see. `after` is the id of the last event of the page before. */
export async function listEvents(
  db: Queryable,
  page: { limit: number; after?: string },
): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(
    `select ${COLUMNS} from iu_core.event_outbox
      where $2::uuid is null or id < $2 order by id desc limit $1`,
    [page.limit, page.after ?? null],
  )
  return rows
}

/** What happened to one subject, oldest first. `after` is the id of the last event of the page before. */
export async function listEventsAbout(
  db: Queryable,
  about: { domain: string; subject: string; limit: number; after?: string },
): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(
    `select ${COLUMNS} from iu_core.event_outbox
      where event_domain = $1 and event_subject_ref = $2 and ($4::uuid is null or id > $4)
      order by id limit $3`,
    [about.domain, about.subject, about.limit, about.after ?? null],
  )
  return rows
}

export async function maintainPartitions(db: Queryable): Promise<{ created: number; dropped: number }> {
  const { rows } = await db.query<{ created: number; dropped: number }>(
    'select created, dropped from iu_core.fn_event_partitions_maintain()',
  )
  return rows[0]!
}

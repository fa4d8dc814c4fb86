/** The event outbox: writing signals, reading them in commit order, listing them for people. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import type { MaintenanceTask } from '../runtime/periodic-tasks.ts'
import type { Dispatch } from './consumers.ts'
import { OutboxEvent } from './shapes.ts'

export type { OutboxEvent } from './shapes.ts'

/** What a writer gives. The names are those of the columns. */
export interface NewEvent {
  readonly event_domain: string
  readonly event_type: string
  readonly event_stream?: string
  readonly event_subject_ref?: string
  readonly canonical_address?: string
  readonly workspace_id?: string
  readonly payload?: Readonly<Record<string, unknown>>
  readonly correlation_id?: string
  readonly causation_event_id?: string
}

const COLUMNS = columnsOf(OutboxEvent, { as: { payload: 'safe_payload' } })

/** Writes events in the caller's transaction, in their order. Returns their ids. */
export async function emitEvents(db: Queryable, events: readonly NewEvent[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('select id from iu_core.fn_event_emit_batch($1) as id', [
    JSON.stringify(events.map(({ payload, ...event }) => ({ safe_payload: payload, ...event }))),
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

/** Deletes the reader with its position. Returns whether it existed. */
export async function deleteReader(db: Queryable, reader: string): Promise<boolean> {
  const { rows } = await db.query<{ deleted: boolean }>(
    'select iu_core.fn_event_reader_delete($1) as deleted',
    [reader],
  )
  return rows[0]!.deleted
}

/** The reader's next events; its watermark moves when the caller's transaction commits. */
export async function readEvents(db: Queryable, reader: string, limit = 1000): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(`select ${COLUMNS} from iu_core.fn_event_read($1, $2)`, [
    reader,
    limit,
  ])
  return rows
}

export interface EventFilter {
  readonly limit: number
  /** The id of the last event of the page before. */
  readonly after?: string | undefined
  readonly domain?: string | undefined
  readonly type?: string | undefined
  readonly subject?: string | undefined
  /** From this time, and before that one. */
  readonly since?: string | Date | undefined
  readonly until?: string | Date | undefined
}

/** Newest first, as far as the caller may see. Ids are ordered by time, so a time is a bound of the ids. */
export async function listEvents(db: Queryable, filter: EventFilter): Promise<OutboxEvent[]> {
  const { rows } = await db.query<OutboxEvent>(
    `select ${COLUMNS} from iu_core.event_outbox
      where ($2::uuid is null or id < $2) and ($3::text is null or event_domain = $3) and ($4::text is null or event_type = $4)
        and ($5::text is null or event_subject_ref = $5)
        and ($6::timestamptz is null or id >= iu_core.fn_time_uuid_floor($6))
        and ($7::timestamptz is null or id < iu_core.fn_time_uuid_floor($7))
      order by id desc limit $1`,
    [
      filter.limit,
      ...[filter.after, filter.domain, filter.type, filter.subject, filter.since, filter.until].map(
        (value) => value ?? null,
      ),
    ],
  )
  return rows
}

export async function requireEvent(db: Queryable, id: string): Promise<OutboxEvent> {
  const { rows } = await db.query<OutboxEvent>(`select ${COLUMNS} from iu_core.event_outbox where id = $1`, [
    id,
  ])
  if (rows[0]) return rows[0]
  throw new StagedoorError(
    'not_found',
    { what: `event ${id}` },
    { hint: '`stagedoor event list` shows the ids. Events go after their retention.' },
  )
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

async function maintainPartitions(db: Queryable): Promise<{ created: number; dropped: number }> {
  const { rows } = await db.query<{ created: number; dropped: number }>(
    'select created, dropped from iu_core.fn_event_partitions_maintain()',
  )
  return rows[0]!
}

// How far behind the readers of the outbox are.

export interface ReaderLag {
  readonly reader: string
  /** At most as many as were asked for. */
  readonly unread: number
  /** The age of the oldest event that it has not read, in seconds; 0 if there is none. */
  readonly lag_s: number
}

/** Counts up to `most`: a reader that has been stopped for days must not make every scrape slow. */
export async function readerLag(db: Queryable, most = 10_000): Promise<ReaderLag[]> {
  const { rows } = await db.query<ReaderLag>(
    `select r.reader, count(u.created_at)::int as unread,
            coalesce(extract(epoch from clock_timestamp() - min(u.created_at)), 0)::float8 as lag_s
       from iu_core.event_reader r
       left join lateral (
         select e.created_at from iu_core.event_outbox e
          where e.tx >= pg_snapshot_xmin(r.seen) and not pg_visible_in_snapshot(e.tx, r.seen)
            and (r.cursor_tx is null or (e.tx, e.seq) > (r.cursor_tx, r.cursor_seq))
          order by e.tx, e.seq limit $1) u on true
      group by r.reader order by r.reader`,
    [most],
  )
  return rows
}

// Events of one trace: the first one, and all that follow from it.

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

/** Events of which a consumer made no job, with the reason: dry run, depth limit, error, rate limit. Agents see none. */
export async function listUndeliveredEvents(db: Queryable, events: readonly string[]): Promise<Dispatch[]> {
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

// After a logical restore: computes every position in the outbox again. Needs the administrator's role.

interface Restored {
  readonly events: number
  /** Events that the dispatcher has not dispatched yet. */
  readonly undispatched: number
  readonly readers: number
  readonly consumers: number
}

/** Run it before anything else writes. Run twice, or where nothing was restored, it changes nothing that is read. */
export async function rebaseAfterRestore(db: Queryable): Promise<Restored> {
  const { rows } = await db.query<Record<keyof Restored, string>>('select * from iu_core.fn_events_rebase()')
  const { events, undispatched, readers, consumers } = rows[0]!
  return {
    events: Number(events),
    undispatched: Number(undispatched),
    readers: Number(readers),
    consumers: Number(consumers),
  }
}

// Maintenance of the outbox: creates partitions ahead, and drops those that every reader has read.

const HOUR = 3_600_000

export const eventTasks: readonly MaintenanceTask[] = [
  {
    name: 'event partitions',
    everyMs: HOUR,
    led: true,
    async run(client) {
      const { created, dropped } = await maintainPartitions(client)
      return created + dropped > 0 ? `${created} partitions made, ${dropped} dropped` : undefined
    },
  },
]

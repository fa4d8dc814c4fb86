/**
 * The way of the data in numbers: each room with what waits, what runs, its rate, what has waited longest and its trouble, as far as the
 * caller may see. The overview of the console and `stagedoor status` show the same.
 */
import { Gate, listGates } from '../gates/gates.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { nullable, type Row, shape, Text, Timestamp, Type } from '../kernel/schema.ts'

/** In the order of the data, as the console lists them. */
export const ROOMS = [
  'changes',
  'uploads',
  'records',
  'promotions',
  'units',
  'events',
  'consumers',
  'jobs',
  'executions',
  'playbooks',
  'search',
] as const
export type RoomName = (typeof ROOMS)[number]

/** What needs somebody to act, in words for one and for several. Each is a list that can be opened. */
const TROUBLE_WORDS = {
  changes_requested: ['change to rework', 'changes to rework'],
  invalid_uploads: ['upload to repair', 'uploads to repair'],
  failed_uploads: ['failed upload', 'failed uploads'],
  expiring_records: ['record expires within a day', 'records expire within a day'],
  stale_plans: ['outdated plan', 'outdated plans'],
  failed_promotions: ['failed promotion', 'failed promotions'],
  deviating_units: ['unit deviates from its kind', 'units deviate from their kind'],
  drifted_units: ['stale unit: its source changed', 'stale units: their source changed'],
  failed_dispatches: ['failed event', 'failed events'],
  failing_routes: ['failing route', 'failing routes'],
  dry_routes: ['route in dry run', 'routes in dry run'],
  dead_letters: ['dead letter', 'dead letters'],
  paused_kinds: ['kind is paused', 'kinds are paused'],
  failed_executions: ['failed execution', 'failed executions'],
  late_texts: ['text waits too long', 'texts wait too long'],
  failed_texts: ['text not indexed', 'texts not indexed'],
} as const
type Trouble = keyof typeof TROUBLE_WORDS
const TROUBLES = Object.keys(TROUBLE_WORDS) as Trouble[]

/** Counts end here: more than a person tells apart, and a bound for the query. */
const MAX_COUNTED = 10_000
/** Of one step of a rate. */
const MAX_IN_STEP = 1_000
/**
 * Jobs have no index by their state, which would slow every claim. Of each kind those at the head of the queue are looked at: there are
 * the running ones, and what has waited longest.
 */
const MAX_JOBS_OF_KIND = 2_000

const Count = Type.Integer({
  description: `counted up to ${MAX_COUNTED}; of jobs up to ${MAX_JOBS_OF_KIND} of each kind`,
})

export const RoomFigures = shape('RoomFigures', {
  room: Type.Enum([...ROOMS]),
  count: Type.Integer({ description: 'what is in the room and has not ended, or what is registered' }),
  waiting: Count,
  running: Count,
  more: Type.Boolean({ description: 'there are more than were counted' }),
  rate: nullable(
    Type.Object({
      count: Type.Integer({ description: 'what came or ended in the window' }),
      window_s: Type.Integer(),
      series: Type.Array(Type.Integer(), {
        description: `the window in equal steps, oldest first; each counted up to ${MAX_IN_STEP}`,
      }),
    }),
  ),
  oldest: nullable(
    Type.Object(
      { id: Text, name: Text, at: Timestamp },
      { description: 'what has waited longest; of executions, what has run longest' },
    ),
  ),
  trouble: Type.Array(
    Type.Object({
      what: Type.Enum([...TROUBLES]),
      count: Type.Integer(),
      words: Type.String({ description: 'what is counted, for people', examples: ['dead letters'] }),
    }),
  ),
})
export type RoomFigures = Row<typeof RoomFigures>

export const Overview = shape('Overview', {
  rooms: Type.Array(RoomFigures, {
    description: 'in the order of the data; without those that you may not see',
  }),
  gates: Type.Array(Gate),
  open_issues: Type.Integer({ description: 'that need a person' }),
})
export type Overview = Row<typeof Overview>

interface RoomQuery {
  /** Without the right to read them the room is left out. */
  readonly reads: readonly string[]
  /** Columns: count, waiting, running, oldest_at, oldest_id, oldest_name, window_s, series, trouble. */
  readonly sql: string
}

const DAY = { seconds: 86_400, steps: 24 }
const HOUR = { seconds: 3_600, steps: 12 }

/** How many came in each step of a window; `from` names the table and ends with the condition that the times $from and $to bound. */
function series({ seconds, steps }: typeof DAY, from: string): string {
  const step = seconds / steps
  const at = (offset: string) => `now() - make_interval(secs => (${steps} - ${offset}) * ${step})`
  const bounded = from.replaceAll('$from', at('i')).replaceAll('$to', at('(i + 1)'))
  return `${seconds} as window_s,
          array(select (select count(*)::int from (select from ${bounded} limit ${MAX_IN_STEP}) as x)
                  from generate_series(0, ${steps - 1}) as i order by i) as series`
}

/** Of a table whose key is a time-ordered id. */
const byId = (key: string, and = '') =>
  `where ${key} >= iu_core.fn_time_uuid_floor($from) and ${key} < iu_core.fn_time_uuid_floor($to) ${and}`
const byTime = (column: string, and = '') => `where ${column} >= $from and ${column} < $to ${and}`

const counted = (from: string, most = MAX_COUNTED) =>
  `(select count(*)::int from (select from ${from} limit ${most}) as x)`

const OPEN_UPLOADS = `iu_core.ingest_upload where status in ('reading', 'staged', 'planned') and run_mode <> 'FULL_DRY_RUN'`
const OPEN_CHANGES = `('draft', 'open', 'changes_requested', 'approved')`

/** What people promote: a program uses a record that was approved. */
const TO_PROMOTE = `status = 'approved' and kind = 'upload'`

/** A change that waits: the oldest one, by when it was opened. */
const oldestChange = (where: string) =>
  `(select c.created_at, c.number::text, c.title from iu_core.change c where ${where} order by c.change_id limit 1)
     as o (oldest_at, oldest_id, oldest_name) on true`

const ROOM_QUERIES: Readonly<Record<RoomName, RoomQuery>> = {
  changes: {
    reads: ['iu_core.change'],
    sql: `
      select c.count, c.waiting, 0 as running, o.*, ${series(DAY, `iu_core.change ${byId('change_id')}`)},
             jsonb_build_object('changes_requested', c.requested) as trouble
        from (select count(*)::int as count, count(*) filter (where status = 'open')::int as waiting,
                     count(*) filter (where status = 'changes_requested')::int as requested
                from (select status from iu_core.change where status in ${OPEN_CHANGES} limit ${MAX_COUNTED}) as x) as c
        left join ${oldestChange(`status = 'open'`)}`,
  },
  uploads: {
    reads: ['iu_core.ingest_upload', 'iu_core.ingest_plan'],
    sql: `
      select u.count, u.waiting, u.running, o.*,
             ${series(DAY, `iu_core.ingest_upload ${byId('upload_id', `and run_mode <> 'FULL_DRY_RUN'`)}`)},
             jsonb_build_object(
               'invalid_uploads', u.invalid,
               'failed_uploads', ${counted(`iu_core.ingest_upload
                  where upload_id >= iu_core.fn_time_uuid_floor(now() - interval '1 day') and status = 'failed'`)}) as trouble
        from (select count(*)::int as count, count(*) filter (where x.status <> 'reading')::int as waiting,
                     count(*) filter (where x.status = 'reading')::int as running,
                     count(p.refusal)::int as invalid
                from (select upload_id, status from ${OPEN_UPLOADS} limit ${MAX_COUNTED}) as x
                left join iu_core.ingest_plan p on p.upload_id = x.upload_id) as u
        left join (select created_at, upload_id::text, file_name from ${OPEN_UPLOADS} and status in ('staged', 'planned')
                    order by ingest_upload.upload_id limit 1) as o (oldest_at, oldest_id, oldest_name) on true`,
  },
  records: {
    reads: ['iu_core.iu_staging_record', 'iu_core.ingest_plan'],
    sql: `
      select r.count, r.count as waiting, 0 as running, o.*, ${series(DAY, `iu_core.iu_staging_record ${byId('staging_record_id')}`)},
             jsonb_build_object('expiring_records', r.expiring) as trouble
        from undecided_record as r
        left join (select created_at, staging_record_id::text, purpose from undecided order by created_at limit 1)
          as o (oldest_at, oldest_id, oldest_name) on true`,
  },
  promotions: {
    reads: ['iu_core.ingest_promotion', 'iu_core.ingest_promotion_failure', 'iu_core.ingest_plan_mark'],
    sql: `
      select ${counted('iu_core.ingest_promotion where undone_at is null and undo_until > now()')} as count,
             ${counted(`iu_core.change where ${TO_PROMOTE}`)} as waiting, 0 as running, o.*,
             ${series(DAY, `iu_core.ingest_promotion ${byTime('promoted_at')}`)},
             (with u as materialized (select upload_id from ${OPEN_UPLOADS} and status = 'planned' limit ${MAX_COUNTED})
              select jsonb_build_object('stale_plans', count(*) filter (where f.code = 'plan_stale' or d.outdated = 'outdated'),
                                        'failed_promotions', count(*) filter (where f.code <> 'plan_stale'))
                from u
                join iu_core.ingest_plan p on p.upload_id = u.upload_id
                left join iu_core.fn_ingest_outdated(array(select u.upload_id from u)) as d on d.upload_id = u.upload_id
                left join lateral (select x.error ->> 'code' as code from iu_core.ingest_promotion_failure x
                               where x.upload_id = u.upload_id and x.plan_digest = p.digest
                               order by x.failure_id desc limit 1) as f on true) as trouble
        from (select) as one
        left join ${oldestChange(TO_PROMOTE)}`,
  },
  units: {
    reads: ['iu_core.information_unit', 'iu_core.unit_check'],
    sql: `
      select u.count, u.waiting, 0 as running, o.*, ${series(DAY, `iu_core.unit_version ${byId('unit_version_id')}`)},
             (select jsonb_build_object('deviating_units', count(*) filter (where conformance = 'deviates'),
                                        'drifted_units', count(*) filter (where drift = 'drifted'))
                from (select conformance, drift from iu_core.unit_check
                       where conformance = 'deviates' or drift = 'drifted' limit ${MAX_COUNTED}) as x) as trouble
        from (select count(*)::int as count, count(*) filter (where lifecycle_status = 'draft')::int as waiting
                from (select lifecycle_status from iu_core.information_unit
                       where deleted_at is null and lifecycle_status <> 'retired' limit ${MAX_COUNTED}) as x) as u
        left join (select created_at, unit_id::text, title
                     from (select created_at, unit_id, title, lifecycle_status from iu_core.information_unit
                            where deleted_at is null order by unit_id limit ${MAX_COUNTED}) as x
                    where lifecycle_status = 'draft' order by unit_id limit 1) as o (oldest_at, oldest_id, oldest_name) on true`,
  },
  events: {
    reads: ['iu_core.event_outbox'],
    sql: `
      select 0 as count, 0 as waiting, 0 as running, null::timestamptz as oldest_at, null::text as oldest_id, null::text as oldest_name,
             ${series(HOUR, `iu_core.event_outbox ${byId('id')}`)}, '{}'::jsonb as trouble`,
  },
  consumers: {
    reads: ['iu_core.consumer_registry', 'iu_core.iu_sql_event_route', 'iu_core.event_dispatch_log'],
    sql: `
      select s.count, s.waiting, s.running, o.*,
             null::int as window_s, null::int[] as series,
             jsonb_build_object(
               'failed_dispatches', ${counted(
                 `iu_core.event_dispatch_log where outcome in ('failed', 'dead_letter', 'too_deep')
                                                and event_id >= iu_core.fn_time_uuid_floor(now() - interval '1 day')`,
                 MAX_IN_STEP,
               )},
               'failing_routes', (select count(distinct f.route_code)::int from iu_core.iu_sql_event_route_failure f
                                   where f.failed_at >= now() - interval '1 day'),
               'dry_routes', (select count(*)::int from iu_core.iu_sql_event_route where enabled and dry_run)) as trouble
        from (select count(*)::int as count, count(*) filter (where enabled and dry_run)::int as waiting,
                     count(*) filter (where enabled and not dry_run)::int as running from iu_core.consumer_registry) as s
        left join (select registered_at, consumer_id, consumer_id from iu_core.consumer_registry
                    where enabled and dry_run order by registered_at limit 1) as o (oldest_at, oldest_id, oldest_name) on true`,
  },
  jobs: {
    reads: ['iu_core.job_queue', 'iu_core.job_history', 'iu_core.job_dead_letter'],
    sql: `
      select j.count, j.waiting, j.running, o.*, ${series(HOUR, `iu_core.job_history ${byTime('finished_at')}`)},
             jsonb_build_object('dead_letters', ${counted('iu_core.job_dead_letter')},
                                'paused_kinds', (select count(*)::int from iu_core.job_kind where paused_at is not null)) as trouble
        from (select count(*)::int as count, count(*) filter (where leased_by is null and process_after <= now())::int as waiting,
                     count(leased_by)::int as running from queued) as j
        left join (select process_after, job_id::text, job_kind from queued where leased_by is null and process_after <= now()
                    order by process_after limit 1) as o (oldest_at, oldest_id, oldest_name) on true`,
  },
  executions: {
    reads: ['noetl.execution', 'noetl.catalog'],
    sql: `
      select x.count, x.waiting, x.running, o.*,
             ${series(DAY, `noetl.execution ${byTime('created_at', 'and parent_execution_id is null')}`)},
             jsonb_build_object('failed_executions', ${counted(`noetl.execution where status = 'FAILED' and parent_execution_id is null
                                                                  and created_at >= now() - interval '1 day'`)}) as trouble
        from (select count(*)::int as count, count(*) filter (where status = 'PAUSED')::int as waiting,
                     count(*) filter (where status = 'RUNNING')::int as running
                from (select status from noetl.execution
                       where status in ('RUNNING', 'PAUSED') and parent_execution_id is null limit ${MAX_COUNTED}) as x) as x
        left join (select e.created_at, e.execution_id::text, coalesce(c.path, e.execution_id::text)
                     from noetl.execution e left join noetl.catalog c on c.catalog_id = e.catalog_id
                    where e.status in ('RUNNING', 'PAUSED') and e.parent_execution_id is null
                    order by e.created_at limit 1) as o (oldest_at, oldest_id, oldest_name) on true`,
  },
  playbooks: {
    reads: ['noetl.catalog'],
    sql: `
      select (select count(distinct path)::int from noetl.catalog where disabled_at is null) as count, 0 as waiting, 0 as running,
             null::timestamptz as oldest_at, null::text as oldest_id, null::text as oldest_name,
             null::int as window_s, null::int[] as series, '{}'::jsonb as trouble`,
  },
  search: {
    reads: ['iu_core.vector_outbox', 'iu_core.unit_vector'],
    sql: `
      select w.count, w.waiting, w.running, o.*, ${series(HOUR, `iu_core.unit_vector ${byTime('embedded_at')}`)},
             jsonb_build_object('late_texts', w.late,
                                'failed_texts', ${counted(`iu_core.vector_outbox where status = 'dead_letter'`)}) as trouble
        from (select count(*)::int as count, count(*) filter (where status = 'pending')::int as waiting,
                     count(*) filter (where status = 'processing')::int as running,
                     count(*) filter (where first_enqueued_at + (select max_wait from iu_core.vector_policy) < now())::int as late
                from unindexed) as w
        left join (select x.first_enqueued_at, x.source_id::text, coalesce(u.title, d.source_ref, x.source_id::text)
                     from (select * from unindexed order by first_enqueued_at limit 1) as x
                     left join iu_core.information_unit u on u.unit_id = x.source_id
                     left join iu_core.kb_document d on d.document_id = x.source_id)
          as o (oldest_at, oldest_id, oldest_name) on true`,
  },
}

/** What a room reads twice, read once. */
const SHARED: Partial<Record<RoomName, string>> = {
  records: `undecided as materialized (
       select staging_record_id, created_at, purpose, expires_at from iu_core.iu_staging_record
        where lifecycle_status = 'pending' and approval_required and expires_at > clock_timestamp()
          and not exists (select from iu_core.ingest_plan p where p.review_record_id = staging_record_id) limit ${MAX_COUNTED}),
     undecided_record as (
       select count(*)::int as count, count(*) filter (where expires_at < now() + interval '1 day')::int as expiring from undecided)`,
  jobs: `queued as materialized (
       select q.* from iu_core.job_kind k
        cross join lateral (select job_id, job_kind, leased_by, process_after from iu_core.job_queue
                             where job_kind = k.job_kind order by executor, urgency, process_after, job_id
                             limit ${MAX_JOBS_OF_KIND}) as q)`,
  search: `unindexed as materialized (
       select source_id, status, first_enqueued_at from iu_core.vector_outbox
        where status in ('pending', 'processing') limit ${MAX_COUNTED})`,
}

const MORE: Partial<Record<RoomName, string>> = {
  jobs: `exists (select from queued group by job_kind having count(*) >= ${MAX_JOBS_OF_KIND})`,
}

interface RoomRow {
  readonly room: RoomName
  readonly count: number
  readonly waiting: number
  readonly running: number
  readonly more: boolean
  readonly oldest_at: Date | null
  readonly oldest_id: string
  readonly oldest_name: string
  readonly window_s: number | null
  readonly series: readonly number[]
  readonly trouble: Readonly<Partial<Record<Trouble, number>>>
}

/** The statement for these rooms; a test explains it. */
export function overviewSql(rooms: readonly RoomName[]): string {
  const shared = rooms.flatMap((room) => SHARED[room] ?? [])
  const each = rooms.map(
    (room) =>
      `select '${room}' as room, ${MORE[room] ?? `r.count >= ${MAX_COUNTED}`} as more, r.* from (${ROOM_QUERIES[room].sql}) as r`,
  )
  return `${shared.length > 0 ? `with ${shared.join(', ')}` : ''} ${each.join(' union all ')}`
}

export async function readOverview(db: Queryable): Promise<Overview> {
  const readable = await readableTables(db)
  const seen = ROOMS.filter((room) => ROOM_QUERIES[room].reads.every((table) => readable.has(table)))
  const { rows } = await db.query<RoomRow>(overviewSql(seen))
  const issues = readable.has(ISSUES)
    ? await db.query<{ count: number }>(
        `select ${counted(`${ISSUES} where resolved_at is null`, MAX_IN_STEP)} as count`,
      )
    : undefined
  return {
    rooms: seen.map((room) => figuresOf(rows.find((row) => row.room === room)!)),
    gates: await listGates(db),
    open_issues: issues?.rows[0]?.count ?? 0,
  }
}

const ISSUES = 'iu_core.system_issue'

/** Agents may not see jobs, consumers and issues at all. */
async function readableTables(db: Queryable): Promise<ReadonlySet<string>> {
  const all = [...new Set([ISSUES, ...Object.values(ROOM_QUERIES).flatMap(({ reads }) => reads)])]
  const { rows } = await db.query<{ name: string }>(
    `select name from unnest($1::text[]) as name where has_table_privilege(name, 'select')`,
    [all],
  )
  return new Set(rows.map(({ name }) => name))
}

function figuresOf(row: RoomRow): RoomFigures {
  const { room, count, waiting, running, more } = row
  return {
    room,
    count,
    waiting,
    running,
    more,
    rate:
      row.window_s === null
        ? null
        : {
            count: row.series.reduce((sum, one) => sum + one, 0),
            window_s: row.window_s,
            series: row.series,
          },
    oldest: row.oldest_at === null ? null : { id: row.oldest_id, name: row.oldest_name, at: row.oldest_at },
    trouble: TROUBLES.flatMap((what) => {
      const found = row.trouble[what] ?? 0
      return found > 0 ? [{ what, count: found, words: TROUBLE_WORDS[what][found === 1 ? 0 : 1] }] : []
    }),
  }
}

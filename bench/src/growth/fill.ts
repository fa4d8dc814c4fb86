/**
 * What years leave in the tables, made by the server itself: events of which each second one became a job that has ended, and ended
 * executions. Jobs and executions are copies of one that the product has made, so that they have the shape of today's.
 */

/** A session or pool of the owner. */
interface Db {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>
}

export interface Filling {
  readonly workspace: string
  /** Those from here up to `events` are made; a job for every second one. */
  readonly from: number
  readonly events: number
  /** Over all fillings: the ids of all lie between the beginning of the month and now. */
  readonly all: number
}

const CHUNK = 250_000

/** Ids are times: the older an event, the lower its number. The digits behind the time are made of the number, so that they are known again. */
const numbered = (letter: string): string =>
  `(left(iu_core.fn_time_uuid_floor(at)::text, 15) || substr(md5('${letter}' || n), 1, 3) || '-8' || substr(md5('${letter}' || n), 4, 3)
    || '-' || substr(md5('${letter}' || n), 7, 12))::uuid`

const NUMBERS = `
  select n, at, ${numbered('e')} as event_id, ${numbered('j')} as job_id
    from generate_series($1::int, $2::int - 1) as n,
         lateral (select date_trunc('month', now(), 'UTC') + (now() - interval '1 hour' - date_trunc('month', now(), 'UTC')) * (n::float8 / $3)) as t (at)`

/** Copies of the newest event and of the newest job that has ended, which must have completed. */
export async function fillEventsAndJobs(db: Db, { workspace, from, events, all }: Filling): Promise<void> {
  for (let first = from; first < events; first += CHUNK) {
    const values = [first, Math.min(first + CHUNK, events), all, workspace]
    await copy(db, 'iu_core.event_outbox', 'true order by id desc limit 1', NUMBERS, values, {
      id: 'x.event_id',
      tx: null,
      seq: null,
      correlation_id: 'x.event_id',
      causation_event_id: 'null',
      event_subject_ref: `'old-' || x.n`,
      canonical_address: `'stagedoor://uploads/old-' || x.n`,
      workspace_id: '$4::uuid',
      created_at: 'x.at',
    })
    const everySecond = `select * from (${NUMBERS}) as x where x.n % 2 = 0`
    await copy(db, 'iu_core.job_history', 'true order by job_id desc limit 1', everySecond, values, {
      job_id: 'x.job_id',
      enqueued_at: 'x.at',
      started_at: 'x.at',
      finished_at: 'x.at',
      idempotency_key: `'old:' || x.event_id`,
      correlation_id: 'x.event_id',
      causation_event_id: 'x.event_id',
      target_ref: `'old-' || x.n`,
      workspace_id: '$4::uuid',
    })
    await db.query(
      `insert into iu_core.job_key (job_kind, idempotency_key, job_id)
       select (select job_kind from iu_core.job_history order by job_id desc limit 1), 'old:' || x.event_id, x.job_id
         from (${everySecond}) as x where $4::uuid is not null`,
      values,
    )
    await db.query(
      `insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, job_id, dispatched_at)
       select x.event_id, 'old', 'enqueued', x.job_id, x.at from (${everySecond}) as x where $4::uuid is not null`,
      values,
    )
  }
  // Nobody dispatches them: that is history.
  await db.query(
    `update iu_core.event_reader set seen = iu_core.fn_event_reading_snapshot(), target = null, cursor_tx = null, cursor_seq = null`,
  )
}

/** Copies of the newest ended execution, each a second older than the one before. */
export async function fillExecutions(db: Db, workspace: string, from: number, count: number): Promise<void> {
  const { rows } = await db.query(
    `select execution_id::text as id from noetl.execution where end_time is not null order by execution_id desc limit 1`,
  )
  const numbers = `select n, $3::bigint - n * 4194304::bigint as execution_id from generate_series($1::int, $2::int - 1) as n`
  const tables = await db.query(
    `select c.oid::regclass::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'execution_id'
      where c.relnamespace = 'noetl'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  )
  for (let first = from + 1; first <= count; first += CHUNK) {
    const values = [first, Math.min(first + CHUNK, count + 1), rows[0]!.id, workspace]
    for (const { name } of tables.rows) {
      await copy(db, name as string, '', numbers, values, {
        execution_id: 'x.execution_id',
        workspace_id: '$4::uuid',
      })
    }
  }
}

/**
 * Rows like those of a table, one for each of `source` (x). With `which` from the one row that it names; else those of the execution $3.
 * Null: the column's default.
 */
async function copy(
  db: Db,
  table: string,
  which: string,
  source: string,
  values: unknown[],
  columns: Readonly<Record<string, string | null>>,
): Promise<void> {
  const { rows } = await db.query(
    `select attname as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = '' order by attnum`,
    [table],
  )
  const names = rows.map(({ name }) => name as string).filter((name) => columns[name] !== null)
  const template =
    which === ''
      ? `select * from ${table} where execution_id = $3::bigint`
      : `select * from ${table} where ${which}`
  await db.query(
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
     select ${names.map((name) => columns[name] ?? `t."${name}"`).join(', ')}
       from (${source}) as x cross join (${template}) as t
      where $4::uuid is not null order by x.n`,
    values,
  )
}

/** The state in which autovacuum leaves the tables, reached before the measurement and not during it. */
export async function settle(db: Db): Promise<void> {
  await db.query('vacuum (analyze)')
  await db.query('checkpoint')
}

/** How far behind the readers of the outbox are. */
import type { Queryable } from '../db/connection.ts'

export interface ReaderLag {
  readonly reader: string
  /** At most as many as were asked for. */
  readonly unread: number
  /** The age of the oldest event that it has not read, in seconds; 0 if there is none. */
  readonly lag_s: number
}

/** Beyond `most` it does not count on: a reader that stands still for days must not make every scrape dear. */
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

-- The snapshot of the calling statement, with the calling transaction itself counted as still in progress.
-- PostgreSQL leaves a transaction out of its own snapshot. Kept as a watermark, such a snapshot would call
-- everything seen that the reader's own transaction writes later on, and those events would be lost.
-- STABLE on purpose: a stable function runs under the snapshot of the statement that calls it.
create or replace function iu_core.fn_event_reading_snapshot() returns pg_snapshot
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when own.tx is null or own.tx >= pg_snapshot_xmax(s) then s
    else format('%s:%s:%s',
                least(pg_snapshot_xmin(s), own.tx),
                pg_snapshot_xmax(s),
                (select string_agg(x::text, ',' order by x)
                   from (select pg_snapshot_xip(s) union select own.tx) as xip (x)))::pg_snapshot
    end
  from pg_current_snapshot() as s, (select pg_current_xact_id_if_assigned()) as own (tx)
$$;

-- The next events of a reader, in commit order, and moves its watermark in the same transaction: roll back,
-- and they come again. Sequence numbers are handed out before commit, so "greater than my last" loses late
-- commits; waiting for the oldest open transaction stalls everybody. Instead a reader keeps the snapshot of
-- its last read and takes what became visible since: the transactions that were in progress then, and those
-- that began later. Windows larger than the limit are read in pages by (tx, seq).
-- Within one window transactions come in the order in which they began to write.
create or replace function iu_core.fn_event_read(p_reader text, p_limit integer default 1000)
returns setof iu_core.event_outbox
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.event_reader;
  v_late xid8[];
  v_first xid8;
begin
  if p_limit is null or p_limit < 1 or p_limit > 100000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 100000';
  end if;
  select * into r from iu_core.event_reader where reader = p_reader for update;
  if not found then
    raise exception using
      errcode = 'SD303',
      message = format('There is no event reader called %L', p_reader),
      detail = json_build_object('reader', p_reader)::text;
  end if;
  r.cursor_tx := coalesce(r.cursor_tx, '0');
  r.cursor_seq := coalesce(r.cursor_seq, 0);
  v_late := array(select x from pg_snapshot_xip(r.seen) as x where x >= r.cursor_tx order by x);
  v_first := greatest(pg_snapshot_xmax(r.seen), r.cursor_tx);
  -- One statement: what is visible and the snapshot that says so must be the same.
  return query
    with until as materialized (
      select coalesce(r.target, iu_core.fn_event_reading_snapshot()) as snapshot
    ), page as materialized (
      select * from (
        (select e.* from iu_core.event_outbox e
          where e.tx = any (v_late)
            and (e.tx, e.seq) > (r.cursor_tx, r.cursor_seq)
            and pg_visible_in_snapshot(e.tx, (select snapshot from until))
          order by e.tx, e.seq limit p_limit)
        union all
        (select e.* from iu_core.event_outbox e
          where e.tx >= v_first
            and e.tx < (select pg_snapshot_xmax(snapshot) from until)
            and (e.tx, e.seq) > (r.cursor_tx, r.cursor_seq)
            and pg_visible_in_snapshot(e.tx, (select snapshot from until))
          order by e.tx, e.seq limit p_limit)
      ) as both_legs
      order by tx, seq limit p_limit
    ), progress as (
      select count(*) as events from page
    ), last_row as (
      select p.tx, p.seq from page p order by p.tx desc, p.seq desc limit 1
    ), moved as (
      update iu_core.event_reader u
         set seen = case when progress.events < p_limit then until.snapshot else u.seen end,
             target = case when progress.events < p_limit then null else until.snapshot end,
             cursor_tx = case when progress.events < p_limit then null else (select tx from last_row) end,
             cursor_seq = case when progress.events < p_limit then null else (select seq from last_row) end,
             events_read = u.events_read + progress.events,
             read_at = clock_timestamp()
        from progress, until
       where u.reader = p_reader
    )
    select * from page order by tx, seq;
end $$;

grant execute on function iu_core.fn_event_read(text, integer) to dot_executor, service_role;

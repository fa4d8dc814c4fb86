-- The next events of a reader, in commit order, and moves its watermark in the same transaction: roll back,
-- and they come again. Sequence numbers are handed out before commit, so "greater than my last" loses late
-- commits; waiting for the oldest open transaction stalls everybody. Instead a reader keeps the snapshot of
-- its last read and takes what became visible since: the transactions that were in progress then, and those
-- that began later. Windows larger than the limit are read in pages by (tx, seq).
-- Within one window transactions come in the order in which they began to write.
--
-- The two settings: by its estimates the planner would sort everything unread in each of a session's first
-- reads (40 ms for a page of 5,000 of 100,000 events; in the index's order 4 ms), and would plan every time.
create or replace function iu_core.fn_event_read(p_reader text, p_limit integer default 1000)
returns setof iu_core.event_outbox
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  r iu_core.event_reader;
  v_until pg_snapshot;
  v_late xid8[];
  v_new xid8;
  v_from xid8;
  v_to xid8;
  v_found bigint;
  v_left bigint := p_limit;
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
  -- Before the rows, never after them. What it calls finished, every later statement sees; what commits between
  -- the two, it calls unfinished, and the next window brings it. Taken after the rows, it would lose that.
  v_until := coalesce(r.target, iu_core.fn_event_reading_snapshot());
  r.cursor_tx := coalesce(r.cursor_tx, '0');
  r.cursor_seq := coalesce(r.cursor_seq, 0);
  v_late := array(select x from pg_snapshot_xip(r.seen) as x
                   where x >= r.cursor_tx and pg_visible_in_snapshot(x, v_until) order by x);
  v_new := greatest(pg_snapshot_xmax(r.seen), r.cursor_tx);
  -- One range of the index after the other: each late transaction alone, then all new ones. They rise, so the
  -- ranges in a row are the order of the window. No statement reads more than what is left of the page.
  foreach v_from in array v_late || v_new loop
    v_to := case when v_from = v_new then pg_snapshot_xmax(v_until) else v_from end;
    return query
      select e.* from iu_core.event_outbox e
       where e.tx between v_from and v_to
         and (e.tx, e.seq) > (r.cursor_tx, r.cursor_seq)
         and pg_visible_in_snapshot(e.tx, v_until)
       order by e.tx, e.seq limit v_left;
    get diagnostics v_found = row_count;
    if v_found = v_left then
      -- The page is full. Finding its last row again in the index costs less than a second copy of its rows. It
      -- is the same row: the target fixes the set, and rows go only with their partition, which we have locked.
      update iu_core.event_reader u
         set target = v_until, cursor_tx = l.tx, cursor_seq = l.seq,
             events_read = u.events_read + p_limit, read_at = clock_timestamp()
        from (select e.tx, e.seq from iu_core.event_outbox e
               where e.tx between v_from and v_to
                 and (e.tx, e.seq) > (r.cursor_tx, r.cursor_seq)
                 and pg_visible_in_snapshot(e.tx, v_until)
               order by e.tx, e.seq offset v_left - 1 limit 1) as l
       where u.reader = p_reader;
      return;
    end if;
    v_left := v_left - v_found;
  end loop;
  update iu_core.event_reader u
     set seen = v_until, target = null, cursor_tx = null, cursor_seq = null,
         events_read = u.events_read + p_limit - v_left, read_at = clock_timestamp()
   where u.reader = p_reader;
end $$;

grant execute on function iu_core.fn_event_read(text, integer) to dot_executor, service_role;

-- Readers of the outbox: they read in commit order, each with its own watermark.

-- Returns the next events of a reader in commit order, and moves its watermark in the same transaction: after a rollback they
-- are read again. Sequence numbers are assigned before commit, so "greater than my last" would lose late commits, and waiting
-- for the oldest open transaction would stall everybody. Instead a reader stores the snapshot of its last read and reads what
-- became visible since: the transactions that were in progress then, and those that began later. Windows larger than the limit
-- are read in pages by (tx, seq). Within one window, transactions come in the order in which they began to write.
--
-- The two settings: by its estimates the planner would sort everything unread in each of a session's first reads (40 ms for a
-- page of 5,000 of 100,000 events; in index order 4 ms), and would plan every time.
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
  -- Read before the rows, never after them. Every later statement sees what it calls finished; what commits between
  -- the two is unfinished in it, and the next window has it. Read after the rows, it would lose that.
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

-- Registers a reader. It starts now, or at the beginning of the outbox. Registering again changes nothing. Returns whether it
-- was new.
create or replace function iu_core.fn_event_reader_register(p_reader text, p_from_beginning boolean default false)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reader is null or p_reader !~ '^[a-z][a-z0-9_.:-]{0,62}$' then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not a valid reader name: use lowercase letters, digits and _.:-', p_reader);
  end if;
  insert into iu_core.event_reader (reader, seen)
  values (p_reader, case when p_from_beginning then '1:1:'::pg_snapshot else iu_core.fn_event_reading_snapshot() end)
  on conflict (reader) do nothing;
  return found;
end $$;

grant execute on function iu_core.fn_event_reader_register(text, boolean) to dot_executor, service_role;

-- Deletes a reader with its position; partitions no longer wait for it. Returns whether it existed. After a logical restore its
-- position is meaningless: deleted and registered from the beginning, it reads everything again.
create or replace function iu_core.fn_event_reader_delete(p_reader text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reader is null then
    raise exception using errcode = 'SD001', message = 'Name the reader to delete, not NULL';
  end if;
  delete from iu_core.event_reader where reader = p_reader;
  return found;
end $$;

grant execute on function iu_core.fn_event_reader_delete(text) to dot_executor;

-- Rebases all positions after a logical restore. Transaction ids are those of another server, so positions by transaction mean
-- nothing here, and would be wrong once this server's ids reach them. Run it before anything writes. It computes among the old
-- ids, which are still consistent with each other, what each reader has not read and what precedes each consumer's activation;
-- and the same for the events that steps of executions wait for, which search the past again. Events that are alike in this
-- respect get one small id together, and the positions are rewritten with it. Administrators only.
--
-- Events written after the restore (their row is as old as their transaction) were read by nobody: a position of another server
-- is ahead of everything here, so a reader has skipped them.
create or replace function iu_core.fn_events_rebase(out events bigint, out undispatched bigint, out readers integer, out consumers integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now pg_snapshot;
  v_groups jsonb;
begin
  lock table iu_core.event_outbox in access exclusive mode;
  lock table iu_core.event_reader, iu_core.consumer_registry, noetl.wait in exclusive mode;
  if exists (select from iu_core.consumer_registry where enabled) then
    perform iu_core.fn_event_reader_register('consumers', true);
  end if;
  -- A separate statement after the locks: writers have ended, and transactions that have not written yet count as in progress.
  v_now := iu_core.fn_event_reading_snapshot();
  alter table iu_core.event_outbox disable trigger event_outbox_only_grows;
  with marked as materialized (
    select e.id, e.seq,
           array(select 'reader ' || r.reader from iu_core.event_reader r
                  where (pg_snapshot_xmax(r.seen) > pg_snapshot_xmax(v_now) and o.native)
                     or not (pg_visible_in_snapshot(e.tx, r.seen)
                             or (r.target is not null and pg_visible_in_snapshot(e.tx, r.target)
                                 and (e.tx, e.seq) <= (r.cursor_tx, r.cursor_seq)))
                  order by 1)
           || array(select 'consumer ' || c.consumer_id from iu_core.consumer_registry c
                     where (pg_snapshot_xmax(c.active_from) > pg_snapshot_xmax(v_now) and o.native)
                        or not pg_visible_in_snapshot(e.tx, c.active_from)
                     order by 1)
           || array(select format('wait %s %s', w.execution_id, w.node_id) from noetl.wait w
                     where w.kind = 'event' and w.event_domain = e.event_domain and w.event_type = e.event_type
                       and (w.subject is null or w.subject = e.event_subject_ref)
                       and ((pg_snapshot_xmax(w.since) > pg_snapshot_xmax(v_now) and o.native)
                            or not pg_visible_in_snapshot(e.tx, w.since))
                     order by 1) as unseen_by
      from iu_core.event_outbox e,
           lateral (select e.xmin::text::bigint = e.tx::text::bigint % 4294967296) as o (native)
  ), grouped as materialized (
    -- 3 is the first transaction id that a server hands out.
    select unseen_by, (2 + row_number() over (order by min(seq)))::text::xid8 as tx, count(*) as events from marked group by 1
  ), moved as (
    update iu_core.event_outbox e set tx = g.tx
      from marked m join grouped g on g.unseen_by = m.unseen_by
     where e.id = m.id
  )
  select coalesce(jsonb_agg(jsonb_build_object('tx', tx::text, 'unseen_by', unseen_by)), '[]'), coalesce(sum(g.events), 0),
         coalesce(sum(g.events) filter (where 'reader consumers' = any (unseen_by)), 0)
    into v_groups, events, undispatched
    from grouped g;
  alter table iu_core.event_outbox enable trigger event_outbox_only_grows;
  update iu_core.event_reader
     set seen = iu_core.fn_event_snapshot_without(v_now, v_groups, 'reader ' || reader),
         target = null, cursor_tx = null, cursor_seq = null;
  get diagnostics readers = row_count;
  update iu_core.consumer_registry
     set active_from = iu_core.fn_event_snapshot_without(v_now, v_groups, 'consumer ' || consumer_id)
   where enabled;
  get diagnostics consumers = row_count;
  update noetl.wait
     set since = iu_core.fn_event_snapshot_without(v_now, v_groups, format('wait %s %s', execution_id, node_id)), caught_up = false
   where kind <> 'timer';
end $$;

-- The snapshot, with the groups of events that a reader has not seen marked as in progress (fn_events_rebase).
create or replace function iu_core.fn_event_snapshot_without(p_snapshot pg_snapshot, p_groups jsonb, p_who text) returns pg_snapshot
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('%s:%s:%s', coalesce(min(x), pg_snapshot_xmax(p_snapshot)), pg_snapshot_xmax(p_snapshot),
                string_agg(x::text, ',' order by x))::pg_snapshot
    from (select (g ->> 'tx')::xid8 from jsonb_array_elements(p_groups) g where g -> 'unseen_by' ? p_who
          union
          select pg_snapshot_xip(p_snapshot)) as unseen (x)
$$;

-- The snapshot of the calling statement, with the calling transaction itself marked as in progress. PostgreSQL leaves a
-- transaction out of its own snapshot. Stored as a watermark, such a snapshot would count everything as seen that the reader's
-- own transaction writes later, and those events would be lost. STABLE on purpose: a stable function runs under the snapshot of
-- the statement that calls it.
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

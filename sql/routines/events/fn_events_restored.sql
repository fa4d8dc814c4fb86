-- After a logical restore: transaction ids are those of another server, so positions by transaction mean nothing here, and
-- might do harm once this server's own ids get there. To be run before anything writes. What every reader has not read
-- yet, and what each consumer's beginning does not show, is worked out among the old ids, which still fit one another; so
-- is what steps of executions wait for, of the events that are theirs. They look through the past again.
-- Events that are alike in that get one small id together, and the positions are written anew with it. Administrators only.
--
-- Events that came already after the restore (their row is as old as their transaction) nobody has read: a position of
-- another server lies ahead of everything here, so a reader has passed over them.
create or replace function iu_core.fn_events_restored(out events bigint, out undispatched bigint, out readers integer, out consumers integer)
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
  -- A statement of its own, after the locks: whoever wrote has ended, and who has not written yet counts as in progress.
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

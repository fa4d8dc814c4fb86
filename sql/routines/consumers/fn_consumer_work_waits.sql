-- Is there anything that the dispatcher has not read, or that it would try again now (as fn_consumer_dispatch_batch has it)?
-- Asked before anything is locked or written: a dispatcher that finds nothing, five times a second in every process, leaves no trace in the database.
-- enable_seqscan: as in fn_event_partitions_maintain, the planner would expect to meet an unread row soon. Internal.
create or replace function iu_core.fn_consumer_work_waits() returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_seen pg_snapshot;
  v_target pg_snapshot;
begin
  select seen, target into v_seen, v_target from iu_core.event_reader where reader = 'consumers';
  return v_target is not null
      or exists (select from iu_core.event_outbox e where e.tx >= pg_snapshot_xmax(v_seen))
      or exists (select from iu_core.event_outbox e where e.tx = any (array(select pg_snapshot_xip(v_seen))))
      or exists (select from iu_core.event_dispatch_log l
                    join iu_core.event_outbox e on e.id = l.event_id
                    join iu_core.consumer_registry a on a.consumer_id = l.consumer_id and a.enabled and not a.dry_run
                   where l.outcome = 'deferred' and l.dispatched_at < now() - interval '1 second'
                     and l.dispatched_at < now() - least(interval '1 minute', (l.dispatched_at - e.created_at) / 8));
end $$;

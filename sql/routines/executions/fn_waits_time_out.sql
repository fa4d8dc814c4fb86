-- Ends the waits whose time has come: timers, and the patience of others. Internal, see fn_waits_wake. What a flush has
-- locked is left for the next call. Patience holds while there are events that have not been read: the awaited one may be
-- among them, and came in time.
create or replace function noetl.fn_waits_time_out(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Once: a volatile function is no condition for an index.
  v_now timestamptz := clock_timestamp();
  v_behind boolean := exists (select from iu_core.event_reader where reader = 'executions' and target is not null);
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
begin
  select array_agg(w.execution_id), array_agg(w.node_id),
         array_agg(jsonb_build_object('status', case w.kind when 'timer' then 'elapsed' else 'timed_out' end))
    into v_executions, v_nodes, v_bodies
    from (select execution_id, node_id, kind from noetl.wait
           where wake_at <= v_now and (kind = 'timer' or not v_behind)
           order by wake_at limit p_limit
             for update skip locked) as w;
  return noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
end $$;

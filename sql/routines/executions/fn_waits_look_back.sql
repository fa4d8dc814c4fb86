-- Ends fresh waits by events that came before them, since the time that each looks back to. p_executions: of waits that name a
-- subject. p_types: [{event_domain, event_type, since_at}] of those that name none, read once for all of them. Internal, see
-- fn_waits_catch_up.
--
-- Everything by the index event_outbox_awaited; ids are times, and a second of grace covers what a row's id and created_at differ by.
-- The settings: the planner knows neither how many wait nor how many events there are.
create or replace function noetl.fn_waits_look_back(p_executions bigint[], p_types jsonb) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  c_page constant integer := 1000;
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
  v_event iu_core.event_outbox;
  v_past iu_core.event_outbox[] := '{}';
  v_ended integer := 0;
begin
  if cardinality(p_executions) > 0 then
    select array_agg(w.execution_id), array_agg(w.node_id),
           array_agg(noetl.fn_wait_event_body('received', e.id, e.event_subject_ref, e.safe_payload))
      into v_executions, v_nodes, v_bodies
      from unnest(p_executions) as x (execution_id)
      join noetl.wait w on w.execution_id = x.execution_id and w.kind = 'event' and w.subject is not null and w.since_at is not null
     cross join lateral (
       select e.* from iu_core.event_outbox e
        where e.event_domain = w.event_domain and e.event_type = w.event_type and e.event_subject_ref = w.subject
          and e.id >= iu_core.fn_time_uuid_floor(w.since_at - interval '1 second')
          and e.created_at >= w.since_at
          and (w.match is null or e.safe_payload @> w.match)
          and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
          and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
        order by e.tx, e.seq limit 1) as e;
    v_ended := noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
  end if;
  for v_event in
    select e.* from jsonb_to_recordset(p_types) as t (event_domain text, event_type text, since_at timestamptz)
     cross join lateral (
       select e.* from iu_core.event_outbox e
        where e.event_domain = t.event_domain and e.event_type = t.event_type
          and e.id >= iu_core.fn_time_uuid_floor(t.since_at - interval '1 second') and e.created_at >= t.since_at offset 0) as e
     order by e.tx, e.seq
  loop
    v_past := v_past || v_event;
    if cardinality(v_past) = c_page then
      v_ended := v_ended + noetl.fn_waits_tell(v_past);
      v_past := '{}';
      exit when not exists (
        select from jsonb_to_recordset(p_types) as t (event_domain text, event_type text)
         cross join lateral (select from noetl.wait w where w.kind = 'event' and w.event_domain = t.event_domain
                                and w.event_type = t.event_type and w.subject is null limit 1) as w);
    end if;
  end loop;
  if cardinality(v_past) > 0 then
    v_ended := v_ended + noetl.fn_waits_tell(v_past);
  end if;
  return v_ended;
end $$;

-- Waits that are seen for the first time look through what was committed since they began, each once: the present state of a
-- record that they want decided, and the outbox: from the time on that they look back to (since_at), and whatever was committed
-- since they began. By index: events about a subject are looked up for each wait that names one, the others are read once for
-- all waits of their type. Internal, see fn_waits_wake. Found and marked in one statement, and the
-- outbox is read after it: one that commits meanwhile waits for the next call, an event that does is only heard earlier.
create or replace function noetl.fn_waits_catch_up() returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_page constant integer := 1000;
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
  v_from xid8;
  v_in_progress xid8[];
  v_subjects bigint[];
  v_types jsonb;
  v_event iu_core.event_outbox;
  v_past iu_core.event_outbox[] := '{}';
  v_ended integer;
begin
  with fresh as (
    update noetl.wait set caught_up = true where not caught_up and kind <> 'timer' returning *
  ), decided as (
    -- A record that is not there, or not for this execution to see, will never be decided.
    select w.execution_id, w.node_id,
           noetl.fn_wait_event_body(
             coalesce(noetl.fn_wait_record_outcome(r), 'withdrawn'), null, w.staging_record_id::text,
             jsonb_strip_nulls(jsonb_build_object('staging_record_id', r.staging_record_id, 'lifecycle_status', r.lifecycle_status,
                                                  'content_hash', r.content_hash))) as body
      from fresh w
      left join iu_core.iu_staging_record r
        on r.staging_record_id = w.staging_record_id and noetl.fn_wait_hears(w.execution_id, r.workspace_id, 'staging')
     where w.kind = 'approval' and r.lifecycle_status is distinct from 'pending'
  )
  select array(select d.execution_id from decided d), array(select d.node_id from decided d), array(select d.body from decided d),
         (select min(pg_snapshot_xmax(w.since)) from fresh w where w.kind = 'event'),
         array(select distinct x.tx from fresh w cross join lateral pg_snapshot_xip(w.since) as x (tx) where w.kind = 'event'),
         array(select distinct w.execution_id from fresh w where w.kind = 'event' and w.subject is not null and w.since_at is not null),
         (select jsonb_agg(to_jsonb(t)) from (
            select w.event_domain, w.event_type, min(w.since_at) as since_at from fresh w
             where w.kind = 'event' and w.subject is null and w.since_at is not null group by 1, 2) as t)
    into v_executions, v_nodes, v_bodies, v_from, v_in_progress, v_subjects, v_types;
  v_ended := noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
  if v_from is null then
    return v_ended;
  end if;
  v_ended := v_ended + noetl.fn_waits_look_back(v_subjects, v_types);
  for v_event in
    -- Of all fresh waits together: transactions that began after the first of them, and those that one saw in progress.
    select p.* from (
      select e.* from iu_core.event_outbox e where e.tx >= v_from
      union all
      select e.* from iu_core.event_outbox e where e.tx = any (v_in_progress) and e.tx < v_from) as p
     where (p.event_domain, p.event_type) in (select w.event_domain, w.event_type from noetl.wait w where w.kind = 'event')
     order by p.tx, p.seq
  loop
    v_past := v_past || v_event;
    if cardinality(v_past) = c_page then
      v_ended := v_ended + noetl.fn_waits_tell(v_past);
      v_past := '{}';
    end if;
  end loop;
  return v_ended + case when cardinality(v_past) > 0 then noetl.fn_waits_tell(v_past) else 0 end;
end $$;

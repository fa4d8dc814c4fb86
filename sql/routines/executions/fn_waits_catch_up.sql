-- Waits that are seen for the first time look through what was committed since they began, each once: the outbox, and the
-- present state of a record that they want decided. Internal, see fn_waits_wake. Found, marked and looked through in one
-- statement and so in one snapshot: one that commits meanwhile waits for the next call.
create or replace function noetl.fn_waits_catch_up() returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
begin
  with fresh as (
    update noetl.wait set caught_up = true where not caught_up and kind <> 'timer' returning *
  ), listener as materialized (
    select w.since from noetl.wait w where not w.caught_up and w.kind = 'event'
  ), past as (
    -- Of all fresh waits together: transactions that began after the first of them, and those that one saw in progress.
    select e.* from iu_core.event_outbox e where e.tx >= (select min(pg_snapshot_xmax(l.since)) from listener l)
    union all
    select e.* from iu_core.event_outbox e
     where e.tx = any (array(select distinct x.tx from listener l cross join lateral pg_snapshot_xip(l.since) as x (tx)
                              where x.tx < (select min(pg_snapshot_xmax(l.since)) from listener l)))
  ), matched as (
    select w.execution_id, w.node_id, e.tx, e.seq, noetl.fn_wait_event_body('received', e.id, e.event_subject_ref, e.safe_payload) as body
      from fresh w
      join past e on e.event_domain = w.event_domain and e.event_type = w.event_type
     where w.kind = 'event'
       and (w.subject is null or w.subject = e.event_subject_ref)
       and (w.match is null or e.safe_payload @> w.match)
       and not pg_visible_in_snapshot(e.tx, w.since)
       and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
    union all
    -- A record that is not there, or not for this execution to see, will never be decided.
    select w.execution_id, w.node_id, null, null,
           noetl.fn_wait_event_body(
             coalesce(noetl.fn_wait_record_outcome(r), 'withdrawn'), null, w.staging_record_id::text,
             jsonb_strip_nulls(jsonb_build_object('staging_record_id', r.staging_record_id, 'lifecycle_status', r.lifecycle_status,
                                                  'content_hash', r.content_hash)))
      from fresh w
      left join iu_core.iu_staging_record r
        on r.staging_record_id = w.staging_record_id and noetl.fn_wait_hears(w.execution_id, r.workspace_id, 'staging')
     where w.kind = 'approval' and r.lifecycle_status is distinct from 'pending'
  ), first as (
    select distinct on (m.execution_id, m.node_id) m.* from matched m order by m.execution_id, m.node_id, m.tx, m.seq
  )
  select array_agg(f.execution_id), array_agg(f.node_id), array_agg(f.body) into v_executions, v_nodes, v_bodies from first f;
  return noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
end $$;

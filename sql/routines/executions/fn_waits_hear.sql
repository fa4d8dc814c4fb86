-- Reads on in the outbox and ends the waits that it finds events for; of several the first. Internal, see fn_waits_wake.
-- At most ten pages a call: after a long pause the rest comes with the next.
create or replace function noetl.fn_waits_hear(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_heard iu_core.event_outbox[];
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
  v_ended integer := 0;
begin
  for v_page in 1..10 loop
    v_heard := array(select e from iu_core.fn_event_read('executions', p_limit) as e);
    exit when cardinality(v_heard) = 0;
    -- A statement of its own: it sees whatever the transactions of these events wrote, above all the decided records.
    with matched as (
      select w.execution_id, w.node_id, e.ordinality, noetl.fn_wait_event_body('received', e.id, e.event_subject_ref, e.safe_payload) as body
        from unnest(v_heard) with ordinality as e
        join noetl.wait w on w.kind = 'event' and w.event_domain = e.event_domain and w.event_type = e.event_type
       where (w.subject is null or w.subject = e.event_subject_ref)
         and (w.match is null or e.safe_payload @> w.match)
         and not pg_visible_in_snapshot(e.tx, w.since)
         and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
      union all
      select w.execution_id, w.node_id, e.ordinality, noetl.fn_wait_event_body(d.outcome, e.id, e.event_subject_ref, e.safe_payload)
        from unnest(v_heard) with ordinality as e
       cross join lateral (select case when e.event_subject_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                       then e.event_subject_ref::uuid end) as s (record_id)
        join noetl.wait w on w.kind = 'approval' and w.staging_record_id = s.record_id
        left join iu_core.iu_staging_record r on r.staging_record_id = s.record_id
       -- What the event says is believed where the record says it, too: events can be emitted by others.
       cross join lateral (select case e.event_type
           when 'record_approved' then case when r.approved_at is not null then 'approved' end
           when 'record_rejected' then case when r.rejected_at is not null then noetl.fn_wait_record_outcome(r) end
           when 'record_expired' then case when r.expired_at is not null then 'expired' end
           when 'record_consumed' then case when r.consumed_at is not null then 'consumed' end
           when 'record_cleaned' then case when r.cleaned_at is not null then 'cleaned' end
           when 'record_unregistered' then case when r.staging_record_id is null then 'withdrawn' end end) as d (outcome)
       where e.event_domain = 'staging' and d.outcome is not null
         and not pg_visible_in_snapshot(e.tx, w.since)
         and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
    ), first as (
      select distinct on (m.execution_id, m.node_id) m.* from matched m order by m.execution_id, m.node_id, m.ordinality
    )
    select array_agg(f.execution_id), array_agg(f.node_id), array_agg(f.body) into v_executions, v_nodes, v_bodies from first f;
    v_ended := v_ended + noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
    exit when cardinality(v_heard) < p_limit;
  end loop;
  return v_ended;
end $$;

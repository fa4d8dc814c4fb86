-- Ends the waits that these events are for, of several events by the first; says how many. Internal, see fn_waits_wake.
--
-- Work for each event and for each wait, not for each pair of them, which are millions where thousands wait for one type.
-- Waits that name a subject are looked up by it. Those that want values in the payload are joined by one of them, the one that
-- the fewest of these events have. Only what wants neither meets every event of its type, until the first that it hears.
--
-- The settings: the planner knows neither how many events are given nor how many wait. Rows of tables are looked up by index,
-- which the laterals say (offset 0 keeps them apart); what was looked up is joined by hash.
create or replace function noetl.fn_waits_tell(p_events iu_core.event_outbox[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_seqscan = off
set jit = off
as $$
declare
  v_executions bigint[];
  v_nodes text[];
  v_bodies jsonb[];
begin
  with heard as materialized (
    select * from unnest(p_events) with ordinality as e
  ), said as materialized (
    select e.ordinality, e.event_domain, e.event_type, m.key, m.value
      from heard e cross join lateral jsonb_each(case jsonb_typeof(e.safe_payload) when 'object' then e.safe_payload end) as m
  ), often as (
    select s.event_domain, s.event_type, s.key, s.value, count(*) as events from said s group by 1, 2, 3, 4
  ), waiting as materialized (
    select w.*
      from (select distinct e.event_domain, e.event_type from heard e) as t
     cross join lateral (select * from noetl.wait w
                          where w.kind = 'event' and w.event_domain = t.event_domain and w.event_type = t.event_type
                            and w.subject is null offset 0) as w
  ), wanted as materialized (
    -- Of what is in a list or an object only the match itself says whether it is there.
    select distinct on (w.execution_id, w.node_id) w.execution_id, w.node_id, m.key, m.value, o.events
      from waiting w
     cross join lateral jsonb_each(case jsonb_typeof(w.match) when 'object' then w.match end) as m
      left join often o on o.event_domain = w.event_domain and o.event_type = w.event_type and o.key = m.key and o.value = m.value
     where jsonb_typeof(m.value) not in ('object', 'array')
     order by w.execution_id, w.node_id, o.events nulls first
  ), hearer as materialized (
    select w.*, n.key, n.value, own.workspace_id
      from waiting w
      left join wanted n on n.execution_id = w.execution_id and n.node_id = w.node_id
     cross join lateral (select (b.meta ->> 'workspace_id')::uuid as workspace_id from noetl.event b
                          where b.execution_id = w.execution_id and b.seq = 1 offset 0) as own
     where n.key is null or n.events > 0
  ), matched as (
    select w.execution_id, w.node_id, e.ordinality, 'received' as status
      from heard e
     cross join lateral (select * from noetl.wait w
                          where w.kind = 'event' and w.event_domain = e.event_domain and w.event_type = e.event_type
                            and w.subject = e.event_subject_ref offset 0) as w
     where (w.match is null or e.safe_payload @> w.match)
       and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
       and noetl.fn_wait_hears(w.execution_id, e.workspace_id, e.event_domain)
    union all
    select w.execution_id, w.node_id, e.ordinality, 'received'
      from said s
      join hearer w on w.event_domain = s.event_domain and w.event_type = s.event_type and w.key = s.key and w.value = s.value
      join heard e on e.ordinality = s.ordinality
     where e.safe_payload @> w.match
       and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
       and noetl.fn_wait_may_hear(w.workspace_id, e.workspace_id, e.event_domain)
    union all
    select w.execution_id, w.node_id, e.ordinality, 'received'
      from hearer w
     cross join lateral (
       select e.ordinality from heard e
        where e.event_domain = w.event_domain and e.event_type = w.event_type
          and (w.match is null or e.safe_payload @> w.match)
          and (not pg_visible_in_snapshot(e.tx, w.since) or e.created_at >= w.since_at and not noetl.fn_wait_has_heard(w.execution_id, e.id))
          and noetl.fn_wait_may_hear(w.workspace_id, e.workspace_id, e.event_domain)
        order by e.ordinality limit 1) as e
     where w.key is null
    union all
    select w.execution_id, w.node_id, e.ordinality, d.outcome
      from heard e
     cross join lateral (select case when e.event_subject_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                     then e.event_subject_ref::uuid end) as s (record_id)
     cross join lateral (select * from noetl.wait w where w.kind = 'approval' and w.staging_record_id = s.record_id offset 0) as w
      left join lateral (select * from iu_core.iu_staging_record r where r.staging_record_id = s.record_id offset 0) as r on true
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
  select array_agg(f.execution_id), array_agg(f.node_id),
         array_agg(noetl.fn_wait_event_body(f.status, e.id, e.event_subject_ref, e.safe_payload))
    into v_executions, v_nodes, v_bodies
    from first f join heard e on e.ordinality = f.ordinality;
  return noetl.fn_waits_end(v_executions, v_nodes, v_bodies);
end $$;

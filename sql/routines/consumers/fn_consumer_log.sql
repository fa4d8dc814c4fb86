-- What a consumer did not enqueue, and why. What is enqueued already stays so. Internal.
create or replace function iu_core.fn_consumer_log(p_consumer_id text, p_event_ids uuid[], p_outcome text, p_detail jsonb)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into iu_core.event_dispatch_log as l (event_id, consumer_id, outcome, detail)
  select e, p_consumer_id, p_outcome, p_detail from unnest(p_event_ids) e
  on conflict (event_id, consumer_id) do update
     set outcome = excluded.outcome, job_id = null, detail = excluded.detail, dispatched_at = excluded.dispatched_at
   where l.outcome not in ('enqueued', 'duplicate')
$$;

-- What was deferred for a consumer that is not any more what it was: it never comes, and holds no partition. Backfill
-- brings it where it still fits. Internal.
create or replace function iu_core.fn_consumer_give_up(p_consumer_id text, p_problem text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update iu_core.event_dispatch_log set outcome = 'failed', detail = jsonb_build_object('problem', p_problem)
   where consumer_id = p_consumer_id and outcome = 'deferred'
$$;

-- A job that waits, out of the queue into the history as cancelled. Internal.
create or replace function iu_core.fn_job_cancel_waiting(p_job uuid, p_by text, p_reason text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from iu_core.job_queue where job_id = p_job and leased_by is null returning *
  )
  insert into iu_core.job_history (
    job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, idempotency_key,
    source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth,
    actor, actor_via, last_error, ended_by)
  select job_id, job_kind, executor, 'cancelled', priority, attempts, crashes, replays, enqueued_at, started_at,
         idempotency_key, source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id,
         causation_event_id, causation_depth, actor, actor_via, coalesce(left(p_reason, 2000), last_error), p_by
    from gone
$$;

-- What becomes of jobs whose attempt ended badly; their rows are locked. A crash of the worker uses no attempt: all that had
-- begun would pay for one of them. But a job under which worker after worker dies is not tried for ever. Either way it comes
-- again each time twice as late. Internal.
create or replace function iu_core.fn_job_end_attempt(p_failures iu_core.job_failure[])
returns table (job_id uuid, outcome text, process_after timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    with ended as materialized (
      select q, f.error, f.crashed, c.requested_by, c.reason,
             q.attempts - f.crashed::integer as attempts, q.crashes + f.crashed::integer as crashes,
             case when c.job_id is not null then 'cancelled'
                  when f.fatal or not f.crashed and q.attempts >= k.max_attempts
                    or f.crashed and q.crashes + 1 >= k.max_crashes then 'dead'
                  else 'retry' end as outcome,
             clock_timestamp() + least(k.backoff_most, k.backoff * power(2, least(case when f.crashed then q.crashes else q.attempts - 1 end, 29)))
               * (0.75 + random() / 2) as again
        from unnest(p_failures) f
        join iu_core.job_queue q on q.job_id = f.job_id
        join iu_core.job_kind k on k.job_kind = q.job_kind
        left join iu_core.job_cancellation c on c.job_id = q.job_id and c.worker_id = q.leased_by
    ), retried as (
      update iu_core.job_queue q
         set leased_by = null, begun = false, last_error = e.error,
             attempts = e.attempts, crashes = e.crashes, process_after = e.again
        from ended e where e.outcome = 'retry' and q.job_id = (e.q).job_id
      returning q.job_id, q.process_after
    ), gone as (
      delete from iu_core.job_queue q using ended e where e.outcome <> 'retry' and q.job_id = (e.q).job_id returning q.job_id
    ), buried as (
      insert into iu_core.job_dead_letter (
        job_id, job_kind, executor, priority, attempts, crashes, replays, enqueued_at, started_at, worker_id, idempotency_key,
        source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth,
        actor, actor_via, last_error)
      select (e.q).job_id, (e.q).job_kind, (e.q).executor, (e.q).priority, e.attempts,
             e.crashes, (e.q).replays, (e.q).enqueued_at, (e.q).started_at,
             (e.q).leased_by, (e.q).idempotency_key, (e.q).source_ref, (e.q).target_ref, (e.q).payload_ref, (e.q).safe_payload,
             (e.q).workspace_id, (e.q).correlation_id, (e.q).causation_event_id, (e.q).causation_depth, (e.q).actor,
             (e.q).actor_via, e.error
        from ended e where e.outcome = 'dead'
    ), cancelled as (
      insert into iu_core.job_history (
        job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, worker_id,
        idempotency_key, source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id,
        causation_event_id, causation_depth, actor, actor_via, last_error, ended_by)
      select (e.q).job_id, (e.q).job_kind, (e.q).executor, 'cancelled', (e.q).priority, e.attempts, e.crashes,
             (e.q).replays, (e.q).enqueued_at, (e.q).started_at, (e.q).leased_by, (e.q).idempotency_key, (e.q).source_ref,
             (e.q).target_ref, (e.q).payload_ref, (e.q).safe_payload, (e.q).workspace_id, (e.q).correlation_id,
             (e.q).causation_event_id, (e.q).causation_depth, (e.q).actor, (e.q).actor_via, coalesce(e.reason, e.error), e.requested_by
        from ended e where e.outcome = 'cancelled'
    )
    select (e.q).job_id, e.outcome, r.process_after from ended e left join retried r on r.job_id = (e.q).job_id;
end $$;

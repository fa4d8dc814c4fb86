-- Ends jobs well: out of the queue into the history, in one statement. Those count whose lease is still the one that was
-- claimed; the others, which somebody else has or had by now, are left alone and left out of the answer.
create or replace function iu_core.fn_job_complete(
  p_worker uuid, p_jobs uuid[], p_epochs integer[], p_results jsonb[] default null
) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_reason text;
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs, cardinality(p_results));
  if p_results is not null then
    select iu_core.fn_payload_problem(r) into v_reason from unnest(p_results) r
     where r is not null and iu_core.fn_payload_problem(r) is not null limit 1;
    if v_reason is not null then
      raise exception using
        errcode = 'SD705',
        message = 'The result of a job carries references only, but ' || v_reason,
        detail = json_build_object('kind', null, 'reason', v_reason)::text;
    end if;
  end if;
  return query
    with done as (
      delete from iu_core.job_queue q
       using unnest(p_jobs, p_epochs, p_results) d (job_id, epoch, result)
       where q.job_id = d.job_id and q.leased_by = p_worker and q.lease_epoch = d.epoch
      returning q.*, d.result
    )
    insert into iu_core.job_history (
      job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, worker_id,
      idempotency_key, source_ref, target_ref, payload_ref, safe_payload, result, workspace_id, correlation_id,
      causation_event_id, causation_depth, actor, actor_via, last_error)
    select d.job_id, d.job_kind, d.executor, 'completed', d.priority, d.attempts, d.crashes, d.replays, d.enqueued_at, d.started_at,
           p_worker, d.idempotency_key, d.source_ref, d.target_ref, d.payload_ref, d.safe_payload, d.result, d.workspace_id,
           d.correlation_id, d.causation_event_id, d.causation_depth, d.actor, d.actor_via, d.last_error
      from done d
    returning job_id;
  perform iu_core.fn_job_free(p_worker, p_jobs);
end $$;

grant execute on function iu_core.fn_job_complete(uuid, uuid[], integer[], jsonb[]) to dot_executor, service_role, stagedoor_executor;

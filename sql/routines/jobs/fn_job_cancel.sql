-- Ends a job before its time. One that waits is gone at once ('cancelled'); one that runs is told with its worker's next
-- heartbeat ('requested'): if it ends well before that, it has ended well.
create or replace function iu_core.fn_job_cancel(p_job uuid, p_reason text default null, p_actor text default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  q iu_core.job_queue;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_job_workspace(p_job), 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  select * into q from iu_core.job_queue where job_id = p_job for update;
  if not found then
    perform iu_core.fn_job_refuse_ended(p_job);
  end if;
  if q.leased_by is not null then
    insert into iu_core.job_cancellation (job_id, worker_id, requested_by, reason)
    values (p_job, q.leased_by, v_actor.actor, left(p_reason, 2000))
    on conflict (job_id) do update set worker_id = excluded.worker_id, requested_by = excluded.requested_by, reason = excluded.reason;
    return 'requested';
  end if;
  delete from iu_core.job_queue where job_id = p_job;
  insert into iu_core.job_history (
    job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, idempotency_key,
    source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth,
    actor, actor_via, last_error, ended_by)
  values (
    q.job_id, q.job_kind, q.executor, 'cancelled', q.priority, q.attempts, q.crashes, q.replays, q.enqueued_at, q.started_at,
    q.idempotency_key, q.source_ref, q.target_ref, q.payload_ref, q.safe_payload, q.workspace_id, q.correlation_id,
    q.causation_event_id, q.causation_depth, q.actor, q.actor_via, coalesce(left(p_reason, 2000), q.last_error), v_actor.actor);
  return 'cancelled';
end $$;

grant execute on function iu_core.fn_job_cancel(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

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
  perform iu_core.fn_job_cancel_waiting(p_job, v_actor.actor, p_reason);
  return 'cancelled';
end $$;

grant execute on function iu_core.fn_job_cancel(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

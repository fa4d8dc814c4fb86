-- Keeps a worker's lease, and tells which of its jobs somebody wants to end. A lease that has passed is not revived.
create or replace function iu_core.fn_job_heartbeat(p_worker uuid, out leased_until timestamptz, out cancelled uuid[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.fn_job_worker_require(p_worker);
  update iu_core.job_worker w set leased_until = clock_timestamp() + w.lease, heartbeat_at = clock_timestamp()
   where w.worker_id = p_worker and w.leased_until > clock_timestamp()
  returning w.leased_until into fn_job_heartbeat.leased_until;
  if not found then
    raise exception using
      errcode = 'SD703',
      message = format('The lease of the worker %s has passed', p_worker),
      detail = json_build_object('worker', p_worker)::text;
  end if;
  fn_job_heartbeat.cancelled := array(select c.job_id from iu_core.job_cancellation c where c.worker_id = p_worker);
end $$;

grant execute on function iu_core.fn_job_heartbeat(uuid) to dot_executor, service_role, stagedoor_executor;

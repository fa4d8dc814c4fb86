-- A job says that it is too early: it comes again at p_until, and no attempt was used.
create or replace function iu_core.fn_job_snooze(p_worker uuid, p_job uuid, p_epoch integer, p_until timestamptz) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found boolean;
begin
  perform iu_core.fn_job_worker_require(p_worker);
  if p_until is null or not isfinite(p_until) then
    raise exception using errcode = 'SD001', message = 'Say until when the job sleeps';
  end if;
  update iu_core.job_queue set leased_by = null, begun = false, attempts = attempts - 1, process_after = p_until
   where job_id = p_job and leased_by = p_worker and lease_epoch = p_epoch;
  v_found := found;
  perform iu_core.fn_job_free(p_worker, array[p_job]);
  return v_found;
end $$;

grant execute on function iu_core.fn_job_snooze(uuid, uuid, integer, timestamptz) to dot_executor, service_role, stagedoor_executor;

-- Gives back jobs that were claimed and not begun, at once and without an attempt used. Returns how many there were.
create or replace function iu_core.fn_job_release(p_worker uuid, p_jobs uuid[], p_epochs integer[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given integer;
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs);
  update iu_core.job_queue q set leased_by = null, begun = false, attempts = q.attempts - 1
    from unnest(p_jobs, p_epochs) d (job_id, epoch)
   where q.job_id = d.job_id and q.leased_by = p_worker and q.lease_epoch = d.epoch;
  get diagnostics v_given = row_count;
  perform iu_core.fn_job_free(p_worker, p_jobs);
  return v_given;
end $$;

grant execute on function iu_core.fn_job_release(uuid, uuid[], integer[]) to dot_executor, service_role, stagedoor_executor;

-- A worker begins jobs that it claimed ahead: from now on a crash is charged to them. Said before the handler runs. Returns
-- those that it may begin: still its own, under that epoch.
create or replace function iu_core.fn_job_begin(p_worker uuid, p_jobs uuid[], p_epochs integer[]) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs);
  return query
    update iu_core.job_queue q set begun = true
      from unnest(p_jobs, p_epochs) d (job_id, epoch)
     where q.job_id = d.job_id and q.leased_by = p_worker and q.lease_epoch = d.epoch
    returning q.job_id;
end $$;

grant execute on function iu_core.fn_job_begin(uuid, uuid[], integer[]) to dot_executor, service_role, stagedoor_executor;

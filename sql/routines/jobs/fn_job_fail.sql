-- Jobs that failed: tried again later, each time twice as late with some chance in it; after the last attempt, or where the
-- worker says that trying again is no use, dead letters. One that was to be cancelled is cancelled.
create or replace function iu_core.fn_job_fail(
  p_worker uuid, p_jobs uuid[], p_epochs integer[], p_errors text[], p_fatal boolean[] default null
) returns table (job_id uuid, outcome text, process_after timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs, cardinality(p_errors));
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs, cardinality(p_fatal));
  return query
    select e.job_id, e.outcome, e.process_after from iu_core.fn_job_end_attempt(
      array(select row(q.job_id, coalesce(nullif(left(d.error, 2000), ''), 'it failed'), coalesce(d.fatal, false), false)::iu_core.job_failure
              from unnest(p_jobs, p_epochs, p_errors, p_fatal) d (job_id, epoch, error, fatal)
              join iu_core.job_queue q on q.job_id = d.job_id
             where q.leased_by = p_worker and q.lease_epoch = d.epoch
             order by q.job_id for update of q)) e;
  perform iu_core.fn_job_free(p_worker, p_jobs);
end $$;

grant execute on function iu_core.fn_job_fail(uuid, uuid[], integer[], text[], boolean[]) to dot_executor, service_role, stagedoor_executor;

-- Which of these jobs this worker has completed: an answer that got lost is told apart from a job that is not its own.
create or replace function iu_core.fn_job_completed_by(p_worker uuid, p_jobs uuid[]) returns setof uuid
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  return query
    select h.job_id from iu_core.job_history h
     where h.job_id = any (p_jobs) and h.worker_id = p_worker and h.outcome = 'completed';
end $$;

grant execute on function iu_core.fn_job_completed_by(uuid, uuid[]) to dot_executor, service_role, stagedoor_executor;

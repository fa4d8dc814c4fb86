-- A worker goes, and gives back what it holds. Returns how many jobs that were.
create or replace function iu_core.fn_job_worker_leave(p_worker uuid) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform from iu_core.job_worker where worker_id = p_worker for update;
  return iu_core.fn_job_take_back(array[p_worker], false);
end $$;

grant execute on function iu_core.fn_job_worker_leave(uuid) to dot_executor, service_role, stagedoor_executor;

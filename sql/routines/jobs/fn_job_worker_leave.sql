-- A worker goes, and gives back what it holds. Returns how many jobs that were. p_crash: it goes because of this error; then what
-- had begun is charged with a crash, as if it had died without a word.
create or replace function iu_core.fn_job_worker_leave(p_worker uuid, p_crash text default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform from iu_core.job_worker where worker_id = p_worker for update;
  return iu_core.fn_job_take_back(array[p_worker], p_crash is not null, p_crash);
end $$;

grant execute on function iu_core.fn_job_worker_leave(uuid, text) to dot_executor, service_role, stagedoor_executor;

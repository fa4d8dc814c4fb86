-- Takes a schedule away. Returns whether it was there.
create or replace function iu_core.fn_job_schedule_remove(p_schedule text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.job_schedule where schedule = p_schedule;
  return found;
end $$;

grant execute on function iu_core.fn_job_schedule_remove(text) to dot_executor, service_role;

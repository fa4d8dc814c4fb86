-- A worker waits, or no longer does. Who waits asks once more afterwards: what was enqueued just before told nobody.
create or replace function iu_core.fn_job_idle(p_worker uuid, p_idle boolean) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  if p_idle then
    insert into iu_core.worker_idle (worker_id, executor, kinds) values (w.worker_id, w.executor, w.kinds) on conflict do nothing;
  else
    delete from iu_core.worker_idle where worker_id = p_worker;
  end if;
end $$;

grant execute on function iu_core.fn_job_idle(uuid, boolean) to dot_executor, service_role;

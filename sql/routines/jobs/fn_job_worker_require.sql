-- The worker, if its lease is alive and it is the caller's. Everything under a lease begins here. Internal.
create or replace function iu_core.fn_job_worker_require(p_worker uuid) returns iu_core.job_worker
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker;
begin
  select * into w from iu_core.job_worker where worker_id = p_worker;
  -- Whose it is comes first: another executor does not even learn that there is such a worker.
  if found and not iu_core.fn_caller_is_service() then
    perform iu_core.fn_job_executor_require(w.executor);
    if w.registered_by <> iu_core.fn_actor() then
      w := null;
    end if;
  end if;
  if w.worker_id is null or w.leased_until <= clock_timestamp() then
    raise exception using
      errcode = 'SD703',
      message = format('The lease of the worker %s has passed', coalesce(p_worker::text, 'NULL')),
      detail = json_build_object('worker', p_worker)::text;
  end if;
  return w;
end $$;

-- Takes back what dead workers held: those whose lease has passed. Whoever asks first does it, the others go on.
-- Returns how many jobs are free again.
create or replace function iu_core.fn_job_reap() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead uuid[];
begin
  if not exists (select from iu_core.job_worker where leased_until <= clock_timestamp()) then
    return 0;
  end if;
  select array_agg(l.worker_id) into v_dead
    from (select worker_id from iu_core.job_worker where leased_until <= clock_timestamp() for update skip locked) l;
  if v_dead is null then
    return 0;
  end if;
  return iu_core.fn_job_take_back(v_dead, true);
end $$;

grant execute on function iu_core.fn_job_reap() to dot_executor, service_role;

-- A worker begins: it takes jobs of these kinds for one executor, as long as it keeps its lease.
create or replace function iu_core.fn_job_worker_register(
  p_executor text, p_kinds text[], p_name text default null, p_lease interval default '6 seconds'
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_worker uuid;
begin
  perform iu_core.fn_job_executor_require(p_executor);
  if p_kinds is null or cardinality(p_kinds) = 0 or exists (select from unnest(p_kinds) k where k is null or k !~ '^[a-z][a-z0-9_.:-]{0,62}$') then
    raise exception using errcode = 'SD001', message = 'A worker names the kinds that it runs: lowercase letters, digits and _.:-';
  end if;
  if p_lease is null or p_lease not between '1 second' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'A lease lasts from 1 second to 1 hour';
  end if;
  -- Known to people from now on, also before the first job.
  insert into iu_core.job_kind (job_kind) select distinct k from unnest(p_kinds) k order by 1 on conflict do nothing;
  insert into iu_core.job_worker (executor, kinds, name, registered_by, lease, leased_until)
  values (p_executor, p_kinds, left(p_name, 200), iu_core.fn_actor(), p_lease, clock_timestamp() + p_lease)
  returning worker_id into v_worker;
  return v_worker;
end $$;

grant execute on function iu_core.fn_job_worker_register(text, text[], text, interval) to dot_executor, service_role, stagedoor_executor;

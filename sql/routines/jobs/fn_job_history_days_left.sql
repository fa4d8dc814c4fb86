-- How many days from now on jobs can end: the unbroken row of the history's partitions that begins with today's.
create or replace function iu_core.fn_job_history_days_left() returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive cover as (
    select to_time from iu_core.v_job_history_partition where from_time <= now() and now() < to_time
    union
    select p.to_time from cover join iu_core.v_job_history_partition p on p.from_time = cover.to_time)
  select floor(extract(epoch from max(to_time) - now()) / 86400)::integer from cover
$$;

grant execute on function iu_core.fn_job_history_days_left() to dot_executor, service_role;

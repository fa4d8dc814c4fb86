-- How many days from now on executions can begin: the unbroken row of the log's partitions that begins with today's.
create or replace function noetl.fn_execution_partition_days_left() returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive cover as (
    select to_time from noetl.v_execution_partition where from_time <= now() and now() < to_time
    union
    select p.to_time from cover join noetl.v_execution_partition p on p.from_time = cover.to_time)
  select floor(extract(epoch from max(to_time) - now()) / 86400)::integer from cover
$$;

grant execute on function noetl.fn_execution_partition_days_left() to dot_executor, service_role;

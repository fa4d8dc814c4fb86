-- What the readiness check reads, in one round trip.

-- Everything the readiness check needs, in one round trip.
create or replace function iu_core.fn_health(
  out migration_version integer,
  out migration_count integer,
  out routines_digest text,
  out partition_days_left integer,
  out history_days_left integer,
  out execution_days_left integer
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select (select max(version) from iu_core.schema_migration),
         (select count(*)::integer from iu_core.schema_migration),
         (select encode(sha256(string_agg(line, e'\n' order by line collate "C")::bytea), 'hex')
            from (select schema_name || '.' || object_name || ' ' || hash as line from iu_core.schema_routine) as routines),
         iu_core.fn_event_partition_days_left(),
         iu_core.fn_job_history_days_left(),
         noetl.fn_execution_partition_days_left()
$$;

grant execute on function iu_core.fn_health() to dot_executor, service_role;

-- What the readiness check reads, in one round trip.

-- Everything the readiness check needs, in one round trip.
create or replace function iu_core.fn_health(
  out migration_version integer,
  out migration_count integer,
  out routines_digest text,
  out partition_days_left integer,
  out history_days_left integer,
  out execution_days_left integer,
  out contract_version integer
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
         noetl.fn_execution_partition_days_left(),
         -- The last one that took something away: an older version cannot work after it.
         (select max(version) from iu_core.schema_migration where name ~ '^\d{4}_contract_')
$$;

grant execute on function iu_core.fn_health() to dot_executor, service_role;

-- How much room the database takes, and its largest tables with their indexes. For whoever administers all workspaces: sizes tell
-- about the data of others. Rows are estimates: of the last analyze or of
-- what was counted since, whichever is more.
create or replace function iu_core.fn_storage(p_tables integer default 12)
returns table (database_bytes bigint, schema_name text, table_name text, bytes bigint, row_estimate bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_everywhere('administer');
  return query
    select pg_database_size(current_database()), t.schema_name, t.table_name, t.bytes, t.row_estimate
      from (select n.nspname::text as schema_name, coalesce(p.relname, c.relname)::text as table_name,
                   sum(pg_total_relation_size(c.oid))::bigint as bytes, sum(greatest(c.reltuples::bigint, pg_stat_get_live_tuples(c.oid)))::bigint as row_estimate
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
              -- Partitions count as their table.
              left join pg_inherits i on i.inhrelid = c.oid
              left join pg_class p on p.oid = i.inhparent and p.relkind = 'p'
             where c.relkind in ('r', 'm') and n.nspname !~ '^(pg_|information_schema$)'
             group by 1, 2) t
     order by t.bytes desc, 2, 3 limit least(greatest(p_tables, 1), 100);
end $$;

grant execute on function iu_core.fn_storage(integer) to dot_executor, service_role, stagedoor_reviewer;

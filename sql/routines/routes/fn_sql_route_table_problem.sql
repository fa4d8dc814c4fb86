-- Why this table cannot have this route, or NULL. Internal.
create or replace function iu_core.fn_sql_route_table_problem(p_route iu_core.iu_sql_event_route, p_root regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when c.relkind not in ('r', 'p') then format('%s is not a table', p_root)
    when c.relpersistence = 't' then format('%s is a temporary table', p_root)
    when c.relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      then format('%s belongs to PostgreSQL', p_root)
    -- An event about an event has no end.
    when p_root in ('iu_core.event_outbox', 'iu_core.iu_sql_event_route_evidence', 'iu_core.iu_sql_event_route_failure',
                    'iu_core.iu_sql_event_route_key')
         or exists (select from pg_inherits where inhrelid = p_root and inhparent = 'iu_core.event_outbox'::regclass)
      then format('routes write %s themselves', p_root)
    when exists (select from iu_core.fn_sql_route_relations(p_root) r join pg_class f on f.oid = r where f.relkind = 'f')
      then format('%s has a foreign table among its partitions, whose rows triggers do not see', p_root)
    when p_route.workspace_column is not null
         and (select (iu_core.fn_sql_route_column(p_root, 'n', p_route.workspace_column)).type) <> 'uuid'::regtype
      then format('the workspace column %I is not a uuid', p_route.workspace_column)
    when p_route.sql_event = 'update' and p_route.payload_contract -> 'only_changed' = 'true'
         and iu_core.fn_sql_route_primary_key(p_root) is null
      then format('only_changed pairs rows by primary key, and %s has none', p_root)
  end
    from pg_class c where c.oid = p_root
$$;

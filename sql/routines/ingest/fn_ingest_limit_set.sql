-- Sets the limits of one workspace, or (NULL) of all that have none of their own. For workflow_admin.
create or replace function iu_core.fn_ingest_limit_set(
  p_workspace_id uuid, p_max_bytes bigint, p_max_lines integer, p_max_at_once integer
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_limit as l (workspace_id, max_bytes, max_lines, max_at_once)
  select p_workspace_id, coalesce(p_max_bytes, d.max_bytes), coalesce(p_max_lines, d.max_lines), coalesce(p_max_at_once, d.max_at_once)
    from iu_core.fn_ingest_limits(p_workspace_id) d
  on conflict (workspace_id) do update
     set max_bytes = excluded.max_bytes, max_lines = excluded.max_lines, max_at_once = excluded.max_at_once;
end $$;

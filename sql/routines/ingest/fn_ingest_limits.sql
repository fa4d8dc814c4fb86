-- The limits of a workspace: its own, or everybody's. Internal.
create or replace function iu_core.fn_ingest_limits(p_workspace_id uuid) returns iu_core.ingest_limit
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select l from iu_core.ingest_limit l
   where workspace_id = p_workspace_id or workspace_id is null
   order by workspace_id nulls last limit 1
$$;

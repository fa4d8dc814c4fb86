-- One change of containers or of their order at a time in a workspace, until the end of the transaction: that a unit is not
-- moved into what is inside it can only be known while nobody else moves anything. Internal: taken before rows are locked.
create or replace function iu_core.fn_unit_tree_lock(p_workspace_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('stagedoor.unit_tree ' || p_workspace_id, 0))
$$;

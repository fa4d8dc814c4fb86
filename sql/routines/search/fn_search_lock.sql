-- One writer of a workspace's words at a time, until the end of the transaction: how many chunks have a word is a sum that
-- everybody changes. Internal: taken before any row of theirs.
create or replace function iu_core.fn_search_lock(p_workspace_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('stagedoor.search ' || p_workspace_id, 0))
$$;

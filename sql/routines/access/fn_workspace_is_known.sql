-- Whether the caller may know what there is in a workspace: back-end code, and its members. What is nobody's own (NULL) back-end
-- code alone may. Internal: the functions that give a thing's workspace to require_member answer others as if it were not there.
create or replace function iu_core.fn_workspace_is_known(p_workspace_id uuid) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_caller_is_service() or iu_core.fn_member_role(p_workspace_id, iu_core.fn_actor()) is not null;
end $$;

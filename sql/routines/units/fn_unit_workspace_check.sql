-- Units belong to a workspace, always: back-end code that names none, or one that is not there, is told. Internal: for those who
-- have asked require_member, which answers people already.
create or replace function iu_core.fn_unit_workspace_check(p_workspace_id uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_workspace_id is null then
    raise exception using
      errcode = 'SD001',
      message = 'A unit belongs to a workspace; name one',
      hint = 'GET /api/me and `stagedoor member list` show those that you are a member of.';
  end if;
  -- Looked up here: the call of the other is for what it says.
  if not exists (select from public.workspaces w where w.id = p_workspace_id) then
    perform iu_core.fn_require_workspace(p_workspace_id);
  end if;
end $$;

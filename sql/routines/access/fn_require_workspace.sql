-- Is there such a workspace? Back-end code names any, and what belongs to one that is not there nobody would ever see.
-- NULL is global. Internal: for those who have asked require_member, which answers people already.
create or replace function iu_core.fn_require_workspace(p_workspace_id uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_workspace_id is not null and not exists (select from public.workspaces w where w.id = p_workspace_id) then
    raise exception using
      errcode = 'SD001',
      message = format('There is no workspace %s', p_workspace_id),
      hint = 'GET /api/me and `stagedoor member list` show yours, select from public.workspaces all; without one it is global, for back-end code only.',
      detail = json_build_object('workspace', p_workspace_id)::text;
  end if;
end $$;

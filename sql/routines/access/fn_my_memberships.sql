-- The workspaces of whoever acts, with their names and the app role there. Takes no argument that could be forged.
-- to_jsonb reads columns that a user's own tables may not have.
create or replace function iu_core.fn_my_memberships()
returns table (workspace_id uuid, name text, app_role text, display_name text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.id, to_jsonb(w.*) ->> 'name', iu_core.fn_member_role(w.id, m.user_id::text), to_jsonb(m.*) ->> 'display_name'
    from public.workspace_members m
    join public.workspaces w on w.id = m.workspace_id
   where m.user_id::text = (select iu_core.fn_actor())
     and iu_core.fn_member_role(w.id, m.user_id::text) is not null
$$;

grant execute on function iu_core.fn_my_memberships() to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The workspaces of whoever acts, with their names and the app role there. Takes no argument that could be forged.
-- to_jsonb reads a column that a user's own workspaces may not have.
create or replace function iu_core.fn_my_memberships()
returns table (workspace_id uuid, name text, app_role text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.id, to_jsonb(w) ->> 'name', iu_core.fn_member_role(w.id, iu_core.fn_actor())
    from public.workspaces w
   where w.id in (select iu_core.fn_my_workspaces())
$$;

grant execute on function iu_core.fn_my_memberships() to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

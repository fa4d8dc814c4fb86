-- The first member who is all of what is wanted; NULL wants nothing. For our own command line under dot_executor: who runs
-- Stagedoor on a database of their own has the worker's login, which does not own the tables.
create or replace function iu_core.fn_member_find(p_user_id text, p_app_role text, p_workspace_id uuid)
returns table (workspace_id uuid, workspace text, user_id text, display_name text, role text, database_role text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select m.workspace_id, to_jsonb(w.*) ->> 'name', m.user_id::text, to_jsonb(m.*) ->> 'display_name', a.app_role, a.database_role
    from public.workspace_members m
    join public.workspaces w on w.id = m.workspace_id
    join iu_core.app_role a on a.app_role = iu_core.fn_member_role(m.workspace_id, m.user_id::text)
   where (p_user_id is null or m.user_id::text = p_user_id)
     and (p_app_role is null or a.app_role = p_app_role)
     and (p_workspace_id is null or m.workspace_id = p_workspace_id)
   order by m.workspace_id, m.user_id
   limit 1
$$;

revoke all on function iu_core.fn_member_find(text, text, uuid) from public;
grant execute on function iu_core.fn_member_find(text, text, uuid) to dot_executor;

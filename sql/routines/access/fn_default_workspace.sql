-- One workspace from the start, with a member for each application role to sign in as: for the embedded server, where
-- nobody else makes them. Administrators only. Does nothing where a workspace exists.
create or replace function iu_core.fn_default_workspace() returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with made as (
    insert into public.workspaces (name)
    select 'Default' where not exists (select from public.workspaces)
    returning id
  )
  insert into public.workspace_members (workspace_id, user_id, role, display_name)
  select made.id, gen_random_uuid(), app_role, initcap(app_role) from made, iu_core.app_role
$$;

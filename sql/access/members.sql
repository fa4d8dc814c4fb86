-- Members of workspaces and their rights. Every definer function that people can call begins with require_member.

-- The membership check: every definer function that people can call begins with it. Returns the application role of the member.
-- The right must belong to the member's role in that workspace AND to the database role of the session. So a token of an agent
-- cannot decide anything, even if its subject is also a reviewer.
create or replace function iu_core.require_member(p_workspace_id uuid, p_right text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role text := iu_core.fn_member_with_right(p_workspace_id, p_right);
begin
  if v_role is null then
    raise exception using
      errcode = 'SD201',
      message = format('%s is not a member of the workspace %s', iu_core.fn_actor(), coalesce(p_workspace_id::text, '(global)')),
      detail = json_build_object('actor', iu_core.fn_actor(), 'workspace', p_workspace_id)::text;
  end if;
  return v_role;
end $$;

grant execute on function iu_core.require_member(uuid, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The first member that meets all given conditions; NULL means any. For our own command line under dot_executor: on a database
-- of their own, people run Stagedoor with the login of the worker, which does not own the tables.
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

grant execute on function iu_core.fn_member_find(text, text, uuid) to dot_executor;

-- The workspaces of the actor, with their names and the actor's application role there. It takes no argument, so nothing can be
-- forged. to_jsonb reads columns that a user's own tables may not have.
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

-- Creates a first workspace with one member for each application role. For the embedded server, where nothing else creates
-- them. Administrators only. Does nothing if a workspace exists.
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

-- The role of the caller in a workspace: 'service' for back-end code, else the application role of the member, and NULL if the
-- caller is not a member (each caller answers that case in its own way). A member without the right is refused here. The right
-- must belong to the member's role in that workspace AND to the database role of the session. So a token of an agent cannot
-- decide anything, even if its subject is also a reviewer. Internal.
create or replace function iu_core.fn_member_with_right(p_workspace_id uuid, p_right text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text;
  v_role text;
  v_has boolean;
begin
  if p_right is null or p_right not in ('read', 'stage', 'operate', 'review', 'administer') then
    raise exception using errcode = 'SD001', message = format('%L is not a right', p_right);
  end if;
  if iu_core.fn_caller_is_service() then
    return 'service';
  end if;
  v_actor := iu_core.fn_actor();
  v_role := iu_core.fn_member_role(p_workspace_id, v_actor);
  v_has := exists (select from iu_core.app_role a where a.app_role = v_role and p_right = any (a.rights));
  if v_role is not null
     and (not v_has
          or not exists (select from iu_core.app_role a
                          where a.database_role = iu_core.fn_caller_role() and p_right = any (a.rights))) then
    raise exception using
      errcode = 'SD202',
      message = case when v_has
                     then format('A token of %s never includes the right to %s', iu_core.fn_caller_role(), p_right)
                     else format('The role %s in this workspace does not include the right to %s', v_role, p_right) end,
      detail = json_build_object('actor', v_actor, 'role', v_role, 'right', p_right)::text;
  end if;
  return v_role;
end $$;

-- Raises if the workspace does not exist. Back-end code may name any workspace, and nobody would ever see what belongs to a
-- missing one. NULL is global. Internal: callers have called require_member before, which answers people already.
create or replace function iu_core.fn_require_workspace(p_workspace_id uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_workspace_id is not null and not exists (select from public.workspaces w where w.id = p_workspace_id) then
    raise exception using
      errcode = 'SD001',
      message = format('There is no workspace %s', p_workspace_id),
      hint = 'GET /api/me and `stagedoor member list` list your workspaces. Only back-end code may leave the workspace out.',
      detail = json_build_object('workspace', p_workspace_id)::text;
  end if;
end $$;

-- Whether the caller may know what exists in a workspace: back-end code and the members of the workspace may. Only back-end
-- code may know of global things (NULL). Internal: the *_workspace functions answer other callers as if the thing did not
-- exist.
create or replace function iu_core.fn_workspace_is_visible(p_workspace_id uuid) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_caller_is_service() or iu_core.fn_member_role(p_workspace_id, iu_core.fn_actor()) is not null;
end $$;

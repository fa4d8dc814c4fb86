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

grant execute on function iu_core.fn_member_find(text, text, uuid) to dot_executor, service_role;

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
  union all
  -- A machine token is a member of its workspace.
  select w.id, to_jsonb(w.*) ->> 'name', t.role, t.name
    from iu_core.machine_token t
    join public.workspaces w on w.id = t.workspace_id
   where t.subject = (select iu_core.fn_actor()) and t.revoked_at is null and t.expires_at > clock_timestamp()
$$;

grant execute on function iu_core.fn_my_memberships() to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The members of a workspace and their roles. For all of its members.
create or replace function iu_core.fn_member_list(p_workspace_id uuid)
returns table (workspace_id uuid, workspace text, user_id text, display_name text, role text, database_role text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select m.workspace_id, to_jsonb(w.*) ->> 'name', m.user_id::text, to_jsonb(m.*) ->> 'display_name', a.app_role, a.database_role::text
    from public.workspace_members m
    join public.workspaces w on w.id = m.workspace_id
    join iu_core.app_role a on a.app_role = iu_core.fn_member_role(m.workspace_id, m.user_id::text)
   where m.workspace_id = p_workspace_id
   order by lower(coalesce(to_jsonb(m.*) ->> 'display_name', m.user_id::text)), m.user_id::text;
end $$;

grant execute on function iu_core.fn_member_list(uuid) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Adds a member, or changes the role or the name of one. For administrators of the workspace. In a members table of the user's own
-- only the role changes (in iu_core.workspace_member_role), and the person must be in that table. The last administrator of a workspace
-- keeps that role.
create or replace function iu_core.fn_member_set(p_workspace_id uuid, p_user_id text, p_app_role text, p_display_name text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  if p_workspace_id is null or not exists (select from iu_core.app_role where app_role = p_app_role) then
    raise exception using errcode = 'SD001', message = format('%L is not a role: viewer, operator, reviewer, admin or agent', p_app_role);
  end if;
  perform iu_core.fn_member_write(p_workspace_id, p_user_id, p_app_role, p_display_name);
  if not exists (select from iu_core.app_role where app_role = p_app_role and 'administer' = any (rights)) then
    perform iu_core.fn_invitations_revoke_of(p_workspace_id, p_user_id);
  end if;
end $$;

grant execute on function iu_core.fn_member_set(uuid, text, text, text) to service_role, dot_executor, stagedoor_reviewer;

-- Removes a member; whoever is then in no workspace is signed out. The last administrator stays, and so do members in a table of the
-- user's own, where its owner deletes the row. Returns how many live tokens that they created in the workspace go on working.
create or replace function iu_core.fn_member_delete(p_workspace_id uuid, p_user_id text) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_own_members('Delete the row there');
  perform iu_core.fn_require_not_last_admin(p_workspace_id, p_user_id);
  delete from public.workspace_members m where m.workspace_id = p_workspace_id and m.user_id::text = p_user_id;
  if not found then
    raise exception using errcode = 'SD210', message = format('There is no member %s in this workspace', p_user_id),
      detail = json_build_object('what', 'member ' || coalesce(p_user_id, 'NULL'))::text;
  end if;
  delete from iu_core.workspace_member_role r where r.workspace_id = p_workspace_id and r.user_id = p_user_id;
  perform iu_core.fn_invitations_revoke_of(p_workspace_id, p_user_id);
  if not exists (select from public.workspace_members m where m.user_id::text = p_user_id) then
    perform iu_core.fn_session_revoke(p_user_id);
  end if;
  perform iu_core.fn_event_emit('system', 'member_removed', p_event_subject_ref => p_user_id, p_workspace_id => p_workspace_id);
  return (select count(*) from iu_core.machine_token t
           where t.workspace_id = p_workspace_id and t.created_by = p_user_id and t.revoked_at is null and t.expires_at > clock_timestamp());
end $$;

grant execute on function iu_core.fn_member_delete(uuid, text) to service_role, dot_executor, stagedoor_reviewer;

-- Keeps the verified address that the identity provider gave at a sign-in; NULL: it gave none, and an earlier one is forgotten.
create or replace function iu_core.fn_member_email_set(p_subject text, p_email text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_email is null then
    delete from iu_core.member_email where subject = p_subject;
    return;
  end if;
  insert into iu_core.member_email as e (subject, email) values (p_subject, p_email)
  on conflict (subject) do update set email = excluded.email, seen_at = clock_timestamp() where e.email <> excluded.email;
end $$;

grant execute on function iu_core.fn_member_email_set(text, text) to service_role;

-- Writes a member's row. p_by is the person where the back end acts for one. Internal: callers have checked the right and the role.
create or replace function iu_core.fn_member_write(p_workspace_id uuid, p_user_id text, p_app_role text, p_display_name text, p_by text default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before text := iu_core.fn_member_role(p_workspace_id, p_user_id);
begin
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_user_id is null or length(p_user_id) not between 1 and 255 or p_user_id ~ '[\u0001-\u001f\u007f-\u009f]' or starts_with(p_user_id, 'token:') then
    raise exception using
      errcode = 'SD001',
      message = 'The id of a member is the subject (sub) at sign-in: up to 255 characters, no control characters, not token:…';
  end if;
  if length(p_display_name) > 255 or p_display_name ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception using errcode = 'SD001', message = 'The name of a member has at most 255 characters and no control characters';
  end if;
  if p_app_role <> 'admin' then
    perform iu_core.fn_require_not_last_admin(p_workspace_id, p_user_id);
  end if;
  if iu_core.fn_members_are_ours() then
    -- As a literal, because user_id is a uuid in databases where something depends on that column (0022).
    execute format(
      'insert into public.workspace_members as m (workspace_id, user_id, role, display_name) values ($1, %L, $2, $3)
       on conflict (workspace_id, user_id) do update
          set role = excluded.role, display_name = coalesce(excluded.display_name, m.display_name)', p_user_id)
    using p_workspace_id, p_app_role, nullif(btrim(p_display_name), '');
    -- A mapping from an earlier time would have precedence.
    delete from iu_core.workspace_member_role r where r.workspace_id = p_workspace_id and r.user_id = p_user_id;
  else
    if not exists (select from public.workspace_members m where m.workspace_id = p_workspace_id and m.user_id::text = p_user_id) then
      raise exception using
        errcode = 'SD207',
        message = format('There is no %s in public.workspace_members for this workspace, and that table is your own', p_user_id),
        hint = 'Add the row there; then its role can be set here.';
    end if;
    insert into iu_core.workspace_member_role (workspace_id, user_id, app_role) values (p_workspace_id, p_user_id, p_app_role)
    on conflict (workspace_id, user_id) do update set app_role = excluded.app_role;
  end if;
  if v_before is distinct from p_app_role then
    perform iu_core.fn_event_emit('system', case when v_before is null then 'member_added' else 'member_changed' end,
      p_event_subject_ref => p_user_id, p_workspace_id => p_workspace_id, p_actor => p_by,
      p_safe_payload => jsonb_build_object('role', p_app_role, 'role_before', v_before));
  end if;
end $$;

-- Raises if the person is the only administrator of the workspace. It holds a lock until the end of the transaction, so that two
-- administrators cannot take the role from each other at once. Internal.
create or replace function iu_core.fn_require_not_last_admin(p_workspace_id uuid, p_user_id text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('iu_core.member ' || p_workspace_id, 0));
  if iu_core.fn_member_role(p_workspace_id, p_user_id) = 'admin'
     and not exists (select from public.workspace_members m
                      where m.workspace_id = p_workspace_id and m.user_id::text <> p_user_id
                        and iu_core.fn_member_role(m.workspace_id, m.user_id::text) = 'admin') then
    raise exception using
      errcode = 'SD206',
      message = format('%s is the last administrator of this workspace', p_user_id),
      detail = json_build_object('member', p_user_id)::text;
  end if;
end $$;

-- Whether public.workspace_members is the product's table and not the user's own. Internal.
create or replace function iu_core.fn_members_are_ours() returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.relowner = 'workflow_admin'::regrole from pg_class c where c.oid = 'public.workspace_members'::regclass
$$;

-- Raises if public.workspace_members is the user's own table, with what to do there. Internal.
create or replace function iu_core.fn_require_own_members(p_remedy text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not iu_core.fn_members_are_ours() then
    raise exception using
      errcode = 'SD207',
      message = 'public.workspace_members is a table of your own, which Stagedoor only reads. ' || p_remedy,
      hint = 'Add and remove members where your application does; roles can be changed here.';
  end if;
end $$;

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
  -- By itself: with the query in one condition, the query would be started for NULL, too.
  if p_workspace_id is null then
    return;
  end if;
  if not exists (select from public.workspaces w where w.id = p_workspace_id) then
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

-- Rights on what all workspaces share: kinds of jobs, schedules, workers, storage. No workspace owns these, so require_member has
-- nothing to ask for.

-- Raises unless the caller has the right in every workspace there is. Whoever changes what all workspaces share needs it: a new
-- workspace that the caller is no member of takes the right away. Back-end code passes. Internal: definer functions begin with it.
create or replace function iu_core.require_member_everywhere(p_right text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not iu_core.fn_caller_is_service() and (
       not iu_core.fn_caller_role_has_right(p_right)
       or not exists (select from public.workspaces)
       or exists (select from public.workspaces w
                   where not exists (select from iu_core.app_role a
                                      where a.app_role = iu_core.fn_member_role(w.id, iu_core.fn_actor()) and p_right = any (a.rights)))) then
    raise exception using
      errcode = 'SD202',
      message = format('This is shared by all workspaces: it needs the right to %s in every one of them', p_right),
      hint = 'Ask somebody who has it, or use the command line as the back end.',
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', iu_core.fn_caller_role(), 'right', p_right)::text;
  end if;
end $$;

-- Raises unless the caller has the right in some workspace. For reading what is about no workspace. Internal: definer functions
-- begin with it.
create or replace function iu_core.require_member_somewhere(p_right text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not iu_core.fn_caller_is_service() and (
       not iu_core.fn_caller_role_has_right(p_right)
       or not exists (select from iu_core.fn_my_memberships() m join iu_core.app_role a on a.app_role = m.app_role
                       where p_right = any (a.rights))) then
    raise exception using
      errcode = 'SD202',
      message = format('This needs the right to %s in a workspace', p_right),
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', iu_core.fn_caller_role(), 'right', p_right)::text;
  end if;
end $$;

-- Whether tokens of the caller's database role can have the right at all. Internal.
create or replace function iu_core.fn_caller_role_has_right(p_right text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from iu_core.app_role a where a.database_role = iu_core.fn_caller_role() and p_right = any (a.rights))
$$;

-- Tells of an invitation or a token that was revoked just now. Returns whether it was; raises if there is none. Internal.
create or replace function iu_core.fn_access_revoked(p_what text, p_workspace_id uuid, p_id uuid, p_revoked boolean, p_exists boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_revoked then
    perform iu_core.fn_event_emit('system', case p_what when 'token' then 'machine_token_revoked' else 'invitation_revoked' end,
      p_event_subject_ref => p_id::text, p_workspace_id => p_workspace_id, p_safe_payload => jsonb_build_object(p_what || '_id', p_id));
  elsif not p_exists then
    raise exception using errcode = 'SD210', message = format('There is no %s %s', p_what, p_id),
      detail = json_build_object('what', p_what || ' ' || p_id)::text;
  end if;
  return p_revoked;
end $$;

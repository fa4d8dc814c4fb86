-- Invitations: a link that makes whoever signs in with it a member, once.

-- Creates an invitation to a workspace with a role, by the sha-256 of the code in its link. For administrators of the workspace.
create or replace function iu_core.fn_invitation_create(p_workspace_id uuid, p_code_hash text, p_invitee text, p_app_role text, p_lives interval default '7 days')
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  perform iu_core.fn_require_own_members('An invitation cannot add a row to it');
  if p_workspace_id is null or not exists (select from iu_core.app_role where app_role = p_app_role) then
    raise exception using errcode = 'SD001', message = format('%L is not a role: viewer, operator, reviewer, admin or agent', p_app_role);
  end if;
  if btrim(coalesce(p_invitee, '')) = '' or length(p_invitee) > 255 or p_invitee ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception using errcode = 'SD001', message = 'Say whom the invitation is for: a name or an e-mail address of 1 to 255 characters';
  end if;
  if p_lives is null or p_lives not between interval '1 minute' and interval '30 days' then
    raise exception using errcode = 'SD001', message = 'An invitation is valid for at least a minute and at most 30 days';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('iu_core.invitation ' || p_workspace_id, 0));
  if (select count(*) from iu_core.invitation i
       where i.workspace_id = p_workspace_id and i.accepted_at is null and i.revoked_at is null and i.expires_at > clock_timestamp()) >= 100 then
    raise exception using
      errcode = 'SD209',
      message = 'There are 100 open invitations already, the most there may be',
      hint = 'Revoke those that nobody will use.',
      detail = json_build_object('limit', 100, 'what', 'invitations')::text;
  end if;
  insert into iu_core.invitation (workspace_id, code_hash, invitee, app_role, created_by, expires_at)
  values (p_workspace_id, p_code_hash, p_invitee, p_app_role, iu_core.fn_actor(), clock_timestamp() + p_lives)
  returning invitation_id into v_id;
  perform iu_core.fn_event_emit('system', 'invitation_created', p_event_subject_ref => v_id::text, p_workspace_id => p_workspace_id,
    p_safe_payload => jsonb_build_object('invitation_id', v_id, 'role', p_app_role));
  return v_id;
end $$;

grant execute on function iu_core.fn_invitation_create(uuid, text, text, text, interval) to service_role, dot_executor, stagedoor_reviewer;

-- The invitations of a workspace, open ones first; those that ended are kept for 90 days. For its administrators. Never a hash.
create or replace function iu_core.fn_invitation_list(p_workspace_id uuid)
returns table (invitation_id uuid, workspace_id uuid, invitee text, role text, status text, created_by text, created_at timestamptz,
               expires_at timestamptz, accepted_at timestamptz, accepted_by text, revoked_at timestamptz, revoked_by text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  return query
  select i.invitation_id, i.workspace_id, i.invitee, i.app_role, iu_core.fn_invitation_status(i), i.created_by, i.created_at, i.expires_at,
         i.accepted_at, i.accepted_by, i.revoked_at, i.revoked_by
    from iu_core.invitation i where i.workspace_id = p_workspace_id
   order by iu_core.fn_invitation_status(i) <> 'open', i.invitation_id desc
   limit 500;
end $$;

grant execute on function iu_core.fn_invitation_list(uuid) to service_role, dot_executor, stagedoor_reviewer;

-- Revokes an invitation that is open. False if it has ended.
create or replace function iu_core.fn_invitation_revoke(p_workspace_id uuid, p_invitation_id uuid) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  update iu_core.invitation set revoked_at = clock_timestamp(), revoked_by = iu_core.fn_actor()
   where invitation_id = p_invitation_id and workspace_id = p_workspace_id and accepted_at is null and revoked_at is null;
  return iu_core.fn_access_revoked('invitation', p_workspace_id, p_invitation_id, found,
    exists (select from iu_core.invitation where invitation_id = p_invitation_id and workspace_id = p_workspace_id));
end $$;

grant execute on function iu_core.fn_invitation_revoke(uuid, uuid) to service_role, dot_executor, stagedoor_reviewer;

-- What whoever holds the link may know before they sign in; no row if the code is unknown, used, revoked or too old.
create or replace function iu_core.fn_invitation_show(p_code_hash text)
returns table (workspace text, invitee text, role text, created_by text, expires_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(to_jsonb(w.*) ->> 'name', w.id::text), i.invitee, i.app_role, i.created_by, i.expires_at
    from iu_core.invitation i join public.workspaces w on w.id = i.workspace_id
   where i.code_hash = p_code_hash and iu_core.fn_invitation_status(i) = 'open'
$$;

grant execute on function iu_core.fn_invitation_show(text) to service_role;

-- Makes the subject a member with the invitation's role. It works once, also for two who try at the same moment. A member keeps their
-- role, and the invitation stays open: otherwise an administrator who opens the link would lose rights. Whoever made the invitation is not
-- the second person that it is for: it is refused to them under another subject, where the browser is signed in as them (p_signed_in_as) or
-- the identity provider gives the same verified e-mail address (p_email).
create or replace function iu_core.fn_invitation_accept(
  p_code_hash text, p_subject text, p_display_name text default null, p_signed_in_as text default null, p_email text default null)
returns table (workspace_id uuid, role text, database_role name)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  i iu_core.invitation;
  v_role text;
begin
  select * into i from iu_core.invitation v where v.code_hash = p_code_hash for update;
  if not found or iu_core.fn_invitation_status(i) <> 'open' then
    raise exception using
      errcode = 'SD208',
      message = case when not found then 'There is no such invitation'
                     else format('The invitation cannot be used: it %s', case iu_core.fn_invitation_status(i)
                       when 'accepted' then 'was accepted already' when 'revoked' then 'was revoked' else 'has expired' end) end;
  end if;
  v_role := iu_core.fn_member_role(i.workspace_id, p_subject);
  if v_role is not null then
    raise exception using
      errcode = 'SD208',
      message = format('You are a member of this workspace already, with the role %s', v_role),
      hint = 'Nothing was changed, and the invitation stays open for the person it is for.';
  end if;
  if lower(p_signed_in_as) = lower(i.created_by)
     or exists (select from iu_core.member_email e where lower(e.subject) = lower(i.created_by) and lower(e.email) = lower(p_email)) then
    raise exception using
      errcode = 'SD208',
      message = 'You made this invitation: it is for another person, and makes no second one of you',
      hint = 'Send the link to the person it is for; they open it in their own browser.';
  end if;
  perform iu_core.fn_member_write(i.workspace_id, p_subject, i.app_role, coalesce(nullif(btrim(p_display_name), ''), i.invitee), p_subject);
  update iu_core.invitation v set accepted_at = clock_timestamp(), accepted_by = p_subject where v.invitation_id = i.invitation_id;
  return query select i.workspace_id, i.app_role, a.database_role from iu_core.app_role a where a.app_role = i.app_role;
end $$;

grant execute on function iu_core.fn_invitation_accept(text, text, text, text, text) to service_role;

-- Revokes what somebody invited to who no longer may: otherwise they could come back by a link of their own. Internal.
create or replace function iu_core.fn_invitations_revoke_of(p_workspace_id uuid, p_created_by text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update iu_core.invitation set revoked_at = clock_timestamp(), revoked_by = iu_core.fn_actor()
   where workspace_id = p_workspace_id and created_by = p_created_by and accepted_at is null and revoked_at is null
$$;

-- accepted, revoked, expired or open: only an open invitation can be accepted. Internal.
create or replace function iu_core.fn_invitation_status(i iu_core.invitation) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when i.accepted_at is not null then 'accepted' when i.revoked_at is not null then 'revoked'
              when i.expires_at <= clock_timestamp() then 'expired' else 'open' end
$$;

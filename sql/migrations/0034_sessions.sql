-- Sessions of the console, sign-in by OpenID Connect, invitations, and tokens for machines. Secrets are kept as sha-256 only.

insert into iu_core.event_vocabulary values
  ('system', 'member_added', 'a person became a member of a workspace'),
  ('system', 'member_changed', 'the role of a member was changed'),
  ('system', 'member_removed', 'a person is no longer a member of a workspace'),
  ('system', 'invitation_created', 'an invitation to a workspace was created'),
  ('system', 'invitation_revoked', 'an invitation was revoked'),
  ('system', 'machine_token_created', 'a token for a machine was created'),
  ('system', 'machine_token_revoked', 'a token for a machine was revoked');

-- A signed-in browser. The cookie holds a random id; its hash is here. `session_id` names the session to its owner.
create table iu_core.web_session (
  session_id uuid constraint web_session_id_once primary key default iu_core.fn_time_uuid(),
  id_hash text not null constraint web_session_cookie_once unique
    constraint web_session_hash_sha256 check (id_hash ~ '^[0-9a-f]{64}$'),
  subject text not null constraint web_session_subject_short check (length(subject) between 1 and 255),
  database_role name not null
    constraint web_session_role_of_a_person check (database_role in ('authenticated', 'stagedoor_reviewer', 'stagedoor_agent')),
  read_only boolean not null default false,
  provider text not null
    constraint web_session_provider_known check (provider in ('link', 'token', 'oidc', 'invitation')),
  user_agent text not null default '' constraint web_session_agent_short check (length(user_agent) <= 200),
  created_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  idle_timeout interval not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
comment on table iu_core.web_session is 'browsers that are signed in, by the sha-256 of their cookie';
create index web_session_of_subject on iu_core.web_session (subject, last_seen_at);
create index web_session_expiry on iu_core.web_session (expires_at);
alter table iu_core.web_session enable row level security;

-- A sign-in that is under way at the identity provider. It is deleted when the browser returns, so a callback works once.
create table iu_core.sign_in_flow (
  state_hash text constraint sign_in_flow_state_once primary key,
  browser_hash text not null,
  nonce text not null constraint sign_in_flow_nonce_short check (length(nonce) <= 200),
  code_verifier text not null constraint sign_in_flow_verifier_short check (length(code_verifier) <= 200),
  return_to text not null constraint sign_in_flow_return_short check (length(return_to) <= 2000),
  invitation_hash text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
comment on table iu_core.sign_in_flow is 'sign-ins that wait for the identity provider: state, nonce and PKCE verifier, for ten minutes';
create index sign_in_flow_expiry on iu_core.sign_in_flow (expires_at);
alter table iu_core.sign_in_flow enable row level security;

create table iu_core.invitation (
  invitation_id uuid constraint invitation_id_once primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  code_hash text not null constraint invitation_code_once unique
    constraint invitation_hash_sha256 check (code_hash ~ '^[0-9a-f]{64}$'),
  invitee text not null
    constraint invitation_invitee_short check (btrim(invitee) <> '' and length(invitee) <= 255 and invitee !~ '[\u0001-\u001f\u007f-\u009f]'),
  app_role text not null references iu_core.app_role (app_role),
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by text,
  revoked_at timestamptz,
  revoked_by text,
  constraint invitation_accepted_by_somebody check ((accepted_at is null) = (accepted_by is null)),
  constraint invitation_ends_once check (accepted_at is null or revoked_at is null)
);
comment on table iu_core.invitation is 'invitations to workspaces, by the sha-256 of the code in their link';
create index invitation_of_workspace on iu_core.invitation (workspace_id, invitation_id);
alter table iu_core.invitation enable row level security;

-- A token of a program. With a workspace it is a member of it with the role `app_role`, under a subject of its own (token:<id>);
-- without one it is a program of the back end (service, executor), as a JWT with the same role.
create table iu_core.machine_token (
  token_id uuid constraint machine_token_id_once primary key default iu_core.fn_time_uuid(),
  token_hash text not null constraint machine_token_secret_once unique
    constraint machine_token_hash_sha256 check (token_hash ~ '^[0-9a-f]{64}$'),
  workspace_id uuid,
  subject text not null,
  name text not null
    constraint machine_token_name_short check (btrim(name) <> '' and length(name) <= 100 and name !~ '[\u0001-\u001f\u007f-\u009f]'),
  role text not null
    constraint machine_token_role_of_a_machine check (role in ('viewer', 'operator', 'agent', 'executor', 'service')),
  executor text,
  read_only boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  constraint machine_token_workspace_of_a_member check ((workspace_id is null) = (role in ('executor', 'service'))),
  constraint machine_token_executor_named check ((executor is null) = (role <> 'executor'))
);
comment on table iu_core.machine_token is 'tokens for programs, by their sha-256';
create unique index machine_token_subject on iu_core.machine_token (subject) where workspace_id is not null;
create index machine_token_of_workspace on iu_core.machine_token (workspace_id, token_id);
alter table iu_core.machine_token enable row level security;

-- The application role of a machine token in a workspace; NULL if it has none there, expired or was revoked. Internal.
create function iu_core.fn_machine_token_role(p_workspace_id uuid, p_subject text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select t.role from iu_core.machine_token t
           where t.subject = p_subject and t.workspace_id = p_workspace_id
             and t.revoked_at is null and t.expires_at > clock_timestamp());
end $$;
revoke all on function iu_core.fn_machine_token_role(uuid, text) from public;

-- As in 0016, and machine tokens are members through their own row: a members table of the user's own need not know them.
create or replace function iu_core.fn_member_role(p_workspace_id uuid, p_user_id text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if starts_with(p_user_id, 'token:') then
    return iu_core.fn_machine_token_role(p_workspace_id, p_user_id);
  end if;
  return (
    select coalesce(mapped.app_role, own.app_role, case when not to_jsonb(m) ? 'role' then 'viewer' end)
      from public.workspace_members m
      left join iu_core.app_role own on own.app_role = to_jsonb(m) ->> 'role'
      left join iu_core.workspace_member_role mapped
        on mapped.workspace_id = p_workspace_id and mapped.user_id = p_user_id
     where m.workspace_id = p_workspace_id
       and m.user_id::text = p_user_id);
end $$;

create or replace function iu_core.fn_my_workspaces() returns setof uuid
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
begin
  if starts_with(v_actor, 'token:') then
    return query
    select t.workspace_id from iu_core.machine_token t
     where t.subject = v_actor and t.workspace_id is not null
       and t.revoked_at is null and t.expires_at > clock_timestamp();
    return;
  end if;
  return query
  select m.workspace_id from public.workspace_members m where m.user_id::text = v_actor
     and iu_core.fn_member_role(m.workspace_id, m.user_id::text) is not null;
end $$;

-- Tokens for machines: opaque, kept by their sha-256, named, limited to a role, revocable.

-- Creates a token for a program. An administrator of a workspace creates one with the role viewer, operator or agent there: the program
-- is an actor of its own (token:<id>), and whoever created it counts as its author under the four-eyes rule. A machine decides
-- nothing, so no token has the rights to review or to administer. Programs of the back end (executor, service) belong to no workspace: only
-- back-end code creates their tokens.
create or replace function iu_core.fn_machine_token_create(
  p_workspace_id uuid,
  p_token_hash text,
  p_name text,
  p_role text,
  p_lives interval,
  p_read_only boolean default false,
  p_executor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller text;
  v_id uuid := iu_core.fn_time_uuid();
begin
  v_caller := iu_core.require_member(p_workspace_id, 'administer');
  if p_role is null or p_role not in ('viewer', 'operator', 'agent', 'executor', 'service') then
    raise exception using errcode = 'SD001', message = format('%L is not a role of a machine: viewer, operator, agent, executor or service', p_role);
  end if;
  if btrim(coalesce(p_name, '')) = '' or length(p_name) > 100 or p_name ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception using errcode = 'SD001', message = 'The name of a token has 1 to 100 characters and no control characters';
  end if;
  if p_lives is null or p_lives not between interval '1 minute' and interval '366 days' then
    raise exception using errcode = 'SD001', message = 'A token is valid for at least a minute and at most 366 days';
  end if;
  if p_role in ('executor', 'service') then
    if p_workspace_id is not null or v_caller <> 'service' then
      raise exception using
        errcode = 'SD202',
        message = format('A token with the role %s acts in all workspaces: only the back end creates it, and for no workspace', p_role),
        hint = 'On the command line: stagedoor token create --role ' || p_role,
        detail = json_build_object('role', v_caller, 'right', p_role)::text;
    end if;
  else
    if p_workspace_id is null then
      raise exception using errcode = 'SD001', message = format('A token with the role %s belongs to a workspace', p_role);
    end if;
    perform iu_core.fn_require_workspace(p_workspace_id);
    -- Nobody gives what they do not have.
    if v_caller <> 'service' and not (select m.rights <@ c.rights from iu_core.app_role m, iu_core.app_role c
                                       where m.app_role = p_role and c.app_role = v_caller) then
      raise exception using
        errcode = 'SD202',
        message = format('The role %s in this workspace does not have the rights of %s', v_caller, p_role),
        detail = json_build_object('role', v_caller, 'right', p_role)::text;
    end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('iu_core.machine_token ' || coalesce(p_workspace_id::text, ''), 0));
  if (select count(*) from iu_core.machine_token t
       where t.workspace_id is not distinct from p_workspace_id and t.revoked_at is null and t.expires_at > clock_timestamp()) >= 100 then
    raise exception using
      errcode = 'SD209',
      message = 'There are 100 live tokens already, the most there may be',
      hint = 'Revoke those that nobody uses.',
      detail = json_build_object('limit', 100, 'what', 'tokens')::text;
  end if;
  insert into iu_core.machine_token (token_id, token_hash, workspace_id, subject, name, role, executor, read_only, created_by, expires_at)
  values (v_id, p_token_hash, p_workspace_id, case when p_workspace_id is null then p_name else 'token:' || v_id end, p_name, p_role,
          p_executor, coalesce(p_read_only, false), iu_core.fn_actor(), clock_timestamp() + p_lives);
  perform iu_core.fn_event_emit('system', 'machine_token_created', p_event_subject_ref => v_id::text, p_workspace_id => p_workspace_id,
    p_safe_payload => jsonb_build_object('token_id', v_id, 'role', p_role, 'read_only', coalesce(p_read_only, false)));
  return v_id;
end $$;

grant execute on function iu_core.fn_machine_token_create(uuid, text, text, text, interval, boolean, text) to
  service_role, dot_executor, stagedoor_reviewer;

-- The tokens of a workspace, also those that ended in the last 90 days; of the back end where p_workspace_id is NULL. For its
-- administrators. Never a hash.
create or replace function iu_core.fn_machine_token_list(p_workspace_id uuid)
returns table (token_id uuid, workspace_id uuid, subject text, name text, role text, executor text, read_only boolean, created_by text,
               created_at timestamptz, expires_at timestamptz, last_used_at timestamptz, revoked_at timestamptz, revoked_by text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  return query
  select t.token_id, t.workspace_id, t.subject, t.name, t.role, t.executor, t.read_only, t.created_by, t.created_at, t.expires_at,
         t.last_used_at, t.revoked_at, t.revoked_by
    from iu_core.machine_token t where t.workspace_id is not distinct from p_workspace_id
   order by t.revoked_at is not null or t.expires_at <= clock_timestamp(), t.token_id desc;
end $$;

grant execute on function iu_core.fn_machine_token_list(uuid) to service_role, dot_executor, stagedoor_reviewer;

-- Revokes a token of a workspace (NULL: of the back end). False if it was revoked before. From then on the database gives it no rights.
create or replace function iu_core.fn_machine_token_revoke(p_workspace_id uuid, p_token_id uuid) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  update iu_core.machine_token set revoked_at = clock_timestamp(), revoked_by = iu_core.fn_actor()
   where token_id = p_token_id and workspace_id is not distinct from p_workspace_id and revoked_at is null;
  return iu_core.fn_access_revoked('token', p_workspace_id, p_token_id, found,
    exists (select from iu_core.machine_token where token_id = p_token_id and workspace_id is not distinct from p_workspace_id));
end $$;

grant execute on function iu_core.fn_machine_token_revoke(uuid, uuid) to service_role, dot_executor, stagedoor_reviewer;

-- Whose token this is, by its sha-256; no row if it expired or was revoked. Every request of a program calls it, so the time of use is
-- written at most once a minute.
create or replace function iu_core.fn_machine_token_check(p_token_hash text)
returns table (token_id uuid, subject text, role text, executor text, read_only boolean, workspace_id uuid)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t iu_core.machine_token;
  v_now constant timestamptz := clock_timestamp();
begin
  select * into t from iu_core.machine_token k where k.token_hash = p_token_hash;
  if not found or t.revoked_at is not null or t.expires_at <= v_now then
    return;
  end if;
  if t.last_used_at is null or t.last_used_at <= v_now - interval '1 minute' then
    update iu_core.machine_token k set last_used_at = v_now
     where k.token_id = t.token_id and k.last_used_at is not distinct from t.last_used_at;
  end if;
  return query select t.token_id, t.subject, t.role, t.executor, t.read_only, t.workspace_id;
end $$;

grant execute on function iu_core.fn_machine_token_check(text) to service_role;

-- Who created the token that acts; NULL for everybody else. It takes no argument, so nothing can be forged.
create or replace function iu_core.fn_my_token_creator() returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
begin
  if not starts_with(v_actor, 'token:') then
    return null;
  end if;
  return (select t.created_by from iu_core.machine_token t where t.subject = v_actor and t.workspace_id is not null);
end $$;

grant execute on function iu_core.fn_my_token_creator() to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- What the tokens of the caller's workspaces are called, by their subjects: for lists that say who did something. Whoever decides must see
-- that it was an agent, whatever somebody called its token.
create or replace function iu_core.fn_my_token_names(p_subjects text[]) returns table (subject text, name text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.subject, t.name || case when t.role = 'agent' and t.name !~* '\magent\M' then ' (agent)' else '' end from iu_core.machine_token t
   where t.subject = any (p_subjects) and t.workspace_id in (select iu_core.fn_my_workspaces())
$$;

grant execute on function iu_core.fn_my_token_names(text[]) to authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor;

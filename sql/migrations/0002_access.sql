-- Who acts, and what they may do in which workspace.

-- The actor is never an argument: it is the token's subject when our API set the claims, else the login.
-- Claims of any other session are worth nothing, because anyone can set that setting. Frozen: policies use it.
create function iu_core.fn_actor() returns text
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims text;
  v_sub text;
begin
  if session_user <> 'stagedoor_api' then
    return session_user;
  end if;
  v_claims := nullif(current_setting('request.jwt.claims', true), '');
  if v_claims is null then
    return session_user;
  end if;
  v_sub := nullif(v_claims::jsonb ->> 'sub', '');
  if v_sub is null then
    raise exception using errcode = 'SD204', message = 'The token names no subject (sub)';
  end if;
  return v_sub;
end $$;

-- The role whose rights count, also inside a definer function, where current_user is the function's owner.
-- In plpgsql, as the next one: a function in SQL is planned anew in every call, and these stand before every other
-- (27 → 7 µs for the second, six times in the life of a staging record).
create function iu_core.fn_caller_role() returns name
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
begin
  return case current_setting('role') when 'none' then session_user else current_setting('role')::name end;
end $$;

-- Back-end code and administrators act in every workspace. stagedoor_api inherits nothing, so it is not one.
create function iu_core.fn_caller_is_service() returns boolean
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role name := iu_core.fn_caller_role();
begin
  return pg_has_role(v_role, 'service_role', 'USAGE')
      or pg_has_role(v_role, 'dot_executor', 'USAGE')
      or pg_has_role(v_role, 'directus', 'USAGE')
      or pg_has_role(v_role, 'workflow_admin', 'USAGE');
end $$;

-- The workspaces may be the user's own tables (as on Supabase): created only where absent, never altered.
-- Then their owner has to let us read them: a member list that silently looks empty would lock everybody out.
do $$
declare
  v_missing text;
begin
  select string_agg(statement, ' ' order by position) into v_missing
    from (values
      (1, to_regclass('public.workspaces')),
      (2, to_regclass('public.workspace_members'))
    ) as theirs (position, name),
    lateral (
      select format('grant select, references on %s to workflow_admin;', name)
       where not (has_table_privilege(name, 'select') and has_table_privilege(name, 'references'))
      union all
      select format('create policy stagedoor_reads on %s for select to workflow_admin using (true);', name)
       where row_security_active(name)
         and not exists (select from pg_policy where polrelid = name and polcmd in ('r', '*')
                                                 and 'workflow_admin'::regrole = any (polroles))
    ) as needed (statement)
   where name is not null;
  if v_missing is not null then
    raise exception using
      errcode = 'insufficient_privilege',
      message = 'Stagedoor may not read the workspaces that are there already. Their owner runs once: ' || v_missing;
  end if;
end $$;

do $$
begin
  if to_regclass('public.workspaces') is null then
    create table public.workspaces (
      id uuid primary key default gen_random_uuid(),
      name text not null constraint workspaces_name_not_blank check (btrim(name) <> ''),
      created_at timestamptz not null default now()
    );
    alter table public.workspaces enable row level security;
    grant select on public.workspaces to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
    grant insert, update, delete on public.workspaces to service_role;
  end if;
  if to_regclass('public.workspace_members') is null then
    create table public.workspace_members (
      workspace_id uuid not null references public.workspaces (id) on delete cascade,
      user_id uuid not null,
      role text not null default 'viewer'
        constraint workspace_members_role_known check (role in ('viewer', 'operator', 'reviewer', 'admin', 'agent')),
      display_name text,
      created_at timestamptz not null default now(),
      primary key (workspace_id, user_id)
    );
    create index workspace_members_user_id on public.workspace_members ((user_id::text));
    alter table public.workspace_members enable row level security;
    grant select on public.workspace_members to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
    grant insert, update, delete on public.workspace_members to service_role;
  end if;
end $$;

-- Application roles: which rights each has, and the database role under which its requests run.
create table iu_core.app_role (
  app_role text primary key,
  database_role name not null,
  rights text[] not null
    constraint app_role_rights_known
    check (rights <@ array['read', 'stage', 'operate', 'review', 'administer']),
  description text not null
);
insert into iu_core.app_role values
  ('viewer',   'authenticated',      '{read}',                                   'sees what is held, planned and promoted'),
  ('operator', 'authenticated',      '{read,stage,operate}',                     'uploads, repairs, plans, promotes what was approved'),
  ('reviewer', 'stagedoor_reviewer', '{read,stage,operate,review}',              'decides what others staged'),
  ('admin',    'stagedoor_reviewer', '{read,stage,operate,review,administer}',   'also changes policies and members'),
  ('agent',    'stagedoor_agent',    '{read,stage}',                             'stages and withdraws its own; decides nothing');

-- For a user's own workspace_members without a role column, or with role names that are not ours.
create table iu_core.workspace_member_role (
  workspace_id uuid not null,
  user_id text not null,
  app_role text not null references iu_core.app_role (app_role),
  primary key (workspace_id, user_id)
);

-- The app role of a member: our mapping if there is one, else their own role column if it names one of ours, and a viewer
-- where that table has no such column. A role name that we do not know (suspended) gives nothing. NULL: not a member.
-- to_jsonb reads a column that may not exist; user_id may be uuid or text.
create function iu_core.fn_member_role(p_workspace_id uuid, p_user_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(mapped.app_role, own.app_role, case when not to_jsonb(m) ? 'role' then 'viewer' end)
    from public.workspace_members m
    left join iu_core.app_role own on own.app_role = to_jsonb(m) ->> 'role'
    left join iu_core.workspace_member_role mapped
      on mapped.workspace_id = p_workspace_id and mapped.user_id = p_user_id
   where m.workspace_id = p_workspace_id
     and m.user_id::text = p_user_id
$$;

-- The workspaces of whoever acts: the right-hand side of every workspace policy. Frozen: policies use it.
create function iu_core.fn_my_workspaces() returns setof uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select m.workspace_id from public.workspace_members m where m.user_id::text = (select iu_core.fn_actor())
     and iu_core.fn_member_role(m.workspace_id, m.user_id::text) is not null
$$;

do $$
begin
  if exists (select from pg_class where oid = 'public.workspaces'::regclass and relowner = 'workflow_admin'::regrole) then
    create policy workspaces_member_reads on public.workspaces for select
      to authenticated, stagedoor_agent, stagedoor_reviewer using (id in (select iu_core.fn_my_workspaces()));
    create policy workspaces_service on public.workspaces
      to service_role, dot_executor using (true) with check (true);
  end if;
  if exists (select from pg_class where oid = 'public.workspace_members'::regclass and relowner = 'workflow_admin'::regrole) then
    create policy workspace_members_member_reads on public.workspace_members for select
      to authenticated, stagedoor_agent, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces()));
    create policy workspace_members_service on public.workspace_members
      to service_role, dot_executor using (true) with check (true);
  end if;
end $$;

alter table iu_core.app_role enable row level security;
create policy app_role_everyone_reads on iu_core.app_role for select using (true);
grant select on iu_core.app_role to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

alter table iu_core.workspace_member_role enable row level security;
create policy workspace_member_role_service on iu_core.workspace_member_role
  to service_role using (true) with check (true);
grant select, insert, update, delete on iu_core.workspace_member_role to service_role;

revoke all on function iu_core.fn_actor() from public;
revoke all on function iu_core.fn_caller_role() from public;
revoke all on function iu_core.fn_caller_is_service() from public;
revoke all on function iu_core.fn_member_role(uuid, text) from public;
revoke all on function iu_core.fn_my_workspaces() from public;
grant execute on function iu_core.fn_actor(), iu_core.fn_caller_role(), iu_core.fn_caller_is_service() to
  dot_executor, service_role, directus, authenticated, vector_worker, stagedoor_agent, stagedoor_reviewer;
grant execute on function iu_core.fn_my_workspaces() to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

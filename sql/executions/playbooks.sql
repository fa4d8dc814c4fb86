-- Playbooks: registration, enabling, versions.

-- Registers a playbook: a new version, unless it equals the newest one. Running executions keep theirs. Who may start it can
-- change without a new version, and then for all versions, because a member may name an old one. A disabled playbook stays
-- disabled. Back-end code only: it checks the playbook.
create or replace function noetl.fn_playbook_register(
  p_path text, p_content text, p_payload jsonb, p_open_to_members boolean default false
) returns noetl.catalog
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c noetl.catalog;
  v_is_open boolean := coalesce(p_open_to_members, false);
  v_digest bytea;
  v_problem text;
begin
  v_problem := case
    when p_path is null or p_path !~ '^[a-z][a-z0-9_.:-]{0,62}$' then 'its name has lowercase letters, digits and _.:- only'
    when p_content is null then 'it has no text'
    when jsonb_typeof(p_payload) is distinct from 'object' then 'it is not a JSON object'
    when p_payload ->> 'name' is distinct from p_path then 'it is registered under another name than its own'
    when jsonb_typeof(p_payload -> 'steps') is distinct from 'array' or p_payload -> 'steps' = '[]' then 'it has no steps'
    when jsonb_typeof(coalesce(p_payload -> 'args', '{}')) <> 'object' then 'its args are not an object' end;
  if v_problem is not null then
    raise exception using
      errcode = 'SD801',
      message = format('%s cannot be used: %s', coalesce(p_path, 'NULL'), v_problem),
      detail = json_build_object('playbook', p_path, 'reason', v_problem)::text;
  end if;
  v_digest := sha256(convert_to(p_payload::text || chr(10) || p_content, 'UTF8'));
  perform pg_advisory_xact_lock(hashtextextended('noetl.catalog.' || p_path, 0));
  select * into c from noetl.catalog where path = p_path order by version desc limit 1;
  if c.digest is distinct from v_digest then
    insert into noetl.catalog (catalog_id, path, version, content, payload, digest, open_to_members, disabled_at, registered_by)
    values (noetl.fn_snowflake(), p_path, coalesce(c.version, 0) + 1, p_content, p_payload, v_digest, v_is_open, c.disabled_at,
            iu_core.fn_actor())
    returning * into c;
  end if;
  update noetl.catalog set open_to_members = v_is_open where path = p_path and open_to_members <> v_is_open;
  c.open_to_members := v_is_open;
  return c;
end $$;

grant execute on function noetl.fn_playbook_register(text, text, jsonb, boolean) to service_role, dot_executor;

-- Enables a playbook: it can be started again. Back-end code only.
create or replace function noetl.fn_playbook_enable(p_path text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select noetl.fn_playbook_set_enabled(p_path, true) $$;

grant execute on function noetl.fn_playbook_enable(text) to service_role, dot_executor;

-- Enables or disables a playbook, in all its versions. Internal.
create or replace function noetl.fn_playbook_set_enabled(p_path text, p_is_on boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from noetl.catalog where path = p_path) then
    raise exception using
      errcode = 'SD802',
      message = format('There is no playbook %s', p_path),
      detail = json_build_object('playbook', p_path)::text;
  end if;
  update noetl.catalog set disabled_at = case when not p_is_on then clock_timestamp() end
   where path = p_path and (disabled_at is null) <> p_is_on;
end $$;

-- Disables a playbook: no version can be started; running executions continue. Back-end code only.
create or replace function noetl.fn_playbook_disable(p_path text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select noetl.fn_playbook_set_enabled(p_path, false) $$;

grant execute on function noetl.fn_playbook_disable(text) to service_role, dot_executor;

-- The version of a playbook that would be started: the newest, or the given one. Raises if there is none. Internal.
create or replace function noetl.fn_playbook_require(p_path text, p_version integer default null) returns noetl.catalog
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c noetl.catalog;
begin
  select * into c from noetl.catalog where path = p_path and (p_version is null or version = p_version) order by version desc limit 1;
  if c.catalog_id is null then
    raise exception using
      errcode = 'SD802',
      message = format('There is no playbook %s%s', p_path, ' in version ' || p_version),
      detail = json_build_object('playbook', concat(p_path, ' in version ' || p_version))::text;
  end if;
  if c.disabled_at is not null then
    raise exception using
      errcode = 'SD802',
      message = format('The playbook %s is disabled', p_path),
      hint = format('`stagedoor playbook enable %s` lets it be started again.', p_path),
      detail = json_build_object('playbook', p_path || ' that can be started: it is disabled')::text;
  end if;
  return c;
end $$;

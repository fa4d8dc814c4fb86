-- Routes: changes of your tables become events. Registration, dry run, review, activation.

-- Registers a route, or changes one, which clears its review. For workflow_admin. Returns its code. The table need not exist
-- yet; if it does, the route must fit it. p_route: keys are column names. A table (source: schema.table as in SQL, or
-- source_schema and source_table), the event and the kept columns are enough.
create or replace function iu_core.fn_sql_route_register(p_route jsonb, p_actor text default null) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_before iu_core.iu_sql_event_route;
  v_actor record;
begin
  v_route := iu_core.fn_sql_route_parse(p_route);
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_sql_route_check(v_route);
  if v_route.target_event_domain = 'iu_sql' then
    insert into iu_core.event_vocabulary values
      ('iu_sql', v_route.target_event_type, format('%s on %s', v_route.sql_event, iu_core.fn_sql_route_source_name(v_route)))
    on conflict do nothing;
  elsif not exists (select from iu_core.event_vocabulary
                     where event_domain = v_route.target_event_domain and event_type = v_route.target_event_type) then
    raise exception using
      errcode = 'SD301',
      message = format('%s.%s is not in the event vocabulary', v_route.target_event_domain, v_route.target_event_type),
      hint = 'Routes may add types of their own in the domain iu_sql.',
      detail = json_build_object('event', concat_ws('.', v_route.target_event_domain, v_route.target_event_type))::text;
  end if;
  perform iu_core.fn_require_workspace(v_route.workspace_id);
  select * into v_before from iu_core.iu_sql_event_route where route_code = v_route.route_code for update;
  insert into iu_core.iu_sql_event_route as r (
    route_code, source_object_kind, source_schema, source_table, sql_event, target_event_domain, target_event_type,
    target_event_stream, fail_closed, idempotency_policy, payload_contract, workspace_id, workspace_column,
    registered_by, registered_via)
  values (
    v_route.route_code, v_route.source_object_kind, v_route.source_schema, v_route.source_table, v_route.sql_event,
    v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream, v_route.fail_closed,
    v_route.idempotency_policy, v_route.payload_contract, v_route.workspace_id, v_route.workspace_column,
    v_actor.actor, v_actor.via)
  on conflict (route_code) do update
     set source_object_kind = excluded.source_object_kind, source_schema = excluded.source_schema,
         source_table = excluded.source_table, sql_event = excluded.sql_event,
         target_event_domain = excluded.target_event_domain, target_event_type = excluded.target_event_type,
         target_event_stream = excluded.target_event_stream, fail_closed = excluded.fail_closed,
         idempotency_policy = excluded.idempotency_policy, payload_contract = excluded.payload_contract,
         workspace_id = excluded.workspace_id, workspace_column = excluded.workspace_column,
         registered_by = excluded.registered_by, registered_via = excluded.registered_via,
         registered_at = excluded.registered_at
   -- Registering the same definition again keeps the route and its review, whoever does it.
   where (r.source_object_kind, r.source_schema, r.source_table, r.sql_event, r.target_event_domain, r.target_event_type,
          r.target_event_stream, r.fail_closed, r.idempotency_policy, r.payload_contract, r.workspace_id, r.workspace_column)
         is distinct from
         (excluded.source_object_kind, excluded.source_schema, excluded.source_table, excluded.sql_event,
          excluded.target_event_domain, excluded.target_event_type, excluded.target_event_stream, excluded.fail_closed,
          excluded.idempotency_policy, excluded.payload_contract, excluded.workspace_id, excluded.workspace_column);
  if found then
    -- Rows that a transaction wrote while an earlier route with this code was deleted.
    if v_before.route_code is null then
      delete from iu_core.iu_sql_event_route_evidence where route_code = v_route.route_code;
      delete from iu_core.iu_sql_event_route_failure where route_code = v_route.route_code;
      delete from iu_core.iu_sql_event_route_key where route_code = v_route.route_code;
    end if;
    perform iu_core.fn_sql_route_emit_change(v_route.route_code, 'registered');
    if v_before.route_code is not null and (v_before.source_schema, v_before.source_table, v_before.sql_event)
       is distinct from (v_route.source_schema, v_route.source_table, v_route.sql_event) then
      perform iu_core.fn_sql_route_detach(v_route.route_code);
    end if;
  end if;
  return v_route.route_code;
end $$;

-- Parses the definition of a route and fills in its defaults. Internal.
create or replace function iu_core.fn_sql_route_parse(p_route jsonb) returns iu_core.iu_sql_event_route
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_unknown text;
  v_name text[];
begin
  if jsonb_typeof(p_route) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A route is a JSON object: source, sql_event, payload_contract, …';
  end if;
  select k into v_unknown from jsonb_object_keys(p_route) k
   where k not in ('route_code', 'source', 'source_object_kind', 'source_schema', 'source_table', 'sql_event',
                   'target_event_domain', 'target_event_type', 'target_event_stream', 'fail_closed',
                   'idempotency_policy', 'payload_contract', 'workspace_id', 'workspace_column') limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A route has no field called %L', v_unknown);
  end if;
  begin
    v_route := jsonb_populate_record(null::iu_core.iu_sql_event_route, p_route - 'source');
    if p_route ->> 'source' is not null then
      v_name := parse_ident(p_route ->> 'source');
      v_route.source_schema := case cardinality(v_name) when 1 then 'public' else v_name[1] end;
      v_route.source_table := case cardinality(v_name) when 1 then v_name[1] else v_name[2] end;
    end if;
  exception when data_exception then
    raise exception using errcode = 'SD001', message = format('The route cannot be read: %s', sqlerrm);
  end;
  if cardinality(v_name) > 2 then
    raise exception using errcode = 'SD001', message = format('%L is not a table of this database', p_route ->> 'source');
  end if;
  v_route.source_object_kind := coalesce(v_route.source_object_kind,
    case v_route.sql_event when 'call' then 'procedure' when 'ddl' then 'database' else 'table' end);
  if v_route.source_table is not null then
    v_route.source_schema := coalesce(v_route.source_schema, 'public');
  end if;
  v_name := array_remove(array[
    case when v_route.source_schema <> 'public' then iu_core.fn_sql_route_slug(v_route.source_schema) end,
    coalesce(iu_core.fn_sql_route_slug(v_route.source_table), 'database'),
    v_route.sql_event], null);
  v_route.route_code := coalesce(v_route.route_code, array_to_string(v_name, '.'));
  v_route.target_event_domain := coalesce(v_route.target_event_domain, 'iu_sql');
  v_route.target_event_type := coalesce(v_route.target_event_type, array_to_string(v_name, '.'));
  v_route.fail_closed := coalesce(v_route.fail_closed, true);
  v_route.idempotency_policy := coalesce(v_route.idempotency_policy, '{}');
  v_route.payload_contract := coalesce(v_route.payload_contract, '{}');
  return v_route;
end $$;

-- A name in the characters that codes and event types allow. Internal.
create or replace function iu_core.fn_sql_route_slug(p_name text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when slug ~ '^[a-z]' then slug else 't_' || slug end
    from (select left(regexp_replace(lower(p_name), '[^a-z0-9_]+', '_', 'g'), 50)) s (slug)
$$;

-- Starts the dry run, or returns to it: the triggers are attached, and what the route would send is stored as evidence. For
-- workflow_admin. The event of a TRUNCATE or a DDL command is known beforehand, and nobody should have to run one in production
-- as evidence: for those it is stored at once.
create or replace function iu_core.fn_sql_route_dry_run(p_route_code text) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attached integer := iu_core.fn_sql_route_attach(p_route_code);
  v_route iu_core.iu_sql_event_route;
  v_table text;
begin
  update iu_core.iu_sql_event_route
     set enabled = true, dry_run = true, activated_by = null, activated_at = null, disabled_reason = null
   where route_code = p_route_code returning * into v_route;
  v_table := iu_core.fn_sql_route_source_name(v_route);
  if v_route.sql_event = 'truncate' then
    perform iu_core.fn_sql_route_signal(v_route, null, 'sql:' || v_table,
      jsonb_build_object('table', v_table, 'truncated', v_table));
  elsif v_route.payload_contract ? 'search' then
    -- What it reads is in its definition, and its rows are all read when it is active.
    perform iu_core.fn_sql_route_signal(v_route, null, 'sql:' || v_table,
      jsonb_build_object('table', v_table, 'operation', v_route.sql_event)
        || ((v_route.payload_contract -> 'search') - array['table_id', 'key']) || jsonb_build_object('identified_by', v_route.payload_contract #> '{search,key}'));
  elsif v_route.sql_event = 'ddl' then
    perform iu_core.fn_sql_route_emit_ddl(v_route, jsonb_build_object(
      'command_tag', 'CREATE TABLE', 'object_type', 'table', 'schema_name', coalesce(v_route.source_schema, 'public'),
      'object_identity', format('%I.example', coalesce(v_route.source_schema, 'public'))));
  end if;
  perform iu_core.fn_sql_route_emit_change(p_route_code, 'dry_run');
  return v_attached;
end $$;

-- What a route in its current definition would have sent, newest statement first.
create or replace function iu_core.fn_sql_route_evidence(p_route_code text, p_limit integer default 20)
returns setof iu_core.iu_sql_event_route_evidence
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'read');
  return query
    select e.* from iu_core.iu_sql_event_route_evidence e
      join iu_core.iu_sql_event_route r on r.route_code = e.route_code and r.revision = e.revision
     where e.route_code = p_route_code
     order by e.evidence_id desc limit least(greatest(p_limit, 0), 1000);
end $$;

grant execute on function iu_core.fn_sql_route_evidence(text, integer) to authenticated, stagedoor_reviewer, service_role, dot_executor;

-- Records that a second person reviewed the evidence: this number of statements, of the definition with this revision. Not the
-- registrant, and not without evidence.
create or replace function iu_core.fn_sql_route_review(
  p_route_code text, p_evidence integer, p_actor text default null, p_revision integer default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_actor record;
  v_kept integer;
  v_reason text;
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  v_route := iu_core.fn_sql_route_lock(p_route_code);
  select count(*) into v_kept from iu_core.iu_sql_event_route_evidence
   where route_code = p_route_code and revision = v_route.revision;
  v_reason := case
    when not v_route.enabled then 'it is disabled: start its dry run first'
    when not v_route.dry_run then 'it is active already'
    when p_revision <> v_route.revision
      then format('it was changed: you saw revision %s, and it is now at revision %s', p_revision, v_route.revision)
    when v_kept = 0 then 'its dry run has seen no statement yet'
    when p_evidence is null or p_evidence < 1 then 'the number of evidence lines that you saw is missing'
    -- Above a hundred, the oldest are deleted, so a reviewer may have seen more than are left.
    when v_kept < 100 and p_evidence > v_kept
      then format('there is evidence of %s only, not of %s', case v_kept when 1 then '1 statement' else v_kept || ' statements' end, p_evidence)
  end;
  if v_reason is not null then
    raise exception using
      errcode = 'SD313',
      message = format('The route %s cannot be reviewed: %s', p_route_code, v_reason),
      detail = json_build_object('route', p_route_code, 'reason', v_reason)::text;
  end if;
  begin
    update iu_core.iu_sql_event_route
       set reviewed_by = v_actor.actor, reviewed_via = v_actor.via, reviewed_at = clock_timestamp(), evidence_seen = p_evidence
     where route_code = p_route_code;
  exception when check_violation then
    raise exception using
      errcode = 'SD314',
      message = format('%s registered the route %s; another person must review it', v_actor.actor, p_route_code),
      detail = json_build_object('route', p_route_code, 'actor', v_actor.actor)::text;
  end;
  perform iu_core.fn_sql_route_emit_change(p_route_code, 'reviewed', p_actor);
end $$;

grant execute on function iu_core.fn_sql_route_review(text, integer, text, integer) to stagedoor_reviewer, service_role;

-- Activates a reviewed route: it sends events from now on. It can be disabled and activated again as long as it is not changed.
create or replace function iu_core.fn_sql_route_activate(p_route_code text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_actor record;
  v_reason text;
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  v_route := iu_core.fn_sql_route_lock(p_route_code);
  v_reason := case
    when v_route.reviewed_by is null then 'nobody has reviewed it'
    when v_route.source_object_kind = 'table'
         and not exists (select from iu_core.iu_sql_event_route_attachment
                          where route_code = p_route_code and revision = v_route.revision and is_root)
      then 'its triggers are not attached'
    else iu_core.fn_sql_route_drift(v_route)
  end;
  if v_reason is not null then
    raise exception using
      errcode = 'SD313',
      message = format('The route %s cannot be activated: %s', p_route_code, v_reason),
      detail = json_build_object('route', p_route_code, 'reason', v_reason)::text;
  end if;
  if v_route.enabled and not v_route.dry_run then
    return;
  end if;
  update iu_core.iu_sql_event_route
     set enabled = true, dry_run = false, activated_by = v_actor.actor, activated_at = clock_timestamp(), disabled_reason = null
   where route_code = p_route_code;
  perform iu_core.fn_sql_route_emit_change(p_route_code, 'activated', p_actor);
end $$;

grant execute on function iu_core.fn_sql_route_activate(text, text) to stagedoor_reviewer, service_role;

-- Disables a route at once, without a lock on its table: the trigger stays and finds nothing to do.
create or replace function iu_core.fn_sql_route_disable(p_route_code text, p_reason text default null, p_actor text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  v_route := iu_core.fn_sql_route_lock(p_route_code);
  if not v_route.enabled then
    return;
  end if;
  update iu_core.iu_sql_event_route
     set enabled = false, dry_run = true, activated_by = null, activated_at = null,
         disabled_reason = concat_ws(': ', v_actor.actor || ' disabled it', p_reason)
   where route_code = p_route_code;
  perform iu_core.fn_sql_route_emit_change(p_route_code, 'disabled', p_actor);
end $$;

grant execute on function iu_core.fn_sql_route_disable(text, text, text) to stagedoor_reviewer, service_role;

-- Prepares the statements of the triggers again at the end of every migrate. A route that no longer fits its table keeps its
-- statement; its trigger and fn_sql_route_sync report it. Internal.
create or replace function iu_core.fn_sql_route_refresh() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attached record;
begin
  for v_attached in
    select a.relation, root.relation as root, r as definition
      from iu_core.iu_sql_event_route_attachment a
      join iu_core.iu_sql_event_route r on r.route_code = a.route_code and r.revision = a.revision
      join iu_core.iu_sql_event_route_attachment root on root.route_code = a.route_code and root.is_root
     where a.sql_event <> 'truncate'
  loop
    begin
      update iu_core.iu_sql_event_route_attachment a
         set columns = s.columns, column_types = s.column_types, send_sql = s.send_sql, rehearse_sql = s.rehearse_sql,
             row_sql = s.row_sql,
             forbidden = iu_core.fn_sql_route_forbidden_keys((v_attached.definition).payload_contract)
        from iu_core.fn_sql_route_statement(v_attached.definition, v_attached.relation, v_attached.root) s
       where a.relation = v_attached.relation and a.route_code = (v_attached.definition).route_code;
    exception when sqlstate 'SD311' then
      null;
    end;
  end loop;
end $$;

-- Deletes a route with its evidence, failures and keys. For workflow_admin. Its events stay. Returns the statements with which
-- the owners of the tables drop the triggers that only they can drop.
create or replace function iu_core.fn_sql_route_delete(p_route_code text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left text[] := iu_core.fn_sql_route_detach(p_route_code);
begin
  perform iu_core.fn_sql_route_emit_change(p_route_code, 'removed');
  delete from iu_core.iu_sql_event_route where route_code = p_route_code;
  delete from iu_core.iu_sql_event_route_evidence where route_code = p_route_code;
  delete from iu_core.iu_sql_event_route_failure where route_code = p_route_code;
  delete from iu_core.iu_sql_event_route_key where route_code = p_route_code;
  return v_left;
end $$;

-- A review covers one definition, by another person than its registrant. Any change of the definition, by whatever way, clears
-- the review and stops sending, and nobody can review in another's name. Evidence and triggers of the old definition no longer
-- count, because the revision changes.
create or replace function iu_core.fn_sql_route_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
begin
  if tg_op = 'UPDATE'
     and (new.route_code, new.source_object_kind, new.source_schema, new.source_table, new.sql_event, new.target_event_domain,
          new.target_event_type, new.target_event_stream, new.fail_closed, new.idempotency_policy, new.payload_contract,
          new.workspace_id, new.workspace_column, new.registered_by, new.registered_via)
         is not distinct from
         (old.route_code, old.source_object_kind, old.source_schema, old.source_table, old.sql_event, old.target_event_domain,
          old.target_event_type, old.target_event_stream, old.fail_closed, old.idempotency_policy, old.payload_contract,
          old.workspace_id, old.workspace_column, old.registered_by, old.registered_via) then
    new.revision := old.revision;
    new.registered_at := old.registered_at;
    if new.reviewed_by is not null and row(new.reviewed_by, new.reviewed_via) is distinct from row(old.reviewed_by, old.reviewed_via)
       and new.reviewed_via is distinct from (select a.via from iu_core.fn_actor_for(new.reviewed_by) a) then
      raise exception using
        errcode = 'SD203',
        message = format('%s cannot act as %L', v_actor, new.reviewed_by),
        detail = json_build_object('actor', v_actor, 'named', new.reviewed_by)::text;
    end if;
    return new;
  end if;
  if new.registered_via = v_actor then
    -- Only a service may name another actor.
    perform iu_core.fn_actor_for(new.registered_by);
  else
    new.registered_by := v_actor;
    new.registered_via := null;
  end if;
  new.registered_at := clock_timestamp();
  new.revision := case tg_op when 'UPDATE' then old.revision + 1 else 1 end;
  new.disabled_reason := case when tg_op = 'UPDATE' and old.enabled then 'its definition was changed' end;
  new.enabled := false;
  new.dry_run := true;
  new.reviewed_by := null;
  new.reviewed_via := null;
  new.reviewed_at := null;
  new.evidence_seen := null;
  new.activated_by := null;
  new.activated_at := null;
  return new;
end $$;

create or replace trigger iu_sql_event_route_review_is_of_one_definition
  before insert or update on iu_core.iu_sql_event_route
  for each row execute function iu_core.fn_sql_route_guard();

-- Locks the route with this code and returns it. Raises if there is none. Internal.
create or replace function iu_core.fn_sql_route_lock(p_route_code text) returns iu_core.iu_sql_event_route
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
begin
  select * into v_route from iu_core.iu_sql_event_route where route_code = p_route_code for no key update;
  if not found then
    raise exception using
      errcode = 'SD312',
      message = format('There is no route called %L', p_route_code),
      detail = json_build_object('route', p_route_code)::text;
  end if;
  return v_route;
end $$;

-- Raises if a definition is invalid, as far as can be checked now: against its table, if that exists. Internal.
create or replace function iu_core.fn_sql_route_check(p_route iu_core.iu_sql_event_route) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keep text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'keep_refs');
  v_subject text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'subject');
  v_forbidden text[];
  v_key text[] := iu_core.fn_sql_route_key_columns(p_route.idempotency_policy);
  v_relation regclass := iu_core.fn_sql_route_source(p_route);
  v_of_rows boolean := p_route.sql_event in ('insert', 'update', 'delete');
  v_name text;
  v_reason text;
begin
  perform iu_core.fn_sql_route_strings(p_route.payload_contract, 'forbid_keys');
  v_forbidden := iu_core.fn_sql_route_forbidden_keys(p_route.payload_contract);
  select lower(k) into v_name from unnest(v_keep) k where lower(k) = any (v_forbidden) limit 1;
  v_reason := case
    when p_route.sql_event is null
         or p_route.sql_event not in ('insert', 'update', 'delete', 'truncate', 'call', 'ddl')
      then format('%L is not one of insert, update, delete, truncate, call and ddl', p_route.sql_event)
    when p_route.sql_event <> 'ddl' and p_route.source_table is null then 'it has no table'
    when p_route.source_object_kind is distinct from
         case p_route.sql_event when 'call' then 'procedure' when 'ddl' then 'database' else 'table' end
         or (p_route.sql_event = 'ddl' and p_route.source_table is not null)
      then format('%s is not an event of a %s', p_route.sql_event, p_route.source_object_kind)
    when v_name is not null then format('%I is a forbidden payload key', v_name)
    when p_route.payload_contract ? 'search' then iu_core.fn_search_route_problem(p_route)
    when v_of_rows and coalesce(cardinality(v_keep), 0) = 0 then 'it keeps no column (keep_refs)'
    when cardinality(v_keep) > 50 then 'it keeps more than 50 columns'
    when cardinality(v_keep) <> (select count(distinct k) from unnest(v_keep) k) then 'it keeps a column twice'
    when not v_subject <@ coalesce(v_keep, '{}') or v_subject = '{}' then 'its subject is not among what it keeps'
    when not v_of_rows and p_route.workspace_column is not null then 'only rows have a workspace column'
    when p_route.sql_event in ('truncate', 'ddl') and v_key is not null then 'only rows and calls have an idempotency key'
    when jsonb_typeof(p_route.payload_contract -> 'only_changed') <> 'boolean' then 'only_changed is true or false'
    when p_route.sql_event <> 'update' and p_route.payload_contract ? 'only_changed' then 'only updates can be only_changed'
    when p_route.sql_event = 'ddl' and not v_keep <@ array['command_tag', 'object_type', 'schema_name', 'object_identity']
      then 'of DDL it can keep command_tag, object_type, schema_name and object_identity'
    when (p_route.payload_contract - array['keep_refs', 'forbid_keys', 'subject', 'only_changed']) <> '{}'
      then 'its payload contract has other fields than keep_refs, forbid_keys, subject and only_changed'
    when (p_route.idempotency_policy - 'key') <> '{}' or jsonb_typeof(p_route.idempotency_policy -> 'key') <> 'string'
      then 'its idempotency policy is not {"key": "(a,b)"}'
    when p_route.workspace_id is not null and p_route.workspace_column is not null
      then 'it has both a workspace and a workspace column'
    when p_route.target_event_type !~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$'
      then format('%L is not a valid event type', p_route.target_event_type)
    when p_route.route_code !~ '^[a-z0-9][a-z0-9_.:-]{0,126}$' then format('%L is not a valid route code', p_route.route_code)
    when v_relation is not null then iu_core.fn_sql_route_table_problem(p_route, v_relation)
  end;
  if v_reason is not null then
    raise exception using
      errcode = 'SD311',
      message = format('The definition of the route %s is invalid: %s', p_route.route_code, v_reason),
      detail = json_build_object('route', p_route.route_code, 'reason', v_reason)::text;
  end if;
  if v_relation is not null and v_of_rows then
    perform iu_core.fn_sql_route_statement(p_route, v_relation, v_relation);
  end if;
end $$;

-- Why this table cannot have this route, or NULL. Internal.
create or replace function iu_core.fn_sql_route_table_problem(p_route iu_core.iu_sql_event_route, p_root regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when c.relkind not in ('r', 'p') then format('%s is not a table', p_root)
    when c.relpersistence = 't' then format('%s is a temporary table', p_root)
    when c.relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      then format('%s belongs to PostgreSQL', p_root)
    -- A route on these tables would never end.
    when p_root in ('iu_core.event_outbox', 'iu_core.iu_sql_event_route_evidence', 'iu_core.iu_sql_event_route_failure',
                    'iu_core.iu_sql_event_route_key')
         or exists (select from pg_inherits where inhrelid = p_root and inhparent = 'iu_core.event_outbox'::regclass)
      then format('%s is written by routes themselves', p_root)
    when exists (select from iu_core.fn_sql_route_relations(p_root) r join pg_class f on f.oid = r where f.relkind = 'f')
      then format('%s has a foreign table among its partitions, whose rows triggers do not see', p_root)
    when p_route.workspace_column is not null
         and (select (iu_core.fn_sql_route_column(p_root, 'n', p_route.workspace_column)).type) <> 'uuid'::regtype
      then format('the workspace column %I is not a uuid', p_route.workspace_column)
    when p_route.sql_event = 'update' and p_route.payload_contract -> 'only_changed' = 'true'
         and iu_core.fn_sql_route_primary_key(p_root) is null
      then format('only_changed pairs rows by primary key, and %s has none', p_root)
  end
    from pg_class c where c.oid = p_root
$$;

-- The table of a route, by its exact name; NULL if it does not exist or the route has none. to_regclass would need a right on
-- the schema. Internal.
create or replace function iu_core.fn_sql_route_source(p_route iu_core.iu_sql_event_route) returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where p_route.source_object_kind = 'table'
     and n.nspname = p_route.source_schema and c.relname = p_route.source_table
$$;

-- Emits an event about a change of a route. Internal.
create or replace function iu_core.fn_sql_route_emit_change(p_route_code text, p_change text, p_actor text default null) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_event_emit(
    'governance', 'route_changed', p_change, p_route_code, 'route:' || p_route_code, r.workspace_id,
    jsonb_build_object('route', p_route_code, 'change', p_change, 'revision', r.revision), p_actor => p_actor)
    from iu_core.iu_sql_event_route r where r.route_code = p_route_code
$$;

-- The workspace of a route that the caller may see; another workspace's route gives the same error as a missing one. Internal:
-- definer functions pass the result to require_member.
create or replace function iu_core.fn_sql_route_workspace(p_route_code text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.iu_sql_event_route where route_code = p_route_code;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD312',
      message = format('There is no route called %L', p_route_code),
      detail = json_build_object('route', p_route_code)::text;
  end if;
  return v_workspace;
end $$;

-- Every route with its state, where it is attached, its evidence and its failures.
create or replace view iu_core.v_sql_event_route with (security_invoker = true) as
select r.route_code,
       case when not r.enabled then 'disabled' when not r.dry_run then 'active'
            when r.reviewed_by is not null then 'reviewed' else 'dry_run' end as state,
       r.source_object_kind, r.source_schema, r.source_table, r.sql_event, r.target_event_domain, r.target_event_type,
       r.target_event_stream, r.fail_closed, r.idempotency_policy, r.payload_contract, r.workspace_id, r.workspace_column,
       r.revision, r.registered_by, r.registered_via, r.registered_at, r.reviewed_by, r.reviewed_via, r.reviewed_at,
       r.evidence_seen, r.activated_by, r.activated_at, r.disabled_reason,
       (select count(*)::integer from iu_core.iu_sql_event_route_attachment a
         where a.route_code = r.route_code and a.revision = r.revision) as attached,
       (select count(*)::integer from iu_core.iu_sql_event_route_evidence e
         where e.route_code = r.route_code and e.revision = r.revision) as evidence,
       r.failures_before + failed.failures as failures, failed.last_failure, failed.last_failed_at
  from iu_core.iu_sql_event_route r
 cross join lateral (
   select count(*) as failures, (array_agg(f.reason order by f.failure_id desc))[1] as last_failure, max(f.failed_at) as last_failed_at
     from iu_core.iu_sql_event_route_failure f where f.route_code = r.route_code) failed;

grant select on iu_core.v_sql_event_route to authenticated, stagedoor_reviewer, service_role, dot_executor;

-- The active routes, with every column of the registry.
create or replace view iu_core.v_sql_event_route_active with (security_invoker = true) as
select * from iu_core.iu_sql_event_route where enabled = true and dry_run = false;

grant select on iu_core.v_sql_event_route_active to authenticated, stagedoor_reviewer, service_role, dot_executor;

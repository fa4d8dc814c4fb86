-- Triggers of routes: attach, compare with the tables, detach.

-- Creates the triggers of a route on its table, all its partitions and children, and prepares their statements. For
-- workflow_admin, or for the owner of the table: it acts with the caller's rights. Returns the number of tables. It never
-- blocks writers: it waits for them for at most three seconds.
create or replace function iu_core.fn_sql_route_attach(p_route_code text) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_root regclass;
  v_relation regclass;
  v_columns text[];
  v_types regtype[];
  v_send text;
  v_rehearse text;
  v_row text;
  v_attached integer := 0;
begin
  -- Attach, detach and sync are serialized.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.routes', 0));
  v_route := iu_core.fn_sql_route_lock(p_route_code);
  perform iu_core.fn_sql_route_check(v_route);
  if v_route.source_object_kind = 'database' then
    perform iu_core.fn_sql_route_attach_ddl();
    return 0;
  elsif v_route.source_object_kind = 'procedure' then
    return 0;
  end if;
  v_root := iu_core.fn_sql_route_source(v_route);
  perform iu_core.fn_sql_route_require_rights(v_route, v_root);
  delete from iu_core.iu_sql_event_route_attachment where route_code = p_route_code;
  for v_relation in select iu_core.fn_sql_route_relations(v_root) loop
    perform iu_core.fn_sql_route_create_trigger(v_relation, v_route.sql_event);
    -- Emptying a table has no rows to read.
    if v_route.sql_event <> 'truncate' then
      select * into v_columns, v_types, v_send, v_rehearse, v_row
        from iu_core.fn_sql_route_statement(v_route, v_relation, v_root);
    end if;
    insert into iu_core.iu_sql_event_route_attachment (
      relation, sql_event, route_code, revision, is_root, columns, column_types, forbidden, send_sql, rehearse_sql,
      row_sql)
    values (
      v_relation, v_route.sql_event, p_route_code, v_route.revision, v_relation = v_root,
      coalesce(v_columns, '{}'), coalesce(v_types, '{}'), iu_core.fn_sql_route_forbidden_keys(v_route.payload_contract),
      v_send, v_rehearse, v_row);
    v_attached := v_attached + 1;
  end loop;
  return v_attached;
exception when lock_not_available or deadlock_detected then
  raise exception using
    errcode = 'SD316',
    message = format('%s was locked by other transactions for three seconds, so the trigger could not be created',
                     iu_core.fn_sql_route_source_name(v_route)),
    detail = json_build_object('table', iu_core.fn_sql_route_source_name(v_route))::text;
end $$;

-- Raises if the table does not exist, or if the caller may not create triggers on it, with the statements for its owner.
-- Internal.
create or replace function iu_core.fn_sql_route_require_rights(p_route iu_core.iu_sql_event_route, p_root regclass) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_statements text[];
begin
  if p_root is null then
    raise exception using
      errcode = 'SD315',
      message = format('The table %2$s of the route %1$s does not exist', p_route.route_code, iu_core.fn_sql_route_source_name(p_route)),
      hint = 'Create the table, then try again.',
      detail = json_build_object('route', p_route.route_code, 'table', iu_core.fn_sql_route_source_name(p_route))::text;
  end if;
  select array_agg(statement order by position, statement) into v_statements
    from (select distinct 1, format('grant usage on schema %I to %I;', n.nspname, current_user)
            from iu_core.fn_sql_route_relations(p_root) r
            join pg_class c on c.oid = r join pg_namespace n on n.oid = c.relnamespace
           where not has_schema_privilege(n.oid, 'usage')
          union all
          select 2, format('grant trigger on table %s to %I;', r, current_user)
            from iu_core.fn_sql_route_relations(p_root) r
           where not has_table_privilege(r, 'trigger')) needed (position, statement);
  if v_statements is not null then
    raise exception using
      errcode = 'SD315',
      message = format('%s may not create a trigger on %s. The owner of the table must run: %s', current_user, p_root, array_to_string(v_statements, ' ')),
      detail = json_build_object('route', p_route.route_code, 'table', p_root::text, 'statements', v_statements)::text;
  end if;
end $$;

-- Creates the trigger for one event on one table, unless it exists; all routes of that event share it. Internal.
create or replace function iu_core.fn_sql_route_create_trigger(p_relation regclass, p_sql_event text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := 'stagedoor_route_' || p_sql_event;
  v_trigger pg_trigger;
  v_reason text;
begin
  select * into v_trigger from pg_trigger where tgrelid = p_relation and tgname = v_name;
  if found then
    v_reason := case
      when v_trigger.tgfoid <> 'iu_core.fn_sql_event_route()'::regprocedure
        then format('%s has a trigger called %s that is not ours; drop or rename it', p_relation, v_name)
      when v_trigger.tgenabled not in ('O', 'A')
        then format('its trigger is disabled; the owner must run: alter table %s enable trigger %s;', p_relation, v_name)
    end;
    if v_reason is not null then
      raise exception using
        errcode = 'SD315',
        message = format('The route cannot be attached: %s', v_reason),
        hint = 'Correct this, then try again.',
        detail = json_build_object('table', p_relation::text, 'reason', v_reason)::text;
    end if;
    return;
  end if;
  execute format('create trigger %I after %s on %s %s for each statement execute function iu_core.fn_sql_event_route()',
    v_name, p_sql_event, p_relation,
    case p_sql_event
      when 'insert' then 'referencing new table as stagedoor_new'
      when 'update' then 'referencing old table as stagedoor_old new table as stagedoor_new'
      when 'delete' then 'referencing old table as stagedoor_old'
    end);
end $$;

-- Drops the triggers of a route that no other route needs, and disables the route. For workflow_admin. Only the owner of a
-- table can drop a trigger: returns the statements that the owner must run; until then such a trigger does nothing.
create or replace function iu_core.fn_sql_route_detach(p_route_code text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_attached record;
  v_drop text;
  v_left text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.routes', 0));
  v_route := iu_core.fn_sql_route_lock(p_route_code);
  update iu_core.iu_sql_event_route
     set enabled = false, dry_run = true, activated_by = null, activated_at = null,
         disabled_reason = case when enabled then 'it was detached' else disabled_reason end
   where route_code = p_route_code;
  for v_attached in
    delete from iu_core.iu_sql_event_route_attachment where route_code = p_route_code returning relation, sql_event
  loop
    continue when exists (select from iu_core.iu_sql_event_route_attachment
                           where relation = v_attached.relation and sql_event = v_attached.sql_event)
      or not exists (select from pg_trigger t
                      where t.tgrelid = v_attached.relation and t.tgname = 'stagedoor_route_' || v_attached.sql_event
                        and t.tgfoid = 'iu_core.fn_sql_event_route()'::regprocedure);
    v_drop := format('drop trigger %I on %s', 'stagedoor_route_' || v_attached.sql_event, v_attached.relation);
    begin
      execute v_drop;
    exception when insufficient_privilege or lock_not_available or deadlock_detected then
      v_left := v_left || (v_drop || ';');
    end;
  end loop;
  return v_left;
end $$;

-- Compares the routes with their tables, hourly: new partitions get their triggers, altered columns a new statement. A route
-- whose table was dropped, renamed or moved, or whose trigger is missing or disabled, is disabled with the reason, because it
-- no longer is what was reviewed. Also deletes old failures (they stay counted) and keys. Returns its findings.
create or replace function iu_core.fn_sql_route_sync() returns table (route_code text, finding text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_reason text;
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.routes', 0));
  for v_route in
    select r.* from iu_core.iu_sql_event_route r
     where (r.source_object_kind = 'database' and r.enabled)
        or exists (select from iu_core.iu_sql_event_route_attachment a where a.route_code = r.route_code)
     order by r.route_code
  loop
    route_code := v_route.route_code;
    v_reason := iu_core.fn_sql_route_drift(v_route);
    if v_reason is not null then
      delete from iu_core.iu_sql_event_route_attachment a where a.route_code = v_route.route_code;
      update iu_core.iu_sql_event_route r
         set enabled = false, dry_run = true, activated_by = null, activated_at = null, disabled_reason = v_reason
       where r.route_code = v_route.route_code;
      if v_route.enabled then
        perform iu_core.fn_sql_route_emit_change(v_route.route_code, 'disabled');
      end if;
      finding := 'disabled: ' || v_reason;
      return next;
    elsif iu_core.fn_sql_route_is_outdated(v_route) then
      begin
        perform iu_core.fn_sql_route_attach(v_route.route_code);
        finding := 'attached again';
      exception when others then
        finding := sqlerrm;
      end;
      return next;
    end if;
  end loop;
  perform iu_core.fn_sql_route_cleanup();
end $$;

grant execute on function iu_core.fn_sql_route_sync() to dot_executor, service_role;

-- Whether a route's table has partitions without a trigger, lost some, or was altered since the route was attached. Internal.
create or replace function iu_core.fn_sql_route_is_outdated(p_route iu_core.iu_sql_event_route) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array(select r::oid from iu_core.fn_sql_route_relations(root.relation) r order by 1)
         <> array(select a.relation::oid from iu_core.iu_sql_event_route_attachment a
                    join pg_trigger t on t.tgrelid = a.relation and t.tgname = 'stagedoor_route_' || a.sql_event
                   where a.route_code = p_route.route_code order by 1)
      or exists (
           select from iu_core.iu_sql_event_route_attachment a
            where a.route_code = p_route.route_code and a.column_types <> array(
              select t.atttypid::regtype from unnest(a.columns) with ordinality c (name, position)
                join pg_attribute t on t.attrelid = a.relation and t.attname = c.name and not t.attisdropped
               order by c.position))
    from iu_core.iu_sql_event_route_attachment root
   where root.route_code = p_route.route_code and root.is_root
$$;

-- Keeps the newest hundred failures of each route and only counts the others. Deletes keys after 90 days, with the events that
-- they guard. Internal.
create or replace function iu_core.fn_sql_route_cleanup() returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with old as (
    delete from iu_core.iu_sql_event_route_failure f
     where f.failure_id < (select min(failure_id) from (
             select n.failure_id from iu_core.iu_sql_event_route_failure n
              where n.route_code = f.route_code order by n.failure_id desc limit 100) newest)
    returning f.route_code
  ), counted as (
    select o.route_code, count(*) as failures from old o group by o.route_code
  )
  update iu_core.iu_sql_event_route r set failures_before = r.failures_before + c.failures
    from counted c where r.route_code = c.route_code;
  delete from iu_core.iu_sql_event_route_key where event_id < iu_core.fn_time_uuid_floor(now() - interval '90 days');
$$;

-- Creates the event triggers of DDL routes. Only a superuser (or a role that the provider allows) can; otherwise raises the
-- statements to run. Internal.
create or replace function iu_core.fn_sql_route_attach_ddl() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[];
  v_statement text;
begin
  select array_agg(format('create event trigger %I on %s execute function iu_core.fn_sql_route_ddl()', name, event)) into v_missing
    from (values ('stagedoor_route_ddl', 'ddl_command_end'), ('stagedoor_route_drop', 'sql_drop')) wanted (name, event)
   where not exists (select from pg_event_trigger t
                      where t.evtname = name and t.evtfoid = 'iu_core.fn_sql_route_ddl()'::regprocedure and t.evtenabled in ('O', 'A'));
  foreach v_statement in array coalesce(v_missing, '{}') loop
    execute v_statement;
  end loop;
exception when insufficient_privilege then
  raise exception using
    errcode = 'SD317',
    message = 'DDL routes are unavailable: their event triggers do not exist, and only a superuser can create them',
    detail = json_build_object('statements', array(select s || ';' from unnest(v_missing) s))::text;
end $$;

-- A table with its partitions and children at any depth. A statement fires only the triggers of the table that it names, so
-- writing directly to a partition does not fire those of its parent. Internal.
create or replace function iu_core.fn_sql_route_relations(p_root regclass) returns setof regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive tree (relation) as (
    select p_root::oid
    union
    select i.inhrelid from tree join pg_inherits i on i.inhparent = tree.relation
  )
  select relation::regclass from tree order by relation <> p_root::oid, relation
$$;

-- What has changed on the table of an attached route, or on its triggers, that makes the review void; NULL: nothing. Internal.
create or replace function iu_core.fn_sql_route_drift(p_route iu_core.iu_sql_event_route) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when c.oid is null then format('the table %s was dropped', iu_core.fn_sql_route_source_name(p_route))
    when (n.nspname, c.relname) is distinct from (p_route.source_schema::name, p_route.source_table::name)
      then format('the table %s is now called %I.%I', iu_core.fn_sql_route_source_name(p_route), n.nspname, c.relname)
    when t.oid is null then format('its trigger on %s was dropped', a.relation)
    when t.tgenabled not in ('O', 'A') then format('its trigger on %s was disabled', a.relation)
  end
    from iu_core.iu_sql_event_route_attachment a
    left join pg_class c on c.oid = a.relation
    left join pg_namespace n on n.oid = c.relnamespace
    left join pg_trigger t on t.tgrelid = a.relation and t.tgname = 'stagedoor_route_' || a.sql_event
                          and t.tgfoid = 'iu_core.fn_sql_event_route()'::regprocedure
   where a.route_code = p_route.route_code and a.is_root
  union all
  select 'its event triggers were dropped or disabled'
   where p_route.source_object_kind = 'database'
     and (select count(*) from pg_event_trigger
           where evtfoid = 'iu_core.fn_sql_route_ddl()'::regprocedure and evtenabled in ('O', 'A')) < 2
$$;

-- The source of a route as SQL writes it. Internal.
create or replace function iu_core.fn_sql_route_source_name(p_route iu_core.iu_sql_event_route) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(quote_ident(p_route.source_schema) || '.' || quote_ident(p_route.source_table), 'the database')
$$;

-- What the triggers of routes write into the outbox.

-- The trigger function of all routes: one call for each statement, one insert for all its rows. It runs as the owner, so that
-- writers of the table need no right of ours; only the registrar decides which routes exist.
--
-- The settings: the text of a value must not depend on the session, or equal keys would differ.
--
-- A route that fails closed has no exception block: each would be a subtransaction, and more than 64 of them in one transaction
-- slow down every session of the server. Expected failures are raised as errors of ours; anything else aborts as it is.
create or replace function iu_core.fn_sql_event_route() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'iso_8601'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
declare
  v_route record;
  v_cause record;
  v_actor text;
  v_state text;
  v_reason text;
  v_single boolean;
  v_id uuid;
  e record;
begin
  for v_route in
    select r as definition, r.route_code, r.dry_run, r.fail_closed, r.revision, r.workspace_id,
           r.target_event_domain, r.target_event_type, r.target_event_stream, a.forbidden,
           case when not exists (
                  select from unnest(a.columns, a.column_types) c (name, type)
                    left join pg_attribute t on t.attrelid = a.relation and t.attname = c.name and not t.attisdropped
                   where t.atttypid is distinct from c.type)
             then case when r.dry_run then a.rehearse_sql else a.send_sql end end as prepared,
           a.row_sql
      from iu_core.iu_sql_event_route_attachment a
      join iu_core.iu_sql_event_route r on r.route_code = a.route_code and r.revision = a.revision
     where a.relation = tg_relid and a.sql_event = lower(tg_op) and r.enabled
     order by r.route_code
  loop
    if tg_op = 'TRUNCATE' then
      -- Truncating a table fires for each of its partitions, too: they are one statement, and one event.
      perform iu_core.fn_sql_route_signal(
        v_route.definition, null, 'sql:' || iu_core.fn_sql_route_source_name(v_route.definition),
        jsonb_build_object('table', iu_core.fn_sql_route_source_name(v_route.definition), 'truncated', tg_relid::regclass::text),
        format('truncate:%s:%s', pg_current_xact_id(), statement_timestamp()));
      continue;
    end if;
    if v_cause is null then
      v_cause := iu_core.fn_event_cause();
    end if;
    if v_route.row_sql is not null and v_route.prepared is not null and v_route.fail_closed and not v_route.dry_run then
      -- The plan of send_sql is made for each statement, which costs ten times the insert of one row: 230 µs of CPU, 100 this way.
      if v_single is null then
        if tg_op = 'DELETE' then
          perform from stagedoor_old offset 1;
        else
          perform from stagedoor_new offset 1;
        end if;
        v_single := not found;
      end if;
      if v_single then
        v_actor := coalesce(v_actor, iu_core.fn_actor());
        execute v_route.row_sql into e using v_route.workspace_id;
        if e.payload is not null then
          if e.checked then
            perform iu_core.fn_sql_route_refuse(v_route.route_code, e.payload, v_route.forbidden);
          end if;
          v_id := iu_core.fn_time_uuid();
          insert into iu_core.event_outbox (
            id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
            correlation_id, causation_event_id, causation_depth, actor, safe_payload)
          values (
            v_id, v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream, e.subject, e.address,
            e.workspace_id, coalesce(v_cause.correlation_id, v_id), v_cause.event_id, coalesce(v_cause.depth + 1, 0), v_actor, e.payload);
        end if;
        continue;
      end if;
    end if;
    if v_route.fail_closed and not v_route.dry_run then
      v_actor := coalesce(v_actor, iu_core.fn_actor());
      execute coalesce(v_route.prepared, iu_core.fn_sql_route_rebuild_statement(v_route.definition, tg_relid))
        using v_route.route_code, v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream,
              v_route.workspace_id, v_cause.correlation_id, v_cause.event_id, coalesce(v_cause.depth + 1, 0)::smallint,
              v_actor, v_route.forbidden, v_route.revision, tg_relid::regclass::text, left(iu_core.fn_time_uuid()::text, 24);
    else
      begin
        -- A token without a subject is such a failure too.
        v_actor := coalesce(v_actor, iu_core.fn_actor());
        execute coalesce(v_route.prepared, iu_core.fn_sql_route_rebuild_statement(v_route.definition, tg_relid))
          using v_route.route_code, v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream,
                v_route.workspace_id, v_cause.correlation_id, v_cause.event_id, coalesce(v_cause.depth + 1, 0)::smallint,
                v_actor, v_route.forbidden, v_route.revision, tg_relid::regclass::text, left(iu_core.fn_time_uuid()::text, 24);
        if v_route.dry_run then
          perform iu_core.fn_sql_route_evidence_trim(v_route.route_code);
        end if;
      exception when others then
        get stacked diagnostics v_state = returned_sqlstate, v_reason = message_text;
        perform iu_core.fn_sql_route_record_failure(v_route.route_code, tg_relid::regclass::text, v_state, v_reason);
      end;
    end if;
  end loop;
  return null;
end $$;

-- Builds the statement for a table that was altered since the route was attached: the prepared statement could treat a text
-- column that has become JSON as safe. If a column is missing, the error names the route and the remedy. Internal.
create or replace function iu_core.fn_sql_route_rebuild_statement(p_route iu_core.iu_sql_event_route, p_relation regclass) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text;
  v_detail text;
begin
  -- Search never lets the statement of a writer fail: it does without what is gone, and stops by itself.
  if p_route.payload_contract ? 'search' then
    select case when p_route.dry_run then s.rehearse_sql else s.send_sql end into v_sql
      from iu_core.fn_search_route_statement(p_route, p_relation, false) s;
    return v_sql;
  end if;
  select case when p_route.dry_run then s.rehearse_sql else s.send_sql end into v_sql
    from iu_core.iu_sql_event_route_attachment root,
         iu_core.fn_sql_route_statement(p_route, p_relation, root.relation) s
   where root.route_code = p_route.route_code and root.sql_event = p_route.sql_event and root.is_root;
  return v_sql;
exception when sqlstate 'SD311' then
  get stacked diagnostics v_detail = pg_exception_detail;
  raise exception using
    errcode = 'SD311',
    message = format('The route %s no longer fits its table: %s', p_route.route_code, v_detail::jsonb ->> 'reason'),
    hint = format('Disable it with `stagedoor route disable %s`, or register it again for the current table with `stagedoor route register`.',
                  p_route.route_code),
    detail = v_detail;
end $$;

-- The event trigger function of DDL routes: one event for each object that a command created, altered or dropped. Changes in
-- Stagedoor's own schemas and temporary objects are ignored. A trigger or a policy has no schema of its own; the first part of
-- its address is that of its table.
create or replace function iu_core.fn_sql_route_ddl() returns event_trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_change record;
begin
  for v_route in select * from iu_core.iu_sql_event_route where source_object_kind = 'database' and enabled order by route_code loop
    if tg_event = 'sql_drop' then
      for v_change in
        select tg_tag as command_tag, object_type, object_identity,
               coalesce(schema_name, case when cardinality(address_names) > 1 then address_names[1] end) as schema_name
          from pg_event_trigger_dropped_objects() where original and not is_temporary
      loop
        perform iu_core.fn_sql_route_emit_ddl(v_route, to_jsonb(v_change));
      end loop;
    else
      for v_change in
        select c.command_tag, c.object_type, c.object_identity,
               coalesce(c.schema_name, case when cardinality(a.object_names) > 1 then a.object_names[1] end) as schema_name
          from pg_event_trigger_ddl_commands() c
          left join lateral pg_identify_object_as_address(c.classid, c.objid, c.objsubid) a on true
      loop
        perform iu_core.fn_sql_route_emit_ddl(v_route, to_jsonb(v_change));
      end loop;
    end if;
  end loop;
end $$;

-- Calls a user's procedure with the caller's rights and then emits the events of its call routes, in one transaction. So the
-- procedure cannot commit by itself. Arguments are given by name; the procedure as schema.name. No search_path of its own: the
-- procedure runs under the caller's, as if called directly.
create or replace procedure iu_core.routed_call(p_procedure text, p_arguments jsonb default '{}')
language plpgsql
as $$
declare
  v_name text[] := pg_catalog.parse_ident(p_procedure);
  v_found record;
  v_argument record;
  v_value text;
  v_given text[] := '{}';
  v_known text[] := '{}';
begin
  if pg_catalog.cardinality(v_name) = 1 then
    v_name := array['public', v_name[1]];
  end if;
  select pg_catalog.count(*) as many, pg_catalog.min(p.oid) as oid into v_found
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
   where n.nspname = v_name[1] and p.proname = v_name[2] and p.prokind = 'p' and pg_catalog.cardinality(v_name) = 2;
  if v_found.many <> 1 then
    raise exception using
      errcode = 'SD318',
      message = pg_catalog.format('There %s called %s', case v_found.many when 0 then 'is no procedure' else 'are several procedures' end, p_procedure),
      detail = pg_catalog.json_build_object('procedure', p_procedure)::text;
  end if;
  for v_argument in
    select a.name, a.mode, pg_catalog.format_type(a.type, null) as type
      from pg_catalog.pg_proc p,
           rows from (pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])),
                      pg_catalog.unnest(p.proargnames), pg_catalog.unnest(p.proargmodes)) as a (type, name, mode)
     where p.oid = v_found.oid
  loop
    v_known := v_known || v_argument.name;
    if v_argument.mode = 'o' then
      v_given := v_given || pg_catalog.format('%I => null::%s', v_argument.name, v_argument.type);
    elsif p_arguments ? v_argument.name then
      execute pg_catalog.format('select a.%1$I::text from pg_catalog.jsonb_to_record($1) as a (%1$I %2$s)', v_argument.name, v_argument.type)
        into v_value using p_arguments;
      v_given := v_given || pg_catalog.format('%I => %L::%s', v_argument.name, v_value, v_argument.type);
    end if;
  end loop;
  if exists (select from pg_catalog.jsonb_object_keys(p_arguments) k where k <> all (v_known)) then
    raise exception using
      errcode = 'SD318',
      message = pg_catalog.format('The arguments of %s are %s', p_procedure, pg_catalog.array_to_string(v_known, ', ')),
      detail = pg_catalog.json_build_object('procedure', p_procedure)::text;
  end if;
  execute pg_catalog.format('call %I.%I(%s)', v_name[1], v_name[2], pg_catalog.array_to_string(v_given, ', '));
  perform iu_core.fn_sql_route_emit_call(v_name[1], v_name[2], p_arguments);
end $$;

grant execute on procedure iu_core.routed_call(text, jsonb) to stagedoor_producer, dot_executor, service_role;

-- Emits the events of the routes of a procedure call. Whoever may call it may emit events directly as well.
create or replace function iu_core.fn_sql_route_emit_call(p_schema text, p_procedure text, p_arguments jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_keep text[];
  v_key text[];
begin
  for v_route in
    select * from iu_core.iu_sql_event_route
     where source_schema = p_schema and source_table = p_procedure and sql_event = 'call' and enabled
     order by route_code
  loop
    v_keep := iu_core.fn_sql_route_strings(v_route.payload_contract, 'keep_refs');
    v_key := iu_core.fn_sql_route_key_columns(v_route.idempotency_policy);
    perform iu_core.fn_sql_route_signal(
      v_route, null, format('sql:%I.%I', p_schema, p_procedure),
      (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p_arguments) where key = any (v_keep)),
      (select jsonb_agg(p_arguments -> k order by position)::text from unnest(v_key) with ordinality as t (k, position)));
  end loop;
end $$;

grant execute on function iu_core.fn_sql_route_emit_call(text, text, jsonb) to stagedoor_producer, dot_executor, service_role;

-- Emits the event of one changed object for one DDL route. Internal.
create or replace function iu_core.fn_sql_route_emit_ddl(p_route iu_core.iu_sql_event_route, p_change jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schema text := p_change ->> 'schema_name';
  v_keep text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'keep_refs');
begin
  if v_schema in ('iu_core', 'noetl') or v_schema like 'pg\_%'
     or (p_route.source_schema is not null and v_schema is distinct from p_route.source_schema) then
    return;
  end if;
  perform iu_core.fn_sql_route_signal(
    p_route, p_change ->> 'object_identity', format('ddl:%s', p_change ->> 'object_identity'),
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p_change) where v_keep is null or key = any (v_keep)));
end $$;

-- Builds what the trigger of a route runs on one table: send_sql writes the events, rehearse_sql the evidence of a dry run.
-- Each is one statement over the whole transition table. row_sql only reads the event of a statement with a single row ($1: the
-- workspace); NULL for routes with a key or only_changed. Internal.
--
-- Parameters of the other two: $1 route, $2 domain, $3 type, $4 stream, $5 workspace, $6 correlation, $7 cause, $8 depth, $9 actor, $10
-- forbidden keys, $11 revision, $12 the table written to, $13 the first 24 characters of a time-ordered uuid.
--
-- Measured for each event (PostgreSQL 18): 8.0 µs with uuidv7() and jsonb_build_object, 6.5 µs as it is. What each part costs is
-- in docs/decisions/0027-event-writes.md. The random bits of an id cost as much as an index: a statement draws them once, and the unique number
-- of the event makes the ids distinct and increasing.
create or replace function iu_core.fn_sql_route_statement(
  p_route iu_core.iu_sql_event_route, p_relation regclass, p_root regclass,
  out columns text[], out column_types regtype[], out send_sql text, out rehearse_sql text, out row_sql text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keep text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'keep_refs');
  v_key text[] := iu_core.fn_sql_route_key_columns(p_route.idempotency_policy);
  v_address text := 'sql:' || iu_core.fn_sql_route_source_name(p_route);
  v_rows text;
  v_refused text;
begin
  if p_route.payload_contract ? 'search' then
    select s.columns, s.column_types, s.send_sql, s.rehearse_sql into columns, column_types, send_sql, rehearse_sql
      from iu_core.fn_search_route_statement(p_route, p_relation, true) s;
    return;
  end if;
  select r.columns, r.column_types, r.rows_sql, r.refused_sql, r.row_sql into columns, column_types, v_rows, v_refused, row_sql
    from iu_core.fn_sql_route_rows(p_route, p_relation, p_root, v_keep, v_key) r;

  send_sql := format(
    '%s insert into iu_core.event_outbox (
       id, seq, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
       correlation_id, causation_event_id, causation_depth, actor, safe_payload)
     select q.id, q.seq, $2, $3, $4, q.subject, coalesce(%L || q.subject, %L), q.workspace_id,
            coalesce($6, q.id), $7, $8, $9, %s
       from %s',
    -- In key order: two statements with the same keys then wait for each other instead of deadlocking.
    case when v_key is not null then format(
      'with q as materialized (%s), won as (
         insert into iu_core.iu_sql_event_route_key (route_code, key, event_id) select $1, q.key, q.id from q order by q.key
         on conflict do nothing returning event_id)', v_rows) end,
    v_address || '/', v_address,
    case when v_refused is null then 'q.payload'
      else format('case when %s then iu_core.fn_sql_route_refuse($1, q.payload, $10) else q.payload end', v_refused) end,
    case when v_key is not null then 'q join won on won.event_id = q.id' else format('(%s) q', v_rows) end);

  -- Of a dry run, too: one of each key, and none that has been sent.
  rehearse_sql := format(
    'with r as materialized (%s), q as materialized (select %s from r q %s),
          seen as (select count(*) as events, count(*) filter (where %s) as refused from q)
     insert into iu_core.iu_sql_event_route_evidence (route_code, revision, relation, events, refused, sample, actor)
     select $1, $11, $12, seen.events, seen.refused,
            coalesce((select jsonb_agg(to_jsonb(s.*)) from (
              select q.subject as event_subject_ref, coalesce(%L || q.subject, %L) as canonical_address,
                     q.workspace_id, q.payload as safe_payload from q where not (%4$s) limit 5) s), ''[]''), $9
       from seen where seen.events > 0',
    v_rows,
    case when v_key is null then 'q.*' else 'distinct on (q.key) q.*' end,
    case when v_key is not null then
      'where not exists (select from iu_core.iu_sql_event_route_key k where k.route_code = $1 and k.key = q.key)' end,
    coalesce(v_refused, 'false'),
    v_address || '/', v_address);
end $$;

-- The SELECT over the transition table (id, seq, subject, workspace_id, payload, key, may_be_long), the condition under which a
-- row must not be sent (NULL: every row can be sent), the columns that both read, and the statement for a single row: subject, address,
-- workspace_id, payload, and whether the payload has to be checked. As flat as can be, because it is planned each time. Internal.
create or replace function iu_core.fn_sql_route_rows(
  p_route iu_core.iu_sql_event_route, p_relation regclass, p_root regclass, p_keep text[], p_key text[],
  out columns text[], out column_types regtype[], out rows_sql text, out refused_sql text, out row_sql text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_primary text[] := iu_core.fn_sql_route_primary_key(p_root);
  v_subject text[] := coalesce(iu_core.fn_sql_route_strings(p_route.payload_contract, 'subject'), v_primary);
  v_only_changed boolean := p_route.sql_event = 'update'
                            and coalesce((p_route.payload_contract ->> 'only_changed')::boolean, false);
  v_address text := 'sql:' || iu_core.fn_sql_route_source_name(p_route);
  v_subject_sql text;
  v_workspace_sql text;
  v_kept text;
  v_kept_before text;
  v_long text;
  v_nests boolean;
begin
  -- The subject of an event uses only kept columns.
  if not v_subject <@ p_keep then
    v_subject := null;
  end if;
  select array_agg(name order by name) into columns
    from (select unnest(p_keep) as name union select unnest(p_key) union select p_route.workspace_column
          union select unnest(v_primary) where v_only_changed) used
   where name is not null;
  select array_agg(c.type order by name) into column_types
    from unnest(columns) name, iu_core.fn_sql_route_column(p_relation, 'n', name) c;
  select string_agg(format('%s as %I', c.expression, name), ', ' order by position), bool_or(c.nests),
         -- Columns without a maximum length may be too long and are checked.
         case when bool_or(c.most is null and c.octets is null) then 'true'
              when sum(coalesce(c.most, 0) + octet_length(name) * 6 + 6) > 8192 then 'true'
              else format('%s > 8192', concat_ws(' + ',
                     sum(coalesce(c.most, 0) + octet_length(name) * 6 + 6), string_agg(c.octets, ' + '))) end
    into v_kept, v_nests, v_long
    from unnest(p_keep) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, 'n', name) c;
  if v_long ~ '^\d+ > 8192$' then
    v_long := null;
  end if;

  v_subject_sql := case when cardinality(v_subject) = 1
    then (select c.as_text from iu_core.fn_sql_route_column(p_relation, 'n', v_subject[1]) c)
    else coalesce(iu_core.fn_sql_route_array(p_relation, 'n', v_subject) || '::text', 'null::text') end;
  v_workspace_sql := case when p_route.workspace_column is not null then format('n.%I', p_route.workspace_column) end;
  if p_key is null and not v_only_changed then
    row_sql := format(
      'select %1$s as subject, coalesce(%2$L || %1$s, %3$L) as address, %4$s as workspace_id, jsonb_build_object(%5$s) as payload, %6$s as checked from %7$s n',
      v_subject_sql, v_address || '/', v_address, coalesce(v_workspace_sql, '$1'),
      (select string_agg(format('%L, %s', name, c.expression), ', ' order by position)
         from unnest(p_keep) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, 'n', name) c),
      case when v_nests then 'true' else coalesce(v_long, 'false') end,
      case p_route.sql_event when 'delete' then 'stagedoor_old' else 'stagedoor_new' end);
  end if;

  -- Whole rows are `k.*`: `k` alone would be the column k of a table that has one.
  rows_sql := format(
    'select ($13 || to_hex(r.seq + 140737488355328))::uuid as id, r.* from (
       select nextval(''iu_core.event_outbox_seq'') as seq, %s as subject, %s as workspace_id, to_jsonb(k.*) as payload%s%s
         from %s n cross join lateral (select %s) k',
    v_subject_sql, coalesce(v_workspace_sql, '$5'),
    case when p_key is not null
      then format(', sha256(convert_to(%s::text, ''UTF8'')) as key', iu_core.fn_sql_route_array(p_relation, 'n', p_key)) end,
    ', ' || v_long || ' as may_be_long',
    case p_route.sql_event when 'delete' then 'stagedoor_old' else 'stagedoor_new' end,
    v_kept);
  if v_only_changed then
    -- Rows are paired by primary key; one whose key changed has no old one, and counts as changed.
    select string_agg(format('%s as %I', c.expression, name), ', ' order by position) into v_kept_before
      from unnest(p_keep) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, 'o', name) c;
    rows_sql := format('%s left join (select %s as row_key, to_jsonb(k.*) as payload
                                        from stagedoor_old o cross join lateral (select %s) k) o on o.row_key = %s
                        where o.payload is distinct from to_jsonb(k.*)',
      rows_sql, iu_core.fn_sql_route_array(p_relation, 'o', v_primary), v_kept_before,
      iu_core.fn_sql_route_array(p_relation, 'n', v_primary));
  end if;
  -- Pulled up, the id would be computed for each of its uses.
  rows_sql := rows_sql || ') r offset 0';

  -- Keys of the first level are the kept columns, checked at registration; only what can nest or be long is looked at.
  refused_sql := nullif(concat_ws(' or ',
    case when v_long is not null then '(q.may_be_long and length(q.payload::text) > 8192)' end,
    case when v_nests then
      'exists (select from jsonb_path_query(q.payload, ''strict $.** ? (@.type() == "object").keyvalue().key'') k
                where lower(k #>> ''{}'') = any ($10))' end), '');
end $$;

-- An expression for the values of these columns as one JSON array; NULL without columns. Internal.
create or replace function iu_core.fn_sql_route_array(p_relation regclass, p_alias text, p_columns text[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('jsonb_build_array(%s)', string_agg(c.expression, ', ' order by position))
    from unnest(p_columns) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, p_alias, name) c
  having count(*) > 0
$$;

-- The expressions of a kept column as JSON and as text, whether it can contain keys of its own, and the maximum number of its
-- JSON characters: a constant (most), or an expression (octets); neither: unknown. Internal.
--
-- The statement runs with the owner's rights, and turning a value of a user-defined type into JSON calls whatever cast its
-- owner has defined. So such types are written by their output function, which only a superuser can create. Composite types,
-- whose fields would be hidden in that text, are refused.
create or replace function iu_core.fn_sql_route_column(
  p_relation regclass, p_alias text, p_column text,
  out expression text, out as_text text, out nests boolean, out most integer, out octets text, out type regtype
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own_from constant oid := 16384; -- FirstNormalObjectId: below it everything came with PostgreSQL.
  v_column pg_attribute;
  v_type pg_type;
  v_element pg_type;
  v_modifier integer;
  v_reason text;
begin
  select * into v_column from pg_attribute
   where attrelid = p_relation and attname = p_column and attnum > 0 and not attisdropped;
  if not found then
    v_reason := format('%s has no column %I', p_relation, p_column);
  elsif v_column.attgenerated = 'v' then
    v_reason := format('the column %I of %s is virtual, and triggers do not see it', p_column, p_relation);
  else
    type := v_column.atttypid;
    v_modifier := v_column.atttypmod;
    select * into v_type from pg_type where oid = type;
    while v_type.typtype = 'd' loop
      v_modifier := v_type.typtypmod;
      select * into v_type from pg_type where oid = v_type.typbasetype;
    end loop;
    v_element := v_type;
    while v_element.typtype = 'd' or (v_element.typelem <> 0 and v_element.typsubscript = 'array_subscript_handler'::regproc) loop
      select * into v_element from pg_type
       where oid = case v_element.typtype when 'd' then v_element.typbasetype else v_element.typelem end;
    end loop;
    if v_element.typtype in ('c', 'p') then
      v_reason := format('the column %I of %s is of the type %s, whose fields an event cannot carry', p_column, p_relation, type);
    end if;
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD311',
      message = 'The route does not fit its table: ' || v_reason,
      detail = json_build_object('reason', v_reason)::text;
  end if;
  nests := v_element.oid in ('json'::regtype, 'jsonb'::regtype);
  expression := format('%s.%I', p_alias, p_column);
  if v_type.oid < v_own_from then
    as_text := expression || '::text';
  elsif v_type.oid = v_element.oid then
    as_text := format('case when %1$s is not null then concat(%1$s) end', expression);
    expression := as_text;
  else
    -- JSON takes an array apart before it asks for a cast; only its elements would be asked for one.
    as_text := format('textin(array_out(%s))', expression);
    expression := case when v_element.oid < v_own_from then expression else as_text || '::text[]' end;
  end if;
  -- A character may take six in JSON.
  most := case
    when v_type.typtype = 'e' then 63 * 6
    when v_type.typlen > 0 then greatest(64, v_type.typlen * 6)
    when v_type.oid in ('varchar'::regtype, 'bpchar'::regtype) and v_modifier > 0 then (v_modifier - 4) * 6
    when v_type.oid = 'numeric'::regtype and v_modifier > 0 then 2048
  end;
  if most is null and v_type.oid in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) then
    octets := format('coalesce(octet_length(%s.%I), 0) * 6', p_alias, p_column);
  end if;
end $$;

-- Emits one event of a route that does not come from rows: a truncated table, a procedure call, a DDL change. Dry run, key and
-- failure are handled as for rows. Internal.
create or replace function iu_core.fn_sql_route_signal(
  p_route iu_core.iu_sql_event_route, p_subject text, p_address text, p_payload jsonb, p_key text default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_forbidden text[] := iu_core.fn_sql_route_forbidden_keys(p_route.payload_contract);
  v_cause record := iu_core.fn_event_cause();
  v_state text;
  v_reason text;
begin
  if p_route.dry_run then
    begin
      insert into iu_core.iu_sql_event_route_evidence (route_code, revision, relation, events, refused, sample, actor)
      values (p_route.route_code, p_route.revision, p_address, 1, 0,
              jsonb_build_array(jsonb_build_object(
                'event_subject_ref', p_subject, 'canonical_address', p_address, 'workspace_id', p_route.workspace_id,
                'safe_payload', iu_core.fn_sql_route_refuse(p_route.route_code, p_payload, v_forbidden))),
              iu_core.fn_actor());
      perform iu_core.fn_sql_route_evidence_trim(p_route.route_code);
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_reason = message_text;
      perform iu_core.fn_sql_route_record_failure(p_route.route_code, p_address, v_state, v_reason);
    end;
  elsif p_route.fail_closed then
    perform iu_core.fn_sql_route_signal_send(p_route, v_forbidden, v_cause, p_subject, p_address, p_payload, p_key);
  else
    begin
      perform iu_core.fn_sql_route_signal_send(p_route, v_forbidden, v_cause, p_subject, p_address, p_payload, p_key);
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_reason = message_text;
      perform iu_core.fn_sql_route_record_failure(p_route.route_code, p_address, v_state, v_reason);
    end;
  end if;
end $$;

-- Writes the event of fn_sql_route_signal, unless its key has been sent. Internal.
create or replace function iu_core.fn_sql_route_signal_send(
  p_route iu_core.iu_sql_event_route, p_forbidden text[], p_cause record,
  p_subject text, p_address text, p_payload jsonb, p_key text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := iu_core.fn_time_uuid();
begin
  -- A table in search was emptied: what is left of it is read again.
  if p_route.payload_contract ? 'search' then
    insert into iu_core.search_row_change (table_id, operation)
    values ((p_route.payload_contract #>> '{search,table_id}')::uuid, 'rescan');
    return;
  end if;
  if p_key is not null then
    insert into iu_core.iu_sql_event_route_key (route_code, key, event_id)
    values (p_route.route_code, sha256(convert_to(p_key, 'UTF8')), v_id) on conflict do nothing;
    if not found then
      return;
    end if;
  end if;
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
    correlation_id, causation_event_id, causation_depth, actor, safe_payload)
  values (
    v_id, p_route.target_event_domain, p_route.target_event_type, p_route.target_event_stream, p_subject, p_address,
    p_route.workspace_id, coalesce(p_cause.correlation_id, v_id), p_cause.event_id, coalesce(p_cause.depth + 1, 0),
    iu_core.fn_actor(), iu_core.fn_sql_route_refuse(p_route.route_code, p_payload, p_forbidden));
end $$;

-- Keeps the newest evidence of a route: 100 statements, and some more until the next trim. Runs now and then in the transaction
-- of the last writer, and skips rows that another session is trimming. Internal.
create or replace function iu_core.fn_sql_route_evidence_trim(p_route_code text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if currval('iu_core.iu_sql_event_route_evidence_evidence_id_seq') % 20 <> 0 then
    return;
  end if;
  delete from iu_core.iu_sql_event_route_evidence
   where evidence_id in (
     select evidence_id from iu_core.iu_sql_event_route_evidence e
      where e.route_code = p_route_code
        and e.evidence_id < (select min(evidence_id) from (
              select evidence_id from iu_core.iu_sql_event_route_evidence
               where route_code = p_route_code order by evidence_id desc limit 100) newest)
      for update skip locked);
exception when object_not_in_prerequisite_state then
  null; -- A statement without rows wrote no evidence, and this session has no current value yet.
end $$;

-- Records that routing failed; the user's transaction continues, whatever happens here. Internal.
create or replace function iu_core.fn_sql_route_record_failure(p_route_code text, p_relation text, p_sqlstate text, p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise warning using
    errcode = p_sqlstate,
    message = format('The route %s sent no events for this statement: %s', p_route_code, p_reason);
  begin
    insert into iu_core.iu_sql_event_route_failure (route_code, relation, sqlstate, reason, actor)
    values (p_route_code, p_relation, p_sqlstate, p_reason,
            case when p_sqlstate = 'SD204' then session_user::text else iu_core.fn_actor() end);
  exception when others then
    raise warning 'The failure of the route could not be recorded: %', sqlerrm;
  end;
end $$;

-- Raises for a payload that a route must not send. It returns jsonb only to stand in the place of the payload. Prepared
-- statements in iu_sql_event_route_attachment call it by this name. Internal.
create or replace function iu_core.fn_sql_route_refuse(p_route_code text, p_payload jsonb, p_forbidden text[]) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := iu_core.fn_payload_problem(p_payload);
begin
  if v_reason is null then
    select format('its payload has the key %L', k #>> '{}') into v_reason
      from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "object").keyvalue().key') k
     where lower(k #>> '{}') = any (p_forbidden)
     limit 1;
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD310',
      message = format('The route %s cannot send this change: an event carries references only, but %s', p_route_code, v_reason),
      detail = json_build_object('route', p_route_code, 'reason', v_reason)::text;
  end if;
  return p_payload;
end $$;

-- The columns of a table's primary key, NULL where it has none. Internal.
create or replace function iu_core.fn_sql_route_primary_key(p_relation regclass) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(a.attname::text order by k.position)
    from pg_index i
   cross join unnest(i.indkey::smallint[]) with ordinality as k (attnum, position)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
   where i.indrelid = p_relation and i.indisprimary
$$;

-- The names in {"key": "(a,\"B c\")"}, which are written as in SQL; NULL where the policy has no key. Internal.
create or replace function iu_core.fn_sql_route_key_columns(p_policy jsonb) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := p_policy ->> 'key';
  v_columns text[];
begin
  if v_key is null then
    return null;
  end if;
  -- parse_ident knows quotes, but separates by points: each name is taken apart by itself.
  if v_key ~ '^\s*\(\s*("([^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*)(\s*,\s*("([^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*))*\s*\)\s*$' then
    select array_agg((parse_ident(name[1]))[1] order by position) into v_columns
      from regexp_matches(v_key, '"(?:[^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*', 'g') with ordinality as n (name, position);
  end if;
  if v_columns is null then
    raise exception using
      errcode = 'SD311',
      message = format('The idempotency key %L is not a list of columns such as (id,status)', v_key),
      detail = json_build_object('reason', 'its idempotency key is not a list of columns such as (id,status)')::text;
  end if;
  return v_columns;
end $$;

-- Reads a list of names from a contract and checks it. Internal.
create or replace function iu_core.fn_sql_route_strings(p_contract jsonb, p_field text) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_contract -> p_field is null then
    return null;
  end if;
  if jsonb_typeof(p_contract -> p_field) <> 'array'
     or exists (select from jsonb_array_elements(p_contract -> p_field) e where jsonb_typeof(e) <> 'string' or e #>> '{}' = '') then
    raise exception using
      errcode = 'SD311',
      message = format('%s of the payload contract is not a list of names', p_field),
      detail = json_build_object('reason', format('%s of its payload contract is not a list of names', p_field))::text;
  end if;
  return array(select jsonb_array_elements_text(p_contract -> p_field));
end $$;

-- The forbidden payload keys of a route, in lower case: the ten, and those that its contract adds. Internal.
create or replace function iu_core.fn_sql_route_forbidden_keys(p_contract jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array['body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password', 'ssn', 'personal_data']
      || array(select lower(k) from jsonb_array_elements_text(coalesce(p_contract -> 'forbid_keys', '[]')) k)
$$;

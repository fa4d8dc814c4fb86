-- Tables of the user that are searched: registration, what they must be like, and how their projection follows their routes.

-- Registers a table for search, or changes one, with its four routes, which clears their review. For workflow_admin. Nothing is
-- searched before the dry run, the review by another person and the activation of all four. p_table:
--   source                         the table, as in SQL: public.products, sales."Orders"
--   text, title, filter            columns: what is searched, what a hit is called, what a question can be narrowed by
--   workspace_id | workspace_column  whose the rows are
--   language                       of the texts; default und: found out, for each row
-- p_grant: where rights are missing, try to grant them; else, or if that fails, the error has the statements. Returns its code.
create or replace function iu_core.fn_search_table_register(p_table jsonb, p_actor text default null, p_grant boolean default false) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table := iu_core.fn_search_table_parse(p_table);
  v_known iu_core.search_table;
  v_event text;
  v_problem text;
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.search.tables', 0));
  v_problem := iu_core.fn_search_table_problem(v_table);
  if v_problem is not null then
    perform iu_core.fn_search_table_refuse(v_table, v_problem);
  end if;
  perform iu_core.fn_require_workspace(v_table.workspace_id);
  perform iu_core.fn_search_table_require_rights(v_table, coalesce(p_grant, false));
  v_table.key_columns := iu_core.fn_search_table_key(iu_core.fn_search_table_relation(v_table));
  select s.read_sql, s.page_sql into v_table.read_sql, v_table.page_sql from iu_core.fn_search_table_statements(v_table) s;
  select * into v_known from iu_core.search_table t
   where (t.source_schema, t.source_table) = (v_table.source_schema, v_table.source_table) and t.state <> 'removed' for update;
  if found then
    v_table.table_id := v_known.table_id;
    v_table.code := v_known.code;
    if (v_known.workspace_id, v_known.workspace_column) is distinct from (v_table.workspace_id, v_table.workspace_column) then
      perform iu_core.fn_search_table_refuse(v_table, 'it is registered for another workspace: remove it first, then add it again');
    end if;
    -- Another definition disables its routes: they are reviewed and activated again, and then all rows are read.
    if iu_core.fn_search_table_contract(v_known) <> iu_core.fn_search_table_contract(v_table) then
      update iu_core.search_table t
         set language = v_table.language, key_columns = v_table.key_columns, text_columns = v_table.text_columns, title_column = v_table.title_column,
             filter_columns = v_table.filter_columns, read_sql = v_table.read_sql, page_sql = v_table.page_sql,
             state = 'registered', stopped_reason = null, state_changed_at = clock_timestamp(), scan_state = 'none'
       where t.table_id = v_table.table_id;
      perform iu_core.fn_search_table_resolve_issue(v_known, 'The table was registered again.');
    end if;
  else
    v_table.table_id := iu_core.fn_time_uuid();
    v_table.code := iu_core.fn_search_table_code(v_table);
    insert into iu_core.search_table (table_id, code, source_schema, source_table, workspace_id, workspace_column, language, key_columns,
                                      text_columns, title_column, filter_columns, read_sql, page_sql, registered_by)
    values (v_table.table_id, v_table.code, v_table.source_schema, v_table.source_table, v_table.workspace_id, v_table.workspace_column,
            v_table.language, v_table.key_columns, v_table.text_columns, v_table.title_column, v_table.filter_columns,
            v_table.read_sql, v_table.page_sql, (select a.actor from iu_core.fn_actor_for(p_actor) a));
  end if;
  foreach v_event in array array['insert', 'update', 'delete', 'truncate'] loop
    perform iu_core.fn_sql_route_register(jsonb_strip_nulls(jsonb_build_object(
      'route_code', format('search.%s.%s', v_table.code, v_event), 'source_schema', v_table.source_schema, 'source_table', v_table.source_table,
      'sql_event', v_event, 'target_event_type', 'search_row_changed', 'workspace_id', v_table.workspace_id,
      'payload_contract', jsonb_build_object('search', iu_core.fn_search_table_contract(v_table)))), p_actor);
  end loop;
  return v_table.code;
end $$;

-- Starts the dry run of a table's routes: their triggers are attached, and nothing is enqueued. For workflow_admin. The evidence says
-- which columns will be read; statements on the table add to it. Returns the number of tables with triggers.
create or replace function iu_core.fn_search_table_dry_run(p_code text) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table := iu_core.fn_search_table_find(p_code);
  v_route text;
  v_attached integer;
begin
  -- A dry run would stop it.
  if v_table.state = 'active' then
    raise exception using
      errcode = 'SD724',
      message = format('The table %s has had its dry run: it is active', v_table.code),
      detail = json_build_object('table', v_table.code, 'reason', 'it is active')::text;
  end if;
  perform iu_core.fn_search_table_require_rights(v_table, false);
  foreach v_route in array iu_core.fn_search_table_routes(v_table.table_id) loop
    v_attached := iu_core.fn_sql_route_dry_run(v_route);
  end loop;
  return v_attached;
end $$;

-- Records the review of all routes of a table by a second person: this many lines of evidence of each, at least one.
create or replace function iu_core.fn_search_table_review(p_code text, p_evidence integer default 1, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route text;
begin
  perform iu_core.require_member(iu_core.fn_search_table_workspace(p_code), 'review');
  foreach v_route in array iu_core.fn_search_table_routes((iu_core.fn_search_table_find(p_code)).table_id) loop
    perform iu_core.fn_sql_route_review(v_route, least(p_evidence, (select count(*)::integer from iu_core.iu_sql_event_route_evidence e
                                                                      join iu_core.iu_sql_event_route r using (route_code, revision)
                                                                     where e.route_code = v_route)), p_actor);
  end loop;
end $$;

grant execute on function iu_core.fn_search_table_review(text, integer, text) to stagedoor_reviewer, service_role;

-- Activates all routes of a table: from now on changes are projected, and a worker reads the rows that are there.
create or replace function iu_core.fn_search_table_activate(p_code text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table;
  v_problem text;
  v_route text;
begin
  perform iu_core.require_member(iu_core.fn_search_table_workspace(p_code), 'review');
  v_table := iu_core.fn_search_table_find(p_code);
  v_problem := iu_core.fn_search_table_problem(v_table);
  if v_problem is not null then
    perform iu_core.fn_search_table_refuse(v_table, v_problem);
  end if;
  foreach v_route in array iu_core.fn_search_table_routes(v_table.table_id) loop
    perform iu_core.fn_sql_route_activate(v_route, p_actor);
  end loop;
end $$;

grant execute on function iu_core.fn_search_table_activate(text, text) to stagedoor_reviewer, service_role;

-- Takes a table out of search: its routes are deleted, it is found no more from the commit on, and a worker removes what search has
-- of it. For workflow_admin. Returns the statements with which the owners of the tables drop the triggers that only they can drop.
create or replace function iu_core.fn_search_table_remove(p_code text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table := iu_core.fn_search_table_find(p_code);
  v_left text[] := '{}';
  v_route text;
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.search.tables', 0));
  update iu_core.search_table t
     set state = 'removed', stopped_reason = null, state_changed_at = clock_timestamp(), scan_pass = t.scan_pass + 1, scan_state = 'sweeping'
   where t.table_id = v_table.table_id;
  foreach v_route in array iu_core.fn_search_table_routes(v_table.table_id) loop
    v_left := v_left || iu_core.fn_sql_route_delete(v_route);
  end loop;
  perform iu_core.fn_search_table_resolve_issue(v_table, 'The table was taken out of search.');
  perform pg_notify('stagedoor', 'search ');
  return v_left;
end $$;

-- Reads all rows of an active table again, and removes what is not there any more. For back-end code. Never needed after changes that
-- triggers see; after a restore of the table without them it is.
create or replace function iu_core.fn_search_table_rescan(p_code text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table;
begin
  perform iu_core.require_member(iu_core.fn_search_table_workspace(p_code), 'administer');
  v_table := iu_core.fn_search_table_find(p_code);
  if v_table.state <> 'active' then
    raise exception using
      errcode = 'SD724',
      message = format('%s cannot be read again: it is %s', v_table.code, v_table.state),
      detail = json_build_object('table', v_table.code, 'reason', format('it is %s', v_table.state))::text;
  end if;
  perform iu_core.fn_search_table_request_scan(v_table.table_id);
  perform pg_notify('stagedoor', 'search ');
end $$;

grant execute on function iu_core.fn_search_table_rescan(text) to dot_executor, service_role, stagedoor_reviewer;

-- Compares every table in search with the catalogue: one that no longer fits stops with its reason and an issue, and the rest of
-- search goes on; one that fits again goes on by itself, and all its rows are read again. Workers call it now and then. Returns what
-- changed.
create or replace function iu_core.fn_search_tables_verify(p_table_id uuid default null) returns table (code text, finding text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  t iu_core.search_table;
  v_problem text;
  v_now record;
begin
  for t in
    select x.* from iu_core.search_table x
     where x.state in ('active', 'stopped') and (p_table_id is null or x.table_id = p_table_id)
     order by x.table_id for update skip locked
  loop
    v_problem := coalesce(iu_core.fn_search_table_problem(t), iu_core.fn_search_table_rights_problem(t),
                          iu_core.fn_search_table_route_problem(t.table_id));
    code := t.code;
    if v_problem is not null then
      continue when t.state = 'stopped' and t.stopped_reason = v_problem;
      perform iu_core.fn_search_table_stop(t, v_problem);
      finding := 'stopped: ' || v_problem;
      return next;
    elsif t.state = 'stopped' then
      perform iu_core.fn_search_table_start(t);
      finding := 'active again';
      return next;
    else
      select * into v_now from iu_core.fn_search_table_statements(t);
      if (t.read_sql, t.page_sql) is distinct from (v_now.read_sql, v_now.page_sql) then
        update iu_core.search_table x set read_sql = v_now.read_sql, page_sql = v_now.page_sql where x.table_id = t.table_id;
        perform iu_core.fn_search_table_request_scan(t.table_id);
        finding := 'its columns have other types: all rows are read again';
        return next;
      end if;
    end if;
  end loop;
end $$;

grant execute on function iu_core.fn_search_tables_verify(uuid) to vector_worker, dot_executor, service_role;

-- The projection follows its routes, by whatever way they are changed: active while all four are, else stopped.
create or replace function iu_core.fn_search_table_follow() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t iu_core.search_table;
  v_problem text;
begin
  -- Whoever changes the next of its routes waits here, and then sees this one.
  select * into t from iu_core.search_table x
   where x.table_id = (coalesce(new.payload_contract, old.payload_contract) #>> '{search,table_id}')::uuid for update;
  if not found or t.state = 'removed' then
    return null;
  end if;
  v_problem := iu_core.fn_search_table_route_problem(t.table_id);
  if v_problem is null and t.state <> 'active' then
    perform iu_core.fn_search_table_start(t);
  elsif v_problem is not null and t.state = 'active' then
    perform iu_core.fn_search_table_stop(t, v_problem);
  end if;
  return null;
end $$;

-- Two triggers, because a condition can name only the row that there is.
create or replace trigger iu_sql_event_route_leads_search
  after update of enabled, dry_run on iu_core.iu_sql_event_route
  for each row when (new.payload_contract ? 'search' or old.payload_contract ? 'search') execute function iu_core.fn_search_table_follow();
create or replace trigger iu_sql_event_route_gone_from_search
  after delete on iu_core.iu_sql_event_route
  for each row when (old.payload_contract ? 'search') execute function iu_core.fn_search_table_follow();

-- Makes a table active and asks for a scan of its rows. Internal.
create or replace function iu_core.fn_search_table_start(p_table iu_core.search_table) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.search_table t set state = 'active', stopped_reason = null, state_changed_at = clock_timestamp() where t.table_id = p_table.table_id;
  perform iu_core.fn_search_table_request_scan(p_table.table_id);
  perform iu_core.fn_search_table_resolve_issue(p_table, 'The table is in search again.');
  perform pg_notify('stagedoor', 'search ');
end $$;

-- Stops a table: its rows are found no more, what was enqueued for it is not projected, and an issue says why. It needs no memory of
-- what changes meanwhile: all rows are read again when it starts. Internal.
create or replace function iu_core.fn_search_table_stop(p_table iu_core.search_table, p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.search_table t
     set state = 'stopped', stopped_reason = p_reason, state_changed_at = clock_timestamp(), scan_state = 'none'
   where t.table_id = p_table.table_id;
  -- In the order in which all lock these rows. The generation: a worker that has one now has not finished it.
  perform from iu_core.vector_outbox o
     join iu_core.search_row r on r.row_id = o.row_id
    where r.table_id = p_table.table_id and o.status in ('pending', 'processing')
    order by o.row_id for no key update of o;
  update iu_core.vector_outbox o
     set status = 'done', generation = o.generation + 1, worker_id = null, leased_until = null, last_error = null, changed_at = clock_timestamp()
    from iu_core.search_row r
   where r.row_id = o.row_id and r.table_id = p_table.table_id and o.status in ('pending', 'processing');
  perform iu_core.fn_system_issue_open(
    'search_table_stopped', 'error', p_table.code, format('The table %s is not searched any more: %s', p_table.code, p_reason),
    jsonb_build_object('table', p_table.code, 'reason', p_reason), p_table.workspace_id);
end $$;

-- Resolves the issue about a table that had stopped. Internal.
create or replace function iu_core.fn_search_table_resolve_issue(p_table iu_core.search_table, p_resolution text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issue iu_core.system_issue;
begin
  update iu_core.system_issue i
     set resolved_at = clock_timestamp(), resolved_by = iu_core.fn_actor(), resolution = p_resolution
   where i.code = 'search_table_stopped' and i.subject_ref = p_table.code and i.resolved_at is null
  returning i.* into v_issue;
  if found then
    perform iu_core.fn_event_emit(
      'system', 'issue_resolved',
      p_event_subject_ref => v_issue.issue_id::text,
      p_canonical_address => 'stagedoor://issues/' || v_issue.issue_id,
      p_workspace_id => v_issue.workspace_id,
      p_safe_payload => jsonb_build_object('issue_id', v_issue.issue_id, 'code', v_issue.code, 'severity', v_issue.severity));
  end if;
end $$;

-- Asks for a scan of all rows. Transactions that write the table now may have begun before its triggers were active: the scan begins
-- when they have ended. Internal.
create or replace function iu_core.fn_search_table_request_scan(p_table_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update iu_core.search_table t
     set scan_pass = t.scan_pass + 1, scan_state = 'waiting', scan_after = null, scan_blockers = null, scanned = 0, scan_skipped = 0,
         scan_total = null, scan_started_at = null, scan_ended_at = null
   where t.table_id = p_table_id
$$;

-- Reads the definition of a table for search. Internal.
create or replace function iu_core.fn_search_table_parse(p_table jsonb) returns iu_core.search_table
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table;
  v_name text[];
  v_unknown text;
  v_list text;
begin
  if jsonb_typeof(p_table) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A table for search is a JSON object: source, text, title, filter, …';
  end if;
  select k into v_unknown from jsonb_object_keys(p_table) k
   where k not in ('source', 'text', 'title', 'filter', 'language', 'workspace_id', 'workspace_column') limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A table for search has no field called %L', v_unknown);
  end if;
  foreach v_list in array array['text', 'filter'] loop
    if p_table ? v_list and (jsonb_typeof(p_table -> v_list) <> 'array' or jsonb_path_exists(p_table -> v_list, '$[*] ? (@.type() != "string")')) then
      raise exception using errcode = 'SD001', message = format('%s must be a list of columns', v_list);
    end if;
  end loop;
  begin
    v_name := parse_ident(p_table ->> 'source');
  exception when data_exception then
    raise exception using errcode = 'SD001', message = format('%L is not the name of a table: %s', p_table ->> 'source', sqlerrm);
  end;
  if v_name is null or cardinality(v_name) > 2 then
    raise exception using errcode = 'SD001', message = format('%L is not a table of this database', coalesce(p_table ->> 'source', 'NULL'));
  end if;
  v_table.source_schema := case cardinality(v_name) when 1 then 'public' else v_name[1] end;
  v_table.source_table := v_name[cardinality(v_name)];
  v_table.text_columns := array(select jsonb_array_elements_text(coalesce(p_table -> 'text', '[]')));
  v_table.filter_columns := array(select jsonb_array_elements_text(coalesce(p_table -> 'filter', '[]')));
  v_table.title_column := p_table ->> 'title';
  v_table.language := coalesce(p_table ->> 'language', 'und');
  v_table.workspace_column := p_table ->> 'workspace_column';
  begin
    v_table.workspace_id := (p_table ->> 'workspace_id')::uuid;
  exception when data_exception then
    raise exception using errcode = 'SD001', message = format('%L is not the id of a workspace', p_table ->> 'workspace_id');
  end;
  if num_nonnulls(v_table.workspace_id, v_table.workspace_column) <> 1 then
    raise exception using errcode = 'SD001', message = 'A table for search needs a workspace or a workspace column, one of the two';
  end if;
  if v_table.language !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then
    raise exception using errcode = 'SD001', message = format('%L is not a language', v_table.language);
  end if;
  return v_table;
end $$;

-- Why a table cannot be searched, or NULL: as it is now, whatever it was like when it was registered. Internal.
create or replace function iu_core.fn_search_table_problem(p_table iu_core.search_table) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := format('%I.%I', p_table.source_schema, p_table.source_table);
  v_relation regclass := iu_core.fn_search_table_relation(p_table);
  v_class pg_class;
  v_key text[];
  v_reason text;
begin
  if v_relation is null then
    return case when p_table.state is null then 'there is no such table' else format('the table %s was dropped or renamed', v_name) end;
  end if;
  if iu_core.fn_search_table_is_ours(p_table.source_schema, p_table.source_table) then
    return 'it belongs to Stagedoor, and what is staged is never in search';
  end if;
  select * into v_class from pg_class c where c.oid = v_relation;
  v_key := iu_core.fn_search_table_key(v_relation);
  v_reason := case
    when v_class.relkind not in ('r', 'p') then 'it is not a table'
    when v_class.relpersistence = 't' then 'it is a temporary table'
    when p_table.source_schema in ('pg_catalog', 'information_schema') then 'it belongs to PostgreSQL'
    when exists (select from iu_core.fn_sql_route_relations(v_relation) r join pg_class f on f.oid = r where f.relkind = 'f')
      then 'it has a foreign table among its partitions, whose rows triggers do not see'
    when v_key is null then 'it has no key: a primary key, or a unique index over columns that are not null, is needed to know its rows again'
    when p_table.key_columns is not null and v_key <> p_table.key_columns
      then format('its key was (%s) and is (%s)', array_to_string(p_table.key_columns, ', '), array_to_string(v_key, ', '))
    when cardinality(v_key) > 16 then 'its key has more than 16 columns'
    when cardinality(p_table.text_columns) = 0 then 'no column is named whose text is searched'
    when cardinality(p_table.text_columns) > 20 then 'more than 20 columns are named whose text is searched'
    when cardinality(p_table.filter_columns) > 10 then 'more than 10 columns are named for filters'
    when cardinality(p_table.text_columns) <> (select count(distinct c) from unnest(p_table.text_columns) c) then 'a column is named twice'
    when cardinality(p_table.filter_columns) <> (select count(distinct c) from unnest(p_table.filter_columns) c) then 'a filter is named twice'
  end;
  if v_reason is not null then
    return v_reason;
  end if;
  select iu_core.fn_search_column_problem(v_relation, c.name, c.what) into v_reason
    from (select unnest(v_key) as name, 'key' as what, 1 as place
          union all select unnest(p_table.text_columns), 'text', 2
          union all select p_table.title_column, 'title', 3
          union all select unnest(p_table.filter_columns), 'filter', 4
          union all select p_table.workspace_column, 'workspace', 5) as c
   where c.name is not null and iu_core.fn_search_column_problem(v_relation, c.name, c.what) is not null
   order by c.place limit 1;
  return v_reason;
end $$;

-- Why a column cannot be a key, text, title, filter or workspace of search, or NULL. Internal.
create or replace function iu_core.fn_search_column_problem(p_relation regclass, p_column text, p_what text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own_from constant oid := 16384; -- FirstNormalObjectId: below it everything came with PostgreSQL.
  v_column pg_attribute;
  v_type pg_type;
begin
  select * into v_column from pg_attribute where attrelid = p_relation and attname = p_column and attnum > 0 and not attisdropped;
  if not found then
    return format('it has no column %I (%s); it has %s', p_column, p_what,
      (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
        where a.attrelid = p_relation and a.attnum > 0 and not a.attisdropped));
  elsif v_column.attgenerated = 'v' then
    return format('its column %I is virtual, and triggers do not see it', p_column);
  elsif p_what = 'workspace' then
    return case when v_column.atttypid <> 'uuid'::regtype then format('its workspace column %I is not a uuid', p_column) end;
  end if;
  select * into v_type from pg_type where oid = v_column.atttypid;
  -- What an array or a domain is made of.
  while v_type.typtype = 'd' or (v_type.typelem <> 0 and v_type.typsubscript = 'array_subscript_handler'::regproc) loop
    select * into v_type from pg_type where oid = case v_type.typtype when 'd' then v_type.typbasetype else v_type.typelem end;
  end loop;
  if v_type.typtype in ('c', 'p') or v_type.oid in ('bytea'::regtype, 'tsvector'::regtype, 'tsquery'::regtype)
     -- Of types that somebody defined only those that are texts or names: a vector or a geometry says nothing as text.
     or (v_type.oid >= v_own_from and v_type.typtype = 'b' and v_type.typcategory <> 'S') then
    return format('its column %I is of the type %s, which is no text', p_column, format_type(v_column.atttypid, v_column.atttypmod));
  end if;
  return null;
end $$;

-- Raises that a table cannot be searched. Internal.
create or replace function iu_core.fn_search_table_refuse(p_table iu_core.search_table, p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := format('%I.%I', p_table.source_schema, p_table.source_table);
begin
  raise exception using
    errcode = 'SD720',
    message = format('The table %s cannot be searched: %s', v_name, p_reason),
    detail = json_build_object('table', v_name, 'reason', p_reason)::text;
end $$;

-- Raises if vector_worker may not read the columns of a table, with the statements for its owner; p_grant: tries them first. Internal.
create or replace function iu_core.fn_search_table_require_rights(p_table iu_core.search_table, p_grant boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[] := iu_core.fn_search_table_missing_rights(p_table);
  v_statement text;
begin
  if p_grant then
    begin
      foreach v_statement in array v_missing loop
        execute v_statement;
      end loop;
    exception when insufficient_privilege then
      null; -- The error below has the statements.
    end;
    v_missing := iu_core.fn_search_table_missing_rights(p_table);
  end if;
  if cardinality(v_missing) > 0 then
    raise exception using
      errcode = 'SD722',
      message = format('vector_worker, which brings texts into search, may not read %I.%I. The owner of the table must run: %s',
                       p_table.source_schema, p_table.source_table, array_to_string(v_missing, ' ')),
      detail = json_build_object('table', format('%I.%I', p_table.source_schema, p_table.source_table), 'statements', v_missing)::text;
  end if;
end $$;

-- The same as a reason to stop; NULL: nothing is missing. Internal.
create or replace function iu_core.fn_search_table_rights_problem(p_table iu_core.search_table) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'vector_worker may not read it; its owner must run: ' || array_to_string(m.missing, ' ')
    from (select iu_core.fn_search_table_missing_rights(p_table) as missing) m where cardinality(m.missing) > 0
$$;

-- The statements that the owner of a table must run so that it can be projected: vector_worker reads it, and where it has row level
-- security, sees all its rows. Internal.
create or replace function iu_core.fn_search_table_missing_rights(p_table iu_core.search_table) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_relation regclass := iu_core.fn_search_table_relation(p_table);
  v_name text := format('%I.%I', p_table.source_schema, p_table.source_table);
  v_columns text[] := iu_core.fn_search_table_key(v_relation) || p_table.text_columns || p_table.filter_columns
                      || array_remove(array[p_table.title_column, p_table.workspace_column], null);
begin
  return array_remove(array[
    case when not has_schema_privilege('vector_worker', p_table.source_schema, 'usage')
         then format('grant usage on schema %I to vector_worker;', p_table.source_schema) end,
    case when not has_table_privilege('vector_worker', v_relation, 'select')
          and exists (select from unnest(v_columns) c where not has_column_privilege('vector_worker', v_relation, c, 'select'))
         then format('grant select on %s to vector_worker;', v_name) end,
    case when (select c.relrowsecurity from pg_class c where c.oid = v_relation)
          and not exists (select from pg_policy p where p.polrelid = v_relation and p.polpermissive and p.polcmd in ('r', '*')
                             and 'vector_worker'::regrole = any (p.polroles))
         then format('create policy stagedoor_search_reads on %s for select to vector_worker using (true);', v_name) end], null);
end $$;

-- Who finds the rows of a table, of the roles under which people, agents (stagedoor_agent) and programs (dot_executor) ask: those that may
-- read these columns. And what its owner would run for the others; whether they should is the owner's decision, and with row level security
-- its policies decide further. Both empty: there is no such table.
create or replace function iu_core.fn_search_table_readers(p_schema text, p_table text, p_columns text[])
returns table (readers text[], reader_grants text[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(r.role order by r.place) filter (where r.uses and r.reads), '{}'),
         array_remove(array[
           format('grant usage on schema %I to ', p_schema) || string_agg(r.role, ', ' order by r.place) filter (where not r.uses) || ';',
           format('grant select on %I.%I to ', p_schema, p_table) || string_agg(r.role, ', ' order by r.place) filter (where not r.reads) || ';'], null)
    from (select a.role, a.place, has_schema_privilege(a.role, n.oid, 'usage') as uses,
                 has_table_privilege(a.role, c.oid, 'select')
                 or not exists (select from pg_attribute k where k.attrelid = c.oid and k.attname = any (p_columns) and not k.attisdropped
                                   and not has_column_privilege(a.role, c.oid, k.attnum, 'select')) as reads
            from pg_namespace n
            join pg_class c on c.relnamespace = n.oid
           cross join unnest(array['authenticated', 'stagedoor_reviewer', 'stagedoor_agent', 'dot_executor']) with ordinality as a (role, place)
           where n.nspname = p_schema and c.relname = p_table) as r
$$;

grant execute on function iu_core.fn_search_table_readers(text, text, text[]) to authenticated, stagedoor_reviewer, service_role, dot_executor;

-- The table as it is in the catalogue; NULL: there is none of this name. Internal.
create or replace function iu_core.fn_search_table_relation(p_table iu_core.search_table) returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = p_table.source_schema and c.relname = p_table.source_table
$$;

-- The columns by which rows are known: of the primary key, else of the shortest unique index over columns that are not null. NULL:
-- there is none. Internal.
create or replace function iu_core.fn_search_table_key(p_relation regclass) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.columns
    from pg_index i
   cross join lateral (
     select array_agg(a.attname::text order by n.position) as columns, bool_and(a.attnotnull) as not_null, count(*) as many
       from unnest(i.indkey::smallint[]) with ordinality as n (attnum, position)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = n.attnum
      where n.position <= i.indnkeyatts) as k
   where i.indrelid = p_relation and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indexprs is null and k.not_null
   order by i.indisprimary desc, k.many, i.indexrelid limit 1
$$;

-- A name for a table that codes of routes allow, and that no other table in search has. Internal.
create or replace function iu_core.fn_search_table_code(p_table iu_core.search_table) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.code
    from (select case when p_table.source_schema <> 'public' then iu_core.fn_sql_route_slug(p_table.source_schema) || '.' else '' end
                 || iu_core.fn_sql_route_slug(p_table.source_table) as base) as b
   cross join lateral (select b.base || case n when 1 then '' else '_' || n end as code, n from generate_series(1, 1000) as n) as c
   where not exists (select from iu_core.search_table t where t.code = c.code and t.state <> 'removed')
     and not exists (select from iu_core.iu_sql_event_route r where r.route_code = format('search.%s.insert', c.code))
   order by c.n limit 1
$$;

-- What the review of a route is about: which columns are read. Internal.
create or replace function iu_core.fn_search_table_contract(p_table iu_core.search_table) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'table_id', p_table.table_id, 'key', p_table.key_columns, 'text', p_table.text_columns, 'title', p_table.title_column,
    'filter', p_table.filter_columns, 'language', p_table.language, 'workspace_column', p_table.workspace_column))
$$;

-- The codes of a table's routes. Internal.
create or replace function iu_core.fn_search_table_routes(p_table_id uuid) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(r.route_code order by r.route_code), '{}')
    from iu_core.iu_sql_event_route r where r.payload_contract #>> '{search,table_id}' = p_table_id::text
$$;

-- Which route keeps a table from being searched, and why; NULL: all four are active. Internal.
create or replace function iu_core.fn_search_table_route_problem(p_table_id uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('its route search.%s.%s is not active%s', t.code, e.event, ': ' || r.disabled_reason)
    from iu_core.search_table t
   cross join unnest(array['delete', 'insert', 'truncate', 'update']) as e (event)
    left join iu_core.iu_sql_event_route r on r.route_code = format('search.%s.%s', t.code, e.event)
   where t.table_id = p_table_id and (r.enabled and not r.dry_run) is not true
   order by r.disabled_reason is null, e.event limit 1
$$;

-- A table in search by its code or by its name as in SQL. Raises if there is none. Internal.
create or replace function iu_core.fn_search_table_find(p_code text) returns iu_core.search_table
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table;
begin
  select * into v_table from iu_core.search_table t
   where t.state <> 'removed' and p_code in (t.code, format('%I.%I', t.source_schema, t.source_table),
                                             t.source_schema || '.' || t.source_table,
                                             case t.source_schema when 'public' then quote_ident(t.source_table) end)
   order by t.code = p_code desc limit 1;
  if not found then
    raise exception using
      errcode = 'SD721',
      message = format('There is no table %s in search', coalesce(p_code, 'NULL')),
      detail = json_build_object('table', p_code)::text;
  end if;
  return v_table;
end $$;

-- The workspace of a table in search that the caller may see; another workspace's table gives the same error as a missing one.
-- Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_search_table_workspace(p_code text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table iu_core.search_table := iu_core.fn_search_table_find(p_code);
begin
  if not iu_core.fn_workspace_is_visible(v_table.workspace_id) then
    raise exception using
      errcode = 'SD721',
      message = format('There is no table %s in search', p_code),
      detail = json_build_object('table', p_code)::text;
  end if;
  return v_table.workspace_id;
end $$;

-- Tables in search with what their projection has done. A member sees those of the own workspaces.
create or replace view iu_core.v_search_table with (security_invoker = true) as
select t.table_id, t.code, format('%I.%I', t.source_schema, t.source_table) as source, t.workspace_id, t.workspace_column, t.language,
       t.key_columns, t.text_columns, t.title_column, t.filter_columns,
       case when t.state <> 'registered' then t.state
            when r.routes > 0 and r.reviewed = r.routes then 'reviewed' when r.routes > 0 and r.dry_run = r.routes then 'dry_run'
            else 'registered' end as state,
       t.stopped_reason, t.state_changed_at, t.scan_state, t.scanned, t.scan_total, t.scan_skipped, t.scan_started_at, t.scan_ended_at,
       t.registered_by, t.registered_at, r.reviewed_by, r.activated_by, r.activated_at, r.failures, w.readers, w.reader_grants
  from iu_core.search_table t
 cross join lateral iu_core.fn_search_table_readers(
   t.source_schema, t.source_table, t.key_columns || t.text_columns || t.filter_columns || t.title_column || t.workspace_column) as w
 cross join lateral (
   select count(*) as routes, count(*) filter (where v.state in ('reviewed', 'active')) as reviewed,
          count(*) filter (where v.state <> 'disabled') as dry_run, max(v.reviewed_by) as reviewed_by, max(v.activated_by) as activated_by,
          max(v.activated_at) as activated_at, coalesce(sum(v.failures), 0)::bigint as failures
     from iu_core.v_sql_event_route v where v.payload_contract #>> '{search,table_id}' = t.table_id::text) as r
 where t.state <> 'removed';

grant select on iu_core.v_search_table to authenticated, stagedoor_reviewer, service_role, dot_executor;

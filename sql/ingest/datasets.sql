-- Datasets: what a file means, checked against the tables that it writes; and mappings of headers that people chose.

-- Registers a dataset, or its next version, if its tables fit the declaration. If a key does not say whose row it is, the dataset
-- belongs to one workspace: the given one, the one that it has, or the only one there is. For workflow_admin.
create or replace function iu_core.fn_ingest_dataset_register(
  p_definition jsonb, p_approval_required boolean default null, p_undo_window interval default null, p_workspace_id uuid default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_problem text;
begin
  if jsonb_typeof(p_definition -> 'rows') is distinct from 'array' or p_definition ->> 'name' is null then
    raise exception using errcode = 'SD001', message = 'A dataset is an object with a name and rows; define it with defineDataset';
  end if;
  perform iu_core.fn_require_workspace(p_workspace_id);
  perform iu_core.fn_ingest_require_fit(p_definition, p_workspace_id, 'does not fit');
  v_problem := (select p from iu_core.fn_ingest_assertion_problems(p_definition) p limit 1);
  if v_problem is not null then
    raise exception using
      errcode = 'SD605',
      message = format('The dataset %s cannot be registered: %s', p_definition ->> 'name', v_problem),
      detail = json_build_object('dataset', p_definition ->> 'name', 'reason', v_problem)::text;
  end if;
  v_workspace := iu_core.fn_ingest_dataset_workspace(p_definition, p_workspace_id);
  insert into iu_core.ingest_row_type (platform, row_type)
  select p, spec ->> 'name' from jsonb_object_keys(p_definition -> 'platforms') p, jsonb_array_elements(p_definition -> 'rows') spec
  on conflict do nothing;
  insert into iu_core.ingest_entity_type (platform, entity_type)
  select p, spec ->> 'name' from jsonb_object_keys(p_definition -> 'platforms') p, jsonb_array_elements(p_definition -> 'rows') spec
   where spec ? 'identity'
  on conflict do nothing;
  insert into iu_core.ingest_dataset as d (dataset, title, version, definition, approval_required, undo_window, registered_by, workspace_id)
  values (p_definition ->> 'name', coalesce(p_definition ->> 'title', p_definition ->> 'name'), coalesce((p_definition ->> 'version')::integer, 1),
          p_definition, coalesce(p_approval_required, true), coalesce(p_undo_window, '30 days'), iu_core.fn_actor(), v_workspace)
  on conflict (dataset) do update
     set title = excluded.title, version = excluded.version, definition = excluded.definition,
         approval_required = coalesce(p_approval_required, d.approval_required),
         undo_window = coalesce(p_undo_window, d.undo_window),
         registered_by = excluded.registered_by, registered_at = clock_timestamp(), workspace_id = excluded.workspace_id
   -- Another workspace's name, or one that others have used: asked here, under the lock of the row, so that of two who register
   -- it at once the second is refused.
   where (d.workspace_id is null or d.workspace_id = coalesce(p_workspace_id, v_workspace, d.workspace_id))
     and (v_workspace is null or not exists (
            select from iu_core.ingest_upload u where u.dataset = d.dataset and u.workspace_id <> v_workspace));
  if not found then
    raise exception using
      errcode = 'SD605',
      message = format('The name %s belongs to a dataset of another workspace', p_definition ->> 'name'),
      detail = json_build_object('dataset', p_definition ->> 'name', 'reason', 'the name belongs to a dataset of another workspace; choose another name')::text;
  end if;
end $$;

-- Raises dataset_invalid with all that stands between a declaration and its tables, and the statements that would help. p_verdict: `does
-- not fit`, or `no longer fits`. Internal.
create or replace function iu_core.fn_ingest_require_fit(p_definition jsonb, p_workspace_id uuid, p_verdict text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems record;
begin
  select (array_agg(problem))[1] as first, string_agg(problem, '; ') as reason, jsonb_agg(remedy) filter (where remedy is not null) as remedies
    into v_problems
    from iu_core.fn_ingest_dataset_problems(p_definition, p_workspace_id);
  if v_problems.first is not null then
    raise exception using
      errcode = 'SD605',
      message = format('The dataset %s %s the tables: %s', p_definition ->> 'name', p_verdict, v_problems.first),
      detail = json_build_object('dataset', p_definition ->> 'name', 'reason', v_problems.reason, 'statements', v_problems.remedies)::text;
  end if;
end $$;

-- Whether a registered dataset still fits its tables, for people who operate a workspace that may use it. No rows: it does.
create or replace function iu_core.fn_ingest_dataset_check(p_dataset text, p_workspace_id uuid)
returns table (problem text, remedy text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition jsonb;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  select d.definition into v_definition from iu_core.ingest_dataset d
   where d.dataset = p_dataset and coalesce(d.workspace_id = p_workspace_id, true);
  if not found then
    raise exception using
      errcode = 'SD604',
      message = format('There is no dataset %s', coalesce(p_dataset, 'NULL')),
      detail = json_build_object('dataset', p_dataset)::text;
  end if;
  return query select p.problem, p.remedy from iu_core.fn_ingest_dataset_problems(v_definition, p_workspace_id) p;
end $$;

grant execute on function iu_core.fn_ingest_dataset_check(text, uuid) to authenticated, stagedoor_reviewer, service_role, dot_executor;

-- What is missing for a declaration to fit its tables: a table, a column, a unique key, a right or a workspace; all of it, each
-- with the statement that fixes it, if there is one. In this order the statements are one script. No rows: the dataset can be
-- registered. Reads the catalogue only, so that it knows tables that we may not use yet. For workflow_admin.
create or replace function iu_core.fn_ingest_dataset_problems(p_definition jsonb, p_workspace_id uuid default null)
returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_table regclass;
  v_name text;
  v_kind "char";
begin
  -- `$client` and `@campaign` are built-in sources: a field or a row type must not have such a name.
  return query
    select format('%L cannot be the name of a %s', n.name, n.kind), 'Choose a name that begins with a letter.'::text
      from (select k, 'field' from jsonb_object_keys(p_definition -> 'fields') k where k ~ '^[$@]' or k = ''
            union all
            select spec ->> 'name', 'row type' from jsonb_array_elements(p_definition -> 'rows') spec
             where spec ->> 'name' ~ '^[$@]' or spec ->> 'name' in ('', 'client', 'workspace', 'platform', 'identity')) as n (name, kind);
  -- Events have totals by row type.
  return query
    select format('%L cannot be the name of a row type: no event may have such a key', spec ->> 'name'), 'Choose another name.'::text
      from jsonb_array_elements(p_definition -> 'rows') spec
     where iu_core.fn_payload_problem(jsonb_build_object(spec ->> 'name', 0)) is not null;
  -- A temporary table holds them beside six columns of ours.
  return query
    select format('%s writes %s columns of %s, and at most 1500 can be written', spec ->> 'name', c.columns, spec ->> 'target'),
           'Leave some of the columns out, or write them by a second dataset.'::text
      from jsonb_array_elements(p_definition -> 'rows') spec, lateral (select count(*) from jsonb_object_keys(spec -> 'columns')) as c (columns)
     where c.columns > 1500;
  return query
    select distinct case when s.oid is null then format('The schema of %s does not exist', min(t.name))
                         else format('Stagedoor may not use the schema of %s', min(t.name)) end,
           case when s.oid is null then format('create schema %1$I; grant usage on schema %1$I to workflow_admin;', (parse_ident(t.name))[1])
                else format('grant usage on schema %I to workflow_admin;', s.nspname) end
      from (select n from iu_core.fn_ingest_dataset_tables(p_definition) n
            union select l.value ->> 'table' from jsonb_each(p_definition -> 'lookups') l) as t (name)
      left join pg_namespace s on s.nspname = (parse_ident(t.name))[1]
     where s.oid is null or not has_schema_privilege('workflow_admin', s.oid, 'usage')
     group by s.oid, s.nspname, (parse_ident(t.name))[1];
  for v_name in
    select t from iu_core.fn_ingest_dataset_tables(p_definition) as n (t) order by 1
  loop
    v_table := iu_core.fn_ingest_table(v_name);
    if v_table is null then
      return query select format('The table %s does not exist', v_name), iu_core.fn_ingest_table_ddl(p_definition, v_name);
      continue;
    end if;
    select relkind into v_kind from pg_class where oid = v_table;
    if v_kind not in ('r', 'p') then
      return query select format('%s is not a table but a %s', v_name,
                                 case v_kind when 'v' then 'view' when 'm' then 'materialized view' else 'foreign table' end),
                          iu_core.fn_ingest_not_a_table_advice(v_table, v_kind);
      continue;
    end if;
    return query select * from iu_core.fn_ingest_rights_problems(v_table, v_name,
      -- The client table is only read; the others are written and locked, and reverted by an undo.
      case when v_name = p_definition -> 'client' ->> 'table' then array['select'] else array['select', 'insert', 'update', 'delete'] end);
  end loop;

  return query
    select format('%s has no column %s', w.name, w.column_name),
           format('alter table %s add column %I %s;', iu_core.fn_ingest_table_sql(iu_core.fn_ingest_table(w.name)), w.column_name, w.type)
      from (select p_definition -> 'client' ->> 'table', p_definition -> 'client' ->> k, t
              from (values ('id', 'uuid'), ('workspace', 'uuid'), ('name', 'text')) as v (k, t)
            union all
            select p_definition ->> 'uploads', k, t from iu_core.fn_ingest_uploads_columns() as v (k, t)) as w (name, column_name, type)
     where iu_core.fn_ingest_table(w.name) is not null
       and not exists (select from pg_attribute where attrelid = iu_core.fn_ingest_table(w.name) and attname = w.column_name and not attisdropped);
  for v_spec in select * from jsonb_array_elements(p_definition -> 'rows') loop
    v_table := iu_core.fn_ingest_table(v_spec ->> 'target');
    if v_table is not null and (select relkind in ('r', 'p') from pg_class where oid = v_table) then
      return query select * from iu_core.fn_ingest_row_type_problems(p_definition, v_spec, v_table);
    end if;
  end loop;
  return query select * from iu_core.fn_ingest_lookup_problems(p_definition);
  return query select * from iu_core.fn_ingest_tenancy_problems(p_definition, p_workspace_id);
end $$;

-- What to name instead of something that is not a table. Internal.
create or replace function iu_core.fn_ingest_not_a_table_advice(p_relation regclass, p_kind "char") returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case p_kind
    when 'f' then 'Stagedoor can neither lock nor restore rows of another server. Name a table of this database and copy from it, or run Stagedoor where the table is.'
    else coalesce('Name the table behind it: ' || (
           select string_agg(distinct iu_core.fn_ingest_table_sql(d.refobjid::regclass), ' or ')
             from pg_rewrite r
             join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
             join pg_class c on c.oid = d.refobjid and c.relkind in ('r', 'p')
            where r.ev_class = p_relation) || '.', 'Name a table.') end
$$;

-- Rights that are missing on a table, and on sequences of which its defaults take numbers. Internal.
create or replace function iu_core.fn_ingest_rights_problems(p_table regclass, p_name text, p_privileges text[])
returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text := iu_core.fn_ingest_table_sql(p_table);
begin
  return query
    select format('Stagedoor may not %s %s', privilege, p_name), format('grant %s on %s to workflow_admin;', privilege, v_table)
      from unnest(p_privileges) as privilege where not has_table_privilege('workflow_admin', p_table, privilege);
  if (select relrowsecurity and (relforcerowsecurity or not pg_has_role('workflow_admin', relowner, 'usage'))
             and not (select rolbypassrls from pg_roles where rolname = 'workflow_admin') from pg_class where oid = p_table)
     and not exists (select from pg_policy where polrelid = p_table and polcmd = '*' and 'workflow_admin'::regrole = any (polroles)) then
    return query select format('Row security of %s hides its rows from Stagedoor', p_name),
      format('create policy stagedoor_ingests on %s to workflow_admin using (true) with check (true);', v_table);
  end if;
  -- An identity column numbers its rows with the right to insert; a default needs the sequence's own.
  if 'insert' = any (p_privileges) then
    return query
      select format('Stagedoor may not take numbers from %s, as the default of %s.%s does', s.name, p_name, a.attname),
             format('grant usage on sequence %s to workflow_admin;', s.name)
        from pg_attribute a,
             lateral (select iu_core.fn_ingest_column_sequence(p_table, a.attnum)) as q (sequence),
             lateral (select iu_core.fn_ingest_table_sql(q.sequence)) as s (name)
       where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.atthasdef and a.attgenerated = '' and q.sequence is not null
         and not has_sequence_privilege('workflow_admin', q.sequence, 'usage');
  end if;
end $$;

-- What is missing for one row type to be written into its table. Internal.
create or replace function iu_core.fn_ingest_row_type_problems(p_definition jsonb, p_spec jsonb, p_table regclass)
returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text := iu_core.fn_ingest_table_sql(p_table);
  v_key text[] := array(select jsonb_array_elements_text(p_spec -> 'key'));
  v_ref jsonb := iu_core.fn_ingest_row_ref(p_spec, p_table);
  v_columns text := (select string_agg(quote_ident(k), ', ') from jsonb_array_elements_text(p_spec -> 'key') k);
  v_unique boolean;
begin
  return query
    select format('%s has no column %s', p_spec ->> 'target', c),
           format('alter table %s add column %I %s;', v_table, c, iu_core.fn_ingest_source_type(p_definition, p_spec, c))
      from (select jsonb_object_keys(p_spec -> 'columns') union select unnest(v_key) union select p_spec ->> 'id') as s (c)
     where c is not null
       and not exists (select from pg_attribute where attrelid = p_table and attname = c and attnum > 0 and not attisdropped);
  -- An identity column of the key is inserted as the file has it, and never updated.
  return query
    select format('%s.%s is a generated column and cannot be written', p_spec ->> 'target', attname),
           case when attidentity = 'a' then format('alter table %s alter column %I set generated by default;', v_table, attname)
                when attgenerated = 's' then format('alter table %s alter column %I drop expression;', v_table, attname)
                else 'Leave the column out of the declaration.' end
      from pg_attribute
     where attrelid = p_table and not attisdropped and p_spec -> 'columns' ? attname::text
       and (attgenerated <> '' or attidentity = 'a' and attname::text <> all (v_key));
  return query
    select format('The key column %s of %s is filled from nothing', k, p_spec ->> 'target'),
           'Say in "columns" where it comes from, or leave it out of the key.'::text
      from unnest(v_key) k where not p_spec -> 'columns' ? k;
  -- Rows that refer to it, promotion and undo find a row by its id.
  if v_ref is not null and not exists (
       select from pg_index i join pg_attribute a on a.attrelid = p_table and a.attnum = i.indkey[0]
        where i.indrelid = p_table and i.indisunique and i.indisvalid and i.indnkeyatts = 1 and i.indpred is null
          and a.attname = p_spec ->> 'id')
     and (select relkind from pg_class where oid = p_table) = 'r' then
    return query select format('%s.%s is not unique', p_spec ->> 'target', p_spec ->> 'id'),
      format('create unique index on %s (%I);', v_table, p_spec ->> 'id');
  end if;
  return query
    select format('%s.%s is the id of %s, which has no id column', p_spec ->> 'target', c.key, p ->> 'name'),
           format('Declare the "id" column of %s.', p ->> 'name')
      from jsonb_each_text(p_spec -> 'columns') c join jsonb_array_elements(p_definition -> 'rows') p on c.value = '$' || (p ->> 'name')
     where p ->> 'id' is null;
  return query
    select format('%s.%s is NOT NULL, and the dataset says that a line may have no %s ("optional")', p_spec ->> 'target', c.key, p ->> 'name'),
           format('alter table %s alter column %I drop not null;', v_table, c.key)
      from jsonb_each_text(p_spec -> 'columns') c join jsonb_array_elements(p_definition -> 'rows') p on c.value = '$' || (p ->> 'name')
     where (p ->> 'optional')::boolean and iu_core.fn_ingest_column_not_null(p_table, c.key);
  if p_spec -> 'identity' ->> 'nameColumn' is not null and p_spec ->> 'id' is null then
    return query select format('%s is found by its name, which needs its id', p_spec ->> 'name'),
      format('Declare the "id" column of %s, or leave "nameColumn" out.', p_spec ->> 'name');
  end if;
  if v_ref ->> 'kind' = 'none' then
    return query select format('%s.%s is neither a uuid nor numbered by a sequence, so its ids cannot be known before promotion',
                               p_spec ->> 'target', p_spec ->> 'id'),
      'Say in "columns" which field fills it, or leave "id" out of the declaration; rows are then known by their key.'::text;
  elsif v_ref ->> 'kind' = 'sequence'
        and exists (select from pg_attribute where attrelid = p_table and attname = p_spec ->> 'id' and attidentity <> ''
                       and not has_sequence_privilege('workflow_admin', iu_core.fn_ingest_column_sequence(p_table, attnum), 'usage')) then
    return query select format('Stagedoor may not reserve ids of %s from %s', p_spec ->> 'target', v_ref ->> 'sequence'),
      format('grant usage on sequence %s to workflow_admin;', v_ref ->> 'sequence');
  end if;
  -- Without it two promotions could both insert what neither saw.
  v_unique := iu_core.fn_ingest_is_unique(p_table, v_key, false);
  if not v_unique then
    return query select format('%s has no unique index over %s', p_spec ->> 'target', array_to_string(v_key, ', ')),
      format('create unique index on %s (%s) nulls not distinct;', v_table, v_columns);
  elsif exists (
       select from unnest(v_key) k join pg_attribute a on a.attrelid = p_table and a.attname = k and not a.attnotnull)
     and not iu_core.fn_ingest_is_unique(p_table, v_key, true) then
    return query select format('The key of %s can be NULL, and its unique index takes NULLs for different', p_spec ->> 'target'),
      format('create unique index on %s (%s) nulls not distinct;', v_table, v_columns);
  end if;
end $$;

-- Whether a table has a unique index over exactly these columns; with p_nulls one that takes NULLs for equal. Internal.
create or replace function iu_core.fn_ingest_is_unique(p_table regclass, p_columns text[], p_nulls boolean) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_index i
     where i.indrelid = p_table and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
       and (i.indnullsnotdistinct or not p_nulls)
       and (select array_agg(a.attname::text order by a.attname) from unnest(i.indkey[0:i.indnkeyatts - 1]) as n
              join pg_attribute a on a.attrelid = p_table and a.attnum = n)
         = (select array_agg(k order by k) from unnest(p_columns) as k))
$$;

-- Tenant isolation: with a key that does not identify the workspace, one tenant could write another's rows. Then the dataset
-- belongs to one workspace. Internal.
create or replace function iu_core.fn_ingest_tenancy_problems(p_definition jsonb, p_workspace_id uuid)
returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_table regclass;
  v_parent text;
begin
  if iu_core.fn_ingest_dataset_workspace(p_definition, p_workspace_id) is not null then
    return;
  end if;
  for v_spec in select * from jsonb_array_elements(p_definition -> 'rows') loop
    v_table := iu_core.fn_ingest_table(v_spec ->> 'target');
    continue when v_table is null or iu_core.fn_ingest_key_is_tenant_scoped(p_definition, v_spec);
    v_parent := iu_core.fn_ingest_key_parent(p_definition, v_spec);
    return query select case when v_parent is null
        then format('The key of %s contains neither $client nor $workspace nor a parent with an identity: rows of different workspaces would share keys',
                    v_spec ->> 'target')
        else format('%s.%s can be NULL, and nothing else in the key says whose row it is: rows of different workspaces would share keys',
                    v_spec ->> 'target', v_parent) end,
      case when v_parent is null
        then 'Say whose dataset it is: stagedoor dataset register FILE --workspace WORKSPACE. Or add the column that says whose row it is to the key.'
        else format('alter table %s alter column %I set not null;', iu_core.fn_ingest_table_sql(v_table), v_parent) end;
  end loop;
end $$;

-- Every table that a declaration names. Internal.
create or replace function iu_core.fn_ingest_dataset_tables(p_definition jsonb) returns setof text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select distinct t
    from (select spec ->> 'target' as t from jsonb_array_elements(p_definition -> 'rows') spec
          union all select p_definition -> 'client' ->> 'table'
          union all select p_definition ->> 'uploads') n
   where t is not null
$$;

-- The CREATE TABLE statement of a missing table that a dataset names; NULL if the table is in a schema that we cannot guess
-- about. Internal.
create or replace function iu_core.fn_ingest_table_ddl(p_definition jsonb, p_table text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := (select string_agg(quote_ident(part), '.') from unnest(parse_ident(p_table)) part);
  v_client jsonb := p_definition -> 'client';
  v_spec jsonb;
begin
  if p_table = v_client ->> 'table' then
    return format('create table %s (%I uuid primary key default gen_random_uuid(), %I uuid not null, %I text not null);',
                  v_name, v_client ->> 'id', v_client ->> 'workspace', v_client ->> 'name');
  elsif p_table = p_definition ->> 'uploads' then
    return format('create table %s (%s);', v_name, (
      select string_agg(format('%I %s%s', column_name, type, case column_name when 'id' then ' primary key' else '' end), ', ')
        from iu_core.fn_ingest_uploads_columns()));
  end if;
  select spec into v_spec from jsonb_array_elements(p_definition -> 'rows') spec where spec ->> 'target' = p_table limit 1;
  return format('create table %s (%s, unique nulls not distinct (%s));', v_name,
    (select string_agg(definition, ', ') from (
       select format('%I uuid primary key default gen_random_uuid()', v_spec ->> 'id') as definition
        where v_spec ->> 'id' is not null and not v_spec -> 'columns' ? (v_spec ->> 'id')
       union all
       -- The column that identifies the workspace cannot be NULL; other parts of the key may.
       select format('%I %s%s', c, iu_core.fn_ingest_source_type(p_definition, v_spec, c),
                     case when c = v_spec ->> 'id' then ' primary key'
                          when c = iu_core.fn_ingest_key_parent(p_definition, v_spec) then ' not null' else '' end)
         from jsonb_object_keys(v_spec -> 'columns') c) d),
    (select string_agg(quote_ident(k), ', ') from jsonb_array_elements_text(v_spec -> 'key') k));
end $$;

-- The columns that a table of uploads (public.data_uploads) must have. Internal.
create or replace function iu_core.fn_ingest_uploads_columns() returns table (column_name text, type text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  values ('id', 'uuid'), ('workspace_id', 'uuid'), ('client_id', 'uuid'), ('platform', 'text'), ('file_name', 'text'),
         ('status', 'text'), ('row_count', 'bigint')
$$;

-- The type that a missing column of a row type would have, derived from its source. Internal.
create or replace function iu_core.fn_ingest_source_type(p_definition jsonb, p_spec jsonb, p_column text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when s.source is null then 'uuid'
              when s.source in ('$platform', '$identity') then 'text'
              when s.source in ('$client', '$workspace') then 'uuid'
              when s.source like '$%' then (
                select coalesce(iu_core.fn_ingest_row_ref(p, iu_core.fn_ingest_table(p ->> 'target')) ->> 'type',
                                iu_core.fn_ingest_source_type(p_definition, p, p ->> 'id'))
                  from jsonb_array_elements(p_definition -> 'rows') p where p ->> 'name' = substr(s.source, 2) limit 1)
              -- Staging keeps both as texts.
              when p_definition -> 'fields' -> s.source ->> 'type' = 'json' then 'jsonb'
              when p_definition -> 'fields' -> s.source ->> 'type' = 'array' then
                iu_core.fn_ingest_field_type(jsonb_build_object('type', coalesce(p_definition -> 'fields' -> s.source ->> 'items', 'text'))) || '[]'
              else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> s.source) end
    from (select p_spec -> 'columns' ->> p_column) as s (source)
$$;

-- The key column of the outermost parent of a row type, if nothing else in the key identifies the workspace. Internal.
create or replace function iu_core.fn_ingest_key_parent(p_definition jsonb, p_spec jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select k
    from jsonb_array_elements(p_definition -> 'rows') with ordinality as p (spec, place),
         jsonb_array_elements_text(p_spec -> 'key') k
   where p_spec -> 'columns' ->> k = '$' || (p.spec ->> 'name') and p.spec ->> 'name' <> p_spec ->> 'name' and p.spec ? 'identity'
     and not exists (select from jsonb_array_elements_text(p_spec -> 'key') o
                      where p_spec -> 'columns' ->> o in ('$client', '$workspace'))
   order by p.place limit 1
$$;

-- Stores what headers and values mean for the next files of a workspace. Header → field, or null (ignore the column); field →
-- {value in the file → value to use}.
create or replace function iu_core.fn_ingest_mapping_set(
  p_workspace_id uuid, p_dataset text, p_platform text, p_headers jsonb, p_field_values jsonb default '{}'
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition jsonb;
  v_unknown text;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  perform iu_core.fn_ingest_mapping_lock(p_workspace_id, p_dataset, p_platform);
  select definition into v_definition from iu_core.ingest_dataset
   where dataset = p_dataset and (workspace_id is null or workspace_id = p_workspace_id);
  if v_definition is null or not v_definition -> 'platforms' ? p_platform then
    raise exception using errcode = 'SD604', message = format('There is no dataset %L with a platform %L', p_dataset, p_platform),
      detail = json_build_object('dataset', p_dataset, 'platform', p_platform)::text;
  end if;
  select string_agg(f, ', ') into v_unknown
    from (select value #>> '{}' as f from jsonb_each(coalesce(p_headers, '{}')) where value <> 'null'
          union select k from jsonb_object_keys(coalesce(p_field_values, '{}')) k) s
   where not v_definition -> 'fields' ? f;
  if v_unknown is not null then
    raise exception using errcode = 'SD001', message = format('The dataset %s has no field %s; it has %s', p_dataset, v_unknown,
        (select string_agg(k, ', ' order by k) from jsonb_object_keys(v_definition -> 'fields') k));
  end if;
  insert into iu_core.ingest_mapping as m (workspace_id, dataset, platform, headers, field_values, updated_by, header_by, value_by)
  values (p_workspace_id, p_dataset, p_platform, coalesce(p_headers, '{}'), coalesce(p_field_values, '{}'), iu_core.fn_actor(),
          iu_core.fn_ingest_mapping_merge_authors('{}', '{}', p_headers), iu_core.fn_ingest_mapping_merge_authors('{}', '{}', p_field_values))
  on conflict (workspace_id, dataset, platform) do update
     set headers = excluded.headers, field_values = excluded.field_values, updated_by = excluded.updated_by,
         header_by = iu_core.fn_ingest_mapping_merge_authors(m.header_by, m.headers, excluded.headers),
         value_by = iu_core.fn_ingest_mapping_merge_authors(m.value_by, m.field_values, excluded.field_values),
         updated_at = clock_timestamp();
end $$;

grant execute on function iu_core.fn_ingest_mapping_set(uuid, text, text, jsonb, jsonb)
  to service_role, authenticated, stagedoor_reviewer;

-- One change of a mapping at a time: two people who confirm at once must both be remembered, also where nothing is remembered yet.
-- Internal.
create or replace function iu_core.fn_ingest_mapping_lock(p_workspace_id uuid, p_dataset text, p_platform text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended(format('stagedoor.ingest.mapping.%s.%s.%s', p_workspace_id, p_dataset, p_platform), 0))
$$;

-- Writes an audit row for every registration and change of a dataset, also for a change by hand.
create or replace function iu_core.fn_ingest_dataset_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_dataset_audit (dataset, old_row, new_row, actor)
  values (coalesce(new.dataset, old.dataset), to_jsonb(old), to_jsonb(new), iu_core.fn_actor());
  return null;
end $$;

create or replace trigger ingest_dataset_is_audited
  after insert or update or delete on iu_core.ingest_dataset
  for each row execute function iu_core.fn_ingest_dataset_audit();
create or replace trigger ingest_dataset_is_not_truncated
  before truncate on iu_core.ingest_dataset
  for each statement execute function iu_core.fn_refuse_change();
create or replace trigger ingest_dataset_audit_only_grows
  before update or delete on iu_core.ingest_dataset_audit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger ingest_dataset_audit_is_not_truncated
  before truncate on iu_core.ingest_dataset_audit
  for each statement execute function iu_core.fn_refuse_change();

-- The author of each entry of a mapping after a change: the actor for entries that they changed, added or removed, and the
-- earlier author for the rest. For a machine token it is whoever created it, who may not approve what they mapped. Internal.
create or replace function iu_core.fn_ingest_mapping_merge_authors(p_by jsonb, p_old jsonb, p_new jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p_by || coalesce(jsonb_object_agg(k, coalesce(iu_core.fn_my_token_creator(), iu_core.fn_actor())), '{}')
    from (select jsonb_object_keys(p_old) union select jsonb_object_keys(coalesce(p_new, '{}'))) as keys (k)
   where (p_old -> k) is distinct from (p_new -> k)
$$;

-- The authors of the mapping entries that apply to a file: its headers and the values of its fields. Headers are compared more
-- broadly than the reader does: without case, accents, letter forms, punctuation, bracketed text and a trailing currency.
-- Naming one author too many is safer than missing one. Internal.
create or replace function iu_core.fn_ingest_mapping_authors(p_upload iu_core.ingest_upload, p_reading jsonb) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with mapping as (
    select m.header_by, m.value_by from iu_core.ingest_mapping m
     where (m.workspace_id, m.dataset, m.platform) = (p_upload.workspace_id, p_upload.dataset, p_upload.platform)
  ), named (header, author) as (
    select h, null from jsonb_array_elements_text(case jsonb_typeof(p_reading -> 'headers') when 'array' then p_reading -> 'headers' else '[]' end) h
    union all
    select h.key, h.value from mapping, jsonb_each_text(header_by) h
  ), compared (key, author) as (
    select regexp_replace(
             translate(lower(regexp_replace(normalize(header, NFKD), '\([^)]*\)|\[[^]]*\]|[[:space:],:]+[A-Z]{3}[[:space:]]*$', '', 'g')), 'đ', 'd'),
             '[^[:alnum:]]', '', 'g'), author
      from named
  )
  select coalesce(array_agg(distinct author), '{}') from (
    select by.author from compared by join compared file on file.key = by.key and file.author is null where by.author is not null
    union
    select v.value from mapping, jsonb_each_text(value_by) v where p_reading -> 'map' -> 'fields' ? v.key
  ) authors
$$;

-- Locks the dataset of an upload against a new registration until the end of the transaction, and raises if it is not the
-- definition by which the lines were read and checked. Compares definitions, not times. Internal.
create or replace function iu_core.fn_ingest_require_same_dataset(p_upload iu_core.ingest_upload) returns iu_core.ingest_dataset
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dataset iu_core.ingest_dataset;
begin
  select * into v_dataset from iu_core.ingest_dataset where dataset = p_upload.dataset for share;
  if v_dataset.definition_digest is distinct from p_upload.reading ->> 'definition_digest' then
    raise exception using
      errcode = 'SD606',
      message = format('The dataset %s was registered again after this file was read', p_upload.dataset),
      hint = 'Discard the upload and upload the file again, so that the current dataset reads it.',
      detail = json_build_object('upload', p_upload.upload_id, 'reason', 'its dataset was registered again after the file was read')::text;
  end if;
  perform iu_core.fn_ingest_require_own_dataset(v_dataset, p_upload.workspace_id, p_upload.platform);
  return v_dataset;
end $$;

-- Whether the key of a row type identifies one workspace: it contains the client or the workspace, or a parent that every row
-- has. A parent column that can be NULL does not count: a file without that parent would match the rows of every workspace that
-- have none. Checked when a dataset is registered and again with every plan, because a table can lose its NOT NULL. Internal.
create or replace function iu_core.fn_ingest_key_is_tenant_scoped(p_definition jsonb, p_spec jsonb) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from jsonb_array_elements_text(p_spec -> 'key') k, lateral (select p_spec -> 'columns' ->> k) as s (source)
     where s.source in ('$client', '$workspace')
        or (iu_core.fn_ingest_column_not_null(iu_core.fn_ingest_table(p_spec ->> 'target'), k)
            and exists (select from jsonb_array_elements(p_definition -> 'rows') p
                         where s.source = '$' || (p ->> 'name') and p ->> 'name' <> p_spec ->> 'name' and p ? 'identity')))
$$;

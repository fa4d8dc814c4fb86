-- Datasets: what a file means, checked against the tables it writes; mappings of headers that people chose.

-- Registers a dataset, or its next version, if its tables are as it says. For workflow_admin.
create or replace function iu_core.fn_ingest_dataset_register(
  p_definition jsonb, p_approval_required boolean default null, p_undo_window interval default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems jsonb;
begin
  if jsonb_typeof(p_definition -> 'rows') is distinct from 'array' or p_definition ->> 'name' is null then
    raise exception using errcode = 'SD001', message = 'A dataset is an object with a name and rows; define it with defineDataset';
  end if;
  select jsonb_agg(jsonb_build_object('problem', problem, 'remedy', remedy)) into v_problems
    from iu_core.fn_ingest_dataset_problems(p_definition);
  if v_problems is not null then
    raise exception using
      errcode = 'SD605',
      message = format('The dataset %s does not fit the tables: %s', p_definition ->> 'name', v_problems -> 0 ->> 'problem'),
      detail = json_build_object('dataset', p_definition ->> 'name',
        'reason', (select string_agg(p ->> 'problem', '; ') from jsonb_array_elements(v_problems) p),
        'statements', (select jsonb_agg(p ->> 'remedy') from jsonb_array_elements(v_problems) p where p ->> 'remedy' is not null))::text;
  end if;
  insert into iu_core.ingest_row_type (platform, row_type)
  select p, spec ->> 'name' from jsonb_object_keys(p_definition -> 'platforms') p, jsonb_array_elements(p_definition -> 'rows') spec
  on conflict do nothing;
  insert into iu_core.ingest_entity_type (platform, entity_type)
  select p, spec ->> 'name' from jsonb_object_keys(p_definition -> 'platforms') p, jsonb_array_elements(p_definition -> 'rows') spec
   where spec ? 'identity'
  on conflict do nothing;
  insert into iu_core.ingest_dataset as d (dataset, title, version, definition, approval_required, undo_window, registered_by)
  values (p_definition ->> 'name', coalesce(p_definition ->> 'title', p_definition ->> 'name'), coalesce((p_definition ->> 'version')::integer, 1),
          p_definition, coalesce(p_approval_required, true), coalesce(p_undo_window, '30 days'), iu_core.fn_actor())
  on conflict (dataset) do update
     set title = excluded.title, version = excluded.version, definition = excluded.definition,
         approval_required = coalesce(p_approval_required, d.approval_required),
         undo_window = coalesce(p_undo_window, d.undo_window),
         registered_by = excluded.registered_by, registered_at = clock_timestamp();
end $$;

-- What stands between a declaration and its tables: a table, a column, a unique key, a right that is missing; each with
-- the statement that mends it, where there is one. No rows: it can be registered. For workflow_admin.
create or replace function iu_core.fn_ingest_dataset_problems(p_definition jsonb)
returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_table regclass;
  v_name text;
  v_key text[];
  v_parent text;
begin
  -- A schema that is closed to us cannot even be asked for its tables, so this comes first.
  return query
    select distinct format('Stagedoor may not use the schema of %s', n.t), format('grant usage on schema %I to workflow_admin;', s.nspname)
      from iu_core.fn_ingest_dataset_tables(p_definition) as n (t) join pg_namespace s on s.nspname = (parse_ident(n.t))[1]
     where cardinality(parse_ident(n.t)) = 2 and not has_schema_privilege('workflow_admin', s.oid, 'usage');
  if found then
    return;
  end if;
  -- `$client` and `@campaign` are sources of ours: a field or a row type that is called so would be taken for them.
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
  for v_name in
    select t from iu_core.fn_ingest_dataset_tables(p_definition) as n (t) order by 1
  loop
    v_table := to_regclass(v_name);
    if v_table is null then
      return query select format('The table %s does not exist', v_name), iu_core.fn_ingest_table_ddl(p_definition, v_name);
      continue;
    end if;
    if (select relkind not in ('r', 'p') from pg_class where oid = v_table) then
      return query select format('%s is not a table', v_name), null::text;
      continue;
    end if;
    -- The client table is only read; the others are written and locked, and taken back on an undo.
    return query
      select format('Stagedoor may not %s %s', privilege, v_name), format('grant %s on %s to workflow_admin;', privilege, v_table)
        from unnest(case when v_name = p_definition -> 'client' ->> 'table' then array['select']
                         else array['select', 'insert', 'update', 'delete'] end) as privilege
       where not has_table_privilege('workflow_admin', v_table, privilege);
    if (select relrowsecurity and (relforcerowsecurity or not pg_has_role('workflow_admin', relowner, 'usage'))
               and not (select rolbypassrls from pg_roles where rolname = 'workflow_admin') from pg_class where oid = v_table)
       and not exists (select from pg_policy where polrelid = v_table and polcmd = '*' and 'workflow_admin'::regrole = any (polroles)) then
      return query select format('Row security of %s hides its rows from Stagedoor', v_name),
        format('create policy stagedoor_ingests on %s to workflow_admin using (true) with check (true);', v_table);
    end if;
  end loop;

  return query
    select format('%s has no column %s', w.name, w.column_name), format('alter table %s add column %I %s;', to_regclass(w.name), w.column_name, w.type)
      from (select p_definition -> 'client' ->> 'table', p_definition -> 'client' ->> k, t
              from (values ('id', 'uuid'), ('workspace', 'uuid'), ('name', 'text')) as v (k, t)
            union all
            select p_definition ->> 'uploads', k, t from iu_core.fn_ingest_uploads_columns() as v (k, t)) as w (name, column_name, type)
     where to_regclass(w.name) is not null
       and not exists (select from pg_attribute where attrelid = to_regclass(w.name) and attname = w.column_name and not attisdropped);
  for v_spec in select * from jsonb_array_elements(p_definition -> 'rows') loop
    v_table := to_regclass(v_spec ->> 'target');
    continue when v_table is null;
    v_key := array(select jsonb_array_elements_text(v_spec -> 'key'));
    return query
      select format('%s has no column %s', v_spec ->> 'target', c),
             format('alter table %s add column %I %s;', v_table, c, iu_core.fn_ingest_source_type(p_definition, v_spec, c))
        from (select jsonb_object_keys(v_spec -> 'columns') union select unnest(v_key) union select v_spec ->> 'id') as s (c)
       where c is not null
         and not exists (select from pg_attribute where attrelid = v_table and attname = c and attnum > 0 and not attisdropped);
    return query
      select format('%s.%s is a generated column and cannot be written', v_spec ->> 'target', attname),
             case when attidentity = 'a' then format('alter table %s alter column %I set generated by default;', v_table, attname)
                  when attgenerated = 's' then format('alter table %s alter column %I drop expression;', v_table, attname)
                  else 'Leave the column out of the declaration.' end
        from pg_attribute where attrelid = v_table and (attgenerated <> '' or attidentity = 'a')
         and (v_spec -> 'columns' ? attname::text or attname = v_spec ->> 'id');
    return query
      select format('The key column %s of %s is filled from nothing', k, v_spec ->> 'target'),
             'Say in "columns" where it comes from, or leave it out of the key.'::text
        from unnest(v_key) k where not v_spec -> 'columns' ? k;
    -- Promotion and undo find a row by its id.
    if exists (select from pg_attribute where attrelid = v_table and attname = v_spec ->> 'id' and not attisdropped)
       and not exists (select from pg_index i join pg_attribute a on a.attrelid = v_table and a.attnum = i.indkey[0]
                        where i.indrelid = v_table and i.indisunique and i.indisvalid and i.indnkeyatts = 1 and i.indpred is null
                          and a.attname = v_spec ->> 'id')
       and (select relkind from pg_class where oid = v_table) = 'r' then
      return query select format('%s.%s is not unique', v_spec ->> 'target', v_spec ->> 'id'),
        format('create unique index on %s (%I);', v_table, v_spec ->> 'id');
    end if;
    return query
      select format('%s.%s is the id of %s, which has no id column', v_spec ->> 'target', c.key, p ->> 'name'),
             format('Declare the "id" column of %s.', p ->> 'name')
        from jsonb_each_text(v_spec -> 'columns') c join jsonb_array_elements(p_definition -> 'rows') p on c.value = '$' || (p ->> 'name')
       where p ->> 'id' is null;
    if v_spec -> 'identity' ->> 'nameColumn' is not null and v_spec ->> 'id' is null then
      return query select format('%s is found by its name, which needs its id', v_spec ->> 'name'),
        format('Declare the "id" column of %s, or leave "nameColumn" out.', v_spec ->> 'name');
    end if;
    if v_spec ->> 'id' is not null and exists (
         select from pg_attribute where attrelid = v_table and attname = v_spec ->> 'id' and atttypid <> 'uuid'::regtype) then
      return query select format('%s.%s is not a uuid, so its ids cannot be known before promotion', v_spec ->> 'target', v_spec ->> 'id'),
        'Leave "id" out of the declaration; rows are then known by their key.'::text;
    end if;
    -- Without it two promotions could both insert what neither saw.
    if not exists (
         select from pg_index i
          where i.indrelid = v_table and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
            and (select array_agg(a.attname::text order by a.attname) from unnest(i.indkey[0:i.indnkeyatts - 1]) as n
                   join pg_attribute a on a.attrelid = v_table and a.attnum = n)
              = (select array_agg(k order by k) from unnest(v_key) as k)) then
      return query select format('%s has no unique index over %s', v_spec ->> 'target', array_to_string(v_key, ', ')),
        format('create unique index on %s (%s) nulls not distinct;', v_table, (select string_agg(quote_ident(k), ', ') from unnest(v_key) k));
    elsif exists (
         select from unnest(v_key) k join pg_attribute a on a.attrelid = v_table and a.attname = k and not a.attnotnull)
       and not exists (
         select from pg_index i
          where i.indrelid = v_table and i.indisunique and i.indisvalid and i.indnullsnotdistinct and i.indpred is null and i.indexprs is null
            and (select array_agg(a.attname::text order by a.attname) from unnest(i.indkey[0:i.indnkeyatts - 1]) as n
                   join pg_attribute a on a.attrelid = v_table and a.attnum = n)
              = (select array_agg(k order by k) from unnest(v_key) as k)) then
      return query select format('The key of %s can be NULL, and its unique index takes NULLs for different', v_spec ->> 'target'),
        format('create unique index on %s (%s) nulls not distinct;', v_table, (select string_agg(quote_ident(k), ', ') from unnest(v_key) k));
    end if;
    -- The wall between workspaces: a key that does not lead to one would let one tenant write another's rows.
    if not iu_core.fn_ingest_key_walled(p_definition, v_spec) then
      v_parent := iu_core.fn_ingest_key_parent(p_definition, v_spec);
      return query select case when v_parent is null
          then format('The key of %s contains neither $client nor $workspace nor a parent with an identity: rows of all workspaces would meet',
                      v_spec ->> 'target')
          else format('%s.%s can be NULL, and nothing else in the key says whose row it is: rows of all workspaces would meet',
                      v_spec ->> 'target', v_parent) end,
        case when v_parent is null then 'Add the column that says whose row it is to the key.'
             else format('alter table %s alter column %I set not null;', v_table, v_parent) end;
    end if;
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

-- The statement that makes a table that a dataset names and the database does not have; NULL for one that is in no
-- schema of ours to guess. Internal.
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
       select format('%I uuid primary key default gen_random_uuid()', v_spec ->> 'id') as definition where v_spec ->> 'id' is not null
       union all
       -- What says whose row it is cannot be missing; other parts of the key may.
       select format('%I %s%s', c, iu_core.fn_ingest_source_type(p_definition, v_spec, c),
                     case when c = iu_core.fn_ingest_key_parent(p_definition, v_spec) then ' not null' else '' end)
         from jsonb_object_keys(v_spec -> 'columns') c where c is distinct from v_spec ->> 'id') d),
    (select string_agg(quote_ident(k), ', ') from jsonb_array_elements_text(v_spec -> 'key') k));
end $$;

-- What a table that is told of uploads must have, as public.data_uploads has it. Internal.
create or replace function iu_core.fn_ingest_uploads_columns() returns table (column_name text, type text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  values ('id', 'uuid'), ('workspace_id', 'uuid'), ('client_id', 'uuid'), ('platform', 'text'), ('file_name', 'text'),
         ('status', 'text'), ('row_count', 'bigint')
$$;

-- The type that a missing column of a row type would have, by what it is filled from. Internal.
create or replace function iu_core.fn_ingest_source_type(p_definition jsonb, p_spec jsonb, p_column text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_column = p_spec ->> 'id' then 'uuid'
              when s.source in ('$platform', '$identity') then 'text'
              when s.source like '$%' then 'uuid'
              else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> s.source) end
    from (select p_spec -> 'columns' ->> p_column) as s (source)
$$;

-- The key column that holds the outermost parent of a row type, where nothing else in the key says whose row it is. Internal.
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

-- Remembers what headers and values mean for the next files of a workspace. Header → field or null (leave it out);
-- field → {value in the file → value to take}.
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
  select definition into v_definition from iu_core.ingest_dataset where dataset = p_dataset;
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
          iu_core.fn_ingest_mapping_by('{}', '{}', p_headers), iu_core.fn_ingest_mapping_by('{}', '{}', p_field_values))
  on conflict (workspace_id, dataset, platform) do update
     set headers = excluded.headers, field_values = excluded.field_values, updated_by = excluded.updated_by,
         header_by = iu_core.fn_ingest_mapping_by(m.header_by, m.headers, excluded.headers),
         value_by = iu_core.fn_ingest_mapping_by(m.value_by, m.field_values, excluded.field_values),
         updated_at = clock_timestamp();
end $$;

grant execute on function iu_core.fn_ingest_mapping_set(uuid, text, text, jsonb, jsonb)
  to service_role, authenticated, stagedoor_reviewer;

-- Every registration and change of a dataset leaves a line, also one made by hand.
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

-- Who is behind each entry of a mapping after a change: whoever acts for what they changed, added or took out, and for the rest who it
-- was before. Internal.
create or replace function iu_core.fn_ingest_mapping_by(p_by jsonb, p_old jsonb, p_new jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p_by || coalesce(jsonb_object_agg(k, iu_core.fn_actor()), '{}')
    from (select jsonb_object_keys(p_old) union select jsonb_object_keys(coalesce(p_new, '{}'))) as keys (k)
   where (p_old -> k) is distinct from (p_new -> k)
$$;

-- Those who said what the headers of a file mean, or the values of its fields, as far as the file has them. Headers are compared as the
-- reader compares them, and more broadly: without case, accents, forms of a letter, signs, what is in brackets and a currency at the end.
-- Rather one author too many than one too few. Internal.
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

-- The dataset of an upload, kept from being registered anew until the end of the transaction, if it still is what the lines
-- were read and checked by. Settled by what it says, not by clocks. Internal.
create or replace function iu_core.fn_ingest_as_read(p_upload iu_core.ingest_upload) returns iu_core.ingest_dataset
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
      message = format('The dataset %s was registered anew since this file was read', p_upload.dataset),
      hint = 'Discard the upload and upload the file again: it is then read by the dataset as it is now.',
      detail = json_build_object('upload', p_upload.upload_id, 'reason', 'its dataset was registered anew since the file was read')::text;
  end if;
  return v_dataset;
end $$;

-- Whether the key of a row type leads to one workspace: it holds the client or the workspace itself, or a parent that every
-- row has. A parent's column that can be NULL leads nowhere: a file without that parent would meet everybody's rows without
-- one. Asked when a dataset is registered and again with every plan, since a table can lose its NOT NULL. Internal.
create or replace function iu_core.fn_ingest_key_walled(p_definition jsonb, p_spec jsonb) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from jsonb_array_elements_text(p_spec -> 'key') k, lateral (select p_spec -> 'columns' ->> k) as s (source)
     where s.source in ('$client', '$workspace')
        or (iu_core.fn_ingest_column_not_null(to_regclass(p_spec ->> 'target'), k)
            and exists (select from jsonb_array_elements(p_definition -> 'rows') p
                         where s.source = '$' || (p ->> 'name') and p ->> 'name' <> p_spec ->> 'name' and p ? 'identity')))
$$;

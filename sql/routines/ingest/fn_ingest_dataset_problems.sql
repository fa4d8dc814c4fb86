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

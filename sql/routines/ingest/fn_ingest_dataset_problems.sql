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
begin
  for v_name in
    select distinct t from (select spec ->> 'target' as t from jsonb_array_elements(p_definition -> 'rows') spec
                            union all select p_definition -> 'client' ->> 'table'
                            union all select p_definition ->> 'uploads') n where t is not null order by 1
  loop
    v_table := to_regclass(v_name);
    if v_table is null then
      return query select format('The table %s does not exist', v_name), null::text;
      continue;
    end if;
    if (select relkind not in ('r', 'p') from pg_class where oid = v_table) then
      return query select format('%s is not a table', v_name), null::text;
      continue;
    end if;
    if not has_schema_privilege('workflow_admin', (select relnamespace from pg_class where oid = v_table), 'usage') then
      return query select format('Stagedoor may not use the schema of %s', v_name),
        format('grant usage on schema %s to workflow_admin;', (select relnamespace::regnamespace from pg_class where oid = v_table));
    end if;
    -- The client table is only read; the others are written and locked, and taken back on an undo.
    return query
      select format('Stagedoor may not %s %s', privilege, v_name), format('grant %s on %s to workflow_admin;', privilege, v_table)
        from unnest(case when v_name = p_definition -> 'client' ->> 'table' then array['select']
                         else array['select', 'insert', 'update', 'delete'] end) as privilege
       where not has_table_privilege('workflow_admin', v_table, privilege);
    if (select relrowsecurity and not pg_has_role('workflow_admin', relowner, 'usage')
               and not (select rolbypassrls from pg_roles where rolname = 'workflow_admin') from pg_class where oid = v_table)
       and not exists (select from pg_policy where polrelid = v_table and polcmd = '*' and 'workflow_admin'::regrole = any (polroles)) then
      return query select format('Row security of %s hides its rows from Stagedoor', v_name),
        format('create policy stagedoor_ingests on %s to workflow_admin using (true) with check (true);', v_table);
    end if;
  end loop;

  for v_spec in select * from jsonb_array_elements(p_definition -> 'rows') loop
    v_table := to_regclass(v_spec ->> 'target');
    continue when v_table is null;
    v_key := array(select jsonb_array_elements_text(v_spec -> 'key'));
    return query
      select format('%s has no column %s', v_spec ->> 'target', c), null::text
        from (select jsonb_object_keys(v_spec -> 'columns') union select unnest(v_key) union select v_spec ->> 'id') as s (c)
       where c is not null
         and not exists (select from pg_attribute where attrelid = v_table and attname = c and attnum > 0 and not attisdropped);
    return query
      select format('%s.%s is a generated column and cannot be written', v_spec ->> 'target', attname), null::text
        from pg_attribute where attrelid = v_table and (attgenerated <> '' or attidentity = 'a')
         and (v_spec -> 'columns' ? attname::text or attname = v_spec ->> 'id');
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
    if not exists (select from unnest(v_key) k
                    where v_spec -> 'columns' ->> k in ('$client', '$workspace')
                       or exists (select from jsonb_array_elements(p_definition -> 'rows') p
                                   where v_spec -> 'columns' ->> k = '$' || (p ->> 'name') and p ->> 'name' <> v_spec ->> 'name')) then
      return query select format('The key of %s contains neither $client nor $workspace nor a parent: rows of all workspaces would meet',
                                 v_spec ->> 'target'), 'Add the column that says whose row it is to the key.'::text;
    end if;
  end loop;
end $$;

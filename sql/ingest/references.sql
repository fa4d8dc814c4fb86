-- References: foreign keys of the columns that a file fills. What they refer to must exist before anything is promoted.

-- The foreign keys of the tables that a file writes, one row for each. source is NULL where the file does not fill the column.
-- is_given: the line itself has all values (plain fields and constants of the upload), so lines are checked before there is a
-- plan. is_sure: it holds by construction (the id of a parent of the file, or of the row that was looked up). has_own: the file
-- writes the referenced table, too. is_readable: we may read all of its rows; PostgreSQL itself checks as the owner of the table.
-- Internal.
create or replace function iu_core.fn_ingest_references(p_definition jsonb, p_layout jsonb)
returns table (
  row_type text, is_leaf boolean, target_name text, name text, referenced regclass, referenced_name text, is_full boolean,
  columns text[], sources text[], types text[], referenced_columns text[], referenced_types text[], operators text[],
  is_given boolean, is_sure boolean, has_own boolean, is_readable boolean
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select r.row_type, r.is_leaf, r.target_name, c.conname::text, c.confrelid::regclass, iu_core.fn_ingest_table_sql(c.confrelid),
         c.confmatchtype = 'f', k.columns, k.sources, k.types, k.referenced_columns, k.referenced_types, k.operators,
         c.convalidated and k.is_given, k.is_sure,
         exists (select from jsonb_array_elements(p_definition -> 'rows') o
                  where p_layout -> 'row_types' ? (o ->> 'name') and iu_core.fn_ingest_table(o ->> 'target') = c.confrelid),
         case when has_schema_privilege(t.relnamespace, 'usage')
              then k.is_readable and (not row_security_active(t.oid) or p.sees_all) else false end
    from iu_core.fn_ingest_row_types(p_definition, p_layout) r
    join pg_constraint c on c.conrelid = r.target and c.contype = 'f'
     -- Not those that PostgreSQL derives for the partitions of the referenced table.
     and not exists (select from pg_constraint o where o.oid = c.conparentid and o.conrelid = c.conrelid)
     -- Of PostgreSQL 18: a key that is not enforced, and one over periods.
     and to_jsonb(c) ->> 'conenforced' is distinct from 'false' and to_jsonb(c) ->> 'conperiod' is distinct from 'true'
    join pg_class t on t.oid = c.confrelid
    cross join lateral (
      select array_agg(a.attname::text order by n.place) as columns, array_agg(w.source order by n.place) as sources,
             array_agg(iu_core.fn_ingest_column_type(a) order by n.place) as types,
             array_agg(b.attname::text order by n.place) as referenced_columns,
             array_agg(iu_core.fn_ingest_column_type(b) order by n.place) as referenced_types,
             array_agg(format('operator(%I.%s)', s.nspname, o.oprname) order by n.place) as operators,
             bool_and(coalesce(w.source in ('$client', '$workspace', '$platform')
                               or p_layout -> 'fields' ? w.source and not p_definition -> 'fields' -> w.source ? 'lookup', false)) as is_given,
             bool_and(coalesce(iu_core.fn_ingest_reference_is_sure(p_definition, p_layout, c.confrelid, w.source, b.attname::text,
                                                                   cardinality(c.conkey) > 1), false)) as is_sure,
             bool_or(w.source is not null) as is_written,
             bool_and(has_column_privilege(c.confrelid, b.attnum, 'select')) as is_readable
        from unnest(c.conkey, c.confkey, c.conpfeqop) with ordinality as n (own, other, operator, place)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = n.own
        join pg_attribute b on b.attrelid = c.confrelid and b.attnum = n.other
        join pg_operator o on o.oid = n.operator
        join pg_namespace s on s.oid = o.oprnamespace
        left join jsonb_to_recordset(r.written) as w ("column" text, source text) on w."column" = a.attname) k
    cross join lateral (
      select coalesce(bool_or(y.polpermissive and pg_get_expr(y.polqual, y.polrelid) = 'true'), false)
             and coalesce(bool_and(y.polpermissive), true) as sees_all
        from pg_policy y
       where y.polrelid = c.confrelid and y.polcmd in ('*', 'r')
         and (0 = any (y.polroles) or exists (select from unnest(y.polroles) m where m <> 0 and pg_has_role(current_user, m, 'usage')))) p
   where k.is_written and not '$#id' = any (array_remove(k.sources, null))
$$;

-- Whether a column of a foreign key holds by construction: it is the id of a parent in the file, the column that a lookup finds in
-- the same table, or (beside such an id) the constant that the parent has, too. Internal.
create or replace function iu_core.fn_ingest_reference_is_sure(
  p_definition jsonb, p_layout jsonb, p_referenced oid, p_source text, p_column text, p_composite boolean
) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from jsonb_array_elements(p_definition -> 'rows') spec
                  where p_layout -> 'row_types' ? (spec ->> 'name') and iu_core.fn_ingest_table(spec ->> 'target') = p_referenced
                    and (p_source = '$' || (spec ->> 'name') and spec ->> 'id' = p_column
                         or p_composite and p_source in ('$client', '$workspace', '$platform') and spec -> 'columns' ->> p_column = p_source))
      or not p_composite and exists (
           select from (select p_definition -> 'lookups' -> (p_definition -> 'fields' -> p_source ->> 'lookup')) as l (lookup)
            where p_layout -> 'fields' ? p_source and iu_core.fn_ingest_table(l.lookup ->> 'table') = p_referenced and l.lookup ->> 'value' = p_column)
$$;

-- What is wrong with a line that refers to no row, in words. p_values: of the columns, NULL where they are empty. Internal.
create or replace function iu_core.fn_ingest_reference_reason(
  p_target text, p_name text, p_columns text[], p_referenced text, p_referenced_columns text[], p_values text[]
) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when array_position(p_values, null) is not null
    then format('%s (%s) must be filled or empty together', p_target, array_to_string(p_columns, ', '))
    else format('%s refers to %s, and no row there has %s',
           case cardinality(p_columns) when 1 then p_target || '.' || p_columns[1] else format('%s (%s)', p_target, array_to_string(p_columns, ', ')) end,
           p_referenced,
           (select string_agg(case cardinality(p_columns) when 1 then 'the ' else '' end || format('%s %s', c, left(v, 100)), ' and ' order by n)
              from unnest(p_referenced_columns, p_values) with ordinality as x (c, v, n))) end
    || format(' (foreign key %s)', p_name)
$$;

-- Collects in `ingest_reference` what lines refer to by foreign keys whose values they have themselves, and what is not there. It is
-- looked for by the unique index of the referenced table, which is never read through if it is large. Lines with other errors are
-- checked, too, if these values are right. p_lines: only these lines. Returns whether anything is not there. Internal.
create or replace function iu_core.fn_ingest_resolve_references(p_upload iu_core.ingest_upload, p_definition jsonb, p_lines integer[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_nestloop = on
set enable_indexscan = on
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_reference record;
  v_line record;
  v_given text;
  v_missing text;
  v_is_there boolean;
begin
  drop table if exists pg_temp.ingest_reference;
  create temporary table ingest_reference (row_type text, name text, "values" text[], own boolean default false, near text[]) on commit drop;
  for v_reference in
    select * from iu_core.fn_ingest_references(p_definition, v_layout) r where r.is_given and r.is_readable and not r.is_sure
  loop
    v_line := iu_core.fn_ingest_reference_line_sql(p_upload, p_definition, v_reference);
    select format('not exists (select from %s x where %s)', iu_core.fn_ingest_table_sql(v_reference.referenced),
                  string_agg(format('x.%I %s (k."values"[%s]::%s)::%s', v_reference.referenced_columns[i], v_reference.operators[i], i,
                                    v_line.types[i], v_reference.types[i]), ' and ' order by i))
      into v_missing from generate_series(1, cardinality(v_reference.columns)) i;
    if v_line.fields = '{}' then
      -- The same for all lines.
      execute format('select not (%s) from (select %s as "values") k', v_missing, v_line.given) into v_is_there;
      continue when v_is_there;
    end if;
    v_given := format($sql$
      select array[%1$s] as "values"
        from (select distinct %6$s from iu_core.ingest_staged_row s where s.upload_id = %2$L and s.row_type = %3$L and %4$s%5$s) d
    $sql$, (select string_agg('d.v' || i, ', ' order by i) from generate_series(1, cardinality(v_reference.columns)) i), p_upload.upload_id, v_layout ->> 'leaf', v_line.applies,
       iu_core.fn_ingest_lines_sql('s.row_number', p_lines),
       -- (Texts, which are hashed faster than arrays.)
       (select string_agg(format('%s as v%s', t, i), ', ' order by i) from unnest(v_line.texts) with ordinality as x (t, i)));
    begin
      execute format('insert into pg_temp.ingest_reference (row_type, name, "values") select %L, %L, k."values" from (%s) k where %s',
                     v_reference.row_type, v_reference.name, v_given, v_missing);
    exception when data_exception or check_violation then
      -- A value that its column cannot hold is an error of its own.
      drop table if exists pg_temp.ingest_reference_given;
      execute format('create temporary table ingest_reference_given on commit drop as %s', v_given);
      delete from pg_temp.ingest_reference_given k
       where exists (select from unnest(k."values", v_line.types, v_reference.types) as v (value, given, wanted)
                      where iu_core.fn_ingest_cast_error(v.value, v.given, v.wanted) is not null);
      analyze pg_temp.ingest_reference_given;
      execute format('insert into pg_temp.ingest_reference (row_type, name, "values") select %L, %L, k."values" from pg_temp.ingest_reference_given k where %s',
                     v_reference.row_type, v_reference.name, v_missing);
    end;
  end loop;
  analyze pg_temp.ingest_reference;
  return exists (select from pg_temp.ingest_reference);
end $$;

-- The SQL by which lines `s` give the values of a foreign key: texts: of each column; given: the array of them; types: of the fields;
-- fields: those of the file; applies: whether the line refers to anything, and is right so far. Internal.
create or replace function iu_core.fn_ingest_reference_line_sql(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_reference record,
  out texts text[], out given text, out types text[], out fields text[], out applies text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select array_agg(v.text order by s.place), format('array[%s]', string_agg(v.text, ', ' order by s.place)), array_agg(v.type order by s.place),
         array_remove(array_agg(v.field order by s.place), null)
    into texts, given, types, fields
    from unnest(p_reference.sources) with ordinality as s (source, place),
         lateral (select case s.source when '$client' then format('%L::text', p_upload.client_id)
                                       when '$workspace' then format('%L::text', p_upload.workspace_id)
                                       when '$platform' then format('%L::text', p_upload.platform)
                                       else iu_core.fn_ingest_member_sql(p_upload.reading -> 'layout', s.source) end,
                         case when s.source in ('$client', '$workspace') then 'uuid' when s.source = '$platform' then 'text'
                              else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> s.source) end,
                         case when s.source not in ('$client', '$workspace', '$platform') then s.source end) as v (text, type, field);
  applies := concat_ws(' and ',
    -- MATCH SIMPLE: a reference with an empty column refers to nothing. MATCH FULL: all are empty, or none.
    case when fields = '{}' then null
         when p_reference.is_full then format('array_remove(%s, null) <> ''{}''', given)
         else (select string_agg(t || ' is not null', ' and ') from unnest(texts) t) end,
    case when not p_reference.is_leaf then iu_core.fn_ingest_member_sql(p_upload.reading -> 'layout', '@' || p_reference.row_type) || ' is not null' end,
    format('(s.validation_status = ''valid'' or s.validation_status = ''invalid''%s)',
           (select string_agg(format(' and not s.validation_errors @? %L', iu_core.fn_ingest_wrong_field_path(f)), '') from unnest(fields) f)));
end $$;

-- The jsonpath that finds an error about a field, other than one of a lookup or a reference. Internal.
create or replace function iu_core.fn_ingest_wrong_field_path(p_field text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('$[*] ? (@.field == %s && !(@.scope == "lookup"))', to_json(p_field))
$$;

-- Marks in `ingest_reference` what valid lines of the file create themselves. Generously, where a part of it is known only to the
-- plan: the plan checks these references again (fn_ingest_plan_references). Internal.
create or replace function iu_core.fn_ingest_resolve_own_references(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_reference record;
  v_own record;
  -- Of the values that lines refer by.
  v_types text[];
begin
  for v_reference in
    select * from iu_core.fn_ingest_references(p_definition, v_layout) r
     where r.is_given and r.is_readable and not r.is_sure and r.has_own
       and exists (select from pg_temp.ingest_reference k where k.row_type = r.row_type and k.name = r.name)
  loop
    v_types := (iu_core.fn_ingest_reference_line_sql(p_upload, p_definition, v_reference)).types;
    update pg_temp.ingest_reference k set own = false where k.row_type = v_reference.row_type and k.name = v_reference.name and k.own;
    for v_own in
      select spec ->> 'name' as row_type, spec ? 'identity' and spec ->> 'name' <> v_layout ->> 'leaf' as is_parent,
             m.selected, m.matched
        from jsonb_array_elements(p_definition -> 'rows') spec,
             lateral (
               select string_agg(format('(%s)::%s::%s as c%s', v.text, v.type, v_reference.referenced_types[i], i), ', ' order by i) as selected,
                      string_agg(format('o.c%1$s %2$s (k."values"[%1$s]::%3$s)::%4$s', i, v_reference.operators[i], v_types[i], v_reference.types[i]), ' and ' order by i) as matched,
                      bool_or(s.source is null and spec ->> 'id' = v_reference.referenced_columns[i]) as is_unknown
                 from generate_series(1, cardinality(v_reference.columns)) i,
                      lateral (select spec -> 'columns' ->> v_reference.referenced_columns[i]) as s (source),
                      lateral (select case s.source when '$client' then format('%L', p_upload.client_id) when '$workspace' then format('%L', p_upload.workspace_id)
                                                    when '$platform' then format('%L', p_upload.platform)
                                                    when '$identity' then iu_core.fn_ingest_member_sql(v_layout, '@' || (spec ->> 'name'))
                                                    else iu_core.fn_ingest_member_sql(v_layout, s.source) end,
                                      case when s.source like '$%' then 'text' else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> s.source) end)
                              as v (text, type)
                where s.source in ('$client', '$workspace', '$platform', '$identity')
                   or v_layout -> 'fields' ? s.source and not p_definition -> 'fields' -> s.source ? 'lookup'
                   or s.source is null and spec ->> 'id' = v_reference.referenced_columns[i]) m
       where v_layout -> 'row_types' ? (spec ->> 'name') and iu_core.fn_ingest_table(spec ->> 'target') = v_reference.referenced
         and not coalesce(m.is_unknown, false)
    loop
      begin
        execute format($sql$
          update pg_temp.ingest_reference k set own = true
            from (select distinct %1$s from iu_core.ingest_staged_row s
                   where s.upload_id = $1 and s.row_type = $2 and s.validation_status = 'valid'%2$s) o
           where k.row_type = $3 and k.name = $4 and array_position(k."values", null) is null and %3$s
        $sql$, coalesce(v_own.selected, 'null'), case when v_own.is_parent then format(' and %s is not null', iu_core.fn_ingest_member_sql(v_layout, '@' || v_own.row_type)) else '' end,
           coalesce(v_own.matched, 'true')) using p_upload.upload_id, v_layout ->> 'leaf', v_reference.row_type, v_reference.name;
      exception when data_exception or check_violation then
        -- A line that its table cannot hold.
        update pg_temp.ingest_reference k set own = true where k.row_type = v_reference.row_type and k.name = v_reference.name;
      end;
    end loop;
  end loop;
end $$;

-- Finds for texts that no row has the three nearest, under the conditions of fn_ingest_suggest_lookups. Internal.
create or replace function iu_core.fn_ingest_suggest_references(p_definition jsonb, p_layout jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reference record;
  v_unknown text[];
begin
  if exists (select from iu_core.ingest_dataset d where d.dataset = p_definition ->> 'name' and d.workspace_id is null) then
    return;
  end if;
  for v_reference in
    select * from iu_core.fn_ingest_references(p_definition, p_layout) r
     where r.is_given and r.is_readable and not r.is_sure and cardinality(r.columns) = 1
       and (select t.typcategory = 'S' from pg_type t where t.oid = r.referenced_types[1]::regtype)
  loop
    v_unknown := array(select k."values"[1] from pg_temp.ingest_reference k
                        where k.row_type = v_reference.row_type and k.name = v_reference.name and not k.own and k.near is null order by 1 limit 100);
    continue when v_unknown = '{}';
    update pg_temp.ingest_reference k set near = n.near
      from iu_core.fn_ingest_nearest(v_reference.referenced, v_reference.referenced_columns[1], v_reference.referenced_types[1], v_unknown, v_unknown) n
     where k.row_type = v_reference.row_type and k.name = v_reference.name and k."values"[1] = n.value;
  end loop;
end $$;

-- Marks the lines that refer to no row, from `ingest_reference`. Returns how many lines it marked. Internal.
create or replace function iu_core.fn_ingest_mark_references(p_upload iu_core.ingest_upload, p_definition jsonb, p_lines integer[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_across_lines: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_reference record;
  v_line record;
  v_count integer;
  v_marked integer := 0;
begin
  for v_reference in
    select * from iu_core.fn_ingest_references(p_definition, v_layout) r
     where r.is_given and r.is_readable and not r.is_sure
       and exists (select from pg_temp.ingest_reference k
                    where k.row_type = r.row_type and k.name = r.name and not k.own)
  loop
    v_line := iu_core.fn_ingest_reference_line_sql(p_upload, p_definition, v_reference);
    execute format($sql$
      update iu_core.ingest_staged_row s
         set validation_status = 'invalid', updated_at = now(),
             validation_errors = coalesce(s.validation_errors, '[]') || jsonb_build_object(
               'scope', 'lookup', 'line', s.row_number, 'field', $1::text, 'column', $2::jsonb, 'value', array_to_string(k."values", ', ', ''),
               'rule', 'reference.unknown', 'reference', $3::text,
               'message', iu_core.fn_ingest_reference_reason($4, $5, $6, $7, $8, k."values") || '.',
               'suggestion', case when array_position(k."values", null) is not null then 'Fill in what is missing, or empty the others.'
                 else concat('Nearest: ' || array_to_string(k.near, ', ') || '. ', format('Correct the cell, or add the row to %%s and plan again.', $7)) end)
        from pg_temp.ingest_reference k
       where k.row_type = $9 and k.name = $5 and not k.own
         and s.upload_id = $10 and s.row_type = $11 and %1$s = k."values" and %2$s
         and not coalesce(s.validation_errors, '[]') @> jsonb_build_array(jsonb_build_object('scope', 'lookup', 'reference', $3::text))%3$s
    $sql$, v_line.given, v_line.applies, iu_core.fn_ingest_lines_sql('s.row_number', p_lines))
      using v_line.fields[1], p_upload.reading -> 'headers' -> (p_upload.reading -> 'map' -> 'fields' -> v_line.fields[1] ->> 'column')::integer,
            v_reference.row_type || '.' || v_reference.name, v_reference.target_name, v_reference.name, v_reference.columns,
            v_reference.referenced_name, v_reference.referenced_columns, v_reference.row_type, p_upload.upload_id, v_layout ->> 'leaf';
    get diagnostics v_count = row_count;
    v_marked := v_marked + v_count;
  end loop;
  return v_marked;
end $$;

-- Refuses planned rows of a row type that refer to no row: by foreign keys that only the plan knows whole (a part is the id of a
-- parent, is looked up, or stays as it is in the table), and by those that rows of the same file may satisfy. p_lines: only these
-- lines. Returns how many rows it refused. Internal.
create or replace function iu_core.fn_ingest_plan_references(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_type record, p_lines integer[] default null
) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_reference record;
  v_own record;
  v_parts record;
  v_exists text;
  -- The row types that are in their temporary tables.
  v_unpacked smallint[] := '{}';
  v_refused integer := 0;
  v_round integer;
  v_count integer;
begin
  if not exists (select from iu_core.fn_ingest_references(p_definition, v_layout) r
                  where r.row_type = p_type.row_type and r.is_readable and not r.is_sure and (not r.is_given or r.has_own)) then
    return 0;
  end if;
  perform iu_core.fn_ingest_unpack_plan(p_upload, p_type, 'ingest_referring', p_lines);
  loop
    -- A row that refers to a refused one is refused, too.
    v_round := 0;
    for v_reference in
      select * from iu_core.fn_ingest_references(p_definition, v_layout) r
       where r.row_type = p_type.row_type and r.is_readable and not r.is_sure and (not r.is_given or r.has_own)
    loop
      -- A row type that is written later may create it, if the key is deferred: promotion knows.
      continue when exists (select from iu_core.fn_ingest_row_types(p_definition, v_layout) t
                             where t.target = v_reference.referenced and t.type_order > p_type.type_order);
      -- A column that the file does not fill keeps its value. That of a new row is NULL, or what only the table knows.
      select format('array[%s]', string_agg(format('(%s)::text', v.value), ', ' order by i)) as texts,
             string_agg(format('x.%I %s %s', v_reference.referenced_columns[i], v_reference.operators[i], v.value), ' and ' order by i) as matches,
             string_agg(format('%s is %s null', v.value, case when v_reference.is_full then '' else 'not' end), ' and ' order by i) as complete,
             coalesce(bool_or(w.slot is null and exists (
               select from pg_attribute a where a.attrelid = p_type.target and a.attname = v_reference.columns[i]
                  and (a.atthasdef or a.attidentity <> ''))), false) as is_unknown
        into v_parts
        from generate_series(1, cardinality(v_reference.columns)) i
        left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = v_reference.columns[i]
       cross join lateral (select coalesce('n.' || w.slot, format('(n."#before" ->> %L)::%s', v_reference.columns[i], v_reference.types[i]))) as v (value);
      v_exists := format('exists (select from %s x where %s)', iu_core.fn_ingest_table_sql(v_reference.referenced), v_parts.matches);
      for v_own in
        select t.* from iu_core.fn_ingest_row_types(p_definition, v_layout) t where t.target = v_reference.referenced and t.type_order <= p_type.type_order
      loop
        -- Once: only rows of p_type are refused here.
        if v_own.type_order < p_type.type_order and v_own.type_order <> all (v_unpacked) then
          perform iu_core.fn_ingest_unpack_plan(p_upload, v_own, 'ingest_referenced_' || v_own.type_order);
          v_unpacked := v_unpacked || v_own.type_order;
        end if;
        v_exists := v_exists || (
          select format(' or exists (select from pg_temp.%I x where %s)',
                        case v_own.type_order when p_type.type_order then 'ingest_referring' else 'ingest_referenced_' || v_own.type_order end,
                        coalesce(string_agg(format('x.%I %s %s', coalesce(w.slot, '#id'), v_reference.operators[i], v.value), ' and ')
                                   filter (where w.slot is not null or v_reference.referenced_columns[i] = v_own.id_column), 'true'))
            from generate_series(1, cardinality(v_reference.columns)) i
            left join jsonb_to_recordset(v_own.written) as w ("column" text, slot text) on w."column" = v_reference.referenced_columns[i]
            left join jsonb_to_recordset(p_type.written) as m ("column" text, slot text) on m."column" = v_reference.columns[i]
           cross join lateral (select coalesce('n.' || m.slot, format('(n."#before" ->> %L)::%s', v_reference.columns[i], v_reference.types[i]))) as v (value));
      end loop;
      execute format($sql$
        with missing as (
          delete from pg_temp.ingest_referring d using (
            select n."#row", %1$s as texts from pg_temp.ingest_referring n
             where (n."#action" = 'insert' and not %2$L::boolean or n."#action" = 'update' and n."#changed" && $1)
               and %3$s and not (%4$s)) m
           where d."#row" = m."#row" returning d."#row" as line, m.texts
        )
        update iu_core.ingest_plan_row p
           set action = 'refused', reason = r.reason, target_key = null, before = null, before_hash = null, inserted = null, after = null, changed = null,
               row_hash = sha256(convert_to(concat_ws('|', p.row_type, p.row_number, 'refused', r.reason), 'UTF8'))
          from missing m, lateral (select iu_core.fn_ingest_reference_reason($2, $3, $1, $4, $5, m.texts)) as r (reason)
         where p.upload_id = $6 and p.type_order = $7 and p.row_number = m.line
      $sql$, v_parts.texts, v_parts.is_unknown, case when v_reference.is_full then format('not (%s)', v_parts.complete) else v_parts.complete end, v_exists)
        using v_reference.columns, v_reference.target_name, v_reference.name, v_reference.referenced_name, v_reference.referenced_columns,
              p_upload.upload_id, p_type.type_order;
      get diagnostics v_count = row_count;
      v_round := v_round + v_count;
    end loop;
    v_refused := v_refused + v_round;
    exit when v_round = 0;
  end loop;
  if v_refused > 0 and p_type.is_entity then
    update pg_temp.ingest_entity e set ambiguous = true, reason = p.reason
      from iu_core.ingest_plan_row p
     where e.row_type = p_type.row_type and not e.ambiguous
       and p.upload_id = p_upload.upload_id and p.type_order = p_type.type_order and p.row_number = e.row_number and p.action = 'refused';
    if not p_type.is_leaf then
      perform iu_core.fn_ingest_refuse_entities(p_upload, p_type, 'reference.unknown', 'Correct the line, or add the row that it refers to, and plan again.');
    end if;
  end if;
  return v_refused;
end $$;

-- Puts the rows that a plan would write for a row type into a typed temporary table. p_lines: only these. Internal.
create or replace function iu_core.fn_ingest_unpack_plan(p_upload iu_core.ingest_upload, p_type record, p_name text, p_lines integer[] default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unpacked record;
begin
  v_unpacked := iu_core.fn_ingest_unpack_sql('p.after', p_type.written, 'p.inserted', iu_core.fn_ingest_plan_texts(p_type.written));
  execute format('drop table if exists pg_temp.%I', p_name);
  execute format($sql$
    create temporary table %1$I on commit drop as
    select p.row_number as "#row", p.action as "#action", p.target_id as "#id", p.changed as "#changed", p.before as "#before", %2$s
      from iu_core.ingest_plan_row p%3$s
     where p.upload_id = %4$L and p.type_order = %5$s and p.action in ('insert', 'update')%6$s
  $sql$, p_name, v_unpacked.selected, v_unpacked.joined, p_upload.upload_id, p_type.type_order,
     iu_core.fn_ingest_lines_sql('p.row_number', p_lines));
  execute format('analyze pg_temp.%I', p_name);
end $$;

-- What to say of foreign keys that cannot be checked before promotion, for the notes of a plan; NULL if there are none. Internal.
create or replace function iu_core.fn_ingest_reference_notes(p_definition jsonb, p_layout jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_agg(jsonb_build_object('rule', 'reference.unchecked', 'message',
           format('Stagedoor may not read %s, so %s (%s) is checked by the promotion only; `grant select on %1$s to workflow_admin` changes that%4$s.',
                  r.referenced_name, r.target_name, array_to_string(r.columns, ', '),
                  case when row_security_active(r.referenced) then ', with a policy that shows all rows' else '' end)) order by r.row_type, r.name)
    from iu_core.fn_ingest_references(p_definition, p_layout) r where not r.is_readable and not r.is_sure
$$;

-- Raises plan_stale if a promotion failed because rows, to which planned rows in `ingest_now` refer by this foreign key, are no
-- longer there. Returns if it failed for another reason. Internal.
create or replace function iu_core.fn_ingest_require_referenced_rows(p_upload_id uuid, p_type record, p_action text, p_constraint text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_definition jsonb;
  v_reference record;
  v_values text[];
  v_rows bigint;
  v_line integer;
  v_texts text[];
  v_reason text;
begin
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  select p.definition into v_definition from iu_core.ingest_promotion p where p.upload_id = p_upload_id;
  select r.*, (select array_agg('n.' || w.slot order by c.place)
                 from unnest(r.columns) with ordinality as c (name, place)
                 left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = c.name) as slots
    into v_reference from iu_core.fn_ingest_references(v_definition, u.reading -> 'layout') r
   where r.row_type = p_type.row_type and r.name = p_constraint and r.is_readable;
  -- Rows of this upload that their table rejected are another reason.
  if v_reference.name is null or array_position(v_reference.slots, null) is not null or exists (
       select from iu_core.ingest_plan_row p
        where p.upload_id = p_upload_id and p.action = 'refused' and p.reason like 'failed: %') then
    return;
  end if;
  execute format($sql$
    select count(*), min(m.line), (array_agg(m.texts order by m.line))[1:1]
      from (select n."#row" as line, array[%1$s] as texts from pg_temp.ingest_now n
             where n."#action" = $1 and %2$s and not exists (select from %3$s x where %4$s)%5$s) m
  $sql$, (select string_agg(s || '::text', ', ' order by i) from unnest(v_reference.slots) with ordinality as s (s, i)),
     (select string_agg(s || ' is not null', ' and ') from unnest(v_reference.slots) s),
     iu_core.fn_ingest_table_sql(v_reference.referenced),
     (select string_agg(format('x.%I %s %s', v_reference.referenced_columns[i], v_reference.operators[i], v_reference.slots[i]), ' and ')
        from generate_series(1, cardinality(v_reference.slots)) i),
     case when v_reference.referenced = p_type.target then (
       select format(' and not exists (select from pg_temp.ingest_now x where x."#action" = ''insert'' and %s)', coalesce(string_agg(
                format('x.%I %s %s', coalesce(w.slot, '#id'), v_reference.operators[i], v_reference.slots[i]), ' and '), 'true'))
         from generate_series(1, cardinality(v_reference.slots)) i
         left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = v_reference.referenced_columns[i]
        where w.slot is not null or v_reference.referenced_columns[i] = p_type.id_column) else '' end)
    into v_rows, v_line, v_texts using p_action;
  if v_rows = 0 then
    return;
  end if;
  -- (A two-dimensional array: one row of it.)
  v_values := array(select unnest(v_texts));
  v_reason := format('%s %s of %s %s to a row that is no longer there: line %s, %s', v_rows, case v_rows when 1 then 'row' else 'rows' end, p_type.target_name,
    case v_rows when 1 then 'refers' else 'refer' end, v_line,
    iu_core.fn_ingest_reference_reason(p_type.target_name, v_reference.name, v_reference.columns, v_reference.referenced_name, v_reference.referenced_columns, v_values));
  raise exception using
    errcode = 'SD606',
    message = v_reason,
    hint = iu_core.fn_ingest_plan_again_hint(p_upload_id),
    detail = json_build_object('upload', p_upload_id, 'reason', v_reason, 'line', v_line)::text;
end $$;

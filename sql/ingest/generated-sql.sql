-- Helpers that generate the SQL of plan, promotion and undo from the definition of a dataset.

-- The row types of a file in dependency order, each with the parts from which the SQL of plan, promotion and undo is generated.
-- Only columns whose source is in the file are written; other columns keep their values. `id_column` is a uuid that we allocate;
-- rows without one are known by their key. `spec` has one member more: "ref", see fn_ingest_row_ref. Internal.
create or replace function iu_core.fn_ingest_row_types(p_definition jsonb, p_layout jsonb)
returns table (
  type_order smallint,
  row_type text,
  is_leaf boolean,
  -- It has an identity of its own: lines share it, or (as the leaf) it may be known by its name.
  is_entity boolean,
  spec jsonb,
  target regclass,
  target_name text,
  id_column text,
  key_columns text[],
  -- In the table's own order, with their types: {"column", "slot", "source", "type", "max_length", "insert_only"}. Slot
  -- (c1, c2, …) is its column in temporary tables, where its own name could meet one of ours. Texts without their length:
  -- a cast would truncate them silently, so a separate check finds values that are too long. The source of an id that the
  -- plan reserves is `$#id`.
  written jsonb
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.ordinality::smallint, t.spec ->> 'name', t.spec ->> 'name' = p_layout ->> 'leaf', t.spec ? 'identity',
         t.spec || jsonb_build_object('ref', r.ref), x.target, t.spec ->> 'target',
         case r.ref ->> 'kind' when 'uuid' then t.spec ->> 'id' end,
         array(select jsonb_array_elements_text(t.spec -> 'key')),
         (select jsonb_agg(jsonb_build_object('column', a.attname, 'slot', 'c' || a.attnum, 'source', c.value,
                                              'type', iu_core.fn_ingest_column_type(a),
                                              'max_length', case when a.atttypid in ('varchar'::regtype, 'bpchar'::regtype)
                                                                  and a.atttypmod > 4 then a.atttypmod - 4 end,
                                              'insert_only', c.value = '$#id' or a.attidentity = 'a') order by a.attnum)
            from (select key, value from jsonb_each_text(t.spec -> 'columns')
                  union all
                  select t.spec ->> 'id', '$#id' where r.ref ->> 'kind' = 'sequence') c
            join pg_attribute a on a.attrelid = x.target and a.attname = c.key and not a.attisdropped
           where p_layout -> 'fields' ? c.value
              or c.value in ('$client', '$workspace', '$platform', '$identity', '$#id')
              or p_layout -> 'row_types' ? substr(c.value, 2))
    from jsonb_array_elements(p_definition -> 'rows') with ordinality as t (spec, ordinality),
         lateral (select to_regclass(t.spec ->> 'target')) as x (target),
         lateral (select iu_core.fn_ingest_row_ref(t.spec, x.target)) as r (ref)
   where p_layout -> 'row_types' ? (t.spec ->> 'name')
   order by t.ordinality;
end $$;

-- The type to which a value is cast for a column. Text types without their length: a cast would truncate silently, while the
-- table itself refuses a text that is too long. Internal.
create or replace function iu_core.fn_ingest_column_type(p_column pg_attribute) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_column.atttypid in ('varchar'::regtype, 'bpchar'::regtype) then format_type(p_column.atttypid, -1)
              else format_type(p_column.atttypid, p_column.atttypmod) end
$$;

-- The position of a row type in its dataset: parents before children. Internal.
create or replace function iu_core.fn_ingest_type_order(p_definition jsonb, p_row_type text) returns smallint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select t.ordinality::smallint from jsonb_array_elements(p_definition -> 'rows') with ordinality as t (spec, ordinality)
   where t.spec ->> 'name' = p_row_type
$$;

-- The name of a table in generated SQL: always with its schema. regclass omits the schema of a table in the search path, and
-- where the name stands for the row type (`null::…`), a table called date or text would be read as PostgreSQL's own type.
-- Internal.
create or replace function iu_core.fn_ingest_table_sql(p_table regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table
$$;

-- The column of `ingest_line` that holds a field (f1, f2, …) or, for `$<row type>`, the external id of its entity (e1, e2, …).
-- By position, so that no name of a declaration can collide with a column or an alias of ours, and none is truncated. Internal.
create or replace function iu_core.fn_ingest_line_column(p_layout jsonb, p_source text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_source like '$%' then
    'e' || (select min(r.position) from jsonb_array_elements_text(p_layout -> 'row_types') with ordinality as r (name, position)
             where r.name = substr(p_source, 2))
  else
    'f' || (select min(f.position) from jsonb_array_elements_text(p_layout -> 'fields') with ordinality as f (name, position)
             where f.name = p_source)
  end
$$;

-- SQL that unpacks the members of an object `p_object` (an expression) into typed columns: the select list and the joins it
-- needs. p_columns: {"column": the member, "type", "slot": the name of its column}. Members whose value is their text are read
-- one by one: as a record they take half as long again. Other members (an array, a json) and large numbers of members are read
-- as a record, because a large object would be decompressed for each member. If texts are given (`p_texts`, an array whose
-- members are `p_text_columns`), a member is read from there. Internal.
create or replace function iu_core.fn_ingest_unpack_sql(
  p_object text, p_columns jsonb, out selected text, out joined text,
  p_texts text default null, p_text_columns jsonb default null
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text_columns is not null then
    select string_agg(format('coalesce(%s[%s], %s ->> %L)::%s as %I', p_texts, coalesce(t.ordinality, 0), p_object, c."column", c.type,
                             c.slot), ', ' order by c.ordinality), ''
      into selected, joined
      from rows from (jsonb_to_recordset(p_columns) as ("column" text, type text, slot text)) with ordinality as c
      left join rows from (jsonb_to_recordset(p_text_columns) as ("column" text)) with ordinality as t using ("column");
    return;
  end if;
  if jsonb_array_length(p_columns) <= 24 and not exists (
       select from jsonb_to_recordset(p_columns) as c (type text), pg_type t
        where t.oid = c.type::regtype and (t.typtype not in ('b', 'e') or t.typcategory = 'A' or t.typname in ('json', 'jsonb'))) then
    select string_agg(format('(%s ->> %L)::%s as %I', p_object, c."column", c.type, c.slot), ', '), ''
      into selected, joined
      from jsonb_to_recordset(p_columns) as c ("column" text, type text, slot text);
    return;
  end if;
  -- A name of more than 63 bytes would be cut off, and its member not found.
  select string_agg(case when octet_length(c."column") > 63 then format('(%s ->> %L)::%s as %I', p_object, c."column", c.type, c.slot)
                         else format('x.%I as %I', c."column", c.slot) end, ', '),
         format(', jsonb_to_record(%s) as x (%s)', p_object,
                string_agg(format('%I %s', c."column", c.type), ', ') filter (where octet_length(c."column") <= 63))
    into selected, joined
    from jsonb_to_recordset(p_columns) as c ("column" text, type text, slot text);
end $$;

-- Joins a line `l` with the parents of a row type that the file has, each under the alias that fn_ingest_source_sql uses: `p_`
-- and the parent's column in `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_parent_joins(p_spec jsonb, p_layout jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(string_agg(format(
           'left join pg_temp.ingest_entity %1$I on %1$I.row_type = %2$L and %1$I.external_id = l.%3$I',
           'p_' || iu_core.fn_ingest_line_column(p_layout, '$' || parent), parent,
           iu_core.fn_ingest_line_column(p_layout, '$' || parent)), ' '), '')
    from (select distinct substr(value, 2) as parent from jsonb_each_text(p_spec -> 'columns') where value like '$%') s
   where p_layout -> 'row_types' ? parent and parent <> p_spec ->> 'name'
$$;

-- The SQL expression that fills a column of a row type. In it `l` is a line, `e` the entity, `p_e1`, `p_e2`, … are parent
-- entities. NULL: the file does not have it. Internal; everything that comes from a declaration is quoted.
create or replace function iu_core.fn_ingest_source_sql(
  p_source text, p_layout jsonb, p_upload iu_core.ingest_upload
) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_source = '$client' then format('%L::uuid', p_upload.client_id)
    when p_source = '$workspace' then format('%L::uuid', p_upload.workspace_id)
    when p_source = '$platform' then format('%L', p_upload.platform)
    when p_source = '$identity' then 'e.external_id'
    when p_source like '$%' and p_layout -> 'row_types' ? substr(p_source, 2)
      then format('p_%s.internal_id', iu_core.fn_ingest_line_column(p_layout, p_source))
    when p_layout -> 'fields' ? p_source then 'l.' || iu_core.fn_ingest_line_column(p_layout, p_source)
  end
$$;

-- The condition that finds the target row `t` of a planned row by its natural key, compared as the column stores it (a decimal
-- rounded to its scale, a text that is a uuid there). A key column that the file lacks is NULL in the table (a campaign's
-- metrics have no ad). A column that is empty in some lines (p_nullable) also matches NULL; this prevents a hash join, so only
-- those columns do. Internal.
create or replace function iu_core.fn_ingest_key_match_sql(
  p_key text[], p_spec jsonb, p_written jsonb, p_layout jsonb, p_upload iu_core.ingest_upload, p_nullable text[]
) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(
           case when s.expression is null then format('t.%I is null', k.name)
                when s.source = any (p_nullable) then format('t.%I is not distinct from (%s)::%s', k.name, s.expression, s.type)
                else format('t.%I = (%s)::%s', k.name, s.expression, s.type) end, ' and ' order by k.position)
    from unnest(p_key) with ordinality as k (name, position),
         lateral (select p_spec -> 'columns' ->> k.name,
                         iu_core.fn_ingest_source_sql(p_spec -> 'columns' ->> k.name, p_layout, p_upload),
                         (select w.type from jsonb_to_recordset(p_written) as w ("column" text, type text)
                           where w."column" = k.name)) as s (source, expression, type)
$$;

-- The SQL of a fingerprint that tells whether a table row is unchanged. 128 bits of PostgreSQL's own record hash, if the
-- equality of every column is exact. Otherwise (citext, which ignores case; interval, where a month equals 30 days; json, which
-- has no equality) the sha-256 of the row's text, which takes five times as long: 325 and 60 ms for 100,000 rows. p_row is
-- `t.*` or `row(…)`, never `t` alone: that would be the column t of a table that has one. p_columns: the columns of p_row, if
-- it is not the whole row. Internal.
create or replace function iu_core.fn_ingest_row_hash_sql(p_target regclass, p_row text, p_columns text[] default null) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(case when bool_and(
      (t.oid = any (array['bool', 'int2', 'int4', 'int8', 'numeric', 'uuid', 'date', 'timestamp', 'timestamptz', 'bytea', 'text',
                          'varchar']::regtype[]) or t.typtype = 'e')
      and coalesce((select c.collisdeterministic from pg_collation c where c.oid = a.attcollation), true))
    then 'int8send(hash_record_extended(%1$s, 0)) || int8send(hash_record_extended(%1$s, 1))'
    else 'sha256(convert_to((%1$s)::text, ''UTF8''))' end, p_row)
    from pg_attribute a join pg_type t on t.oid = a.atttypid
   where a.attrelid = p_target and a.attnum > 0 and not a.attisdropped and (p_columns is null or a.attname = any (p_columns))
$$;

-- An expression for the values of a row that its JSON image does not hold exactly, as {column: text}; its value is NULL where the
-- image holds all of them. The expression itself is NULL if no column of the table can have such a value. These are: the text of
-- a json, the null of a jsonb (in the image the same as NULL), the bounds of an array, the sign of a zero, and whatever is nested
-- in an array or a composite or has a cast to json of its own. Internal.
create or replace function iu_core.fn_ingest_exact_sql(p_table regclass, p_alias text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('nullif(jsonb_strip_nulls(jsonb_object(array[%s], array[%s]::text[])), ''{}'')',
                string_agg(quote_literal(c.attname), ', ' order by c.attnum),
                string_agg(format('case when %s then format(''%%s'', %s) end', case c.inexact
                  when 'jsonb' then format('%s = ''null''::jsonb', c.value)
                  when 'float' then format('format(''%%s'', %s) = ''-0''', c.value)
                  when 'array' then format('left(format(''%%s'', %s), 1) = ''[''', c.value)
                  else format('num_nulls(%s) = 0', c.value) end, c.value), ', ' order by c.attnum))
    from (select a.attnum, a.attname, format('%s.%I', p_alias, a.attname) as value, iu_core.fn_ingest_inexact_type(a.atttypid) as inexact
            from pg_attribute a
           where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') c
   where c.inexact is not null
  having count(*) > 0
$$;

-- Why the JSON image of a value of this type may not be exact: json, jsonb, float, array (of a type that is exact) or other. NULL:
-- it always is. Internal.
create or replace function iu_core.fn_ingest_inexact_type(p_type oid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  t pg_type;
  v_inner text;
begin
  select * into t from pg_type where oid = p_type;
  if t.typtype = 'd' then
    v_inner := iu_core.fn_ingest_inexact_type(t.typbasetype);
    return case v_inner when 'jsonb' then 'json' when 'array' then 'other' else v_inner end;
  elsif t.typcategory = 'A' and t.typelem <> 0 then
    return case when iu_core.fn_ingest_inexact_type(t.typelem) is null then 'array' else 'other' end;
  end if;
  return case when t.oid = 'json'::regtype then 'json'
              when t.oid = 'jsonb'::regtype then 'jsonb'
              when t.oid in ('float4'::regtype, 'float8'::regtype) then 'float'
              when t.typtype = 'c' or exists (select from pg_cast c where c.castsource = t.oid and c.casttarget in ('json'::regtype, 'jsonb'::regtype))
                then 'other' end;
end $$;

-- An image as a row of its table: its JSON (p_before) with the exact texts (p_exact) over it. Columns with a JSON are read by
-- fn_ingest_image_value_sql, since the text of one would be a string here. Internal.
create or replace function iu_core.fn_ingest_image_sql(p_table regclass, p_before text, p_exact text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('jsonb_populate_record(null::%s, %s || (coalesce(%s, ''{}'') - %L::text[]))', iu_core.fn_ingest_table_sql(p_table), p_before, p_exact,
                array(select a.attname from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
                         and iu_core.fn_ingest_inexact_type(a.atttypid) in ('json', 'jsonb')))
$$;

-- The value of a column of an image: p_record is what fn_ingest_image_sql made. Internal.
create or replace function iu_core.fn_ingest_image_value_sql(p_column pg_attribute, p_record text, p_exact text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when iu_core.fn_ingest_inexact_type(p_column.atttypid) in ('json', 'jsonb')
              then format('case when %1$s ? %2$L then (%1$s ->> %2$L)::%3$s else %4$s.%2$I end', p_exact, p_column.attname,
                          format_type(p_column.atttypid, p_column.atttypmod), p_record)
              else format('%s.%I', p_record, p_column.attname) end
$$;

-- The planned rows `n` whose target row `t` has changed since the plan: updated, deleted, or inserted by others. p_columns:
-- what to select of both. Internal.
create or replace function iu_core.fn_ingest_stale_sql(p_type record, p_row_match text, p_key_match text, p_columns text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format($sql$
    select %5$s from pg_temp.ingest_now n left join %1$s t on %2$s
     where n."#action" <> 'insert' and n."#hash" is distinct from %4$s
    union all
    select %5$s from pg_temp.ingest_now n join %1$s t on %3$s where n."#action" = 'insert'
  $sql$, iu_core.fn_ingest_table_sql(p_type.target), p_row_match, p_key_match,
     iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'), p_columns);
end $$;

-- The SQL that reads a member of the normalised payload of a staged row as text, as ->> does; p_alias: its alias with a point. Rows of a file have no keys: the layout
-- of its upload says at which place of the row's array the member is. A row that somebody corrected, or that was staged by SQL, has an object.
-- Internal.
create or replace function iu_core.fn_ingest_member_sql(p_layout jsonb, p_member text, p_alias text default 's.') returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_ingest_packed_sql(p_alias || 'normalized', iu_core.fn_ingest_packed_place(p_layout #> '{packing,members}', p_member), p_member)
$$;

-- The same as jsonb, as -> does. Internal.
create or replace function iu_core.fn_ingest_member_json_sql(p_layout jsonb, p_member text, p_alias text default 's.') returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when m.place is null then format('(%snormalized_payload -> %L)', p_alias, p_member)
              when (p_layout #> '{packing,json}' ->> (m.place - 1))::boolean
                then format('coalesce(%1$snormalized_values[%2$s]::jsonb, %1$snormalized_payload -> %3$L)', p_alias, m.place, p_member)
              else format('coalesce(to_jsonb(%1$snormalized_values[%2$s]), %1$snormalized_payload -> %3$L)', p_alias, m.place, p_member) end
    from iu_core.fn_ingest_packed_place(p_layout #> '{packing,members}', p_member) as m (place)
$$;

-- The SQL that reads a cell of a staged row by its header. Internal.
create or replace function iu_core.fn_ingest_cell_sql(p_layout jsonb, p_header text, p_alias text default 's.') returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_ingest_packed_sql(p_alias || 'raw', iu_core.fn_ingest_packed_place(p_layout #> '{packing,cells}', p_header), p_header)
$$;

-- At which place of the arrays of its rows a file has this name; NULL: at none. Internal.
create or replace function iu_core.fn_ingest_packed_place(p_names jsonb, p_name text) returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select n.place::integer from jsonb_array_elements_text(p_names) with ordinality as n (name, place) where n.name = p_name limit 1
$$;

-- Reads a value as text from the array of a row, or from its object. p_column: what the names of both columns begin with. Internal.
create or replace function iu_core.fn_ingest_packed_sql(p_column text, p_place integer, p_name text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_place is null then format('(%s_payload ->> %L)', p_column, p_name)
              else format('coalesce(%1$s_values[%2$s], %1$s_payload ->> %3$L)', p_column, p_place, p_name) end
$$;

-- The condition that restricts a statement to some lines; empty: all of them. The lines are constants, and stand there only where
-- they are given: with "p_lines is null or …" a prepared plan reads the whole upload. Internal.
create or replace function iu_core.fn_ingest_lines_sql(p_column text, p_lines integer[]) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_lines is null then '' else format(' and %s = any (%L::integer[])', p_column, p_lines) end
$$;

-- The PostgreSQL type of a field's values in the normalised payload. Internal.
create or replace function iu_core.fn_ingest_field_type(p_field jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  -- What is looked up in a table is the text by which it is found.
  select case when p_field ->> 'lookup' is not null then 'text' else case p_field ->> 'type'
           when 'integer' then 'bigint'
           when 'decimal' then 'numeric' when 'money' then 'numeric' when 'percent' then 'numeric'
           when 'date' then 'date' when 'boolean' then 'boolean'
           when 'time' then 'time' when 'timestamp' then 'timestamp' when 'timestamptz' then 'timestamptz' when 'uuid' then 'uuid'
           -- Its items as they are written; a JSON stays the text that it is until it meets its column.
           when 'array' then 'text[]'
           else 'text' end end
$$;

-- Whether a key column is NOT NULL: then plain equality finds the same rows and can be hashed. Internal.
create or replace function iu_core.fn_ingest_column_not_null(p_table regclass, p_column text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select attnotnull from pg_attribute where attrelid = p_table and attname = p_column and not attisdropped
$$;

-- Raises temp_buffers so that the temporary tables of about 100,000 lines fit: with PostgreSQL's default of 8 MB every pass
-- over them reads a file. PostgreSQL allows this only before a session has used a temporary table; a session that has keeps its
-- setting. Internal.
create or replace function iu_core.fn_ingest_raise_temp_buffers() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('temp_buffers', '64MB', true);
exception when invalid_parameter_value then
  null;
end $$;

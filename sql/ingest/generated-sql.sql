-- Parts of the SQL that plan, promotion and undo generate from a dataset's definition.

-- The row types of a file in dependency order, each with what the SQL of plan, promotion and undo is made of. Only
-- columns whose source is in the file are written: a column that the export does not have stays as it is. Internal.
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
  -- In the table's own order, with their types: {"column", "slot", "source", "type", "max_length"}. Slot (c1, c2, …) is its
  -- column in temporary tables, where its own name could meet one of ours. Texts without their length:
  -- a cast would cut them without a word, so what is too long is found by the rule of its own.
  written jsonb
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.ordinality::smallint, t.spec ->> 'name', t.spec ->> 'name' = p_layout ->> 'leaf', t.spec ? 'identity', t.spec,
         to_regclass(t.spec ->> 'target'), t.spec ->> 'target', t.spec ->> 'id',
         array(select jsonb_array_elements_text(t.spec -> 'key')),
         (select jsonb_agg(jsonb_build_object('column', a.attname, 'slot', 'c' || a.attnum, 'source', c.value,
                                              'type', iu_core.fn_ingest_column_type(a),
                                              'max_length', case when a.atttypid in ('varchar'::regtype, 'bpchar'::regtype)
                                                                  and a.atttypmod > 4 then a.atttypmod - 4 end) order by a.attnum)
            from jsonb_each_text(t.spec -> 'columns') c
            join pg_attribute a on a.attrelid = to_regclass(t.spec ->> 'target') and a.attname = c.key
                               and not a.attisdropped
           where p_layout -> 'fields' ? c.value
              or c.value in ('$client', '$workspace', '$platform', '$identity')
              or p_layout -> 'row_types' ? substr(c.value, 2))
    from jsonb_array_elements(p_definition -> 'rows') with ordinality as t (spec, ordinality)
   where p_layout -> 'row_types' ? (t.spec ->> 'name')
   order by t.ordinality;
end $$;

-- The type that a value gets on its way into a column. Texts without their length: a cast would cut them without a word,
-- while the table itself refuses what is too long. Internal.
create or replace function iu_core.fn_ingest_column_type(p_column pg_attribute) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_column.atttypid in ('varchar'::regtype, 'bpchar'::regtype) then format_type(p_column.atttypid, -1)
              else format_type(p_column.atttypid, p_column.atttypmod) end
$$;

-- The place of a row type in its dataset: parents before children. Internal.
create or replace function iu_core.fn_ingest_type_order(p_definition jsonb, p_row_type text) returns smallint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select t.ordinality::smallint from jsonb_array_elements(p_definition -> 'rows') with ordinality as t (spec, ordinality)
   where t.spec ->> 'name' = p_row_type
$$;

-- A table as generated SQL names it: always with its schema. As regclass prints it, a table in the search path has none, and
-- where its name stands for its row type (`null::…`) a table called date or text would be PostgreSQL's own type. Internal.
create or replace function iu_core.fn_ingest_table_sql(p_table regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table
$$;

-- The column of `ingest_line` that holds a field (f1, f2, …) or, for `$<row type>`, the external id of its entity (e1, e2, …).
-- By position, so that no name of a declaration can meet a column or an alias of ours, and none is cut off. Internal.
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

-- The members of an object `p_object` (an expression) as typed columns, as SQL: what to select, and what to join for it.
-- p_columns: {"column": the member, "type", "slot": what its column is called}.
-- One by one where a value is its text: as a record they take half as long again. As a record where it is not (an array, a
-- json), and where they are many: a large object is decompressed anew for each.
-- Where there are texts instead (`p_texts`, an array whose members are `p_text_columns`), a member is taken from there. Internal.
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

-- Joins a line `l` with the parents that a row type refers to and that the file has, each under the alias that
-- fn_ingest_source_sql uses: `p_` and the parent's column in `ingest_line`. Internal.
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

-- What a column of a row type is filled from, as SQL. In it `l` is a line, `e` the entity, `p_e1`, `p_e2`, … are parent entities.
-- NULL: the file does not have it. Internal; everything that comes from a declaration is quoted.
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

-- The condition that finds the target row `t` of what is planned, by its natural key, compared as the column will hold it
-- (a decimal rounded to its scale, a text that is a uuid there). What the file does not have is NULL in the table (a
-- campaign's metrics have no ad); what is empty in some lines (p_nullable) matches NULL, too, which costs the hash join, so
-- only there. Internal.
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

-- The SQL of what tells whether a row of a table is still the same. 128 bits of PostgreSQL's own hash of the row where each
-- column's equality leaves nothing out; else (citext that differs by case, an interval of a month or of 30 days, json, which
-- has no equality) the sha-256 of its text, which takes five times as long: 325 and 60 ms for 100,000 rows.
-- p_row is `t.*` or `row(…)`, never `t` alone: that would be the column t of a table that has one.
-- p_columns: the columns that p_row has, where it is not the whole row. Internal.
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

-- The planned rows `n` whose row `t` is not what they were planned on: changed, gone, or there by now though it was to be
-- inserted. p_columns: what to select of both. Internal.
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

-- The PostgreSQL type of a field's values in the normalised payload. Internal.
create or replace function iu_core.fn_ingest_field_type(p_field jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case p_field ->> 'type'
           when 'integer' then 'bigint'
           when 'decimal' then 'numeric' when 'money' then 'numeric' when 'percent' then 'numeric'
           when 'date' then 'date' when 'boolean' then 'boolean'
           else 'text' end
$$;

-- Internal: where a key column cannot be NULL, plain equality finds the same rows and can be hashed.
create or replace function iu_core.fn_ingest_column_not_null(p_table regclass, p_column text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select attnotnull from pg_attribute where attrelid = p_table and attname = p_column and not attisdropped
$$;

-- Room in memory for the temporary tables of about 100,000 lines: with PostgreSQL's own 8 MB every pass over them reads a file.
-- It can only be asked for before a session has had any; one that has keeps the room that it had then. Internal.
create or replace function iu_core.fn_ingest_temp_room() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('temp_buffers', '64MB', true);
exception when invalid_parameter_value then
  null;
end $$;

-- Lookups: what a file names (a category, a country, a colleague) is found in a table, and the row gets a column of what was found.

-- Checks what lines look up in other tables, and what they refer to by foreign keys (references.sql): an unknown value and an
-- ambiguous one are errors of their line. Lines with other errors are checked, too, so that a person sees all errors at once. The
-- findings of an earlier run are removed first: rows of those tables come and go. Leaves what was found in the temporary table
-- `ingest_lookup`, from which the plan takes it. With p_lines only those lines are checked; others may refer to their rows, if the
-- file writes the table itself. Returns how many lines changed. Internal.
create or replace function iu_core.fn_ingest_check_lookups(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_lines integer[] default null
) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_across_lines: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf text := v_layout ->> 'leaf';
  v_some text := iu_core.fn_ingest_lines_sql('s.row_number', p_lines);
  v_field record;
  v_changed integer;
  v_marked integer;
  v_count integer;
  v_has_lookups boolean;
  v_has_references boolean;
begin
  v_changed := iu_core.fn_ingest_remove_lookup_problems(p_upload, p_lines);
  -- Of another upload of the same transaction.
  drop table if exists pg_temp.ingest_lookup;
  v_has_lookups := exists (select from iu_core.fn_ingest_lookup_fields(p_definition, p_upload.reading -> 'layout'));
  v_has_references := iu_core.fn_ingest_resolve_references(p_upload, p_definition, p_lines);
  if not v_has_lookups and not v_has_references then
    return v_changed;
  end if;
  create temporary table ingest_lookup (
    lookup text, value text, castable boolean default true, matches bigint default 0, found text, own boolean default false, near text[],
    -- By a line that is valid: only such a value is part of the plan.
    used boolean default false) on commit drop;
  for v_field in select * from iu_core.fn_ingest_lookup_fields(p_definition, p_upload.reading -> 'layout') loop
    execute format($sql$
      insert into pg_temp.ingest_lookup (lookup, value)
      select $3, v.value
        from (select distinct %s as value from iu_core.ingest_staged_row s
               where s.upload_id = $1 and s.row_type = $2 and s.validation_status in ('valid', 'invalid')%s) v
       where v.value is not null and not exists (select from pg_temp.ingest_lookup k where k.lookup = $3 and k.value = v.value)
    $sql$, iu_core.fn_ingest_member_sql(v_layout, v_field.field), v_some) using p_upload.upload_id, v_leaf, v_field.lookup;
  end loop;
  if v_has_lookups then
    perform iu_core.fn_ingest_resolve_lookups(p_definition);
  end if;
  -- A row of the file may be what another one refers to; if it turns out wrong, so do those that refer to it.
  loop
    v_marked := 0;
    for v_field in select * from iu_core.fn_ingest_lookup_fields(p_definition, p_upload.reading -> 'layout') where own_member is not null loop
      update pg_temp.ingest_lookup k set own = false where k.lookup = v_field.lookup and k.own;
      execute format($sql$
        update pg_temp.ingest_lookup k set own = true
          from (select distinct %1$s as value
                  from iu_core.ingest_staged_row s
                 where s.upload_id = $1 and s.row_type = $2 and s.validation_status = 'valid') o
         where k.lookup = $3 and k.matches = 0 and o.value = %2$s
      $sql$, format(case when v_field.ignore_case then 'lower(%s)' else '%s' end, iu_core.fn_ingest_member_sql(v_layout, v_field.own_member)),
         case when v_field.ignore_case then 'lower(k.value)' else 'k.value' end) using p_upload.upload_id, v_leaf, v_field.lookup;
    end loop;
    if v_has_lookups then
      perform iu_core.fn_ingest_suggest_lookups(p_definition);
    end if;
    for v_field in select * from iu_core.fn_ingest_lookup_fields(p_definition, p_upload.reading -> 'layout') loop
      execute format($sql$
        update iu_core.ingest_staged_row s
           set validation_status = 'invalid', updated_at = now(),
               validation_errors = coalesce(s.validation_errors, '[]') || jsonb_build_object(
                 'scope', 'lookup', 'line', s.row_number, 'field', $3, 'column', $4, 'value', k.value,
                 'rule', case when k.matches > 1 then 'lookup.ambiguous' else 'lookup.unknown' end,
                 'message', case when k.matches > 1
                   then format('%%s rows of %%s have the %%s %%s, so it is not clear which one is meant.', k.matches, $5, $6, k.value)
                   else format('There is no %%s %%s: no row of %%s has this %%s.', $7, k.value, $5, $6) end,
                 'suggestion', case when k.matches > 1 then format('Make the %%s unique in %%s, and plan again.', $6, $5)
                   else concat('Nearest: ' || array_to_string(k.near, ', ') || '. ',
                               format('Correct the cell, or add the row to %%s and plan again.', $5)) end)
          from pg_temp.ingest_lookup k
         where k.lookup = $8 and k.matches <> 1 and not k.own
           and s.upload_id = $1 and s.row_type = $2 and %s = k.value%s
           and (s.validation_status = 'valid'
                or s.validation_status = 'invalid' and not s.validation_errors @? iu_core.fn_ingest_wrong_field_path($3)::jsonpath
                   and not s.validation_errors @> jsonb_build_array(jsonb_build_object('scope', 'lookup', 'field', $3)))
      $sql$, iu_core.fn_ingest_member_sql(v_layout, v_field.field), v_some)
        using p_upload.upload_id, v_leaf, v_field.field,
              -- As the file calls it.
              p_upload.reading -> 'headers' -> (p_upload.reading -> 'map' -> 'fields' -> v_field.field ->> 'column')::integer,
              v_field.table_name, v_field.by_column, v_field.title, v_field.lookup;
      get diagnostics v_count = row_count;
      v_marked := v_marked + v_count;
    end loop;
    if v_has_references then
      perform iu_core.fn_ingest_resolve_own_references(p_upload, p_definition);
      perform iu_core.fn_ingest_suggest_references(p_definition, p_upload.reading -> 'layout');
      v_marked := v_marked + iu_core.fn_ingest_mark_references(p_upload, p_definition, p_lines);
    end if;
    v_changed := v_changed + v_marked;
    exit when v_marked = 0;
  end loop;
  for v_field in select * from iu_core.fn_ingest_lookup_fields(p_definition, p_upload.reading -> 'layout') loop
    execute format($sql$
      update pg_temp.ingest_lookup k set used = true
        from (select distinct %s as value from iu_core.ingest_staged_row s
               where s.upload_id = $1 and s.row_type = $2 and s.validation_status = 'valid'%s) v
       where k.lookup = $3 and k.value = v.value
    $sql$, iu_core.fn_ingest_member_sql(v_layout, v_field.field), v_some) using p_upload.upload_id, v_leaf, v_field.lookup;
  end loop;
  analyze pg_temp.ingest_lookup;
  return v_changed;
end $$;

-- Removes from the lines of an upload, or from some of them, what the check of lookups and references found. Returns how many
-- lines changed. Internal.
create or replace function iu_core.fn_ingest_remove_lookup_problems(p_upload iu_core.ingest_upload, p_lines integer[] default null) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- Its caller has switched them off; without them a row is found by its place only through the whole table.
set enable_nestloop = on
as $$
declare
  v_changed integer;
begin
  update iu_core.ingest_staged_row s
     set (validation_errors, validation_status, updated_at) = (
           select e.errors, (case when e.errors = '[]' then 'valid' else 'invalid' end)::public.staging_validation_status, now()
             from (select coalesce(jsonb_agg(x order by o), '[]') as errors
                     from jsonb_array_elements(s.validation_errors) with ordinality as a (x, o)
                    where x ->> 'scope' is distinct from 'lookup') e)
    from (select x.place
            from (select l.ctid as place, l.* from iu_core.ingest_staged_row l
                   where l.upload_id = p_upload.upload_id and (l.validation_status <> 'valid' or l.validation_warnings <> '[]')
                  -- Its own index finds them; without a fence the planner takes the one over all lines.
                  offset 0) x
           where x.row_type = p_upload.reading -> 'layout' ->> 'leaf' and x.validation_status = 'invalid'
             and x.validation_errors @> '[{"scope": "lookup"}]' and (p_lines is null or x.row_number = any (p_lines))) p
   where s.ctid = p.place;
  get diagnostics v_changed = row_count;
  return v_changed;
end $$;

-- The fields of a file that are looked up, with the table of each. own_member: if the file writes that table itself, the member of
-- the normalised payload that fills the column by which it is looked up. Internal.
create or replace function iu_core.fn_ingest_lookup_fields(p_definition jsonb, p_layout jsonb)
returns table (
  field text, title text, lookup text, target regclass, table_name text, by_column text, by_type text,
  value_column text, ignore_case boolean, own_type text, own_member text
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select f.name, coalesce(d.field ->> 'title', replace(f.name, '_', ' ')),
         d.field ->> 'lookup', t.target, l.lookup ->> 'table', l.lookup ->> 'by', iu_core.fn_ingest_column_type(a), l.lookup ->> 'value',
         coalesce((l.lookup ->> 'ignoreCase')::boolean, false) and a.atttypid <> all (array(select oid from pg_type where typname = 'citext')),
         w.row_type, w.member
    from jsonb_array_elements_text(p_layout -> 'fields') as f (name)
    cross join lateral (select p_definition -> 'fields' -> f.name) as d (field)
    cross join lateral (select p_definition -> 'lookups' -> (d.field ->> 'lookup')) as l (lookup)
    cross join lateral (select to_regclass(l.lookup ->> 'table')) as t (target)
    join pg_attribute a on a.attrelid = t.target and a.attname = l.lookup ->> 'by' and not a.attisdropped
    left join lateral (
      select spec ->> 'name' as row_type, case s.source when '$identity' then '@' || (spec ->> 'name') else s.source end as member
        from jsonb_array_elements(p_definition -> 'rows') as spec, lateral (select spec -> 'columns' ->> (l.lookup ->> 'by')) as s (source)
       where p_layout -> 'row_types' ? (spec ->> 'name') and to_regclass(spec ->> 'target') = t.target
         and (s.source = '$identity' or p_layout -> 'fields' ? s.source) limit 1) w on true
   where d.field ? 'lookup'
     and exists (select from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
                  where p_layout -> 'row_types' ? (spec ->> 'name') and c.value = f.name)
$$;

-- Finds the values in `ingest_lookup`: how many rows have each, and what the row has in the column that is wanted. By the index of
-- the table, if they are few. Internal.
create or replace function iu_core.fn_ingest_resolve_lookups(p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_nestloop = on
set enable_indexscan = on
-- The text of what was found is compared again at promotion.
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
as $$
declare
  v_lookup record;
  v_sql text;
begin
  analyze pg_temp.ingest_lookup;
  for v_lookup in
    select l.key as name, to_regclass(l.value ->> 'table') as target, l.value ->> 'by' as by_column, l.value ->> 'value' as value_column,
           iu_core.fn_ingest_column_type(a) as type,
           coalesce((l.value ->> 'ignoreCase')::boolean, false) and a.atttypid <> all (array(select oid from pg_type where typname = 'citext')) as ignore_case
      from jsonb_each(p_definition -> 'lookups') l
      join pg_attribute a on a.attrelid = to_regclass(l.value ->> 'table') and a.attname = l.value ->> 'by' and not a.attisdropped
     where exists (select from pg_temp.ingest_lookup k where k.lookup = l.key)
  loop
    v_sql := format($sql$
      update pg_temp.ingest_lookup u set matches = f.matches, found = f.found
        from (select k.value, count(*) as matches, min(x.%1$I::text) as found
                from pg_temp.ingest_lookup k join %2$s x on %3$s
               where k.lookup = %4$L and k.castable and x.%1$I is not null group by k.value) f
       where u.lookup = %4$L and u.value = f.value
    $sql$, v_lookup.value_column, iu_core.fn_ingest_table_sql(v_lookup.target),
       case when v_lookup.ignore_case then format('lower(x.%I::text) = lower(k.value)', v_lookup.by_column)
            else format('x.%I = k.value::%s', v_lookup.by_column, v_lookup.type) end, v_lookup.name);
    begin
      execute v_sql;
    exception when data_exception then
      -- A text where a number is looked up: nothing has it.
      update pg_temp.ingest_lookup k set castable = iu_core.fn_ingest_cast_error(k.value, 'text', v_lookup.type) is null
       where k.lookup = v_lookup.name;
      execute v_sql;
    end;
  end loop;
end $$;

-- Finds for unknown values the three that are most alike. A large table is not searched through: only what stands next to them in
-- the order of its index, and for the first hundred values. None for a dataset that all workspaces share: the table may hold rows
-- of others. Internal.
create or replace function iu_core.fn_ingest_suggest_lookups(p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_nestloop = on
set enable_indexscan = on
as $$
declare
  v_lookup record;
  v_unknown text[];
begin
  if exists (select from iu_core.ingest_dataset d where d.dataset = p_definition ->> 'name' and d.workspace_id is null) then
    return;
  end if;
  for v_lookup in
    select l.key as name, to_regclass(l.value ->> 'table') as target, l.value ->> 'by' as by_column, iu_core.fn_ingest_column_type(a) as type
      from jsonb_each(p_definition -> 'lookups') l
      join pg_attribute a on a.attrelid = to_regclass(l.value ->> 'table') and a.attname = l.value ->> 'by' and not a.attisdropped
  loop
    v_unknown := array(select k.value from pg_temp.ingest_lookup k
                        where k.lookup = v_lookup.name and k.matches = 0 and not k.own and k.near is null order by k.castable desc, k.value limit 100);
    continue when v_unknown = '{}';
    update pg_temp.ingest_lookup k set near = n.near
      from iu_core.fn_ingest_nearest(v_lookup.target, v_lookup.by_column, v_lookup.type, v_unknown,
             array(select k.value from pg_temp.ingest_lookup k where k.lookup = v_lookup.name and k.castable and k.value = any (v_unknown))) n
     where k.lookup = v_lookup.name and k.value = n.value;
  end loop;
end $$;

-- The three values of a column that are most alike, for each of p_unknown. p_castable: those of them that have the type of the
-- column. Internal.
create or replace function iu_core.fn_ingest_nearest(p_table regclass, p_column text, p_type text, p_unknown text[], p_castable text[])
returns table (value text, near text[])
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_nestloop = on
set enable_indexscan = on
as $$
#variable_conflict use_column
declare
  v_table text := iu_core.fn_ingest_table_sql(p_table);
begin
  drop table if exists pg_temp.ingest_lookup_pool;
  create temporary table ingest_lookup_pool (value text) on commit drop;
  -- 4 MB: some 40,000 names.
  if coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(p_table)), 0) + pg_relation_size(p_table) <= 4194304 then
    execute format('insert into pg_temp.ingest_lookup_pool select x.%I::text from %s x where x.%1$I is not null limit 20000', p_column, v_table);
  else
    execute format($sql$
      insert into pg_temp.ingest_lookup_pool
      select distinct n.value
        from unnest($1) as k (value),
             lateral ((select x.%1$I::text as value from %2$s x where x.%1$I >= k.value::%3$s order by x.%1$I limit 50)
                      union all
                      (select x.%1$I::text from %2$s x where x.%1$I < k.value::%3$s order by x.%1$I desc limit 50)) n
    $sql$, p_column, v_table, p_type) using p_castable;
  end if;
  return query
    with piece as materialized (
      select p.value, t.piece from pg_temp.ingest_lookup_pool p, lateral iu_core.fn_ingest_trigrams(p.value) as t (piece)
    ), size as materialized (
      select value, count(*) as pieces from piece group by 1
    ), wanted as materialized (
      select u.value, t.piece, count(*) over (partition by u.value) as pieces
        from unnest(p_unknown) as u (value), lateral iu_core.fn_ingest_trigrams(u.value) as t (piece)
    ), alike as (
      select w.value, p.value as other, count(*) * 2.0 / (min(w.pieces) + min(z.pieces)) as share
        from wanted w join piece p using (piece) join size z on z.value = p.value group by 1, 2
    ), best as (
      select a.value, array_agg(a.other order by a.place) as near
        from (select alike.*, row_number() over (partition by value order by share desc, other) as place from alike) a
       where a.place <= 3 group by 1
    )
    select u.value, coalesce(b.near, (select array_agg(f.value) from (select p.value from pg_temp.ingest_lookup_pool p order by 1 limit 3) f))
      from unnest(p_unknown) as u (value) left join best b on b.value = u.value;
end $$;

-- The runs of three characters of a text, by which two texts are compared. Internal.
create or replace function iu_core.fn_ingest_trigrams(p_text text) returns setof text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select distinct substr(t.padded, i, 3)
    from (select '  ' || lower(left(p_text, 100)) || ' ') as t (padded), generate_series(1, length(t.padded) - 2) as i
$$;

-- Stores with a plan what its lines looked up in other tables, from `ingest_lookup`. Internal.
create or replace function iu_core.fn_ingest_store_lookups(p_upload_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('pg_temp.ingest_lookup') is null then
    return;
  end if;
  insert into iu_core.ingest_lookup_result (upload_id, lookup, value, found)
  select p_upload_id, k.lookup, k.value, k.found from pg_temp.ingest_lookup k
   where k.matches = 1 and k.used
     and not exists (select from iu_core.ingest_lookup_result r where r.upload_id = p_upload_id and r.lookup = k.lookup and r.value = k.value);
end $$;

-- Whether a value in `ingest_lookup` leads to another row than when the upload was planned. Internal.
create or replace function iu_core.fn_ingest_lookups_changed(p_upload_id uuid) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('pg_temp.ingest_lookup') is null then
    return false;
  end if;
  return exists (
    select from pg_temp.ingest_lookup k join iu_core.ingest_lookup_result r
      on r.upload_id = p_upload_id and r.lookup = k.lookup and r.value = k.value
     where k.matches <> 1 or k.found is distinct from r.found);
end $$;

-- Raises plan_stale if a value that the plan looked up leads to another row now, or to none, or to several. Internal.
create or replace function iu_core.fn_ingest_require_same_lookups(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first record;
  v_count bigint;
  v_reason text;
begin
  if not exists (select from iu_core.ingest_lookup_result where upload_id = p_upload.upload_id) then
    return;
  end if;
  drop table if exists pg_temp.ingest_lookup;
  create temporary table ingest_lookup (
    lookup text, value text, castable boolean default true, matches bigint default 0, found text, planned text) on commit drop;
  insert into pg_temp.ingest_lookup (lookup, value, planned)
  select p.lookup, p.value, p.found from iu_core.ingest_lookup_result p where p.upload_id = p_upload.upload_id;
  perform iu_core.fn_ingest_resolve_lookups(p_definition);
  select count(*) into v_count from pg_temp.ingest_lookup k where k.matches <> 1 or k.found <> k.planned;
  if v_count = 0 then
    return;
  end if;
  select k.*, p_definition -> 'lookups' -> k.lookup as definition into v_first
    from pg_temp.ingest_lookup k where k.matches <> 1 or k.found <> k.planned order by k.lookup, k.value limit 1;
  v_reason := format('%s %s of %s %s another meaning since the plan was made; %s', v_count, case v_count when 1 then 'value' else 'values' end,
    v_first.definition ->> 'table', case v_count when 1 then 'has' else 'have' end,
    case v_first.matches when 0 then format('no row has the %s %s any more', v_first.definition ->> 'by', v_first.value)
         when 1 then format('the %s %s was %s and is %s', v_first.definition ->> 'by', v_first.value, v_first.planned, v_first.found)
         else format('%s rows have the %s %s', v_first.matches, v_first.definition ->> 'by', v_first.value) end);
  raise exception using
    errcode = 'SD606',
    message = v_reason,
    hint = format('`stagedoor upload plan %s --again` looks them up again.', p_upload.upload_id),
    detail = json_build_object('upload', p_upload.upload_id, 'reason', v_reason)::text;
end $$;

-- Completes lookups into a table that the file writes itself: those that no row of the table has are the ids of rows that the plan
-- inserts. After its entities are planned and before its rows are. Internal.
create or replace function iu_core.fn_ingest_plan_own_references(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_type record, p_nullable text[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_ref jsonb := nullif(p_type.spec -> 'ref', 'null');
  v_joins text := iu_core.fn_ingest_parent_joins(p_type.spec, v_layout);
  v_lines text;
  v_field record;
  v_slot text;
  v_raw text;
  v_value text;
  v_found boolean;
  v_table text;
begin
  for v_field in
    select * from iu_core.fn_ingest_lookup_fields(p_definition, v_layout) where own_type = p_type.row_type
  loop
    v_slot := iu_core.fn_ingest_line_column(v_layout, v_field.field);
    v_raw := 'o' || substr(v_slot, 2);
    execute format('select exists (select from pg_temp.ingest_line l where l.%I is not null)', v_raw) into v_found;
    continue when not v_found;
    -- Of an earlier pass, whose lines may be refused by now.
    foreach v_table in array array['ingest_line', 'ingest_entity_line'] loop
      continue when to_regclass('pg_temp.' || v_table) is null;
      execute format('update pg_temp.%I u set %I = null where u.%I is not null', v_table, v_slot, v_raw);
    end loop;
    v_lines := case when p_type.is_entity
      then format('pg_temp.ingest_entity e join pg_temp.ingest_line l on l.row_number = e.row_number and e.row_type = %L and not e.ambiguous %s', p_type.row_type, v_joins)
      else 'pg_temp.ingest_line l ' || v_joins end;
    if v_field.value_column is distinct from v_ref ->> 'column' or v_ref ->> 'kind' = 'natural' then
      v_value := iu_core.fn_ingest_source_sql(p_type.spec -> 'columns' ->> v_field.value_column, v_layout, p_upload);
    elsif p_type.is_entity then
      v_value := 'e.internal_id';
    else
      v_value := 'l.own_id';
      if not exists (select from pg_attribute where attrelid = to_regclass('pg_temp.ingest_line') and attname = 'own_id') then
        alter table pg_temp.ingest_line add column own_id text;
        execute format($sql$
          update pg_temp.ingest_line u set own_id = coalesce(t.%1$I::text, %2$s::text)
            from %3$s left join %4$s t on %5$s where u.row_number = l.row_number
        $sql$, v_ref ->> 'column', case v_ref ->> 'kind' when 'sequence' then format('nextval(%L::regclass)', v_ref ->> 'sequence') else 'l.staging_row_id' end,
           v_lines, iu_core.fn_ingest_table_sql(p_type.target),
           iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload, p_nullable));
      end if;
    end if;
    foreach v_table in array array['ingest_line', 'ingest_entity_line'] loop
      continue when to_regclass('pg_temp.' || v_table) is null;
      execute format($sql$
        update pg_temp.%1$I u set %2$I = o.found
          from (select %3$s as name, min((%4$s)::text) as found from %5$s group by 1 having count(distinct (%4$s)::text) = 1) o
         where %6$s = o.name
      $sql$, v_table, v_slot,
         format(case when v_field.ignore_case then 'lower((%s)::text)' else '(%s)::text' end,
                iu_core.fn_ingest_source_sql(p_type.spec -> 'columns' ->> v_field.by_column, v_layout, p_upload)),
         coalesce(v_value, 'null'), v_lines,
         case when v_field.ignore_case then format('lower(u.%I)', v_raw) else 'u.' || v_raw end);
    end loop;
    -- The line that it means was left out meanwhile: of several with the same key another one is taken.
    execute format($sql$
      with refused as (
        delete from pg_temp.ingest_line l where l.%1$I is not null and l.%2$I is null returning l.row_number, l.staging_row_id, l.%1$I as name
      )
      insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
      select $1, iu_core.fn_ingest_type_order($2, $3), $3, row_number, staging_row_id, 'refused', r.reason,
             sha256(convert_to(concat_ws('|', row_number, 'refused', r.reason), 'UTF8'))
        from refused, lateral (select format('the line with the %%s %%s, to which it refers, is not taken', $4, name)) as r (reason)
    $sql$, v_raw, v_slot) using p_upload.upload_id, p_definition, v_layout ->> 'leaf', v_field.by_column;
  end loop;
end $$;

-- What is missing for the lookups of a declaration: a table, a column, an index or a right. Internal.
create or replace function iu_core.fn_ingest_lookup_problems(p_definition jsonb) returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lookup record;
  v_table text;
  v_columns text[];
begin
  for v_lookup in
    select l.key as name, l.value ->> 'table' as table_name, iu_core.fn_ingest_table(l.value ->> 'table') as target, l.value ->> 'by' as by_column,
           l.value ->> 'value' as value_column, coalesce((l.value ->> 'ignoreCase')::boolean, false) as ignore_case,
           (select relkind from pg_class where oid = iu_core.fn_ingest_table(l.value ->> 'table')) as kind
      from jsonb_each(p_definition -> 'lookups') l order by l.key
  loop
    if v_lookup.target is null then
      return query select format('The table %s of the lookup %s does not exist', v_lookup.table_name, v_lookup.name), 'Name a table that exists.'::text;
      continue;
    end if;
    if v_lookup.kind not in ('r', 'p', 'm') then
      return query select format('The lookup %s is of %s, which is not a table and has no index', v_lookup.name, v_lookup.table_name),
        iu_core.fn_ingest_not_a_table_advice(v_lookup.target, v_lookup.kind);
      continue;
    end if;
    v_table := iu_core.fn_ingest_table_sql(v_lookup.target);
    if v_lookup.table_name not in (select iu_core.fn_ingest_dataset_tables(p_definition)) then
      return query select * from iu_core.fn_ingest_rights_problems(v_lookup.target, v_lookup.table_name, array['select']);
    end if;
    v_columns := array(select attname::text from pg_attribute where attrelid = v_lookup.target and attnum > 0 and not attisdropped order by attnum);
    if not array[v_lookup.by_column, v_lookup.value_column] <@ v_columns then
      return query select format('%s has no column %s', v_lookup.table_name, c), format('It has %s.', array_to_string(v_columns, ', '))
        from unnest(array[v_lookup.by_column, v_lookup.value_column]) c where c <> all (v_columns);
      continue;
    end if;
    if not iu_core.fn_ingest_is_unique(v_lookup.target, array[v_lookup.by_column], false)
       and not (v_lookup.ignore_case and iu_core.fn_ingest_has_lower_index(v_lookup.target, v_lookup.by_column, true)) then
      return query select format('%s.%s, by which %s is looked up, has no unique index', v_lookup.table_name, v_lookup.by_column, v_lookup.name),
        format('create unique index on %s (%s);', v_table,
               case when v_lookup.ignore_case then format('lower(%I)', v_lookup.by_column) else quote_ident(v_lookup.by_column) end);
    elsif v_lookup.ignore_case and (select reltuples > 10000 from pg_class where oid = v_lookup.target)
          and not iu_core.fn_ingest_has_lower_index(v_lookup.target, v_lookup.by_column, false) then
      return query select format('%s is large, and no index finds its %s without regard to case', v_lookup.table_name, v_lookup.by_column),
        format('create index on %s (lower(%I));', v_table, v_lookup.by_column);
    end if;
    -- Whether such a row exists would depend on rows that are not planned yet.
    return query
      select format('The key of %s contains %s, which is looked up in the same table', spec ->> 'target', k), 'Leave it out of the key.'::text
        from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_array_elements_text(spec -> 'key') k
       where iu_core.fn_ingest_table(spec ->> 'target') = v_lookup.target
         and p_definition -> 'fields' -> (spec -> 'columns' ->> k) ->> 'lookup' = v_lookup.name;
  end loop;
end $$;

-- Whether a table has an index over the lower case of a column. citext needs none. Internal.
create or replace function iu_core.fn_ingest_has_lower_index(p_table regclass, p_column text, p_unique boolean) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
      select from pg_index i
       where i.indrelid = p_table and i.indisvalid and i.indpred is null and (i.indisunique or not p_unique) and i.indnkeyatts = 1
         and pg_get_indexdef(i.indexrelid, 1, true) in (format('lower(%I)', p_column), format('lower(%I::text)', p_column)))
    or exists (select from pg_attribute a join pg_type t on t.oid = a.atttypid
                where a.attrelid = p_table and a.attname = p_column and t.typname = 'citext' and not p_unique)
$$;

-- The rows of a plan: from the valid lines of an upload to entities and rows of the target tables, compared with production.

-- Puts the valid lines of an upload into the typed temporary table `ingest_line`: one pass over the payloads, after which
-- everything works on plain columns. Repeated keys are summed here, if the upload or its dataset says so. Returns the sources
-- that are empty in some line. p_lines: only these lines; a key that one of them has, no other line has. Internal.
create or replace function iu_core.fn_ingest_plan_lines(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_check_casts boolean default false, p_again boolean default false,
  p_lines integer[] default null
) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
-- Nothing is known yet of an upload that was staged a moment ago, and for a few rows the planner would go through the index
-- one by one (0.2 s more for 100,000).
set enable_indexscan = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf jsonb;
  v_columns text;
  v_unpacked record;
  v_nullable text[];
  v_policy text := iu_core.fn_ingest_repeated_keys(p_upload, p_definition);
  v_found text;
  v_lookups text;
begin
  -- Of a field that is looked up, what was found.
  select string_agg(format('k_%1$s.found as %1$I', l.slot)
                    || case when l.own_type is null then '' else format(', case when k_%1$s.own then k_%1$s.value end as o%2$s', l.slot, substr(l.slot, 2)) end, ', '),
         string_agg(format(' left join pg_temp.ingest_lookup k_%1$s on k_%1$s.lookup = %2$L and k_%1$s.value = %3$s', l.slot, l.lookup, iu_core.fn_ingest_member_sql(v_layout, l.field)), '')
    into v_found, v_lookups
    from (select *, iu_core.fn_ingest_line_column(v_layout, field) as slot from iu_core.fn_ingest_lookup_fields(p_definition, v_layout)) l;
  select * into v_unpacked from iu_core.fn_ingest_unpack_sql('s.normalized_payload', (
    select coalesce(jsonb_agg(c), '[]')
      from (select distinct f as "column", iu_core.fn_ingest_field_type(p_definition -> 'fields' -> f) as type,
                   iu_core.fn_ingest_line_column(v_layout, f) as slot
              from jsonb_array_elements_text(v_layout -> 'fields') as f
             -- Fields that no table uses are not unpacked.
             where not p_definition -> 'fields' -> f ? 'lookup' and exists (select from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
                            where v_layout -> 'row_types' ? (spec ->> 'name') and c.value = f)
                or exists (select from jsonb_array_elements(p_definition -> 'rows') as spec where spec -> 'identity' ->> 'name' = f)
            union all
            select '@' || (spec ->> 'name'), 'text', iu_core.fn_ingest_line_column(v_layout, '$' || (spec ->> 'name'))
              from jsonb_array_elements(p_definition -> 'rows') as spec
             where v_layout -> 'row_types' ? (spec ->> 'name') and spec ? 'identity') c),
    's.normalized_values', (select jsonb_agg(jsonb_build_object('column', m)) from jsonb_array_elements_text(v_layout #> '{packing,members}') m));
  drop table if exists pg_temp.ingest_line;
  execute format($sql$
    create temporary table ingest_line on commit drop as
    select s.id as staging_row_id, s.row_number, %s
      from iu_core.ingest_staged_row s%s%s
     where s.upload_id = %L and s.row_type = %L and s.validation_status = 'valid'%s
  $sql$, concat_ws(', ', v_unpacked.selected, v_found), v_lookups, v_unpacked.joined, p_upload.upload_id, v_layout ->> 'leaf',
     iu_core.fn_ingest_lines_sql('s.row_number', p_lines));

  select spec into v_leaf from jsonb_array_elements(p_definition -> 'rows') as spec where spec ->> 'name' = v_layout ->> 'leaf';
  if v_policy <> 'sum' and not p_again and p_lines is null
     and iu_core.fn_ingest_plan_has_repeats(v_layout, v_leaf) then
    -- Marks the lines, and starts again with the rest.
    perform iu_core.fn_ingest_check_across_lines(p_upload, p_definition);
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_layout ->> 'leaf', p_upload.line_count);
    return iu_core.fn_ingest_plan_lines(p_upload, p_definition, p_check_casts, true);
  end if;
  perform iu_core.fn_ingest_plan_cast_errors(p_upload, p_definition, p_check_casts);
  if v_policy = 'sum' then
    perform iu_core.fn_ingest_plan_sum_repeats(p_upload, p_definition, v_leaf);
  end if;
  analyze pg_temp.ingest_line;

  -- One pass for all key columns of all row types.
  select string_agg(format('case when bool_or(l.%I is null) then %L end', iu_core.fn_ingest_line_column(v_layout, source), source), ', ')
    into v_columns
    from (select distinct c.value as source
            from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
           where spec -> 'key' ? c.key and v_layout -> 'row_types' ? (spec ->> 'name')
             and (v_layout -> 'fields' ? c.value or v_layout -> 'row_types' ? substr(c.value, 2))) s;
  if v_columns is null then
    return '{}';
  end if;
  execute format('select array_remove(array[%s], null) from pg_temp.ingest_line l', v_columns) into v_nullable;
  return v_nullable;
end $$;

-- Whether a key occurs more than once among the lines in `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_plan_has_repeats(p_layout jsonb, p_leaf jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := iu_core.fn_ingest_plan_key_sql(p_layout, p_leaf);
  v_found boolean;
begin
  if v_key is null then
    return false;
  end if;
  execute format('select exists (select from pg_temp.ingest_line l group by %s having count(*) > 1)', v_key) into v_found;
  return v_found;
end $$;

-- The columns of `ingest_line l` that make up the key of the leaf rows, as SQL; NULL if the file has none of them. Internal.
create or replace function iu_core.fn_ingest_plan_key_sql(p_layout jsonb, p_leaf jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select string_agg('l.' || iu_core.fn_ingest_line_column(p_layout, case when source = '$identity' then '$' || (p_leaf ->> 'name') else source end), ', ')
    from jsonb_array_elements_text(p_leaf -> 'key') as k, lateral (select p_leaf -> 'columns' ->> k) as s (source)
   where p_layout -> 'fields' ? source or p_layout -> 'row_types' ? substr(source, 2) or source = '$identity'
$$;

-- Removes the lines from `ingest_line` that have a value which its column cannot hold, and plans them as refused, with the
-- reason. Texts that are too long are always checked, because a cast would truncate them; everything else only with p_all,
-- after casting a whole column has failed. Internal.
create or replace function iu_core.fn_ingest_plan_cast_errors(p_upload iu_core.ingest_upload, p_definition jsonb, p_all boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_column record;
  v_reason text;
begin
  for v_column in
    select t.target_name, w.*, iu_core.fn_ingest_line_column(v_layout, w.source) as slot,
           case when p_definition -> 'fields' -> w.source ? 'lookup' then 'text'
                else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> w.source) end as from_type
      from iu_core.fn_ingest_row_types(p_definition, v_layout) t,
           jsonb_to_recordset(t.written) as w ("column" text, source text, type text, max_length integer)
     where v_layout -> 'fields' ? w.source and (p_all or w.max_length is not null)
  loop
    v_reason := format('case when char_length(rtrim(l.%1$I::text)) > %2$L then %3$L end', v_column.slot, v_column.max_length,
                       format('it is longer than the %s characters of the column', v_column.max_length));
    if p_all then
      v_reason := format('coalesce(%s, iu_core.fn_ingest_cast_error(l.%I::text, %L, %L))',
                         v_reason, v_column.slot, v_column.from_type, v_column.type);
    end if;
    execute format($sql$
      with refused as (
        delete from pg_temp.ingest_line l where %1$s is not null
        returning l.row_number, l.staging_row_id, %2$L || ' cannot hold ' || coalesce(left(l.%3$I::text, 100), 'NULL') || ': ' || %1$s as reason
      )
      insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
      select $1, iu_core.fn_ingest_type_order($2, $3), $3, row_number, staging_row_id, 'refused', reason,
             sha256(convert_to(concat_ws('|', row_number, 'refused', reason), 'UTF8'))
        from refused
    $sql$, v_reason, format('%s.%s', v_column.target_name, v_column."column"), v_column.slot)
      using p_upload.upload_id, p_definition, v_layout ->> 'leaf';
  end loop;
end $$;

-- PostgreSQL's error if a value cannot be cast to the type of a column; NULL if it can. Needs a subtransaction for each value,
-- so it is called only after a whole column failed. Internal.
create or replace function iu_core.fn_ingest_cast_error(p_value text, p_from text, p_to text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  execute format('select ($1::%s)::%s', p_from, p_to) using p_value;
  return null;
exception
  when data_exception or check_violation or not_null_violation then
    get stacked diagnostics v_reason = message_text;
    return v_reason;
end $$;

-- Merges lines with the same key into the first of them: additive fields are summed, the others are those of the first line.
-- The other lines are planned as skipped. Amounts in two currencies have no sum: such lines are refused. Internal.
create or replace function iu_core.fn_ingest_plan_sum_repeats(p_upload iu_core.ingest_upload, p_definition jsonb, p_leaf jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_key text := iu_core.fn_ingest_plan_key_sql(v_layout, p_leaf);
  v_sums text;
  v_sets text;
  v_currency text;
begin
  select string_agg(format('sum(l.%1$I) as %1$I', d.slot), ', '), string_agg(format('%1$I = g.%1$I', d.slot), ', ')
    into v_sums, v_sets
    from jsonb_array_elements_text(v_layout -> 'fields') as f,
         lateral (select p_definition -> 'fields' -> f, iu_core.fn_ingest_line_column(v_layout, f)) as d (field, slot)
   where exists (select from jsonb_each_text(p_leaf -> 'columns') c where c.value = f and not p_leaf -> 'key' ? c.key)
     and not d.field ? 'lookup'
     and coalesce((d.field ->> 'additive')::boolean, d.field ->> 'type' in ('integer', 'money'))
     and d.field ->> 'type' in ('integer', 'money', 'decimal');
  -- Of another upload of the same transaction.
  drop table if exists pg_temp.ingest_repeated;
  if v_key is null then
    return;
  end if;
  select iu_core.fn_ingest_line_column(v_layout, f) into v_currency from jsonb_array_elements_text(v_layout -> 'fields') as f
   where p_definition -> 'fields' -> f ->> 'type' = 'currency'
     and exists (select from jsonb_each_text(p_leaf -> 'columns') c where c.value = f) limit 1;
  execute format($sql$
    create temporary table ingest_repeated on commit drop as
    select array_agg(l.row_number order by l.row_number) as lines, %s as several_currencies %s
      from pg_temp.ingest_line l group by %s having count(*) > 1
  $sql$, case when v_currency is null then 'false' else format('coalesce(min(l.%1$I) <> max(l.%1$I), false)', v_currency) end, ', ' || v_sums, v_key);
  with mixed as (
    delete from pg_temp.ingest_line l
     using (select unnest(r.lines) as row_number, r.lines from pg_temp.ingest_repeated r where r.several_currencies) g
     where l.row_number = g.row_number
    returning l.staging_row_id, l.row_number, format('lines %s have the same key and different currencies, so they have no sum',
                                                     array_to_string(g.lines[1:5], ', ')) as reason
  )
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, v_layout ->> 'leaf'), v_layout ->> 'leaf',
         row_number, staging_row_id, 'refused', reason, sha256(convert_to(concat_ws('|', row_number, 'refused', reason), 'UTF8'))
    from mixed;
  delete from pg_temp.ingest_repeated where several_currencies;
  if v_sets is not null then
    execute format('update pg_temp.ingest_line l set %s from pg_temp.ingest_repeated g where l.row_number = g.lines[1]', v_sets);
  end if;
  with others as (
    -- Line by line, so that it can be hashed: with any (lines) 10,000 keys took 25 s.
    delete from pg_temp.ingest_line l using (select unnest(r.lines[2:]) as row_number, r.lines[1] as first_line from pg_temp.ingest_repeated r) g
     where l.row_number = g.row_number returning l.staging_row_id, l.row_number, g.first_line
  )
  insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
  select p_upload.upload_id, iu_core.fn_ingest_type_order(p_definition, v_layout ->> 'leaf'), v_layout ->> 'leaf',
         row_number, staging_row_id, 'skipped', format('added to line %s, which has the same key', first_line),
         sha256(convert_to(format('%s skipped %s', row_number, first_line), 'UTF8'))
    from others;
end $$;

-- Plans one row type with an identity (campaign, ad set, customer): each entity once, at its first line, looked up in the
-- target by its natural key, or by its name within the parent if the file has no ids. A new entity gets its id now, so that
-- children can refer to it. Parents are planned first. Internal.
create or replace function iu_core.fn_ingest_plan_entities(
  p_upload iu_core.ingest_upload, p_type record, p_nullable text[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_identity jsonb := p_type.spec -> 'identity';
  v_joins text := iu_core.fn_ingest_parent_joins(p_type.spec, v_layout);
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_parent text;
  v_parent_column text;
  v_attributes text;
  v_fields text[];
  v_first text;
  v_place integer;
  v_match text;
  v_batch uuid := iu_core.fn_time_uuid();
  v_ref jsonb := nullif(p_type.spec -> 'ref', 'null');
  -- uuid, or text if the dataset has other ids.
  v_id_type text := (select format_type(atttypid, null) from pg_attribute
                      where attrelid = 'pg_temp.ingest_entity'::regclass and attname = 'internal_id');
  -- The table of resolutions has uuids; other ids are in the plan's rows.
  v_uuid constant text := '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
begin
  -- The nearest parent: the last of the file's row types that it refers to.
  select r.value into v_parent
    from jsonb_array_elements_text(v_layout -> 'row_types') with ordinality as r
   where exists (select from jsonb_each_text(p_type.spec -> 'columns') c where c.value = '$' || r.value)
   order by r.ordinality desc limit 1;
  v_parent_column := iu_core.fn_ingest_line_column(v_layout, '$' || v_parent);
  -- An attribute is the first value that is not empty; where lines differ about it, that is worth a warning.
  -- (Least against greatest: to count the different ones would sort all lines.)
  v_fields := array(select distinct value from jsonb_each_text(p_type.spec -> 'columns') where v_layout -> 'fields' ? value order by 1);
  select string_agg(format('case when min(l.%1$I::text collate "C") <> max(l.%1$I::text collate "C") then %2$L end',
                           iu_core.fn_ingest_line_column(v_layout, f), f), ', '),
         string_agg(format('min(l.row_number) filter (where l.%I is not null)', iu_core.fn_ingest_line_column(v_layout, f)), ', ' order by n)
    into v_attributes, v_first
    from unnest(v_fields) with ordinality as a (f, n);
  execute format($sql$
    insert into pg_temp.ingest_entity (
      row_type, external_id, row_number, staging_row_id, new_id, conflicting, filled_from, parent_external_id, parent_id, ambiguous, reason)
    select %1$L, g.external_id, l.row_number, l.staging_row_id, %5$s, g.conflicting, g.filled_from, %6$s
      from (select l.%2$I as external_id, min(l.row_number) as row_number, array_remove(array[%3$s]::text[], null) as conflicting,
                   array[%8$s]::integer[] as filled_from, %7$s as several_parents
              from pg_temp.ingest_line l where l.%2$I is not null group by 1) g
      join pg_temp.ingest_line l using (row_number) %4$s
  $sql$, p_type.row_type, iu_core.fn_ingest_line_column(v_layout, '$' || p_type.row_type), v_attributes, v_joins,
     -- The id of the line's own row serves where the line is the entity.
     case when p_type.is_leaf then 'l.staging_row_id' else 'iu_core.fn_time_uuid()' end,
     case when v_parent is null then 'null, null, false, null'
          else format($sql$
            l.%1$I, %2$I.internal_id, g.several_parents or coalesce(%2$I.ambiguous, false),
            case when g.several_parents then 'it occurs under several parents in the file'
                 when %2$I.ambiguous then iu_core.fn_ingest_parent_reason(%2$I.reason) end
          $sql$, v_parent_column, 'p_' || v_parent_column) end,
     -- One id under two parents would put all rows under the first of them.
     case when v_parent is null then 'false' else format('coalesce(min(l.%1$I collate "C") <> max(l.%1$I collate "C"), false) or count(l.%1$I) not in (0, count(*))', v_parent_column) end,
     v_first);
  analyze pg_temp.ingest_entity;

  -- If the first line of an entity lacks a value that a later line has, the entity gets its own row with all values.
  drop table if exists pg_temp.ingest_entity_line;
  if exists (select from pg_temp.ingest_entity e
              where e.row_type = p_type.row_type and exists (select from unnest(e.filled_from) as f where f <> e.row_number)) then
    create temporary table ingest_entity_line on commit drop as
    select l.* from pg_temp.ingest_line l join pg_temp.ingest_entity e on e.row_number = l.row_number and e.row_type = p_type.row_type;
    for v_place in 1 .. cardinality(v_fields) loop
      execute format($sql$
        update pg_temp.ingest_entity_line l set %1$I = s.%1$I
          from pg_temp.ingest_entity e join pg_temp.ingest_line s on s.row_number = e.filled_from[%2$s]
         where e.row_type = %3$L and l.row_number = e.row_number and e.filled_from[%2$s] <> e.row_number
      $sql$, iu_core.fn_ingest_line_column(v_layout, v_fields[v_place]), v_place, p_type.row_type);
    end loop;
  end if;

  v_match := iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
  execute format($sql$
    update pg_temp.ingest_entity u set internal_id = %1$s, existing = true
      from pg_temp.ingest_entity e join pg_temp.ingest_line l on l.row_number = e.row_number %2$s join %3$s t on %4$s
     where e.row_type = %5$L and u.row_type = %5$L and u.external_id = e.external_id and not e.ambiguous
  $sql$, case when v_ref is null then 'null' else format('t.%I::%s', v_ref ->> 'column', v_id_type) end,
     v_joins, v_target, v_match, p_type.row_type);

  if v_identity ->> 'nameColumn' is not null and not v_layout -> 'fields' ? coalesce(v_identity ->> 'id', '') then
    -- The key less the id: client and platform, or the parent.
    v_match := iu_core.fn_ingest_key_match_sql(
      array(select k from unnest(p_type.key_columns) k where p_type.spec -> 'columns' ->> k <> '$identity'),
      p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
    execute format($sql$
      with found as (
        select e.external_id, (array_agg(t.%1$I::%8$s))[1] as id, count(*) as candidates
          from pg_temp.ingest_entity e join pg_temp.ingest_line l on l.row_number = e.row_number %2$s
          join %3$s t on %4$s and t.%5$I = l.%6$I
         where e.row_type = %7$L and not e.existing and not e.ambiguous group by 1
      )
      update pg_temp.ingest_entity u
         set internal_id = case when f.candidates = 1 then f.id end, existing = f.candidates = 1,
             ambiguous = u.ambiguous or f.candidates > 1,
             reason = case when f.candidates > 1 then format('%%s rows have this name, and the file has no ids', f.candidates) else u.reason end
        from found f where u.row_type = %7$L and u.external_id = f.external_id
    $sql$, v_ref ->> 'column', v_joins, v_target, coalesce(v_match, 'true'),
       v_identity ->> 'nameColumn', iu_core.fn_ingest_line_column(v_layout, v_identity ->> 'name'), p_type.row_type, v_id_type);
  end if;
  if v_ref ->> 'kind' = 'sequence' then
    -- In the order of the file. A number that no promotion uses is lost, as with a transaction that is rolled back.
    execute format($sql$
      update pg_temp.ingest_entity u set internal_id = n.id
        from (select o.external_id, nextval(%1$L::regclass)::text as id
                from (select external_id from pg_temp.ingest_entity
                       where row_type = %2$L and not existing and not ambiguous order by row_number) o) n
       where u.row_type = %2$L and u.external_id = n.external_id
    $sql$, v_ref ->> 'sequence', p_type.row_type);
  elsif v_ref ->> 'kind' = 'natural' then
    execute format($sql$
      update pg_temp.ingest_entity u set internal_id = (%1$s)::%2$s::%6$s
        from pg_temp.ingest_entity e join pg_temp.%3$I l on l.row_number = e.row_number %4$s
       where e.row_type = %5$L and not e.existing and not e.ambiguous and u.row_type = %5$L and u.external_id = e.external_id
    $sql$, coalesce(iu_core.fn_ingest_source_sql(p_type.spec -> 'columns' ->> (v_ref ->> 'column'), v_layout, p_upload), 'null'),
       v_ref ->> 'type', case when to_regclass('pg_temp.ingest_entity_line') is null then 'ingest_line' else 'ingest_entity_line' end,
       v_joins, p_type.row_type, v_id_type);
  else
    update pg_temp.ingest_entity set internal_id = new_id
     where row_type = p_type.row_type and not existing and not ambiguous;
  end if;

  insert into public.staging_id_resolution (
    workspace_id, client_id, upload_id, batch_id, platform, entity_type, external_id, internal_id, resolution_status,
    resolution_action, parent_external_id, parent_internal_id, resolved_at)
  select p_upload.workspace_id, p_upload.client_id, p_upload.upload_id, v_batch, p_upload.platform, e.row_type, e.external_id,
         case when e.internal_id::text ~ v_uuid then e.internal_id::uuid end,
         (case when e.ambiguous then 'unresolved' when e.existing then 'resolved_existing' else 'resolved_new' end)::public.staging_resolution_status,
         (case when e.ambiguous then 'failed' when e.existing then 'update' else 'insert' end)::public.staging_processing_action,
         e.parent_external_id, case when e.parent_id::text ~ v_uuid then e.parent_id::uuid end, clock_timestamp()
    from pg_temp.ingest_entity e where e.row_type = p_type.row_type;
  insert into iu_core.ingest_staged_row (
    id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, entity_external_id, raw_payload,
    normalized_payload, raw_values, normalized_values, validation_status, validation_errors, validation_warnings)
  select e.new_id, s.workspace_id, s.client_id, s.upload_id, v_batch, s.request_id, s.platform, e.row_type, e.row_number, e.external_id, s.raw_payload,
         s.normalized_payload, s.raw_values, s.normalized_values, (case when e.ambiguous then 'invalid' else 'valid' end)::public.staging_validation_status,
         case when e.ambiguous then jsonb_build_array(jsonb_build_object(
           'line', e.row_number, 'rule', 'id.ambiguous', 'column', v_identity ->> 'name',
           'message', format('It is not certain which row of %s this is: %s.', p_type.target_name, e.reason),
           'suggestion', 'Export again with the id column, or give each its own id.')) else '[]' end,
         case when e.conflicting <> '{}' then jsonb_build_array(jsonb_build_object(
           'line', e.row_number, 'rule', 'entity.conflicting',
           'message', format('Lines differ about its %s; the first value that is not empty is taken.', array_to_string(e.conflicting, ', ')),
           'fields', to_jsonb(e.conflicting),
           'suggestion', 'Nothing to do if the first one is right.')) else '[]' end
    from pg_temp.ingest_entity e
    -- Line by line through the key: as a plain join the planner reads the whole upload for ten campaigns (0.3 s each time).
    cross join lateral (select * from iu_core.ingest_staged_row l
                         where l.upload_id = p_upload.upload_id and l.row_type = v_layout ->> 'leaf' and l.row_number = e.row_number
                        offset 0) s
   where e.row_type = p_type.row_type and not p_type.is_leaf;
end $$;

-- Plans the changes of one row type: every row is compared with its target row. Internal.
create or replace function iu_core.fn_ingest_plan_type(p_upload iu_core.ingest_upload, p_type record, p_nullable text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_joins text := iu_core.fn_ingest_parent_joins(p_type.spec, v_layout);
  v_from text;
  v_match text;
  v_new_id text;
  v_ambiguous text;
  v_reason text;
  v_values text;
  v_changed text;
  v_key text;
  v_texts boolean := iu_core.fn_ingest_plan_texts(p_type.written) is not null;
  v_inserted text;
  v_ref jsonb := nullif(p_type.spec -> 'ref', 'null');
  v_reserved text := format('nextval(%L::regclass)', v_ref ->> 'sequence');
  v_mode record;
begin
  v_match := iu_core.fn_ingest_key_match_sql(p_type.key_columns, p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
  if p_type.is_entity then
    v_from := format('pg_temp.ingest_entity e join pg_temp.%I l on l.row_number = e.row_number and e.row_type = %L %s',
                     case when to_regclass('pg_temp.ingest_entity_line') is null then 'ingest_line' else 'ingest_entity_line' end,
                     p_type.row_type, v_joins);
    v_new_id := 'e.new_id';
    v_ambiguous := 'e.ambiguous';
    v_reason := 'e.reason';
    -- Found by its key or by its name: in both cases it is the row that was found.
    v_match := 'e.existing and ' || case when v_ref is null then v_match
                                         else format('t.%I = e.internal_id::%s', v_ref ->> 'column', v_ref ->> 'type') end;
    v_reserved := 'e.internal_id';
  else
    v_from := 'pg_temp.ingest_line l ' || v_joins;
    v_new_id := 'l.staging_row_id';
    if exists (select from pg_attribute where attrelid = to_regclass('pg_temp.ingest_line') and attname = 'own_id') then
      v_reserved := 'l.own_id';
    end if;
    select coalesce(string_agg(format('coalesce(p_%s.ambiguous, false)', iu_core.fn_ingest_line_column(v_layout, value)), ' or '), 'false'),
           format('iu_core.fn_ingest_parent_reason(coalesce(%s))',
                  coalesce(string_agg(format('p_%s.reason', iu_core.fn_ingest_line_column(v_layout, value)), ', '), 'null::text'))
      into v_ambiguous, v_reason
      from jsonb_each_text(p_type.spec -> 'columns') where value like '$%' and v_layout -> 'row_types' ? substr(value, 2);
  end if;

  v_mode := iu_core.fn_ingest_mode_refusal(p_type.spec);
  if v_mode.refused is null and not p_type.is_entity then
    v_mode := iu_core.fn_ingest_unfilled_refusal(p_type);
  end if;
  if v_mode.refused is not null then
    v_reason := format('case when %s then %s else %L end', v_ambiguous, v_reason, v_mode.reason);
    v_ambiguous := format('(%s or %s)', v_ambiguous, v_mode.refused);
  end if;

  -- An entity found by its name keeps its id.
  select string_agg(format('(%s)::%s as %I',
           case when w.source = '$identity' then format('case when t.ctid is null then e.external_id else t.%I::text end', w."column")
                when w.source = '$#id' then format('case when t.ctid is null then (%s)::%s else t.%I end', v_reserved, w.type, w."column")
                else iu_core.fn_ingest_source_sql(w.source, v_layout, p_upload) end, w.type, w."column"), ', '),
         -- json has no equality of its own.
         string_agg(format('case when t.%1$I%3$s is distinct from v.%1$I%3$s then %2$L end', w."column", w."column",
                           case w.type when 'json' then '::jsonb' else '' end), ', ') filter (where w.source <> '$#id'),
         string_agg(format('%L, v.%I', w."column", w."column"), ', ') filter (where w."column" = any (p_type.key_columns)),
         string_agg(format('v.%I::text', w."column"), ', ')
    into v_values, v_changed, v_key, v_inserted
    from jsonb_to_recordset(p_type.written) as w ("column" text, source text, type text);

  -- The id of the staged row becomes that of the new one: known before promotion, and rising with time.
  -- Whole rows are `t.*` and `v.*`: `t` alone would be the column t of a table that has one.
  execute format($sql$
    insert into iu_core.ingest_plan_row (
      upload_id, type_order, row_type, row_number, staging_row_id, action, target_id, target_key, before, before_hash,
      inserted, after, changed, reason, row_hash)
    select r.*, sha256(convert_to(concat_ws('|', r.row_type, r.row_number, r.action, r.target_id,
                                            r.inserted, coalesce(r.after, r.target_key), r.before_hash), 'UTF8'))
      from (
        select %1$L::uuid, %2$s::smallint, %3$L::text as row_type, l.row_number as row_number, %4$s as staging_row_id, a.action,
               %5$s as target_id,
               case when %13$L and a.action <> 'refused' then jsonb_build_object(%6$s) end as target_key,
               case when a.action = 'update' then to_jsonb(t.*) end as before,
               case when a.action in ('update', 'unchanged') then %17$s end as before_hash,
               case when %15$L and a.action = 'insert' then array[%16$s] end as inserted,
               -- (A row at once: built column by column it takes half as long again.)
               case when a.action = 'update' or a.action = 'insert' and not %15$L then to_jsonb(v.*) end as after,
               case when a.action = 'update' then c.changed end as changed,
               case when a.action = 'refused' then %14$s end as reason
          from %7$s
          left join %8$s t on %9$s,
               lateral (select %10$s) as v,
               lateral (select case when t.ctid is not null then array_remove(array[%11$s]::text[], null) end as changed) as c,
               lateral (select case when %12$s then 'refused' when t.ctid is null then 'insert'
                                    when c.changed = '{}' then 'unchanged' else 'update' end as action) as a
        -- Otherwise the images would be built once for the table and once more for the hash.
        offset 0
      ) r
  $sql$,
    p_upload.upload_id, p_type.type_order, p_type.row_type, v_new_id,
    case when p_type.id_column is null then 'null::uuid' else format('coalesce(t.%I, %s)', p_type.id_column, v_new_id) end,
    v_key, v_from, iu_core.fn_ingest_table_sql(p_type.target), v_match, v_values, v_changed, v_ambiguous, p_type.id_column is null,
    v_reason, v_texts, v_inserted, iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'));
end $$;

-- The columns that a row type writes, if the text of every column's type is exact: then the plan stores the inserted rows as
-- texts. NULL otherwise. Internal.
create or replace function iu_core.fn_ingest_plan_texts(p_written jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when bool_and(f.form is not null) then
           jsonb_agg(jsonb_build_object('column', w."column", 'form', f.form) order by w.ordinality) end
    from rows from (jsonb_to_recordset(p_written) as ("column" text, type text)) with ordinality as w,
         lateral (select case when t.typtype = 'e' or t.typcategory = 'S' and t.typtype = 'b' and t.typname <> 'bpchar' or t.typname in ('uuid', 'date') then 'text'
                              when t.typname in ('int2', 'int4', 'int8', 'numeric') then 'number'
                              when t.typname = 'bool' then 'boolean' end as form
                    from pg_type t where t.oid = w.type::regtype) as f
$$;

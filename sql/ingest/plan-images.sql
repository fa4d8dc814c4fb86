-- The rows of a plan, as promotion, review and people read them: as typed rows, as objects, and by their names.

-- Puts the planned rows of a table into the typed temporary table `ingest_now`. Returns their number for each action, and the
-- conditions that find the row `t` of a planned row `n` by its identity and by its key, and another planned row `o` with the
-- same key. Internal.
--
-- A table of their own, because the plan's table has no useful statistics for an upload that was planned a moment ago, and the
-- planner would then join in nested loops (measured: 10,000 rows took minutes).
create or replace function iu_core.fn_ingest_planned_rows(
  p_upload_id uuid, p_type record,
  out inserts bigint, out updates bigint, out unchanged bigint, out row_match text, out key_match text, out own_match text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unpacked record;
  v_key record;
  v_nulls text[];
begin
  v_unpacked := iu_core.fn_ingest_unpack_sql('coalesce(p.after, p.target_key)', p_type.written, 'p.inserted',
    (select inserted_columns -> p_type.row_type from iu_core.ingest_plan where upload_id = p_upload_id));
  drop table if exists pg_temp.ingest_now;
  execute format($sql$
    create temporary table ingest_now on commit drop as
    select p.row_number as "#row", p.staging_row_id as "#staged", p.action as "#action", p.target_id as "#id",
           p.before as "#before", p.before_hash as "#hash", %s
      from iu_core.ingest_plan_row p%s
     where p.upload_id = %L and p.type_order = %s and p.action in ('insert', 'update', 'unchanged')
  $sql$, v_unpacked.selected, v_unpacked.joined, p_upload_id, p_type.type_order);
  analyze pg_temp.ingest_now;
  -- Equality can be hashed; where a key column is NULL in some row it cannot. Of what is not inserted only the id is known,
  -- where there is one.
  execute format($sql$
    select count(*) filter (where "#action" = 'insert'), count(*) filter (where "#action" = 'update'),
           count(*) filter (where "#action" = 'unchanged'), array_remove(array[%1$s]::text[], null)
      from pg_temp.ingest_now
  $sql$, (select string_agg(format('case when bool_or(%I is null and ("#action" = ''insert'' or %L)) then %L end',
                                   w.slot, p_type.id_column is null, w."column"), ', ')
            from jsonb_to_recordset(p_type.written) as w ("column" text, slot text)
           where w."column" = any (p_type.key_columns) and not iu_core.fn_ingest_column_not_null(p_type.target, w."column")))
    into inserts, updates, unchanged, v_nulls;
  if inserts + updates + unchanged = 0 then
    return;
  end if;
  for v_key in
    select k as name, w.slot
      from unnest(p_type.key_columns) as k
      left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = k
  loop
    key_match := concat_ws(' and ', key_match, format(
      case when v_key.slot is null then 't.%1$I is null' when v_key.name = any (v_nulls) then 't.%1$I is not distinct from n.%2$I'
           else 't.%1$I = n.%2$I' end, v_key.name, v_key.slot));
  end loop;
  select string_agg(format('o.%1$I is not distinct from n.%1$I', w.slot), ' and ') into own_match
    from jsonb_to_recordset(p_type.written) as w ("column" text, slot text) where w."column" = any (p_type.key_columns);
  row_match := case when p_type.id_column is null then key_match else format('t.%I = n."#id"', p_type.id_column) end;
end $$;

-- The object that a planned row will hold: stored with the plan (that of a proposal with its texts), or built from its texts. For readers
-- of a plan.
create or replace function iu_core.fn_ingest_plan_image(p_columns jsonb, p_row iu_core.ingest_plan_row) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_row.inserted is null or p_row.after is not null then p_row.after else (
    select jsonb_object_agg(c."column", case when v.value is null then 'null'::jsonb
                                             when c.form = 'boolean' then to_jsonb(v.value::boolean)
                                             when c.form = 'number' then to_jsonb(v.value::numeric)
                                             else to_jsonb(v.value) end)
      from rows from (jsonb_to_recordset(p_columns -> p_row.row_type) as ("column" text, form text)) with ordinality as c,
           lateral (select p_row.inserted[c.ordinality]) as v (value)) end
$$;

grant execute on function iu_core.fn_ingest_plan_image(jsonb, iu_core.ingest_plan_row)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- What people call rows of a plan: the key columns that the file fills, in the order of the key, and for each column that is looked
-- up the name of what the row referred to (before) and will refer to (after), see fn_ingest_lookup_names. Changes nothing.
create or replace function iu_core.fn_ingest_plan_row_names(p_upload_id uuid, p_type_orders integer[], p_row_numbers integer[])
returns table (type_order integer, row_number integer, row_key jsonb, names jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
as $$
#variable_conflict use_column
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_wanted jsonb;
  -- Lookup → value → name: as the file has it, and as the table has it.
  v_given jsonb;
  v_names jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  if cardinality(p_type_orders) is distinct from cardinality(p_row_numbers) or cardinality(p_row_numbers) > 10000 then
    raise exception using errcode = 'SD001', message = 'At most 10,000 rows of a plan are listed at once, each by its type and its line';
  end if;
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  select * into v_dataset from iu_core.ingest_dataset d where d.dataset = u.dataset;
  select jsonb_object_agg(w.lookup, w.wanted) into v_wanted
    from (select l.lookup, jsonb_agg(distinct i.image ->> l."column") as wanted
            from unnest(p_type_orders, p_row_numbers) as n (type_order, row_number)
            -- Row by row through the key: a plain join may read the whole plan for one page (1 s for 60,000 rows).
            cross join lateral (select r.*, r as row from iu_core.ingest_plan_row r
                                 where r.upload_id = p_upload_id and r.type_order = n.type_order and r.row_number = n.row_number offset 0) p
            join iu_core.ingest_plan d on d.upload_id = p_upload_id
            join iu_core.fn_ingest_lookup_columns(v_dataset.definition) l on l.row_type = p.row_type,
                 lateral (values (p.before), (iu_core.fn_ingest_plan_image(d.inserted_columns, p.row))) as i (image)
           where i.image ->> l."column" is not null group by 1) w;
  select n.names, n.given into v_names, v_given from iu_core.fn_ingest_lookup_names(u, v_dataset, v_wanted) n;
  return query
    select p.type_order::integer, p.row_number,
           (select coalesce(jsonb_agg(jsonb_build_object('column', k.name, 'value',
                     -- As the file names it, if it is looked up.
                     coalesce(case when v_dataset.definition -> 'fields' -> f.source ? 'lookup' then s.normalized_payload ->> f.source end,
                              p.target_key ->> k.name, i.image ->> k.name, p.before ->> k.name, s.normalized_payload ->> f.source))
                     order by k.position), '[]')
              from jsonb_array_elements_text(t.spec -> 'key') with ordinality as k (name, position),
                   lateral (select t.spec -> 'columns' ->> k.name) as f (source)
             where f.source not like '$%'),
           (select jsonb_object_agg(m.key, jsonb_build_object(
                     'before', coalesce(v_names -> l.lookup ->> (p.before ->> m.key), v_given -> l.lookup ->> (p.before ->> m.key)),
                     'after', coalesce(v_names -> l.lookup ->> (i.image ->> m.key),
                                       case when i.image ->> m.key is not null then s.normalized_payload ->> m.value end)))
              from jsonb_each_text(t.spec -> 'columns') as m,
                   lateral (select v_dataset.definition -> 'fields' -> m.value ->> 'lookup') as l (lookup)
             where l.lookup is not null and coalesce(p.before ->> m.key, i.image ->> m.key) is not null)
      from unnest(p_type_orders, p_row_numbers) as n (type_order, row_number)
      cross join lateral (select r.*, r as row from iu_core.ingest_plan_row r
                           where r.upload_id = p_upload_id and r.type_order = n.type_order and r.row_number = n.row_number offset 0) p
      join iu_core.ingest_plan d on d.upload_id = p_upload_id
      cross join lateral (select iu_core.fn_ingest_plan_image(d.inserted_columns, p.row)) as i (image)
      left join lateral (select l.normalized_payload from iu_core.v_ingest_staged_row l
                          where l.upload_id = p_upload_id and l.row_type = p.row_type and l.row_number = p.row_number offset 0) s on true
      left join lateral (select spec from jsonb_array_elements(v_dataset.definition -> 'rows') as spec where spec ->> 'name' = p.row_type) t on true;
end $$;

grant execute on function iu_core.fn_ingest_plan_row_names(uuid, integer[], integer[])
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The columns of each row type that are looked up. Internal.
create or replace function iu_core.fn_ingest_lookup_columns(p_definition jsonb) returns table (row_type text, "column" text, field text, lookup text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select spec ->> 'name', m.key, m.value, p_definition -> 'fields' -> m.value ->> 'lookup'
    from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as m
   where p_definition -> 'fields' -> m.value ->> 'lookup' is not null
$$;

-- What looked-up values are called: lookup → value → name, as the table has it (names) and as the file has it (given). p_wanted: lookup →
-- values. If the dataset belongs to the workspace of the upload, names come from the table that was looked in, by its index on the value or
-- if it is small. Otherwise that table may hold rows of others: then only names that the file itself has are known. Internal.
create or replace function iu_core.fn_ingest_lookup_names(
  p_upload iu_core.ingest_upload, p_dataset iu_core.ingest_dataset, p_wanted jsonb, out names jsonb, out given jsonb
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lookup record;
  v_values text[];
  v_found jsonb;
begin
  names := '{}';
  given := '{}';
  for v_lookup in
    select l.key as name, t.target as target, l.value ->> 'by' as by_column, l.value ->> 'value' as value_column,
           iu_core.fn_ingest_column_type(a) as type
      from jsonb_each(coalesce(p_dataset.definition -> 'lookups', '{}')) as l
      cross join lateral (select iu_core.fn_ingest_table(l.value ->> 'table')) as t (target)
      left join pg_attribute a on a.attrelid = t.target and a.attname = l.value ->> 'value' and not a.attisdropped
     where p_wanted ? l.key
  loop
    v_values := array(select jsonb_array_elements_text(p_wanted -> v_lookup.name));
    select jsonb_object_agg(f.found, f.value) into v_found
      from (select r.found, min(r.value collate "C") as value from iu_core.ingest_lookup_result r
             where r.upload_id = p_upload.upload_id and r.lookup = v_lookup.name and r.found = any (v_values) group by 1) f;
    given := given || jsonb_build_object(v_lookup.name, v_found);
    continue when p_dataset.workspace_id is distinct from p_upload.workspace_id or v_lookup.type is null or not has_table_privilege(v_lookup.target, 'select')
      or not exists (select from pg_attribute where attrelid = v_lookup.target and attname = v_lookup.by_column and not attisdropped)
      or not iu_core.fn_ingest_is_unique(v_lookup.target, array[v_lookup.value_column], false)
         and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(v_lookup.target)), 0) + pg_relation_size(v_lookup.target) > 4194304;
    begin
      execute format($sql$
        select jsonb_object_agg(to_jsonb(x.%1$I) #>> '{}', x.%2$I::text) from %3$s x where x.%1$I = any ($1::%4$s[]) and x.%2$I is not null
      $sql$, v_lookup.value_column, v_lookup.by_column, iu_core.fn_ingest_table_sql(v_lookup.target), v_lookup.type)
      into v_found using v_values;
      names := names || jsonb_build_object(v_lookup.name, v_found);
    exception when data_exception or insufficient_privilege then
      -- The column holds what cannot be a value of that table, or its schema may no longer be used.
      null;
    end;
  end loop;
end $$;

-- One row type that has an identity (campaign, ad set, customer): each entity once, at its first line, looked up in the
-- target by its natural key, or where the file has no ids by its name within the parent. What is not there gets its id
-- now, so that children resolve. Parents come before. Internal.
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
            case when g.several_parents then 'the file has it under several parents'
                 when %2$I.ambiguous then 'its parent is not certain: ' || %2$I.reason end
          $sql$, v_parent_column, 'p_' || v_parent_column) end,
     -- One id under two parents would hang everything under the first of them.
     case when v_parent is null then 'false' else format('coalesce(min(l.%1$I collate "C") <> max(l.%1$I collate "C"), false)', v_parent_column) end,
     v_first);
  analyze pg_temp.ingest_entity;

  -- Where the first line of an entity lacks a value that a later one has, it gets a line of its own, filled up.
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
  $sql$, case when p_type.id_column is null then 'null::uuid' else format('t.%I', p_type.id_column) end,
     v_joins, v_target, v_match, p_type.row_type);

  if v_identity ->> 'nameColumn' is not null and not v_layout -> 'fields' ? coalesce(v_identity ->> 'id', '') then
    -- The key less the id: client and platform, or the parent.
    v_match := iu_core.fn_ingest_key_match_sql(
      array(select k from unnest(p_type.key_columns) k where p_type.spec -> 'columns' ->> k <> '$identity'),
      p_type.spec, p_type.written, v_layout, p_upload, p_nullable);
    execute format($sql$
      with found as (
        select e.external_id, (array_agg(t.%1$I))[1] as id, count(*) as candidates
          from pg_temp.ingest_entity e join pg_temp.ingest_line l on l.row_number = e.row_number %2$s
          join %3$s t on %4$s and t.%5$I = l.%6$I
         where e.row_type = %7$L and not e.existing and not e.ambiguous group by 1
      )
      update pg_temp.ingest_entity u
         set internal_id = case when f.candidates = 1 then f.id end, existing = f.candidates = 1,
             ambiguous = u.ambiguous or f.candidates > 1,
             reason = case when f.candidates > 1 then format('%%s rows have this name, and the file has no ids', f.candidates) else u.reason end
        from found f where u.row_type = %7$L and u.external_id = f.external_id
    $sql$, p_type.id_column, v_joins, v_target, coalesce(v_match, 'true'),
       v_identity ->> 'nameColumn', iu_core.fn_ingest_line_column(v_layout, v_identity ->> 'name'), p_type.row_type);
  end if;
  update pg_temp.ingest_entity set internal_id = new_id
   where row_type = p_type.row_type and not existing and not ambiguous;

  insert into public.staging_id_resolution (
    workspace_id, client_id, upload_id, batch_id, platform, entity_type, external_id, internal_id, resolution_status,
    resolution_action, parent_external_id, parent_internal_id, resolved_at)
  select p_upload.workspace_id, p_upload.client_id, p_upload.upload_id, v_batch, p_upload.platform, e.row_type, e.external_id, e.internal_id,
         (case when e.ambiguous then 'unresolved' when e.existing then 'resolved_existing' else 'resolved_new' end)::public.staging_resolution_status,
         (case when e.ambiguous then 'failed' when e.existing then 'update' else 'insert' end)::public.staging_processing_action,
         e.parent_external_id, e.parent_id, clock_timestamp()
    from pg_temp.ingest_entity e where e.row_type = p_type.row_type;
  insert into public.staging_rows (
    id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, entity_external_id, raw_payload,
    normalized_payload, validation_status, validation_errors, validation_warnings)
  select e.new_id, s.workspace_id, s.client_id, s.upload_id, v_batch, s.request_id, s.platform, e.row_type, e.row_number, e.external_id, s.raw_payload,
         s.normalized_payload, (case when e.ambiguous then 'invalid' else 'valid' end)::public.staging_validation_status,
         case when e.ambiguous then jsonb_build_array(jsonb_build_object(
           'line', e.row_number, 'rule', 'id.ambiguous', 'column', v_identity ->> 'name',
           'message', format('It is not certain which row of %s this is: %s.', p_type.target_name, e.reason),
           'suggestion', 'Export again with the id column, or give each its own id.')) else '[]' end,
         case when e.conflicting <> '{}' then jsonb_build_array(jsonb_build_object(
           'line', e.row_number, 'rule', 'entity.conflicting',
           'message', format('Lines differ about its %s; the first value that is not empty is taken.', array_to_string(e.conflicting, ', ')),
           'suggestion', 'Nothing to do if the first one is right.')) else '[]' end
    from pg_temp.ingest_entity e
    -- Line by line through the key: as a plain join the planner reads the whole upload for ten campaigns (0.3 s each time).
    cross join lateral (select * from public.staging_rows l
                         where l.upload_id = p_upload.upload_id and l.row_type = v_layout ->> 'leaf' and l.row_number = e.row_number
                        offset 0) s
   where e.row_type = p_type.row_type and not p_type.is_leaf;
end $$;

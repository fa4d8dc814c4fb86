-- The valid lines of an upload as a typed temporary table `ingest_line`: one pass over the payloads, and everything after
-- it is plain columns. Keys that repeat are summed here where the upload or its dataset says so. Returns the sources that are empty in
-- some line. Internal.
create or replace function iu_core.fn_ingest_plan_lines(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_misfits boolean default false, p_again boolean default false
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
begin
  select * into v_unpacked from iu_core.fn_ingest_unpack_sql('s.normalized_payload', (
    select jsonb_agg(c)
      from (select distinct f as "column", iu_core.fn_ingest_field_type(p_definition -> 'fields' -> f) as type,
                   iu_core.fn_ingest_line_column(v_layout, f) as slot
              from jsonb_array_elements_text(v_layout -> 'fields') as f
             -- What no table takes need not be unpacked.
             where exists (select from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
                            where v_layout -> 'row_types' ? (spec ->> 'name') and c.value = f)
                or exists (select from jsonb_array_elements(p_definition -> 'rows') as spec where spec -> 'identity' ->> 'name' = f)
            union all
            select '@' || (spec ->> 'name'), 'text', iu_core.fn_ingest_line_column(v_layout, '$' || (spec ->> 'name'))
              from jsonb_array_elements(p_definition -> 'rows') as spec
             where v_layout -> 'row_types' ? (spec ->> 'name') and spec ? 'identity') c));
  drop table if exists pg_temp.ingest_line;
  execute format($sql$
    create temporary table ingest_line on commit drop as
    select s.id as staging_row_id, s.row_number, %s
      from public.staging_rows s%s
     where s.upload_id = %L and s.row_type = %L and s.validation_status = 'valid'
  $sql$, v_unpacked.selected, v_unpacked.joined, p_upload.upload_id, v_layout ->> 'leaf');

  select spec into v_leaf from jsonb_array_elements(p_definition -> 'rows') as spec where spec ->> 'name' = v_layout ->> 'leaf';
  if v_policy <> 'sum' and not p_again
     and iu_core.fn_ingest_plan_repeats(v_layout, v_leaf) then
    -- Marks the lines, and begins again with those that are left.
    perform iu_core.fn_ingest_check_set(p_upload, p_definition);
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_layout ->> 'leaf', p_upload.line_count);
    return iu_core.fn_ingest_plan_lines(p_upload, p_definition, p_misfits, true);
  end if;
  perform iu_core.fn_ingest_plan_misfits(p_upload, p_definition, p_misfits);
  if v_policy = 'sum' then
    perform iu_core.fn_ingest_plan_sums(p_upload, p_definition, v_leaf);
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
